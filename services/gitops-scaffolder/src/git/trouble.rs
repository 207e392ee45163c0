//! What git's complaints mean: who has to act, and a sentence that says how.

use vocabulary::{GitUrl, Trouble};

use super::{clone::NoBranch, program::Failure};

/// Reason: nobody said that the server's host key is its own.
pub(crate) const HOST_KEY_NOT_TRUSTED: &str = "GitHostKeyNotTrusted";
/// Reason: the server's rules do not let a branch be changed so.
pub(crate) const PUSH_REFUSED: &str = "GitPushRefused";
/// Reason: the server shows another host key than before.
pub(crate) const HOST_KEY_CHANGED: &str = "GitHostKeyChanged";

/// What was being done, which decides what a refusal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Read,
    Write,
}

/// The trouble a failed conversation with a server is.
pub(crate) fn of(failure: &Failure, url: &GitUrl, attempt: Attempt) -> Trouble {
    match failure {
        Failure::Missing => missing(),
        Failure::NotRun(_) | Failure::TooMuch => {
            Trouble::transient("GitNotRun", format!("Git could not be used for {url}: {failure}."))
        }
        Failure::TimedOut(_) => Trouble::transient(
            "GitUnreachable",
            format!("The Git server of {url} did not answer in time. KubeOpera tries again."),
        ),
        Failure::Failed { complaint, .. } => of_complaint(complaint, url, attempt),
    }
}

/// The trouble of a repository that has branches, and not the one to use.
pub(crate) fn no_branch(NoBranch { wanted, others }: &NoBranch, url: &GitUrl) -> Trouble {
    let others = others.join(", ");
    match wanted {
        Some(branch) => Trouble::rejected(
            "GitBranchNotFound",
            format!(
                "The repository {url} has no branch {branch} (it has {others}). Create it, or choose another branch."
            ),
        ),
        None => Trouble::rejected(
            "GitNoDefaultBranch",
            format!(
                "The default branch of the repository {url} does not exist (it has {others}). Set another default branch \
                 there, or choose the branch to use."
            ),
        ),
    }
}

/// The trouble of a machine without git.
pub(crate) fn missing() -> Trouble {
    let message = "The git program is not installed where gitops-scaffolder runs. Install git and start it again.";
    Trouble::rejected("GitMissing", message)
}

fn of_complaint(complaint: &str, url: &GitUrl, attempt: Attempt) -> Trouble {
    let says = |words: &[&str]| words.iter().any(|word| complaint.contains(word));
    let push = "Give it a token or key that may write to the repository (push).";
    if says(&["error: 403", "403 Forbidden", "denied to", "does not have permission", "read-only", "read only"]) {
        return match attempt {
            Attempt::Write => Trouble::rejected(
                "GitPushNotAllowed",
                format!("The Git credential may read {url} but not write to it. {push}"),
            ),
            Attempt::Read => Trouble::rejected(
                "GitAccessDenied",
                format!("The Git credential may not read {url}. Give it a token or key of somebody who may."),
            ),
        };
    }
    if says(&[
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "error: 401",
        "Permission denied",
    ]) {
        return Trouble::rejected(
            "GitAuthenticationFailed",
            format!("The Git server of {url} does not accept the credential. It may be mistyped or expired. {push}"),
        );
    }
    if says(&["REMOTE HOST IDENTIFICATION HAS CHANGED"]) {
        return Trouble::rejected(
            HOST_KEY_CHANGED,
            format!(
                "The Git server of {url} shows another host key than the one that is known, and was not trusted: somebody \
                 may have put another server in its place. If its operator publishes the new key, replace the old one in \
                 known_hosts."
            ),
        );
    }
    if says(&["Host key verification failed", "host key"]) {
        return Trouble::rejected(
            HOST_KEY_NOT_TRUSTED,
            format!(
                "The host key of the Git server of {url} is not among the known hosts of its credential. Compare it with \
                 the one the server's owner publishes and, if it is right, add it to known_hosts."
            ),
        );
    }
    if says(&["SSL certificate problem", "certificate verif", "SSL: no alternative certificate", "server certificate"])
    {
        return Trouble::rejected(
            "GitCertificateNotTrusted",
            format!(
                "The certificate of the Git server of {url} is not trusted. Add its authority's certificate as ca.crt."
            ),
        );
    }
    if says(&[
        "error: 301",
        "error: 302",
        "error: 303",
        "error: 307",
        "error: 308",
        "unable to update url base from redirection",
    ]) {
        return Trouble::rejected(
            "GitRedirectRefused",
            format!(
                "The Git server of {url} sends us to another address, where credentials are not sent. If the repository was \
                 renamed or moved, use its new URL."
            ),
        );
    }
    if says(&["not found", "error: 404", "error: 410", "does not appear to be a git repository", "does not exist"]) {
        return Trouble::rejected(
            "GitRepositoryNotFound",
            format!("There is no repository at {url} that the credential can see. Create it or correct the URL."),
        );
    }
    Trouble::transient(
        "GitUnreachable",
        format!("The Git server of {url} cannot be reached ({}). KubeOpera tries again.", quoted(complaint)),
    )
}

