//! Credentials for an image registry: judged before they are stored, and in the form in which Kubernetes keeps them.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use vocabulary::Secret;

use super::Refusal;

const CREDENTIAL_INVALID: &str = "registry_credential_invalid";
/// Tokens and passwords have far less; the key file of a Google service account is one as well.
const LONGEST: usize = 16 * 1024;
/// What Kubernetes and Flux call Docker Hub in a credential, whatever people call it.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// A user of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegistryCredential {
    /// `registry.acme.com:5000`, or `docker.io`.
    pub(crate) server: String,
    pub(crate) username: String,
    pub(crate) password: Secret,
}

/// The text of a `.dockerconfigjson`.
#[derive(Serialize, Deserialize)]
struct DockerConfig {
    auths: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    username: String,
    password: String,
    auth: String,
}

impl RegistryCredential {
    /// One that Kubernetes can use, or the field that is at fault.
    pub(crate) fn judged(server: &str, username: &str, password: &Secret) -> Result<Self, Refusal> {
        let server = host(server).ok_or_else(|| {
            let why = "Enter the host of the registry, with its port if it has one, such as ghcr.io or \
                       registry.acme.com:5000. A path cannot be part of it.";
            Refusal::new("registry_server_invalid", "server", why)
        })?;
        let username = username.trim().to_owned();
        if username.is_empty()
            || username.len() > 255
            || username.contains(':')
            || username.chars().any(char::is_control)
        {
            let why = "Enter a user name of at most 255 characters, without a colon among them.";
            return Err(Refusal::new(CREDENTIAL_INVALID, "username", why));
        }
        // A file's last line ends; the token in it does not.
        let password = Secret::new(password.reveal().trim_end_matches(['\r', '\n']));
        let text = password.reveal();
        if text.is_empty() || text.len() > LONGEST || text.chars().any(|c| c.is_control() && c != '\n') {
            let why = "Enter a password or token of at most 16 KiB.";
            return Err(Refusal::new(CREDENTIAL_INVALID, "password", why));
        }
        Ok(Self { server, username, password })
    }

    /// As Kubernetes keeps it.
    pub(crate) fn docker_config(&self) -> Secret {
        let key = if self.server == "docker.io" { DOCKER_HUB } else { &self.server };
        let (username, password) = (self.username.clone(), self.password.reveal().to_owned());
        let auth = STANDARD.encode(format!("{username}:{password}"));
        let config = DockerConfig { auths: [(key.to_owned(), Entry { username, password, auth })].into() };
        Secret::new(serde_json::to_string(&config).unwrap_or_default())
    }

    /// What was kept in that form by us.
    pub(crate) fn read(docker_config: &[u8]) -> Option<Self> {
        let config: DockerConfig = serde_json::from_slice(docker_config).ok()?;
        let (key, Entry { username, password, .. }) = config.auths.into_iter().next()?;
        let server = if key == DOCKER_HUB { "docker.io".to_owned() } else { key };
        Some(Self { server, username, password: Secret::new(password) })
    }
}

/// The host, and port, that a registry is addressed by in the names of images.
fn host(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let host = text.strip_prefix("https://").unwrap_or(&text).trim_end_matches('/');
    let (name, port) = host.rsplit_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    let is_port = |port: &str| port.bytes().all(|c| c.is_ascii_digit()) && port.parse().is_ok_and(|port: u16| port > 0);
    let is_one = name.len() <= 253 && name.split('.').all(is_label) && port.is_none_or(is_port);
    let is_docker_hub =
        ["index.docker.io", "registry-1.docker.io", "index.docker.io/v1", "hub.docker.com"].contains(&host);
    if is_docker_hub { Some("docker.io".to_owned()) } else { is_one.then(|| host.to_owned()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn judged(server: &str, username: &str, password: &str) -> Result<RegistryCredential, Refusal> {
        RegistryCredential::judged(server, username, &Secret::new(password))
    }

    #[test]
    fn a_registry_is_known_by_the_host_in_the_names_of_its_images() {
        for (given, kept) in [
            ("ghcr.io", "ghcr.io"),
            (" https://Registry.acme.com:5000/ ", "registry.acme.com:5000"),
            ("10.0.0.5:5000", "10.0.0.5:5000"),
            ("registry", "registry"),
            ("docker.io", "docker.io"),
            ("https://index.docker.io/v1/", "docker.io"),
        ] {
            assert_eq!(judged(given, "u", "p").unwrap().server, kept);
        }
        for given in [
            "",
            "http://ghcr.io",
            "ghcr.io/acme",
            "a b",
            "ghcr.io:",
            "ghcr.io:0",
            "ghcr.io:65536",
            "-x",
            "a..b",
            "u:p@ghcr.io",
        ] {
            assert_eq!(judged(given, "u", "p").unwrap_err().code, "registry_server_invalid", "{given}");
        }
    }

    #[test]
    fn what_is_kept_reads_back_as_it_was_and_has_the_key_that_kubernetes_looks_for() {
        for (server, key) in [("docker.io", DOCKER_HUB), ("registry.acme.com:5000", "registry.acme.com:5000")] {
            let credential = judged(server, " bot ", "p\"a:ss\n").unwrap();
            assert_eq!((credential.username.as_str(), credential.password.reveal()), ("bot", "p\"a:ss"));

            let kept = credential.docker_config();

            let json: serde_json::Value = serde_json::from_str(kept.reveal()).unwrap();
            assert_eq!(json["auths"][key]["auth"], STANDARD.encode("bot:p\"a:ss"));
            assert_eq!(RegistryCredential::read(kept.reveal().as_bytes()), Some(credential));
        }
        assert_eq!(RegistryCredential::read(b"{}"), None);
    }

    #[test]
    fn what_is_no_credential_is_refused_by_its_field() {
        let long = "x".repeat(LONGEST + 1);
        for (username, password, field) in [
            ("", "p", "username"),
            ("a:b", "p", "username"),
            ("u", "", "password"),
            ("u", "\u{7}", "password"),
            ("u", &long, "password"),
        ] {
            assert_eq!(judged("ghcr.io", username, password).unwrap_err().field, field);
        }
    }
}
