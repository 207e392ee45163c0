//! A listener with limits: slow, silent and too many clients cost little, and the end is orderly.

use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::ConnectInfo};
use http::Request;
use hyper::server::conn::http1::Builder;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

/// What clients may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A head that is not complete by then ends the connection; an idle kept-alive one ends after it as well.
    pub head: Duration,
    /// Connections at once. Browsers keep up to six each; a connection costs about 30 KB.
    pub connections: usize,
    /// How long requests under way get to end after the shutdown began.
    pub end: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: Duration::from_secs(20), connections: 2_000, end: Duration::from_secs(8) }
    }
}

/// Serves until `shutdown` is cancelled; then stops accepting and gives requests under way some seconds to end.
///
/// `axum::serve` would do for most of it, but sets no limit on the time a head may take nor on the connections.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    let abort = CancellationToken::new();
    loop {
        let permit = tokio::select! {
            () = shutdown.cancelled() => break,
            permit = Arc::clone(&room).acquire_owned() => permit,
        };
        let (stream, peer) = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, or a client that left before it was accepted. Neither is for ever.
                    tracing::debug!("accepting a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (router, shutdown, abort) = (router.clone(), shutdown.clone(), abort.clone());
        connections.spawn(async move {
            tokio::select! {
                () = connection(stream, peer, router, limits, shutdown) => {}
                () = abort.cancelled() => {}
            }
            drop(permit);
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(limits.end, connections.wait()).await.is_err() {
        tracing::info!(connections = connections.len(), "ending connections that did not end by themselves");
        abort.cancel();
        connections.wait().await;
    }
    Ok(())
}

async fn connection(stream: TcpStream, peer: SocketAddr, router: Router, limits: Limits, shutdown: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let service = router.map_request(move |request: Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        request
    });
    // HTTP/1.1 only: browsers speak HTTP/2 only over TLS, which ends in front of here.
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)));
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = shutdown.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!("a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        sync::Notify,
        task::JoinHandle,
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    struct Server {
        address: SocketAddr,
        shutdown: CancellationToken,
        ended: JoinHandle<io::Result<()>>,
    }

    async fn start(router: Router, limits: Limits) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let ended = tokio::spawn(serve(listener, router, limits, shutdown.clone()));
        Server { address, shutdown, ended }
    }

    /// Sends text and reads until the server ends the connection.
    async fn exchange(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer));
        // A connection that is reset is ended as well.
        let _ = read.await.expect("the connection stays open");
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[tokio::test]
    async fn a_request_under_way_is_answered_before_the_end_and_the_peer_is_known() {
        let (asked, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (began, wait) = (Arc::clone(&asked), Arc::clone(&go_on));
        let slow = get(async move |ConnectInfo(peer): ConnectInfo<SocketAddr>| {
            began.notify_one();
            wait.notified().await;
            peer.ip().to_string()
        });
        let server = start(Router::new().route("/", slow), Limits::default()).await;
        let request = tokio::spawn(exchange(server.address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        asked.notified().await;

        server.shutdown.cancel();
        go_on.notify_one();

        let answer = request.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("127.0.0.1"), "{answer}");
        server.ended.await.unwrap().unwrap();
        assert!(TcpStream::connect(server.address).await.is_err(), "nobody listens any more");
    }

    #[tokio::test]
    async fn a_request_that_does_not_end_does_not_hold_up_the_end() {
        let asked = Arc::new(Notify::new());
        let began = Arc::clone(&asked);
        let endless = get(async move || {
            began.notify_one();
            std::future::pending::<()>().await;
        });
        let limits = Limits { end: Duration::from_millis(50), ..Limits::default() };
        let server = start(Router::new().route("/", endless), limits).await;
        let request = tokio::spawn(exchange(server.address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        asked.notified().await;

        server.shutdown.cancel();

        tokio::time::timeout(PATIENCE, server.ended).await.expect("still running").unwrap().unwrap();
        assert_eq!(request.await.unwrap(), "");
    }

    #[tokio::test]
    async fn a_head_that_never_ends_and_a_silent_connection_are_ended() {
        let limits = Limits { head: Duration::from_millis(50), ..Limits::default() };
        let server = start(Router::new().route("/", get(async || "here")), limits).await;

        let trickling = exchange(server.address, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ").await;
        let kept_alive = exchange(server.address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;

        assert!(!trickling.contains("200"), "{trickling}");
        assert!(kept_alive.ends_with("here"), "{kept_alive}");
    }

    #[tokio::test]
    async fn whoever_comes_when_all_places_are_taken_waits_for_one() {
        let limits = Limits { connections: 1, head: Duration::from_millis(200), ..Limits::default() };
        let server = start(Router::new().route("/", get(async || "here")), limits).await;
        let _silent = TcpStream::connect(server.address).await.unwrap();

        let answer = exchange(server.address, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;

        assert!(answer.ends_with("here"), "{answer}");
    }
}
