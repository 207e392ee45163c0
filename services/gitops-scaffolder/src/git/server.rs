//! Where a repository's server is. Its name is resolved here, each address is judged as those of clusters are, and git is
//! made to connect to just these: a name that leads elsewhere a moment later leads nowhere.

use std::{io, net::IpAddr, time::Duration};

use tokio::time::timeout;
use vocabulary::{GitUrl, Trouble};

/// For one name.
const WITHIN: Duration = Duration::from_secs(5);

/// The addresses of a repository's server. None if they are git's to find: of a server whose address is in the URL, and of
/// a name that only the site's proxy knows.
///
/// `trusted` are the hosts that whoever started KubeOpera named. They may be anywhere, also on this machine.
pub(crate) async fn addresses(url: &GitUrl, trusted: &[String]) -> Result<Vec<IpAddr>, Trouble> {
    let is_trusted = trusted.iter().any(|host| host == host_of(url));
    if !is_trusted && kube_kit::is_forbidden_host(url.url()) {
        return Err(forbidden(url));
    }
    let host = host_of(url);
    if host.parse::<IpAddr>().is_ok() {
        return Ok(Vec::new());
    }
    match timeout(WITHIN, tokio::net::lookup_host((host, port_of(url)))).await {
        Ok(Ok(found)) => {
            let found: Vec<_> = found.map(|address| address.ip()).collect();
            if !is_trusted && found.iter().copied().any(kube_kit::is_forbidden_address) {
                return Err(forbidden(url));
            }
            Ok(found)
        }
        Ok(Err(_)) | Err(_) if is_trusted || has_proxy() => Ok(Vec::new()),
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

fn has_proxy() -> bool {
    ["HTTPS_PROXY", "https_proxy"].into_iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
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

    async fn reason(url: &str, trusted: &[&str]) -> String {
        let trusted: Vec<_> = trusted.iter().map(|host| (*host).to_owned()).collect();
        addresses(&url.parse().unwrap(), &trusted).await.err().map_or("none".to_owned(), |trouble| trouble.reason)
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
            assert_eq!(reason(url, &["git.acme.com"]).await, "GitAddressForbidden", "{url}");
        }
        assert_eq!(reason("http://127.0.0.1:7080/x.git", &["127.0.0.1"]).await, "none");
        assert_eq!(reason("https://localhost/x.git", &["localhost"]).await, "none");
        assert_eq!(reason("https://10.20.30.40/x.git", &[]).await, "none");
        assert_eq!(reason("https://no-such-host.invalid/x.git", &[]).await, "GitUnreachable");
    }

    #[tokio::test]
    async fn a_name_that_resolves_into_this_machine_is_refused_however_it_is_spelled() {
        // This machine's own name leads to it, and no list of spellings knows it.
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
        let found = tokio::net::lookup_host((name.as_str(), 443)).await.map(|all| all.map(|one| one.ip()).collect());
        let found: Vec<IpAddr> = found.unwrap_or_default();
        let leads_here = found.iter().any(IpAddr::is_loopback);

        let told = reason(&format!("https://{name}/x.git"), &[]).await;

        let expected = match (found.is_empty(), leads_here) {
            (true, _) => "GitUnreachable",
            (false, true) => "GitAddressForbidden",
            (false, false) => "none",
        };
        assert_eq!(told, expected, "{name}: {found:?}");
    }
}
