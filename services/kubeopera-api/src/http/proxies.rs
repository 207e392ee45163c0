//! Where requests come from, and what proxies may say about that.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};
use ipnet::IpNet;
use service_kit::Problem;

/// Where a request comes from as far as anybody trusted knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// Middleware, before anything that asks where a request comes from. What a client says of itself by the headers of proxies
/// counts for nothing; whoever asks to be taken for somebody else, as Kubernetes lets one do, is refused.
pub(super) async fn find_client(State(trusted): State<Arc<[IpNet]>>, mut request: Request, next: Next) -> Response {
    if request.headers().keys().any(|name| name.as_str().starts_with("impersonate-")) {
        return Problem::new(
            StatusCode::BAD_REQUEST,
            "impersonation_refused",
            "The request asks to be taken for somebody else, which KubeOpera does for nobody.",
        )
        .hint("Leave out the headers that begin with Impersonate-.")
        .into_response();
    }
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        let client = client(peer.ip(), request.headers(), &trusted);
        request.extensions_mut().insert(ClientAddress(client));
    }
    next.run(request).await
}

/// Each proxy adds to the right of X-Forwarded-For who it was asked by. From the right, as long as who says so is trusted.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|range| range.contains(ip));
    let mut client = peer.to_canonical();
    let lines: Vec<_> =
        headers.get_all("x-forwarded-for").iter().map(|line| line.to_str().unwrap_or_default()).collect();
    for entry in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        if !is_trusted(&client) {
            break;
        }
        let entry = entry.trim();
        let said = entry.parse().or_else(|_| entry.parse::<SocketAddr>().map(|address| address.ip()));
        // What cannot be read nobody trusted has written.
        let Ok(said) = said else { break };
        client = said.to_canonical();
    }
    client
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn the_client_is_the_right_most_that_is_no_trusted_proxy() {
        let proxies: Vec<IpNet> = ["10.0.0.0/8", "fd00::/8"].iter().map(|range| range.parse().unwrap()).collect();
        for (peer, lines, found) in [
            ("203.0.113.9", vec![], "203.0.113.9"),
            ("203.0.113.9", vec!["198.51.100.1"], "203.0.113.9"),
            ("10.0.0.1", vec![], "10.0.0.1"),
            ("10.0.0.1", vec!["203.0.113.9"], "203.0.113.9"),
            ("::ffff:10.0.0.1", vec!["::ffff:203.0.113.9"], "203.0.113.9"),
            ("fd00::1", vec!["2001:db8::7"], "2001:db8::7"),
            ("10.0.0.1", vec!["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", vec!["198.51.100.1", "203.0.113.9 ,10.0.0.2"], "203.0.113.9"),
            ("10.0.0.1", vec!["203.0.113.9:4711"], "203.0.113.9"),
            ("10.0.0.1", vec!["[2001:db8::7]:443"], "2001:db8::7"),
            ("10.0.0.1", vec!["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", vec!["198.51.100.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", vec!["203.0.113.9,"], "10.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            for line in &lines {
                headers.append("x-forwarded-for", line.parse().unwrap());
            }
            assert_eq!(client(peer.parse().unwrap(), &headers, &proxies).to_string(), found, "{peer} {lines:?}");
            assert_eq!(client(peer.parse().unwrap(), &headers, &[]), peer.parse::<IpAddr>().unwrap().to_canonical());
        }
    }
}
