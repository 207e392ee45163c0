//! Charts and images from a registry of one's own, for sites that reach no other.
//!
//! A mirror keeps everything under the name it has upstream: `quay.io/jetstack/cert-manager-controller` becomes
//! `<mirror>/quay.io/jetstack/cert-manager-controller`, and the chart `metrics-server` of the Helm repository
//! `https://kubernetes-sigs.github.io/metrics-server/` becomes
//! `oci://<mirror>/kubernetes-sigs.github.io/metrics-server/metrics-server`.

use serde::{Deserialize, Serialize};

use crate::component::ChartSource;

/// A registry that holds what the tree needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mirror {
    host: MirrorHost,
    #[serde(default)]
    plain_http: bool,
}

/// `host[:port][/prefix]` as it stands in image names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct MirrorHost(String);

/// The text is not the address of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAMirror;

impl std::fmt::Display for NotAMirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this is not the address of a registry. Use host, host:port or host:port/prefix in lower case.")
    }
}

impl std::error::Error for NotAMirror {}

impl Mirror {
    /// The registry at `host`, which is `host[:port][/prefix]`; spoken to without TLS if `plain_http`.
    pub fn new(host: &str, plain_http: bool) -> Result<Self, NotAMirror> {
        Ok(Self { host: host.to_owned().try_into()?, plain_http })
    }

    /// Whether Flux must speak plain HTTP to it.
    pub const fn plain_http(&self) -> bool {
        self.plain_http
    }

    /// The name under which the mirror holds an image (with or without tag).
    pub fn image(&self, image: &str) -> String {
        format!("{}/{}", self.host.0, canonical(image))
    }

    /// What takes the place of a registry's host in charts that name host and repository apart.
    pub fn registry(&self, registry: &str) -> String {
        format!("{}/{registry}", self.host.0)
    }

    /// The `oci://` URL under which the mirror holds a chart.
    pub fn chart(&self, source: ChartSource) -> String {
        let path = match source {
            ChartSource::Oci(url) => url.trim_start_matches("oci://").to_owned(),
            ChartSource::Repository { url, chart } => {
                format!("{}/{chart}", url.trim_start_matches("https://").trim_end_matches('/'))
            }
        };
        format!("oci://{}/{path}", self.host.0)
    }
}

/// The full name of an image: `traefik` and `docker.io/traefik` are short for `docker.io/library/traefik`.
fn canonical(image: &str) -> String {
    let (registry, path) = match image.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        _ => ("docker.io", image),
    };
    let official = registry == "docker.io" && !path.contains('/');
    format!("{registry}/{}{path}", if official { "library/" } else { "" })
}

impl TryFrom<String> for MirrorHost {
    type Error = NotAMirror;

    fn try_from(text: String) -> Result<Self, NotAMirror> {
        let letter = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_part = |part: &str| {
            let ends_ok = part.bytes().next().is_some_and(letter) && part.bytes().last().is_some_and(letter);
            ends_ok && part.bytes().all(|c| letter(c) || b"._-".contains(&c))
        };
        let (authority, prefix) = text.split_once('/').map_or((text.as_str(), None), |(host, path)| (host, Some(path)));
        let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
        let port_ok = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number.to_string() == port));
        let prefix_ok = prefix.is_none_or(|prefix| prefix.split('/').all(is_part));
        if text.len() <= 253 && is_part(host) && port_ok && prefix_ok { Ok(Self(text)) } else { Err(NotAMirror) }
    }
}

impl From<MirrorHost> for String {
    fn from(host: MirrorHost) -> Self {
        host.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_holds_everything_under_its_upstream_name() {
        let mirror = Mirror::new("10.201.0.1:5000", true).unwrap();

        for (upstream, mirrored) in [
            ("quay.io/jetstack/cert-manager-controller", "10.201.0.1:5000/quay.io/jetstack/cert-manager-controller"),
            ("docker.io/traefik", "10.201.0.1:5000/docker.io/library/traefik"),
            ("traefik:v3", "10.201.0.1:5000/docker.io/library/traefik:v3"),
            ("rancher/local-path", "10.201.0.1:5000/docker.io/rancher/local-path"),
            ("localhost:5000/x", "10.201.0.1:5000/localhost:5000/x"),
        ] {
            assert_eq!(mirror.image(upstream), mirrored);
        }
        assert_eq!(
            mirror.chart(ChartSource::Oci("oci://ghcr.io/traefik/helm/traefik")),
            "oci://10.201.0.1:5000/ghcr.io/traefik/helm/traefik"
        );
        let classic = ChartSource::Repository {
            url: "https://kubernetes-sigs.github.io/metrics-server/",
            chart: "metrics-server",
        };
        assert_eq!(
            mirror.chart(classic),
            "oci://10.201.0.1:5000/kubernetes-sigs.github.io/metrics-server/metrics-server"
        );
    }

    #[test]
    fn only_the_address_of_a_registry_is_a_mirror() {
        for good in ["registry.acme.com", "registry.acme.com:443", "10.0.0.1:5000", "r.acme.com/mirror/k8s"] {
            assert!(Mirror::new(good, false).is_ok(), "{good}");
        }
        for bad in ["", "https://r.acme.com", "r.acme.com/", "r.acme.com:x", "r:99999", "a b", "R.acme.com", "-r", "r:"]
        {
            assert!(Mirror::new(bad, false).is_err(), "{bad}");
        }
    }
}
