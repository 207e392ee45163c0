//! What kubeopera-api is told at its start.

use std::{sync::Arc, time::Duration};

use cluster_provisioner_contract::ClusterProvisioner;
use ipnet::IpNet;
use kube_kit::{KubeconfigOptions, Leadership};
use vocabulary::{ClusterName, Domain, GitUrl, SecretName};

use crate::notices::Notices;

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
    /// Where kubeconfigs that people bring may lead.
    pub kubeconfigs: KubeconfigOptions,
    /// Where notices of clusters whose colour changes go, if anywhere.
    pub notices: Option<Notices>,
    /// Whether this process leads those that share its work: it alone sends notices. Requests are served by all.
    pub leadership: Leadership,
    /// A request that is not answered by then is given up.
    pub request_limit: Duration,
    /// What one person may do how often.
    pub allowances: Allowances,
    /// What creates and deletes clusters, and shows how far it is; without it there is nothing to show.
    pub provisioner: Option<Arc<dyn ClusterProvisioner>>,
}

/// What one person may do how often, however many processes serve them.
#[derive(Debug, Clone, Copy)]
pub struct Allowances {
    /// Have a kubeconfig checked. It makes KubeOpera call an address of their choice: without a limit, ports behind its
    /// firewall could be looked for.
    pub checks: Allowance,
    /// Connect a cluster, or replace its kubeconfig, whatever comes of it.
    pub connects: Allowance,
    /// Ask for a cluster to be created, whatever comes of it.
    pub creates: Allowance,
}

/// So many times within a span of time that ends now.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    /// How often.
    pub times: u64,
    /// In which time.
    pub within: Duration,
}

impl Default for Allowances {
    /// Ten checks and ten connects in ten minutes, twenty creates in an hour.
    fn default() -> Self {
        let ten = Allowance { times: 10, within: Duration::from_mins(10) };
        Self { checks: ten, connects: ten, creates: Allowance { times: 20, within: Duration::from_hours(1) } }
    }
}

impl Default for Config {
    /// No other origins, no proxies, kubeconfigs to anywhere but here, no notices, no other process, 30 s, the usual
    /// allowances.
    fn default() -> Self {
        Self {
            trusted_origins: Vec::new(),
            external_url: None,
            trusted_proxies: Vec::new(),
            kubeconfigs: KubeconfigOptions::default(),
            notices: None,
            leadership: Leadership::unshared(),
            request_limit: Duration::from_secs(30),
            allowances: Allowances::default(),
            provisioner: None,
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
