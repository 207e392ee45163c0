//! Addresses that a kubeconfig must not lead to.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;
use tower::{BoxError, Service};
use url::{Host, Url};

use super::KubeconfigOptions;

/// Why no connection is made to an address, as the words after "the address".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error(
        "leads into the machine or cluster that KubeOpera runs on, or to a cloud's metadata service. For the cluster \
         KubeOpera runs on use Register This Cluster; for any other use an address that leads to it from outside."
    )]
    Inward,
    #[error(
        "is in none of the ranges that this KubeOpera may connect to. Ask whoever runs it: --allowed-target-cidr names \
         them."
    )]
    OutOfRange,
}

/// Whether a connection may be made to an address.
pub(super) fn judge(address: IpAddr, options: KubeconfigOptions) -> Result<(), Refused> {
    if is_forbidden(address, options) || is_own(address, options) {
        return Err(Refused::Inward);
    }
    let (ranges, plain) = (options.allowed_targets, address.to_canonical());
    let is_within = ranges.is_empty() || ranges.iter().any(|range| range.contains(&plain));
    if is_within { Ok(()) } else { Err(Refused::OutOfRange) }
}

/// Whether an address is one of the cluster this process is a Pod of, in whatever IPv6 address it is wrapped.
fn is_own(address: IpAddr, options: KubeconfigOptions) -> bool {
    let wrapped = match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) => embedded_v4(v6).map(IpAddr::from),
    };
    options.own_ranges.is_some_and(|own| own.contains(address) || wrapped.is_some_and(|v4| own.contains(v4)))
}

/// A name has no address.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the name has no address")]
pub(crate) struct NoAddress;

/// Looks names up and judges what comes of it, so that none leads to an address that would be refused. It is asked anew
/// for each connection, and the connection is made to the very addresses that were judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged(pub(super) KubeconfigOptions);

impl Service<Name> for Judged {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let options = self.0;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(|_| NoAddress)?;
            let addresses: Vec<_> = found.collect();
            if addresses.is_empty() {
                return Err(NoAddress.into());
            }
            for address in &addresses {
                judge(address.ip(), options)?;
            }
            Ok(addresses.into_iter())
        })
    }
}

/// Whether a URL's host is spelled as nobody spells one (`0x7f.1`, full-width digits), is this machine or the cluster
/// it is on, or is a cloud's metadata service. Schemes that the URL standard does not know, such as `ssh`, are judged
/// alike. A name is judged as such; what it resolves to is not looked at.
pub fn is_forbidden_host(url: &Url) -> bool {
    let given = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let canonical = Url::parse(&format!("https://{given}/")).ok();
    match canonical.as_ref().and_then(Url::host) {
        Some(host) if host.to_string() != given => true,
        Some(Host::Ipv4(address)) => is_forbidden(address.into(), KubeconfigOptions::default()),
        Some(Host::Ipv6(address)) => is_forbidden(address.into(), KubeconfigOptions::default()),
        Some(Host::Domain(name)) => is_forbidden_name(name, KubeconfigOptions::default()),
        None => true,
    }
}

/// Whether an address is one that no URL of somebody's may lead to.
pub fn is_forbidden_address(address: IpAddr) -> bool {
    is_forbidden(address, KubeconfigOptions::default())
}

/// Names that lead into this machine or into the cluster KubeOpera itself runs on.
pub(super) fn is_forbidden_name(name: &str, options: KubeconfigOptions) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let within = |zone: &str| name.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let local = within("localhost");
    (local && !options.allow_loopback)
        || ["svc", "cluster.local", "kubernetes.default", "metadata.google.internal"].into_iter().any(within)
        || name == "kubernetes"
        || name == "metadata"
}

/// Addresses of clouds' metadata services, of this machine, and of no machine at all. Private networks are allowed:
/// that is where clusters on premises are.
fn is_forbidden(address: IpAddr, options: KubeconfigOptions) -> bool {
    match address {
        IpAddr::V4(v4) => is_forbidden_v4(v4, options),
        IpAddr::V6(v6) => {
            /// Amazon's, and its Pod Identity; Google's; Oracle's; Scaleway's.
            const METADATA: [Ipv6Addr; 5] = [
                Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
                Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
                Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
                Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
                Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
            ];
            (v6.is_loopback() && !options.allow_loopback)
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unicast_link_local()
                || METADATA.contains(&v6)
                || (!v6.is_loopback() && embedded_v4(v6).is_some_and(|v4| is_forbidden_v4(v4, options)))
        }
    }
}

fn is_forbidden_v4(address: Ipv4Addr, options: KubeconfigOptions) -> bool {
    /// Alibaba's, Azure's, and Oracle's of before.
    const METADATA: [Ipv4Addr; 3] =
        [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];
    (address.is_loopback() && !options.allow_loopback)
        || address.octets().first() == Some(&0)
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || METADATA.contains(&address)
}

/// The IPv4 address inside an IPv6 one: mapped, compatible, translated (`::ffff:0:0/96`), NAT64 (`64:ff9b::/96` and
/// `64:ff9b:1::/48`) or 6to4 (`2002::/16`).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}
