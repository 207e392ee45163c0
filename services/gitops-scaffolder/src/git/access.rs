//! A credential in the form git takes it: never in an argument, a URL or a file that is left behind.
//!
//! Over HTTPS it is a header, bound to the repository's URL and handed over in the environment, which only the
//! process's own user can read; that needs no program of ours that git would call back. Over SSH the key has to be a
//! file: it is made for one operation, readable by us alone, and removed with it.

use std::{fs, io, net::IpAddr, os::unix::fs::OpenOptionsExt, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use gitops_scaffolder_contract::GitCredential;
use tempfile::TempDir;
use vocabulary::{GitUrl, Secret};

use super::server::{host_of, known_host, port_of};

/// How one server is spoken to.
pub(crate) struct Access {
    settings: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    secrets: Vec<Secret>,
    address: Option<IpAddr>,
    /// Removed when this is dropped.
    _files: TempDir,
}

impl Access {
    /// Prepares a credential for a repository whose server is at these addresses, or wherever git finds it if there are
    /// none. What has to be a file goes to a new folder below `folder`.
    pub(crate) fn new(
        url: &GitUrl,
        addresses: &[IpAddr],
        credential: &GitCredential,
        folder: &Path,
    ) -> io::Result<Self> {
        let files = tempfile::Builder::new().prefix("access-").tempdir_in(folder)?;
        let (mut settings, mut environment, mut secrets) = (Vec::new(), Vec::new(), Vec::new());
        let address = addresses.first().copied();
        if !addresses.is_empty() {
            let addresses: Vec<_> = addresses.iter().map(in_url).collect();
            let found = format!("{}:{}:{}", host_of(url), port_of(url), addresses.join(","));
            settings.push(("http.curloptResolve".to_owned(), found));
        }
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
                environment
                    .push(("GIT_SSH_COMMAND".to_owned(), ssh(files.path(), url, address, private_key, known_hosts)?));
                environment.push(("GIT_SSH_VARIANT".to_owned(), "ssh".to_owned()));
                secrets.push(private_key.clone());
            }
        }
        Ok(Self { settings, environment, secrets, address, _files: files })
    }

    /// Where an SSH server is connected to, if its name was resolved.
    pub(crate) const fn address(&self) -> Option<IpAddr> {
        self.address
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
fn ssh(folder: &Path, url: &GitUrl, address: Option<IpAddr>, key: &Secret, known_hosts: &str) -> io::Result<String> {
    // OpenSSH refuses a key whose last line does not end.
    let key = write_private(folder, "identity", &format!("{}\n", key.reveal().trim_end()))?;
    let hosts = write_private(folder, "known_hosts", known_hosts)?;
    let settings = format!(
        "Host *\n  IdentityFile \"{key}\"\n  IdentitiesOnly yes\n  UserKnownHostsFile \"{hosts}\"\n  \
         GlobalKnownHostsFile none\n  StrictHostKeyChecking yes\n  UpdateHostKeys no\n  BatchMode yes\n  \
         ConnectTimeout 10\n  ServerAliveInterval 10\n  ForwardAgent no\n  PermitLocalCommand no\n"
    );
    // It is known by its name all the same.
    let at = address.map(|address| format!("  HostName {address}\n  HostKeyAlias {}\n", known_host(url)));
    let settings = settings + &at.unwrap_or_default();
    let settings = write_private(folder, "config", &settings)?;
    Ok(format!("ssh -F '{}'", settings.replace('\'', "'\\''")))
}

/// An address as curl reads it.
fn in_url(address: &IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    }
}

fn write_private(folder: &Path, name: &str, text: &str) -> io::Result<String> {
    let path = folder.join(name);
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    io::Write::write_all(&mut &file, text.as_bytes())?;
    path.into_os_string().into_string().map_err(|_| io::Error::other("the working folder's name is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{io::AsyncReadExt, net::TcpListener};

    use super::*;
    use crate::git::program::Git;

    /// What git sends first to a server whose name no DNS knows, when it is told where that is.
    async fn first_bytes_sent(url: &str, credential: &GitCredential) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = url.replace("PORT", &server.local_addr().unwrap().port().to_string());
        let git = Git::new(folder.path(), Duration::from_secs(20)).await.unwrap();
        let here = [IpAddr::from([127, 0, 0, 1])];
        let mut access = Access::new(&url.parse().unwrap(), &here, credential, folder.path()).unwrap();
        // Whatever proxy this machine has, it is not what is asked about here.
        access.environment.extend(["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), "*".to_owned())));
        let arguments = ["ls-remote", "--", url.as_str()];
        let called = async {
            let (mut stream, _) = server.accept().await.unwrap();
            let mut sent = vec![0; 3];
            stream.read_exact(&mut sent).await.unwrap();
            sent
        };
        tokio::select! {
            sent = called => sent,
            ended = git.remote(folder.path(), &arguments, &access) => panic!("nobody was called: {ended:?}"),
        }
    }

    #[tokio::test]
    async fn git_connects_to_the_address_that_was_judged_and_asks_for_no_other() {
        let ssh = GitCredential::Ssh { private_key: Secret::new("CANARY"), known_hosts: String::new() };

        let over_https = first_bytes_sent("https://git.invalid:PORT/r.git", &basic()).await;
        let over_ssh = first_bytes_sent("ssh://git@git.invalid:PORT/r.git", &ssh).await;

        assert_eq!((over_https, over_ssh), (vec![22, 3, 1], b"SSH".to_vec()), "a TLS handshake, and SSH's greeting");
    }

    fn basic() -> GitCredential {
        GitCredential::Basic { username: "bot".into(), password: Secret::new("CANARY"), certificate_authority: None }
    }

    #[test]
    fn neither_the_password_nor_its_encoded_form_survives_in_what_git_said() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::new(&"https://acme.com/r.git".parse().unwrap(), &[], &basic(), folder.path()).unwrap();

        let scrubbed = access.scrub("fatal: CANARY and Ym90OkNBTkFSWQ== refused");

        assert_eq!(scrubbed, "fatal: •••••••• and •••••••• refused");
    }

    #[test]
    fn the_header_goes_to_the_repository_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::new(&"https://acme.com/r.git".parse().unwrap(), &[], &basic(), folder.path()).unwrap();

        let keys: Vec<String> = access.settings().map(|(key, _)| key).collect();

        assert_eq!(keys, ["http.https://acme.com/r.git.extraHeader"]);
    }

    #[test]
    fn an_ssh_key_is_ours_alone_and_gone_with_the_operation() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let credential =
            GitCredential::Ssh { private_key: Secret::new("CANARY"), known_hosts: "acme.com ssh-ed25519 AAAA".into() };

        let access = Access::new(&"git@acme.com:r.git".parse().unwrap(), &[], &credential, folder.path()).unwrap();
        let key = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path().join("identity");
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(access.environment().all(|(_, value)| !value.contains("CANARY")));
        drop(access);

        assert!(!key.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
