//! How browsers reach the dashboard, and from where they come.

use std::net::{IpAddr, SocketAddr};

use anyhow::bail;
use clap::Args;
use ipnet::IpNet;
use url::{Host, Url};

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct Browsers {
    /// Address of the dashboard
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub(crate) listen: SocketAddr,
    /// Address under which people open the dashboard [default: the first --trusted-origin, or http:// and --listen]
    #[arg(long, value_name = "URL", value_parser = origin, env = "KUBEOPERA_EXTERNAL_URL")]
    external_url: Option<String>,
    /// Origin under which browsers reach the dashboard through a proxy, such as `https://kubeopera.acme.com`; may be
    /// given several times
    #[arg(long, value_name = "ORIGIN", value_parser = https_origin)]
    trusted_origin: Vec<String>,
    /// Proxy whose X-Forwarded-For is believed, an address or a range such as 10.0.0.0/8; may be given several times
    #[arg(long, value_name = "CIDR", value_parser = range)]
    pub(crate) trusted_proxy: Vec<IpNet>,
}

impl Browsers {
    /// Where people open the dashboard: an origin. `bound` is where it is served.
    pub(crate) fn external_url(&self, bound: SocketAddr) -> String {
        let named = self.external_url.as_ref().or(self.trusted_origin.first());
        named.cloned().unwrap_or_else(|| format!("http://{bound}"))
    }

    /// Origins whose pages may change things beside the one that the request is for.
    pub(crate) fn trusted_origins(&self) -> Vec<String> {
        let mut origins = self.trusted_origin.clone();
        origins.extend(self.external_url.clone().filter(|url| !self.trusted_origin.contains(url)));
        origins
    }

    /// A browser keeps the cookie of a session only if it came over HTTPS or from this machine.
    pub(crate) fn must_be_reachable(&self) -> anyhow::Result<()> {
        let listen = self.listen;
        if listen.ip().is_loopback() || self.trusted_origins().iter().any(|origin| origin.starts_with("https://")) {
            return Ok(());
        }
        bail!(
            "nobody could log in at http://{listen}: over plain HTTP a browser keeps no session except on this machine. Put \
             a proxy with HTTPS before it and name it with --external-url https://…, or listen on 127.0.0.1"
        )
    }
}

/// An origin that browsers reach over HTTPS, as they write it.
fn https_origin(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "https");
    let origin = url.map(|url| url.origin().ascii_serialization());
    origin.filter(|origin| origin == text.trim_end_matches('/')).ok_or_else(|| {
        "this is not an origin such as https://kubeopera.acme.com: https, a host, a port if it is not 443".to_owned()
    })
}

/// The same, or http:// on this machine.
fn origin(text: &str) -> Result<String, String> {
    let here = Url::parse(text).ok().filter(|url| url.scheme() == "http" && is_this_machine(url));
    let here = here.map(|url| url.origin().ascii_serialization());
    here.filter(|origin| origin == text.trim_end_matches('/')).map_or_else(|| https_origin(text), Ok)
}

pub(crate) fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// A range of addresses, or one.
pub(crate) fn range(text: &str) -> Result<IpNet, String> {
    let range = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let range = range.map_err(|_| "this is no address and no range such as 10.0.0.0/8".to_owned())?;
    // Addresses are compared as what they are, so that this one would hold none.
    if range.addr().to_canonical() != range.addr() {
        return Err("this is an IPv4 range in the shape of IPv6: write it as IPv4".to_owned());
    }
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn browsers(listen: &str, external_url: Option<&str>, trusted_origin: &[&str]) -> Browsers {
        Browsers {
            listen: listen.parse().unwrap(),
            external_url: external_url.map(|url| origin(url).unwrap()),
            trusted_origin: trusted_origin.iter().map(|origin| https_origin(origin).unwrap()).collect(),
            trusted_proxy: Vec::new(),
        }
    }

    #[test]
    fn the_dashboard_is_served_to_others_only_behind_https() {
        let refusal = browsers("0.0.0.0:7070", None, &[]).must_be_reachable().unwrap_err().to_string();
        assert!(refusal.contains("--external-url"), "{refusal}");
        let here_only = browsers("0.0.0.0:7070", Some("http://127.0.0.1:7070"), &[]);
        assert!(here_only.must_be_reachable().is_err());
        for reachable in [
            browsers("0.0.0.0:7070", None, &["https://kubeopera.acme.com/"]),
            browsers("0.0.0.0:7070", Some("https://kubeopera.acme.com"), &[]),
            browsers("[::1]:7070", None, &[]),
        ] {
            assert!(reachable.must_be_reachable().is_ok());
        }
        for no_origin in
            ["http://kubeopera.acme.com", "https://kubeopera.acme.com/path", "kubeopera.acme.com", "https://"]
        {
            assert!(https_origin(no_origin).is_err() && origin(no_origin).is_err(), "{no_origin}");
        }
    }

    #[test]
    fn people_are_pointed_to_the_address_that_was_named() {
        let bound = "127.0.0.1:7070".parse().unwrap();
        let external = |browsers: Browsers| browsers.external_url(bound);

        assert_eq!(external(browsers("127.0.0.1:7070", None, &[])), "http://127.0.0.1:7070");
        let origins = ["https://a.acme.com", "https://b.acme.com"];
        assert_eq!(external(browsers("127.0.0.1:7070", None, &origins)), "https://a.acme.com");
        let named = browsers("127.0.0.1:7070", Some("https://c.acme.com/"), &origins);
        assert_eq!(named.trusted_origins(), ["https://a.acme.com", "https://b.acme.com", "https://c.acme.com"]);
        assert_eq!(external(named), "https://c.acme.com");
    }

    #[test]
    fn a_proxy_is_an_address_or_a_range() {
        assert_eq!(range("10.0.0.7").unwrap().to_string(), "10.0.0.7/32");
        assert_eq!(range("fd00::/8").unwrap().to_string(), "fd00::/8");
        assert!(range("10.0.0.0/33").is_err() && range("proxy.acme.com").is_err());
    }
}