/// Whether a complaint is about our clone rather than about the server: what a machine that lost power leaves behind.
pub(crate) fn is_about_the_clone(failure: &Failure) -> bool {
    let signs =
        ["Unable to create", ".lock", "bad object", "corrupt", "not a git repository", "loose object", "shallow file"];
    matches!(failure, Failure::Failed { complaint, .. } if signs.iter().any(|sign| complaint.contains(sign)))
}

/// How a push that git delivered was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Somebody else pushed first, or holds the branch at the moment; what the server said.
    NotNow(String),
    /// The server's rules say no, in these words.
    Refused(String),
    /// Something else.
    Other,
}

/// Reads the answer of `git push --porcelain`.
pub(crate) fn refusal(failure: &Failure) -> Refusal {
    let Failure::Failed { output, complaint } = failure else { return Refusal::Other };
    let both = format!("{output}\n{complaint}");
    let says = |words: &[&str]| words.iter().any(|word| both.contains(word));
    let not_now = [
        "fetch first",
        "non-fast-forward",
        "stale info",
        "cannot lock ref",
        "failed to lock",
        "failed to update ref",
        "already exists",
        "incorrect old value",
        "remote ref updated since checkout",
    ];
    if says(&not_now) {
        Refusal::NotNow(server_words(&both))
    } else if says(&["[remote rejected]", "GH006", "GH013", "GL-HOOK-ERR", "TF402455", "protected branch"]) {
        Refusal::Refused(server_words(&both))
    } else {
        Refusal::Other
    }
}

/// The trouble of a push that the server's rules refuse.
pub(crate) fn refused(url: &GitUrl, branch: &str, words: &str) -> Trouble {
    Trouble::rejected(
        PUSH_REFUSED,
        format!(
            "The Git server of {url} refuses the change to the branch {branch}: {words}. Allow KubeOpera's user to push to \
             this branch, or use another repository."
        ),
    )
}

/// The trouble of a push that the server does not take although nobody else pushes.
pub(crate) fn not_taken(url: &GitUrl, branch: &str, words: &str) -> Trouble {
    Trouble::transient(
        "GitPushNotTaken",
        format!(
            "The Git server of {url} does not take the change to the branch {branch}, although the branch stands still: \
             {words}. KubeOpera tries again; if it stays like this, the server needs a look."
        ),
    )
}

/// What the server told people, or the reason git gives for it.
fn server_words(both: &str) -> String {
    let told: Vec<&str> = both.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim).collect();
    let told =
        told.iter().filter(|line| line.chars().any(char::is_alphanumeric)).copied().collect::<Vec<_>>().join(" ");
    let reason = both.lines().find(|line| line.contains("[remote rejected]"));
    let reason = reason.and_then(|line| line.rsplit_once('(')).map(|(_, rest)| rest.trim_end_matches(')'));
    quoted(if told.is_empty() { reason.unwrap_or("no reason given") } else { &told })
}

