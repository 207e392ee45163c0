//! A credential in the form git takes it: never in an argument, a URL or a file that is left behind.
//!
//! Over HTTPS it is a header, bound to the repository's URL and handed over in the environment, which only the
//! process's own user can read; that needs no program of ours that git would call back. Over SSH the key has to be a
//! file: it is made for one operation, readable by us alone, and removed with it.

use std::{fs, io, os::unix::fs::OpenOptionsExt, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use gitops_scaffolder_contract::GitCredential;
use tempfile::TempDir;
use vocabulary::{GitUrl, Secret};

/// How one server is spoken to.
pub(crate) struct Access {
    settings: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    secrets: Vec<Secret>,
    /// Removed when this is dropped.
    _files: TempDir,
}

impl Access {
    /// Prepares a credential for a repository. What has to be a file goes to a new folder below `folder`.
    pub(crate) fn new(url: &GitUrl, credential: &GitCredential, folder: &Path) -> io::Result<Self> {
        let files = tempfile::Builder::new().prefix("access-").tempdir_in(folder)?;
        let (mut settings, mut environment, mut secrets) = (Vec::new(), Vec::new(), Vec::new());
        match credential {
            GitCredential::Basic { username, password, certificate_authority } => {
                let token = Secret::new(STANDARD.encode(format!("{username}:{}", password.reveal())));
                let header = format!("Authorization: Basic {}", token.reveal());
                settings.push((format!("http.{url}.extraHeader"), header));
                secrets.extend([password.clone(), token]);
                if let Some(authority) = certificate_authority {
                    let path = write_private(files.path(), "authority.pem", authority)?;
                    settings.push(("http.sslCAInfo".to_owned(), path));
                }
            }
            GitCredential::Ssh { private_key, known_hosts } => {
                environment.push(("GIT_SSH_COMMAND".to_owned(), ssh(files.path(), private_key, known_hosts)?));
                environment.push(("GIT_SSH_VARIANT".to_owned(), "ssh".to_owned()));
                secrets.push(private_key.clone());
            }
        }
        Ok(Self { settings, environment, secrets, _files: files })
    }

    pub(crate) fn settings(&self) -> impl Iterator<Item = (String, String)> {
        self.settings.iter().cloned()
    }

    pub(crate) fn environment(&self) -> impl Iterator<Item = (String, String)> {
        self.environment.iter().cloned()
    }

    /// The text with every secret of this access made unreadable.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let secrets = self.secrets.iter().map(Secret::reveal).filter(|secret| !secret.is_empty());
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "••••••••"))
    }
}

/// The command git runs for SSH: `ssh` with a configuration that has this key, these hosts and nothing else.
fn ssh(folder: &Path, key: &Secret, known_hosts: &str) -> io::Result<String> {
    // OpenSSH refuses a key whose last line does not end.
    let key = write_private(folder, "identity", &format!("{}\n", key.reveal().trim_end()))?;
    let hosts = write_private(folder, "known_hosts", known_hosts)?;
    let settings = format!(
        "Host *\n  IdentityFile \"{key}\"\n  IdentitiesOnly yes\n  UserKnownHostsFile \"{hosts}\"\n  \
         GlobalKnownHostsFile none\n  StrictHostKeyChecking yes\n  UpdateHostKeys no\n  BatchMode yes\n  \
         ConnectTimeout 10\n  ServerAliveInterval 10\n  ForwardAgent no\n  PermitLocalCommand no\n"
    );
    let settings = write_private(folder, "config", &settings)?;
    Ok(format!("ssh -F '{}'", settings.replace('\'', "'\\''")))
}

fn write_private(folder: &Path, name: &str, text: &str) -> io::Result<String> {
    let path = folder.join(name);
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    io::Write::write_all(&mut &file, text.as_bytes())?;
    path.into_os_string().into_string().map_err(|_| io::Error::other("the working folder's name is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic() -> GitCredential {
        GitCredential::Basic { username: "bot".into(), password: Secret::new("CANARY"), certificate_authority: None }
    }

    #[test]
    fn neither_the_password_nor_its_encoded_form_survives_in_what_git_said() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::new(&"https://acme.com/r.git".parse().unwrap(), &basic(), folder.path()).unwrap();

        let scrubbed = access.scrub("fatal: CANARY and Ym90OkNBTkFSWQ== refused");

        assert_eq!(scrubbed, "fatal: •••••••• and •••••••• refused");
    }

    #[test]
    fn the_header_goes_to_the_repository_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::new(&"https://acme.com/r.git".parse().unwrap(), &basic(), folder.path()).unwrap();

        let keys: Vec<String> = access.settings().map(|(key, _)| key).collect();

        assert_eq!(keys, ["http.https://acme.com/r.git.extraHeader"]);
    }

    #[test]
    fn an_ssh_key_is_ours_alone_and_gone_with_the_operation() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let credential =
            GitCredential::Ssh { private_key: Secret::new("CANARY"), known_hosts: "acme.com ssh-ed25519 AAAA".into() };

        let access = Access::new(&"git@acme.com:r.git".parse().unwrap(), &credential, folder.path()).unwrap();
        let key = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path().join("identity");
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(access.environment().all(|(_, value)| !value.contains("CANARY")));
        drop(access);

        assert!(!key.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
