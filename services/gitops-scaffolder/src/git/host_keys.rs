//! Which host keys an SSH server offers, asked with OpenSSH's own `ssh-keyscan`. What it says is not to be trusted but to
//! be compared by people.

use std::{net::IpAddr, path::Path};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD},
};
use gitops_scaffolder_contract::HostKey;
use sha2::{Digest, Sha256};
use vocabulary::GitUrl;

use super::{
    program::{Failure, Git},
    server::{host_of, known_host, port_of},
};

/// The kinds of keys that Flux knows as well.
const KINDS: &str = "ed25519,ecdsa,rsa";
/// Seconds for one connection.
const PATIENCE: &str = "5";

/// The keys that the server of a repository offers, at an address if its name was resolved; none if it cannot be asked.
pub(crate) async fn offered(
    git: &Git,
    folder: &Path,
    url: &GitUrl,
    address: Option<IpAddr>,
) -> Result<Vec<HostKey>, Failure> {
    let at = address.map_or_else(|| host_of(url).to_owned(), |address| address.to_string());
    let port = port_of(url).to_string();
    let told = git.keyscan(folder, &["-T", PATIENCE, "-t", KINDS, "-p", &port, "--", &at]).await?;
    let known = known_host(url);
    Ok(String::from_utf8_lossy(&told).lines().filter_map(|line| host_key(line, &known)).collect())
}

/// `<host> <kind> <key>`; what the server says of itself comes after a `#`. The host that was asked may be an address of
/// the one that is to be known.
fn host_key(line: &str, known: &str) -> Option<HostKey> {
    let mut words = line.split_ascii_whitespace();
    let (host, algorithm, key) = (words.next()?, words.next()?, words.next()?);
    let digest = Sha256::digest(STANDARD.decode(key).ok()?);
    (!host.starts_with('#')).then(|| HostKey {
        algorithm: algorithm.to_owned(),
        fingerprint: format!("SHA256:{}", STANDARD_NO_PAD.encode(digest)),
        known_hosts: format!("{known} {algorithm} {key}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_key_with_the_fingerprint_that_ssh_keygen_tells() {
        let line = "git.acme.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";

        let key = host_key(&line.replace("git.acme.com", "10.0.0.7"), "git.acme.com").unwrap();

        // GitHub's, as it publishes it.
        assert_eq!(key.fingerprint, "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
        assert_eq!((key.algorithm.as_str(), key.known_hosts.as_str()), ("ssh-ed25519", line));
        assert_eq!(host_key("# git.acme.com:22 SSH-2.0-OpenSSH_9.2", "git.acme.com"), None);
        assert_eq!(host_key("git.acme.com ssh-ed25519 CANARY!", "git.acme.com"), None);
    }
}