/// A remote text made fit for a status: one line, printable, short, in quotes.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let printable: String = lines.chars().filter(|c| !c.is_control()).take(200).collect();
    format!("“{printable}”")
}

#[cfg(test)]
mod tests {
    use vocabulary::TroubleKind;

    use super::*;

    fn trouble(complaint: &str, attempt: Attempt) -> (TroubleKind, String) {
        let failure = Failure::Failed { output: String::new(), complaint: complaint.to_owned() };
        let trouble = of(&failure, &"https://git.acme.com/iac.git".parse().unwrap(), attempt);
        (trouble.kind, trouble.reason)
    }

    #[test]
    fn what_git_says_tells_who_has_to_act() {
        use Attempt::{Read, Write};
        use TroubleKind::{Rejected, Transient};
        for (complaint, attempt, kind, reason) in [
            (
                "fatal: Authentication failed for 'https://git.acme.com/iac.git/'",
                Read,
                Rejected,
                "GitAuthenticationFailed",
            ),
            (
                "could not read Username for 'https://x': terminal prompts disabled",
                Read,
                Rejected,
                "GitAuthenticationFailed",
            ),
            ("git@x: Permission denied (publickey).", Read, Rejected, "GitAuthenticationFailed"),
            ("The requested URL returned error: 403", Write, Rejected, "GitPushNotAllowed"),
            ("remote: Permission to acme/iac.git denied to bot. error: 403", Write, Rejected, "GitPushNotAllowed"),
            ("The requested URL returned error: 403", Read, Rejected, "GitAccessDenied"),
            ("fatal: repository 'https://x/' not found", Read, Rejected, "GitRepositoryNotFound"),
            ("Host key verification failed.", Read, Rejected, "GitHostKeyNotTrusted"),
            ("SSL certificate problem: self-signed certificate", Read, Rejected, "GitCertificateNotTrusted"),
            ("The requested URL returned error: 302", Read, Rejected, "GitRedirectRefused"),
            ("The requested URL returned error: 503", Write, Transient, "GitUnreachable"),
            ("Could not resolve host: git.acme.com", Read, Transient, "GitUnreachable"),
            ("Failed to connect to git.acme.com port 443: Connection refused", Read, Transient, "GitUnreachable"),
            ("fatal: the remote end hung up unexpectedly", Write, Transient, "GitUnreachable"),
        ] {
            assert_eq!(trouble(complaint, attempt), (kind, reason.to_owned()), "{complaint}");
        }
    }

    #[test]
    fn a_refused_push_is_either_too_late_or_against_the_rules() {
        let refused = |output: &str, complaint: &str| {
            refusal(&Failure::Failed { output: output.to_owned(), complaint: complaint.to_owned() })
        };

        assert_eq!(refused("!\ta:b\t[rejected] (fetch first)", ""), Refusal::NotNow("“no reason given”".to_owned()));
        assert_eq!(
            refused(
                "!\ta:b\t[remote rejected] (failed to update ref)",
                "remote: error: cannot lock ref 'refs/heads/main'"
            ),
            Refusal::NotNow("“error: cannot lock ref 'refs/heads/main'”".to_owned())
        );
        assert_eq!(
            refused("!\ta:b\t[remote rejected] (pre-receive hook declined)", "remote: GL-HOOK: no\u{7} bots \n"),
            Refusal::Refused("“GL-HOOK: no bots”".to_owned())
        );
        assert_eq!(
            refused("!\ta:b\t[remote rejected] (protected branch hook declined)", ""),
            Refusal::Refused("“protected branch hook declined”".to_owned())
        );
        assert_eq!(refused("", "fatal: the remote end hung up unexpectedly"), Refusal::Other);
    }
}
