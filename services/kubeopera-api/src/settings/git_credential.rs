//! Credentials for a Git repository: judged before they are stored, and described without what is secret.

use gitops_scaffolder_contract::{GitCredential, HostKey};
use rustls_pki_types::{CertificateDer, pem::PemObject};
use ssh_key::{HashAlg, KnownHosts, PrivateKey, PublicKey, known_hosts::Marker};
use vocabulary::{GitUrl, Secret};

use super::Refusal;

const CODE: &str = "git_credential_invalid";
/// Tokens and passwords have far less.
const LONGEST: usize = 4096;
/// A handful of certificates, or of host keys.
const LONGEST_TEXT: usize = 64 * 1024;
/// Of a shorter password the last four characters would tell too much.
const SHORTEST_TO_SHOW_THE_END_OF: usize = 16;

/// A credential without what is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CredentialSeen {
    Basic {
        username: String,
        /// Last four characters of the password or token; none of a short one.
        last_four: Option<String>,
        has_certificate_authority: bool,
    },
    Ssh {
        /// `SHA256:…` of the public key; none of a key in a form that only OpenSSH reads.
        key_fingerprint: Option<String>,
        host_keys: Vec<HostKey>,
    },
}

impl CredentialSeen {
    pub(crate) fn of(credential: &GitCredential) -> Self {
        match credential {
            GitCredential::Basic { username, password, certificate_authority } => {
                let characters: Vec<char> = password.reveal().chars().collect();
                let end = characters.len().checked_sub(4).filter(|_| characters.len() >= SHORTEST_TO_SHOW_THE_END_OF);
                Self::Basic {
                    username: username.clone(),
                    last_four: end.and_then(|end| characters.get(end..)).map(|last| last.iter().collect()),
                    has_certificate_authority: certificate_authority.is_some(),
                }
            }
            GitCredential::Ssh { private_key, known_hosts } => {
                let key = PrivateKey::from_openssh(private_key.reveal()).ok();
                Self::Ssh {
                    key_fingerprint: key.map(|key| key.fingerprint(HashAlg::Sha256).to_string()),
                    host_keys: KnownHosts::new(known_hosts)
                        .filter_map(Result::ok)
                        .map(|entry| host_key(&entry))
                        .collect(),
                }
            }
        }
    }
}

fn host_key(entry: &ssh_key::known_hosts::Entry) -> HostKey {
    let key: &PublicKey = entry.public_key();
    HostKey {
        algorithm: key.algorithm().to_string(),
        fingerprint: key.fingerprint(HashAlg::Sha256).to_string(),
        known_hosts: entry.to_string(),
    }
}

/// A user name with a password or token, for a repository over HTTPS.
pub(crate) fn basic(
    url: &GitUrl,
    username: Option<String>,
    password: &Secret,
    certificate_authority: Option<String>,
) -> Result<GitCredential, Refusal> {
    let refused = |field, message: &'static str| Err(Refusal::new(CODE, field, message));
    if url.scheme() == "ssh" {
        let why = "A repository over ssh:// takes a private key. Use one, or the https:// URL of the repository.";
        return refused("credential.type", why);
    }
    let username = username.unwrap_or_default().trim().to_owned();
    let username = if username.is_empty() { "git".to_owned() } else { username };
    if username.len() > 255 || username.contains(':') || username.chars().any(char::is_control) {
        return refused("credential.username", "A user name has at most 255 characters, and no colon among them.");
    }
    // A file's last line ends; the token in it does not.
    let password = Secret::new(password.reveal().trim_end_matches(['\r', '\n']));
    let text = password.reveal();
    if text.is_empty() || text.len() > LONGEST || text.chars().any(char::is_control) {
        let why = "Enter a password or token: one line of at most 4096 characters.";
        return refused("credential.password", why);
    }
    let certificate_authority = certificate_authority.filter(|text| !text.trim().is_empty());
    if certificate_authority.as_deref().is_some_and(|text| !is_certificates(text)) {
        let why = "Paste certificates in PEM, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----, and no \
                   private key.";
        return refused("credential.certificate_authority", why);
    }
    Ok(GitCredential::Basic { username, password, certificate_authority })
}

fn is_certificates(text: &str) -> bool {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    text.len() <= LONGEST_TEXT && !text.contains("PRIVATE KEY") && all.is_ok_and(|all| !all.is_empty())
}

/// What a private key and host keys are wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be stored: the server has to be known by its host key.
    Store,
    /// To be tried: without a known host key, the server is asked for those it offers.
    Try,
}

/// A private key with the host keys of the server, for a repository over SSH.
pub(crate) fn ssh(
    url: &GitUrl,
    private_key: &Secret,
    known_hosts: &str,
    purpose: Purpose,
) -> Result<GitCredential, Refusal> {
    let refused = |field, message: &'static str| Err(Refusal::new(CODE, field, message));
    if url.scheme() != "ssh" {
        let why =
            "A repository over https:// takes a user name and a token. Use those, or the ssh:// URL of the repository.";
        return refused("credential.type", why);
    }
    let text = private_key.reveal().trim();
    match PrivateKey::from_openssh(text) {
        Ok(key) if key.is_encrypted() => {
            let why = "This private key has a passphrase, which nobody could enter. Make a key without one: \
                       ssh-keygen -t ed25519 -N '' -f kubeopera.";
            return refused("credential.private_key", why);
        }
        Ok(_) => {}
        Err(_) => {
            let why = "This is not a private key in OpenSSH's form. Paste the whole file, from \
                       -----BEGIN OPENSSH PRIVATE KEY----- to -----END OPENSSH PRIVATE KEY-----; an older form becomes one \
                       with ssh-keygen -p -N '' -f FILE.";
            return refused("credential.private_key", why);
        }
    }
    let field = "credential.known_hosts";
    let host = host_in_known_hosts(url);
    let mut is_known = false;
    for entry in KnownHosts::new(known_hosts) {
        let Ok(entry) = entry else {
            return refused(field, "Each line has a host, a kind of key and the key, as ssh-keyscan prints them.");
        };
        if matches!(entry.marker(), Some(Marker::CertAuthority)) {
            let why = "Flux cannot use host certificates. Paste the host keys themselves, as ssh-keyscan prints them.";
            return refused(field, why);
        }
        // Of a hashed name nobody can tell whose it is; the connection shows it.
        let is_hashed = matches!(entry.host_patterns(), ssh_key::known_hosts::HostPatterns::HashedName { .. });
        is_known |= is_hashed || entry.host_patterns().to_string().split(',').any(|name| name == host);
    }
    if known_hosts.len() > LONGEST_TEXT || (purpose == Purpose::Store && !is_known) {
        let message = format!(
            "There is no host key of {host} among these. Have the repository checked to see which keys the server offers, \
             and compare them with those its operator publishes."
        );
        return Err(Refusal::new(CODE, field, message));
    }
    let private_key = Secret::new(format!("{text}\n"));
    Ok(GitCredential::Ssh { private_key, known_hosts: format!("{}\n", known_hosts.trim()) })
}

/// `git.acme.com`, or `[git.acme.com]:2222`.
fn host_in_known_hosts(url: &GitUrl) -> String {
    let host = url.url().host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_lowercase();
    match url.url().port() {
        None | Some(22) => host,
        Some(port) => format!("[{host}]:{port}"),
    }
}
