//! The cluster KubeOpera runs on: found, reached, and asked which of this machine's addresses it can call back.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};

/// Where the cluster was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// By the service account of the pod this runs in.
    InCluster,
    /// A context of a kubeconfig.
    Context {
        /// The file, or the usual place.
        kubeconfig: Option<PathBuf>,
        /// The context's name.
        context: String,
    },
    /// Nowhere: a local cluster is wanted.
    Nowhere,
}

/// Looks for the cluster: what was asked for, else the pod's service account, else the kubeconfig's current context.
pub(crate) fn find(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Found> {
    let asked_for = kubeconfig.is_some() || context.is_some();
    if !asked_for && kube::Config::incluster().is_ok() {
        return Ok(Found::InCluster);
    }
    let read = match kubeconfig {
        Some(path) => Kubeconfig::read_from(path)
            .map_err(|_| anyhow::anyhow!("{} cannot be read as a kubeconfig", path.display()))
            .map(Some)?,
        None => Kubeconfig::read().ok(),
    };
    let current = read.and_then(|file| context.map(str::to_owned).or(file.current_context));
    match current {
        Some(context) if !context.is_empty() => {
            Ok(Found::Context { kubeconfig: kubeconfig.map(Path::to_owned), context })
        }
        _ if asked_for => bail!("the kubeconfig has no current context. Name one with --context."),
        _ => Ok(Found::Nowhere),
    }
}

/// How to reach a cluster that was found.
///
/// This is the kubeconfig of the person who starts KubeOpera, used as `kubectl` would use it, programs included. The
/// kubeconfigs of clusters to connect never come this way.
pub(crate) async fn configuration(found: &Found) -> anyhow::Result<kube::Config> {
    let mut config = match found {
        Found::InCluster => kube::Config::incluster().context("reading the pod's service account")?,
        Found::Context { kubeconfig, context } => {
            let options = KubeConfigOptions { context: Some(context.clone()), ..KubeConfigOptions::default() };
            match kubeconfig {
                Some(path) => {
                    let file = Kubeconfig::read_from(path)
                        .map_err(|_| anyhow::anyhow!("{} cannot be read as a kubeconfig", path.display()))?;
                    kube::Config::from_custom_kubeconfig(file, &options).await
                }
                None => kube::Config::from_kubeconfig(&options).await,
            }
            .with_context(|| format!("reading context {context}"))?
        }
        Found::Nowhere => bail!("there is no cluster to reach"),
    };
    config.default_retry = false;
    Ok(config)
}

/// The address of this machine from which it reaches the API server, which is the one at which that network reaches
/// this machine. Nothing is sent: connecting a datagram socket only asks the routing table.
pub(crate) fn address_towards(api_server: &http::Uri) -> anyhow::Result<IpAddr> {
    let host = api_server.host().context("the API server's URL has no host")?.trim_matches(['[', ']']).to_owned();
    let port = api_server.port_u16().unwrap_or(443);
    let target: SocketAddr = std::net::ToSocketAddrs::to_socket_addrs(&(host.as_str(), port))
        .with_context(|| format!("looking up {host}"))?
        .next()
        .with_context(|| format!("{host} has no address"))?;
    let any: SocketAddr = if target.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).context("opening a socket")?;
    socket.connect(target).with_context(|| format!("finding the way to {host}"))?;
    Ok(socket.local_addr().context("finding the way back")?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn the_current_context_is_taken_unless_another_is_named() {
        let (_folder, path) =
            kubeconfig("{apiVersion: v1, kind: Config, current-context: one, contexts: [], clusters: [], users: []}");

        let current = find(Some(&path), None).unwrap();
        let named = find(Some(&path), Some("two")).unwrap();

        assert_eq!(current, Found::Context { kubeconfig: Some(path.clone()), context: "one".into() });
        assert_eq!(named, Found::Context { kubeconfig: Some(path), context: "two".into() });
    }

    #[test]
    fn a_kubeconfig_that_was_asked_for_must_say_which_cluster_is_meant() {
        let (_folder, path) = kubeconfig("{apiVersion: v1, kind: Config, contexts: [], clusters: [], users: []}");

        assert!(find(Some(&path), None).unwrap_err().to_string().contains("--context"));
    }

    #[test]
    fn a_broken_kubeconfig_is_named_but_not_quoted() {
        let (_folder, path) = kubeconfig("users: [{name: a, user: {token: CANARY\n");

        let error = format!("{:#}", find(Some(&path), None).unwrap_err());

        assert!(error.contains("config") && !error.contains("CANARY"), "{error}");
    }

    #[test]
    fn the_way_back_from_a_loopback_api_server_is_loopback() {
        let address = address_towards(&"https://127.0.0.1:6443".parse().unwrap()).unwrap();

        assert!(address.is_loopback());
    }
}
