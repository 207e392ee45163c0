//! URLs of Git repositories that people may choose: what KubeOpera, and every cluster, is made to call.

use vocabulary::{GitUrl, NotAGitUrl};

use super::Refusal;
use crate::error::sentence;

const FIELD: &str = "url";

/// A repository over HTTPS or SSH on a host that is neither this machine nor a cloud's metadata service. Plain HTTP is for
/// the repository that KubeOpera serves itself, which nobody needs to choose.
pub(crate) fn parsed(text: &str) -> Result<GitUrl, Refusal> {
    let invalid = |message: String| Refusal::new("git_url_invalid", FIELD, message);
    let url: GitUrl = text.trim().parse().map_err(|why: NotAGitUrl| {
        let message = sentence(&why.to_string());
        let message = if message.ends_with('.') { message } else { format!("{message}.") };
        match why {
            NotAGitUrl::Credentials => Refusal::new("git_url_has_credentials", FIELD, message),
            NotAGitUrl::Malformed | NotAGitUrl::Scheme => invalid(message),
        }
    })?;
    if url.scheme() == "http" {
        let why = "Over plain http:// everybody on the way could read the credential. Use https:// or ssh://.";
        return Err(invalid(why.to_owned()));
    }
    if url.url().port() == Some(0) || kube_kit::is_forbidden_host(url.url()) {
        return Err(invalid(
            "This address leads into the machine or cluster that KubeOpera runs on, or to a cloud's metadata service. Use \
             an address at which the clusters reach the Git server, too."
                .to_owned(),
        ));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_repository_elsewhere_is_taken_over_https_and_ssh() {
        for (given, kept) in [
            ("https://github.com/acme/gitops-iac.git", "https://github.com/acme/gitops-iac.git"),
            (" https://GIT.acme.com:8443/a/b\n", "https://git.acme.com:8443/a/b"),
            ("https://10.20.30.40/a.git", "https://10.20.30.40/a.git"),
            ("ssh://git@git.acme.com:2222/acme/iac.git", "ssh://git@git.acme.com:2222/acme/iac.git"),
            ("git@github.com:acme/iac.git", "ssh://git@github.com/acme/iac.git"),
            ("ssh://git@[2001:db8::1]/iac.git", "ssh://git@[2001:db8::1]/iac.git"),
        ] {
            assert_eq!(parsed(given).unwrap().as_str(), kept);
        }
    }

    #[test]
    fn what_would_run_programs_read_files_or_call_what_nobody_may_call_is_refused() {
        for given in [
            "",
            "ext::sh -c id",
            "ext::id",
            "fd::17",
            "file:///etc/passwd",
            "/srv/repo.git",
            "../repo.git",
            "--upload-pack=id",
            "ssh://-oProxyCommand=id/x",
            "-oX@host:x",
            "ssh://git@-oX/x",
            "git://git.acme.com/iac.git",
            "ftp://git.acme.com/iac.git",
            "http://git.acme.com/iac.git",
            "http://10.0.0.1/iac.git",
            "https://git.acme.com/iac.git\r\nHost: x",
            "https://git.acme.com/a\tb",
            "https://git.acme.com/",
            "https://git.acme.com/iac.git?x=1",
            "https://git.acme.com/iac.git#x",
            "https://git.acme.com:0/iac.git",
            "https://169.254.169.254/latest/meta-data",
            "https://metadata.google.internal/x",
            "https://100.100.100.200/x",
            "https://[fd00:ec2::254]/x",
            "https://[::ffff:169.254.169.254]/x",
            "https://2852039166/x",
            "https://0xa9.0xfe.0xa9.0xfe/x",
            "ssh://git@169.254.169.254/x",
            "ssh://git@2852039166/x",
            "ssh://git@0251.0376.0251.0376/x",
            "ssh://git@1６9.254.169.254/x",
            "git@169.254.169.254:x",
            "https://127.0.0.1/x",
            "https://localhost/x",
            "https://localhost./x",
            "https://0.0.0.0/x",
            "https://gitea.git.svc.cluster.local/x",
            "ssh://git@127.1/x",
        ] {
            let refusal = parsed(given).unwrap_err();
            assert_eq!((refusal.code, refusal.field), ("git_url_invalid", "url"), "{given}");
            assert!(refusal.message.ends_with('.'), "{}", refusal.message);
        }
    }

    #[test]
    fn credentials_in_the_url_are_named_as_such_and_not_repeated() {
        for given in ["https://user:CANARY@git.acme.com/iac", "https://CANARY@git.acme.com/iac", "ssh://git:CANARY@h/x"]
        {
            let refusal = parsed(given).unwrap_err();
            assert_eq!((refusal.code, refusal.field), ("git_url_has_credentials", "url"), "{given}");
            assert!(!refusal.message.contains("CANARY"));
        }
    }
}
