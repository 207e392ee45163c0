//! What kubeopera-api is told at its start.

use std::time::Duration;

use ipnet::IpNet;
use vocabulary::{ClusterName, Domain, GitUrl, SecretName};

/// How the API is served.
#[derive(Debug, Clone)]
pub struct Config {
    /// Other origins whose pages may change things, such as `https://kubeopera.acme.com` behind a proxy that rewrites the
    /// Host header. The page's own origin needs no mention.
    pub trusted_origins: Vec<String>,
    /// Where people open the dashboard, such as `https://kubeopera.acme.com`. If it is https://, browsers are told to come
    /// by no other way.
    pub external_url: Option<String>,
    /// Proxies whose X-Forwarded-For is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// A request that is not answered by then is given up.
    pub request_limit: Duration,
}

impl Default for Config {
    /// No other origins, no proxies, 30 s.
    fn default() -> Self {
        Self {
            trusted_origins: Vec::new(),
            external_url: None,
            trusted_proxies: Vec::new(),
            request_limit: Duration::from_secs(30),
        }
    }
}

/// What a cluster gets unless somebody says otherwise.
#[derive(Debug, Clone)]
pub struct PlatformDefaults {
    /// Repository for the clusters' trees.
    pub git_url: GitUrl,
    /// Secret in kubeopera-system with its credentials.
    pub git_credentials_secret: SecretName,
    /// Domain under which the host cluster's environment is reached, if it is to be.
    pub domain: Option<Domain>,
    /// Name of the host cluster.
    pub host_name: ClusterName,
}
