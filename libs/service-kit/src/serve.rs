//! A listener with limits: slow, silent and too many clients cost little, and the end is orderly.

use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::ConnectInfo};
use http::Request;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

/// A head that is not complete by then ends the connection; an idle kept-alive one ends after it as well.
const HEAD_WITHIN: Duration = Duration::from_secs(20);
/// Connections at once. Browsers keep up to six each; a connection costs about 30 KB.
const MOST_CONNECTIONS: usize = 2_000;
/// Requests under way get this long to end after the shutdown began.
const END_WITHIN: Duration = Duration::from_secs(8);

/// Serves until `shutdown` is cancelled; then stops accepting and gives requests under way some seconds to end.
///
/// `axum::serve` would do for most of it, but sets no limit on the time a head may take nor on the connections.
pub async fn serve(listener: TcpListener, router: Router, shutdown: CancellationToken) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let connections = TaskTracker::new();
    let abort = CancellationToken::new();
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
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
                () = connection(stream, peer, router, shutdown) => {}
                () = abort.cancelled() => {}
            }
            drop(permit);
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(END_WITHIN, connections.wait()).await.is_err() {
        tracing::info!(connections = connections.len(), "ending connections that did not end by themselves");
        abort.cancel();
        connections.wait().await;
    }
    Ok(())
}

async fn connection(stream: TcpStream, peer: SocketAddr, router: Router, shutdown: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let service = router.map_request(move |request: Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        request
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .max_concurrent_streams(100)
        .max_header_list_size(64 * 1024);
    let mut serving =
        pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(service)));
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
