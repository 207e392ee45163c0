//! The cluster KubeOpera runs on: found, reached, and asked which of this machine's addresses it can call back.

use std::{
    ffi::OsString,
    io::ErrorKind,
    net::{IpAddr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use kube::{
    Client,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use kube_kit::OwnRanges;
use tokio_util::sync::CancellationToken;

use crate::welcome;

/// Where the cluster was found.
#[derive(Debug)]
pub(crate) enum Found {
    /// By the service account of the pod this runs in.
    InCluster,
    /// By a context of a kubeconfig.
    Context {
        /// What was read.
        kubeconfig: Box<Kubeconfig>,
        /// The file that was named; none for the usual place.
        named: Option<PathBuf>,
        /// The context's name.
        context: String,
    },
    /// Nowhere: a local cluster is wanted.
    Nowhere,
}

/// Where kubeconfigs are if nobody names one.
#[derive(Debug, Default)]
struct UsualPlaces {
    /// `KUBECONFIG`: files, as `PATH` has folders.
    variable: OsString,
    home: Option<PathBuf>,
}

/// Looks for the cluster: what was asked for, else the pod's service account, else the kubeconfig's current context.
///
/// Only where there is no kubeconfig at all it is nowhere. One that cannot be read is an error: whoever mistyped its name
/// does not want another cluster.
pub(crate) fn find(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Found> {
    if kubeconfig.is_none() && context.is_none() && kube::Config::incluster().is_ok() {
        return Ok(Found::InCluster);
    }
    let variable = std::env::var_os("KUBECONFIG").unwrap_or_default();
    find_in(kubeconfig, context, &UsualPlaces { variable, home: std::env::home_dir() })
}

fn find_in(kubeconfig: Option<&Path>, context: Option<&str>, places: &UsualPlaces) -> anyhow::Result<Found> {
    let named = kubeconfig.map(Path::to_owned);
    let Some(file) = read(kubeconfig, places)? else {
        return match context {
            Some(context) => {
                bail!("there is no kubeconfig in which to look for the context {context}. Name one with --kubeconfig.")
            }
            None => Ok(Found::Nowhere),
        };
    };
    let context = context.or(file.current_context.as_deref()).filter(|context| !context.is_empty());
    let Some(context) = context.map(str::to_owned) else {
        bail!("the kubeconfig has no current context. Name one with --context, or start a local cluster with --local.");
    };
    if !file.contexts.iter().any(|known| known.name == context) {
        bail!("the kubeconfig has no context {context}. `kubectl config get-contexts` lists those it has.");
    }
    Ok(Found::Context { kubeconfig: Box::new(file), named, context })
}

/// The kubeconfig that was named, else the usual ones merged as `kubectl` does it; none if there is none.
fn read(named: Option<&Path>, places: &UsualPlaces) -> anyhow::Result<Option<Kubeconfig>> {
    let listed: Vec<_> = match named {
        Some(path) => vec![path.to_owned()],
        None => std::env::split_paths(&places.variable).filter(|path| !path.as_os_str().is_empty()).collect(),
    };
    if listed.is_empty() {
        let Some(home) = &places.home else { return Ok(None) };
        let path = home.join(".kube/config");
        return match Kubeconfig::read_from(&path) {
            Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == ErrorKind::NotFound => Ok(None),
            other => other.map(Some).map_err(|error| unreadable(&path, error)),
        };
    }
    let mut merged = Kubeconfig::default();
    for path in listed {
        let next = Kubeconfig::read_from(&path).map_err(|error| unreadable(&path, error))?;
        merged = merged.merge(next).map_err(|error| unreadable(&path, error))?;
    }
    Ok(Some(merged))
}

/// Names the file. What a parser says may quote it, and there are credentials in it.
fn unreadable(path: &Path, error: KubeconfigError) -> anyhow::Error {
    match error {
        KubeconfigError::ReadConfig(error, _) => {
            anyhow::Error::new(error).context(format!("reading the kubeconfig {}", path.display()))
        }
        _ => anyhow::anyhow!("{} cannot be read as a kubeconfig", path.display()),
    }
}

impl Found {
    /// The cluster in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::InCluster => "the cluster this pod runs in".to_owned(),
            Self::Context { context, .. } => format!("context {context}"),
            Self::Nowhere => "no cluster".to_owned(),
        }
    }

    /// What to put behind `kubectl` to reach it.
    pub(crate) fn kubectl(&self) -> String {
        let Self::Context { named, context, .. } = self else { return String::new() };
        let file = named.as_ref().map_or_else(String::new, |path| format!(" --kubeconfig {}", path.display()));
        format!("{file} --context {context}")
    }

    /// How to reach it.
    ///
    /// This is the kubeconfig of the person who starts KubeOpera, used as `kubectl` would use it, programs and proxies
    /// included. The kubeconfigs of clusters to connect never come this way.
    pub(crate) async fn configuration(&self) -> anyhow::Result<kube::Config> {
        let mut config = match self {
            Self::InCluster => kube::Config::incluster().context("reading the pod's service account")?,
            Self::Context { kubeconfig, context, .. } => {
                let options = KubeConfigOptions { context: Some(context.clone()), ..KubeConfigOptions::default() };
                kube::Config::from_custom_kubeconfig(kubeconfig.as_ref().clone(), &options)
                    .await
                    .with_context(|| format!("reading context {context}"))?
            }
            Self::Nowhere => bail!("there is no cluster to reach"),
        };
        config.default_retry = false;
        Ok(config)
    }
}

/// The addresses of the cluster this is a Pod of, read anew until the shutdown. Nothing waits for them: what cannot be read
/// now is read a minute later.
pub(crate) async fn ranges(client: &Client, shutdown: &CancellationToken) -> &'static OwnRanges {
    let ranges: &'static OwnRanges = Box::leak(Box::default());
    if let Err(trouble) = ranges.refresh(client).await {
        welcome::step(&format!("Addresses of this cluster are not refused as those of others yet. {trouble}"));
    }
    tokio::spawn(ranges.keep_fresh(client.clone(), shutdown.clone()));
    ranges
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

    const TWO: &str = "{apiVersion: v1, kind: Config, current-context: one, users: [], clusters: [\
        {name: a, cluster: {server: 'https://192.0.2.1:6443', proxy-url: 'http://192.0.2.9:3128'}}], contexts: [\
        {name: one, context: {cluster: a}}, {name: two, context: {cluster: a}}]}";

    fn kubeconfig(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".kube/config");
        std::fs::create_dir(folder.path().join(".kube")).unwrap();
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn context(found: Found) -> String {
        match found {
            Found::Context { context, .. } => context,
            other => panic!("{other:?}"),
        }
    }

    fn refusal(kubeconfig: Option<&Path>, context: Option<&str>, places: &UsualPlaces) -> String {
        format!("{:#}", find_in(kubeconfig, context, places).unwrap_err())
    }

    #[test]
    fn the_current_context_is_taken_unless_another_is_named() {
        let (_folder, path) = kubeconfig(TWO);
        let nowhere = UsualPlaces::default();

        assert_eq!(context(find_in(Some(&path), None, &nowhere).unwrap()), "one");
        assert_eq!(context(find_in(Some(&path), Some("two"), &nowhere).unwrap()), "two");
        assert!(refusal(Some(&path), Some("three"), &nowhere).contains("no context three"));
    }

    #[test]
    fn a_kubeconfig_must_say_which_cluster_is_meant() {
        let (folder, path) = kubeconfig("{apiVersion: v1, kind: Config, contexts: [], clusters: [], users: []}");
        let home = UsualPlaces { home: Some(folder.path().to_owned()), ..UsualPlaces::default() };

        assert!(refusal(Some(&path), None, &UsualPlaces::default()).contains("--context"));
        assert!(refusal(None, None, &home).contains("--context"));
    }

    #[test]
    fn only_where_there_is_no_kubeconfig_at_all_a_local_cluster_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let empty_home = UsualPlaces { home: Some(folder.path().to_owned()), ..UsualPlaces::default() };

        assert!(matches!(find_in(None, None, &empty_home).unwrap(), Found::Nowhere));
        assert!(matches!(find_in(None, None, &UsualPlaces::default()).unwrap(), Found::Nowhere));
        assert!(refusal(None, Some("one"), &empty_home).contains("--kubeconfig"));
        let mistyped = UsualPlaces { variable: folder.path().join("mistyped").into(), home: None };
        assert!(refusal(None, None, &mistyped).contains("mistyped"));
    }

    #[test]
    fn the_files_of_the_variable_are_one_kubeconfig() {
        let (_one, first) = kubeconfig("{apiVersion: v1, kind: Config, current-context: two}");
        let (_two, second) = kubeconfig(TWO);
        let variable = std::env::join_paths([first, second]).unwrap();

        assert_eq!(context(find_in(None, None, &UsualPlaces { variable, home: None }).unwrap()), "two");
    }

    #[test]
    fn a_broken_kubeconfig_is_named_but_not_quoted_wherever_it_is() {
        let (folder, path) = kubeconfig("users: [{name: a, user: {token: CANARY\n");
        let home = UsualPlaces { home: Some(folder.path().to_owned()), ..UsualPlaces::default() };
        let variable = UsualPlaces { variable: path.clone().into(), home: None };

        for refusal in [
            refusal(Some(&path), None, &UsualPlaces::default()),
            refusal(None, None, &home),
            refusal(None, Some("one"), &variable),
        ] {
            assert!(refusal.contains(".kube/config") && !refusal.contains("CANARY"), "{refusal}");
        }
    }

    #[tokio::test]
    async fn a_cluster_behind_a_proxy_is_reached_through_it() {
        let (_folder, path) = kubeconfig(TWO);

        let found = find_in(Some(&path), None, &UsualPlaces::default()).unwrap();

        assert_eq!(found.configuration().await.unwrap().proxy_url.unwrap(), "http://192.0.2.9:3128");
    }

    #[test]
    fn the_way_back_from_a_loopback_api_server_is_loopback() {
        for api_server in ["https://127.0.0.1:6443", "https://[::1]:6443"] {
            let address = address_towards(&api_server.parse().unwrap()).unwrap();
            assert!(address.is_loopback(), "{api_server}");
        }
    }
}
