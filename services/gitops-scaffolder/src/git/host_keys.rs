//! Which host keys an SSH server offers, asked with OpenSSH's own `ssh-keyscan`. What it says is not to be trusted but to
//! be compared by people.

use std::path::Path;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD},
};
use gitops_scaffolder_contract::HostKey;
use sha2::{Digest, Sha256};
use vocabulary::GitUrl;

use super::program::{Failure, Git};

/// The kinds of keys that Flux knows as well.
const KINDS: &str = "ed25519,ecdsa,rsa";
/// Seconds for one connection.
const PATIENCE: &str = "5";

/// The keys that the server of a repository offers; none if it cannot be asked.
pub(crate) async fn offered(git: &Git, folder: &Path, url: &GitUrl) -> Result<Vec<HostKey>, Failure> {
    let host = url.url().host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.url().port().unwrap_or(22).to_string();
    let told = git.keyscan(folder, &["-T", PATIENCE, "-t", KINDS, "-p", &port, "--", host]).await?;
    Ok(String::from_utf8_lossy(&told).lines().filter_map(host_key).collect())
}

/// `<host> <kind> <key>`; what the server says of itself comes after a `#`.
fn host_key(line: &str) -> Option<HostKey> {
    let mut words = line.split_ascii_whitespace();
    let (host, algorithm, key) = (words.next()?, words.next()?, words.next()?);
    let digest = Sha256::digest(STANDARD.decode(key).ok()?);
    (!host.starts_with('#')).then(|| HostKey {
        algorithm: algorithm.to_owned(),
        fingerprint: format!("SHA256:{}", STANDARD_NO_PAD.encode(digest)),
        known_hosts: format!("{host} {algorithm} {key}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_key_with_the_fingerprint_that_ssh_keygen_tells() {
        let line = "git.acme.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";

        let key = host_key(line).unwrap();

        // GitHub's, as it publishes it.
        assert_eq!(key.fingerprint, "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
        assert_eq!((key.algorithm.as_str(), key.known_hosts.as_str()), ("ssh-ed25519", line));
        assert_eq!(host_key("# git.acme.com:22 SSH-2.0-OpenSSH_9.2"), None);
        assert_eq!(host_key("git.acme.com ssh-ed25519 CANARY!"), None);
    }
}
