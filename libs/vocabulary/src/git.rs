//! Where a cluster's GitOps tree lives: repository URL, branch, and path inside it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::text::text_type;

/// The URL of a Git repository over HTTPS, HTTP or SSH, without credentials, query or fragment.
///
/// Anything else Git would understand (`file:`, `git:`, `ext::`, local paths) could read files or run programs on the
/// server and is refused. The `user@host:path` form is taken as the SSH URL it abbreviates. Plain HTTP is for
/// repositories on one's own machine or network; it is the reader of the URL who decides whether to allow it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GitUrl(Url);

/// The text is not a Git URL KubeOpera uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAGitUrl {
    /// Not a URL, or one without a host or path.
    #[error("this is not the URL of a Git repository. Enter one such as https://github.com/acme/gitops-iac.git.")]
    Malformed,
    /// Not HTTPS, HTTP or SSH.
    #[error("only https://, http:// and ssh:// repositories can be used")]
    Scheme,
    /// A user name or password is part of the URL.
    #[error("the URL contains credentials. Remove them and store them as Git credentials instead.")]
    Credentials,
}

impl GitUrl {
    /// The URL as Flux and Git take it.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// `https`, `http` or `ssh`.
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// The parsed URL.
    pub const fn url(&self) -> &Url {
        &self.0
    }
}

impl FromStr for GitUrl {
    type Err = NotAGitUrl;

    fn from_str(text: &str) -> Result<Self, NotAGitUrl> {
        if text.len() > 2048 || text.chars().any(|c| c.is_control() || c.is_whitespace()) || text.starts_with('-') {
            return Err(NotAGitUrl::Malformed);
        }
        let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&scp_as_ssh(text)?) }
            .map_err(|_| NotAGitUrl::Malformed)?;
        if !matches!(url.scheme(), "https" | "http" | "ssh") {
            return Err(NotAGitUrl::Scheme);
        }
        let user_is_login_name = url.scheme() == "ssh" && !url.username().starts_with('-');
        if url.password().is_some() || !(url.username().is_empty() || user_is_login_name) {
            return Err(NotAGitUrl::Credentials);
        }
        let host = url.host_str().unwrap_or_default();
        let has_path = !url.path().trim_matches('/').is_empty();
        if host.is_empty() || host.starts_with('-') || !has_path || url.query().is_some() || url.fragment().is_some() {
            return Err(NotAGitUrl::Malformed);
        }
        Ok(Self(url))
    }
}

/// `git@host:acme/repo.git` is short for `ssh://git@host/acme/repo.git`.
fn scp_as_ssh(text: &str) -> Result<String, NotAGitUrl> {
    // An IPv6 address has colons of its own.
    let (address, rest) = text.split_at(text.find(']').map_or(0, |end| end + 1));
    let (host, path) = rest.split_once(':').ok_or(NotAGitUrl::Malformed)?;
    let host = format!("{address}{host}");
    if host.is_empty() || host.contains('/') || path.is_empty() || path.starts_with(':') {
        return Err(NotAGitUrl::Malformed);
    }
    Ok(format!("ssh://{host}/{}", path.trim_start_matches('/')))
}

impl TryFrom<String> for GitUrl {
    type Error = NotAGitUrl;
    fn try_from(text: String) -> Result<Self, NotAGitUrl> {
        text.parse()
    }
}

impl From<GitUrl> for String {
    fn from(url: GitUrl) -> Self {
        url.0.into()
    }
}

impl fmt::Display for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

text_type! {
    /// A branch of a repository, such as `main` or `release/2026.11`. Fewer names than Git allows: none that a shell, a
    /// URL or Git's own arguments could take for something else.
    GitBranch, "branch",
    "Use letters, digits, dots, hyphens, underscores, plus signs and single slashes, such as main or platform/production.",
    |text| text.len() <= 200 && text.split('/').all(|part| {
        let inner = |c: u8| c.is_ascii_alphanumeric() || b"._+-".contains(&c);
        !part.is_empty() && part.bytes().all(inner) && !part.starts_with(['.', '-', '+']) && !part.ends_with(['.', '-', '+'])
            && !part.contains("..") && part.strip_suffix(".lock").is_none()
    })
}

/// A folder inside a repository, in the one spelling in which paths are compared: no leading, doubled or trailing
/// slash, no `.` or `..`, nothing hidden, at most 255 characters of letters, digits, `.`, `_`, `-` and `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GitPath(String);

/// The text is not a folder inside a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is not a folder inside a repository. Use letters, digits, dots, hyphens and underscores between single \
     slashes, such as fluxcd/clusters/my-cluster."
)]
pub struct NotAGitPath;

