//! Where a repository's server is. Its name is resolved here, each address is judged as those of clusters are, and git is
//! made to connect to just these: a name that leads elsewhere a moment later leads nowhere.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use tokio::time::timeout;
use vocabulary::{GitUrl, Trouble};

/// For one name.
const WITHIN: Duration = Duration::from_secs(5);

/// An address that is nobody's (RFC 5737). git is told that a name which only the site's proxy knows is there: the proxy is
/// asked for the name, and a call that goes past the proxy after all reaches nothing.
const NOBODYS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// The addresses of a repository's server. None if they are git's to find: of a server whose address is in the URL, and of
/// one that is trusted.
///
/// `trusted` are repositories that whoever started KubeOpera named. Their servers, each a host with a port, may be
/// anywhere, also on this machine.
pub(crate) async fn addresses(url: &GitUrl, trusted: &[GitUrl]) -> Result<Vec<IpAddr>, Trouble> {
    judged(url, trusted, has_proxy(url)).await
}

async fn judged(url: &GitUrl, trusted: &[GitUrl], has_proxy: bool) -> Result<Vec<IpAddr>, Trouble> {
    let server = (host_of(url), port_of(url));
    let is_trusted = trusted.iter().any(|known| (host_of(known), port_of(known)) == server);
    if !is_trusted && kube_kit::is_forbidden_host(url.url()) {
        return Err(forbidden(url));
    }
    if server.0.parse::<IpAddr>().is_ok() {
        return Ok(Vec::new());
    }
    match timeout(WITHIN, tokio::net::lookup_host(server)).await {
        Ok(Ok(found)) => {
            let found: Vec<_> = found.map(|address| address.ip()).collect();
            if !is_trusted && found.iter().copied().any(kube_kit::is_forbidden_address) {
                return Err(forbidden(url));
            }
            Ok(found)
        }
        Ok(Err(_)) | Err(_) if is_trusted => Ok(Vec::new()),
        Ok(Err(_)) | Err(_) if has_proxy => Ok(vec![NOBODYS]),
        Ok(Err(error)) => Err(not_found(url, &error)),
        Err(_) => Err(not_found(url, &io::Error::from(io::ErrorKind::TimedOut))),
    }
}

/// The host as it is resolved: an IPv6 address without its brackets.
pub(crate) fn host_of(url: &GitUrl) -> &str {
    url.url().host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// The port that is connected to.
pub(crate) fn port_of(url: &GitUrl) -> u16 {
    let usual = if url.scheme() == "ssh" { 22 } else { 443 };
    url.url().port_or_known_default().unwrap_or(usual)
}

/// The name under which `known_hosts` has an SSH server.
pub(crate) fn known_host(url: &GitUrl) -> String {
    match (host_of(url), port_of(url)) {
        (host, 22) => host.to_owned(),
        (host, port) => format!("[{host}]:{port}"),
    }
}

/// Whether git has a proxy to ask for a server: as curl reads the environment, and never over SSH.
fn has_proxy(url: &GitUrl) -> bool {
    let names: &[_] = match url.scheme() {
        "https" => &["HTTPS_PROXY", "https_proxy"],
        "http" => &["http_proxy"],
        _ => &[],
    };
    names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn forbidden(url: &GitUrl) -> Trouble {
    let message = format!(
        "The Git server of {url} is at an address of the machine or cluster that KubeOpera runs on, or of a cloud's metadata \
         service, so it was not called. Use a server at an address that the clusters reach, too."
    );
    Trouble::rejected("GitAddressForbidden", message)
}

fn not_found(url: &GitUrl, error: &io::Error) -> Trouble {
    tracing::debug!("the host of {url} has no address: {error}");
    let message = format!(
        "The Git server of {url} cannot be found: its name has no address. Check the URL and the DNS of the machine that \
         KubeOpera runs on. KubeOpera tries again."
    );
    Trouble::transient("GitUnreachable", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn reason(url: &str, trusted: &[&str], has_proxy: bool) -> String {
        let trusted: Vec<_> = trusted.iter().map(|url| url.parse().unwrap()).collect();
        let found = judged(&url.parse().unwrap(), &trusted, has_proxy).await;
        found.err().map_or("none".to_owned(), |trouble| trouble.reason)
    }

    #[tokio::test]
    async fn names_and_addresses_that_lead_into_this_machine_are_refused_unless_they_were_named_at_the_start() {
        for url in [
            "https://localhost/x.git",
            "ssh://git@localhost:2222/x.git",
            "https://127.0.0.1/x.git",
            "http://[::1]:7080/x.git",
            "https://169.254.169.254/x.git",
            "ssh://git@169.254.169.254/x.git",
            "https://git.default.svc/x.git",
        ] {
            for has_proxy in [false, true] {
                let told = reason(url, &["https://git.acme.com/x.git"], has_proxy).await;
                assert_eq!(told, "GitAddressForbidden", "{url}");
            }
        }
        assert_eq!(reason("http://127.0.0.1:7080/x.git", &["http://127.0.0.1:7080/y.git"], false).await, "none");
        assert_eq!(reason("https://localhost/x.git", &["https://localhost:443/x.git"], false).await, "none");
        assert_eq!(reason("https://10.20.30.40/x.git", &[], false).await, "none");
        assert_eq!(reason("https://no-such-host.invalid/x.git", &[], false).await, "GitUnreachable");
    }

    #[tokio::test]
    async fn of_a_machine_with_a_trusted_server_the_other_ports_stay_shut() {
        let trusted = ["http://127.0.0.1:7080/x.git"];
        for url in [
            "http://127.0.0.1/x.git",
            "http://127.0.0.1:7081/x.git",
            "https://127.0.0.1/x.git",
            "ssh://git@127.0.0.1/x.git",
        ] {
            assert_eq!(reason(url, &trusted, false).await, "GitAddressForbidden", "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_that_only_the_proxy_knows_is_the_proxys_to_find_and_over_ssh_nobodys() {
        let url = |url: &str| url.parse().unwrap();

        let over_https = judged(&url("https://no-such-host.invalid/x.git"), &[], true).await;
        let ssh = url("ssh://git@no-such-host.invalid/x.git");

        assert_eq!(over_https.unwrap(), [NOBODYS], "past the proxy it leads nowhere");
        assert!(!has_proxy(&ssh), "whatever is in the environment");
        assert_eq!(addresses(&ssh, &[]).await.unwrap_err().reason, "GitUnreachable");
    }

    #[tokio::test]
    async fn a_name_that_resolves_into_this_machine_is_refused_however_it_is_spelled() {
        // This machine's own name leads to it, and no list of spellings knows it.
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
        let found = tokio::net::lookup_host((name.as_str(), 443)).await.map(|all| all.map(|one| one.ip()).collect());
        let found: Vec<IpAddr> = found.unwrap_or_default();
        let leads_here = found.iter().any(IpAddr::is_loopback);

        let told = reason(&format!("https://{name}/x.git"), &[], false).await;

        let expected = match (found.is_empty(), leads_here) {
            (true, _) => "GitUnreachable",
            (false, true) => "GitAddressForbidden",
            (false, false) => "none",
        };
        assert_eq!(told, expected, "{name}: {found:?}");
    }
}