impl GitPath {
    /// `fluxcd/clusters/<name>`, where a cluster's tree lives unless somebody says otherwise.
    pub fn of_cluster(name: &crate::ClusterName) -> Self {
        Self(format!("fluxcd/clusters/{name}"))
    }

    /// The path without leading or trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GitPath {
    type Err = NotAGitPath;

    fn from_str(text: &str) -> Result<Self, NotAGitPath> {
        let path = text.trim_start_matches("./").trim_matches('/');
        let segment_ok = |segment: &str| {
            !segment.is_empty()
                && !segment.starts_with('.')
                && !segment.starts_with('-')
                && segment.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c))
        };
        if path.len() <= 255 && path.split('/').all(segment_ok) { Ok(Self(path.to_owned())) } else { Err(NotAGitPath) }
    }
}

impl TryFrom<String> for GitPath {
    type Error = NotAGitPath;
    fn try_from(text: String) -> Result<Self, NotAGitPath> {
        text.parse()
    }
}

impl From<GitPath> for String {
    fn from(path: GitPath) -> Self {
        path.0
    }
}

impl fmt::Display for GitPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_http_and_ssh_repositories_are_accepted_and_the_short_ssh_form_is_expanded() {
        for (given, kept) in [
            ("https://github.com/acme/gitops-iac.git", "https://github.com/acme/gitops-iac.git"),
            ("https://git.acme.com:8443/a/b", "https://git.acme.com:8443/a/b"),
            ("http://10.201.1.1:8080/gitops.git", "http://10.201.1.1:8080/gitops.git"),
            ("ssh://git@github.com:2222/acme/repo.git", "ssh://git@github.com:2222/acme/repo.git"),
            ("git@github.com:acme/repo.git", "ssh://git@github.com/acme/repo.git"),
            ("https://[2001:DB8::7]:8443/a/b", "https://[2001:db8::7]:8443/a/b"),
            ("ssh://git@[fd00::7]:2222/a/b", "ssh://git@[fd00::7]:2222/a/b"),
            ("git@[fd00::7]:a/b", "ssh://git@[fd00::7]/a/b"),
        ] {
            assert_eq!(given.parse::<GitUrl>().unwrap().as_str(), kept);
        }
    }

    #[test]
    fn urls_that_run_programs_read_files_or_carry_credentials_are_refused() {
        use NotAGitUrl::{Credentials, Malformed, Scheme};
        for (given, why) in [
            ("file:///etc/passwd", Scheme),
            ("git://host/repo.git", Scheme),
            ("ext::sh -c id", Malformed),
            ("ext::id", Malformed),
            ("/srv/repo.git", Malformed),
            ("--upload-pack=id", Malformed),
            ("ssh://-oProxyCommand=id/x", Malformed),
            ("-oX@host:x", Malformed),
            ("https://user:CANARY@host/repo", Credentials),
            ("https://token@host/repo", Credentials),
            ("https://host/repo\n", Malformed),
            ("https://host/repo?x=1", Malformed),
            ("https://host/", Malformed),
            ("", Malformed),
        ] {
            assert_eq!(given.parse::<GitUrl>().unwrap_err(), why, "{given}");
        }
    }

    #[test]
    fn a_branch_has_a_name_that_nothing_takes_for_something_else() {
        for good in ["main", "release/2026.11", "feature_x", "a+b", "v1.2", &"x".repeat(200)] {
            assert!(good.parse::<GitBranch>().is_ok(), "{good}");
        }
        let long = "x".repeat(201);
        for bad in [
            "",
            "/",
            "a/",
            "/a",
            "a//b",
            "-a",
            "--upload-pack=id",
            ".a",
            "a..b",
            "a.lock",
            "a.lock/b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "@{1}",
            "ä",
            "a\n",
            "a.",
            "a-",
            &long,
        ] {
            assert!(bad.parse::<GitBranch>().is_err(), "{bad}");
        }
    }

    #[test]
    fn one_folder_has_one_spelling() {
        for same in ["fluxcd/clusters/prod", "/fluxcd/clusters/prod/", "./fluxcd/clusters/prod"] {
            assert_eq!(same.parse::<GitPath>().unwrap().as_str(), "fluxcd/clusters/prod");
        }
        for bad in ["", "/", "..", "a/../b", "a//b", ".git", "a/.git/b", "a\\b", "a b", "-a", "a\0", &"x/".repeat(200)]
        {
            assert!(bad.parse::<GitPath>().is_err(), "{bad}");
        }
    }
}
