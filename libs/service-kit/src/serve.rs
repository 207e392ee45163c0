//! A listener with limits: slow, silent and too many clients cost little, and the end is orderly.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::ConnectInfo,
};
use http::Request;
use http_body_util::BodyExt;
use hyper::{
    body::{Body as _, Frame, Incoming, SizeHint},
    server::conn::http1::Builder,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

/// What clients may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A head that is not complete by then ends the connection; an idle kept-alive one ends after it as well.
    pub head: Duration,
    /// Connections at once. Browsers keep up to six each; a silent connection costs about 13 KB and one
    /// that leaves a body of 4 KB half sent 44 KB. When there are so many, the one
    /// that has kept us waiting for a whole request for longest makes room for the next, so that neither silent ones nor
    /// those that send half a body keep anybody out.
    pub connections: usize,
    /// How long requests under way get to end after the shutdown began.
    pub end: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: Duration::from_secs(20), connections: 1_200, end: Duration::from_secs(8) }
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
    let places = Arc::new(Places::default());
    let connections = TaskTracker::new();
    let abort = CancellationToken::new();
    loop {
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
        let permit = tokio::select! {
            () = shutdown.cancelled() => break,
            permit = places.make_room(&room) => permit,
        };
        let place = Place::new(&places);
        let (router, shutdown, abort) = (router.clone(), shutdown.clone(), abort.clone());
        connections.spawn(async move {
            tokio::select! {
                () = place.taken.cancelled() => {}
                () = connection(stream, peer, router, limits, &place, shutdown) => {}
                () = abort.cancelled() => {}
            }
            drop((place, permit));
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

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: Limits,
    place: &Arc<Place>,
    shutdown: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request: Request<Incoming>| {
        let under_way = Arc::new(UnderWay::not_yet(place));
        let mut request = request.map(|body| Body::new(Received::by(body, Arc::clone(&under_way))));
        request.extensions_mut().insert(ConnectInfo(peer));
        let answered = router.clone().oneshot(request);
        async move {
            let response = answered.await;
            under_way.begin();
            let keep = move |error| {
                let _ = &under_way;
                error
            };
            // Until the body is sent, or given up.
            response.map(|response| response.map(|body| body.map_err(keep)))
        }
    });
    // HTTP/1.1 only: browsers speak HTTP/2 only over TLS, which ends in front of here.
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
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

/// Connections without a request under way, the one that has been so for longest first.
#[derive(Default)]
struct Places {
    silent: Mutex<Silent>,
    one_more: Notify,
}

#[derive(Default)]
struct Silent {
    number: u64,
    waiting: BTreeMap<u64, CancellationToken>,
}

/// What a connection takes. It is silent from the start.
struct Place {
    places: Arc<Places>,
    number: Mutex<Option<u64>>,
    /// Somebody else needs it.
    taken: CancellationToken,
}

/// A request from its last byte, or the beginning of its answer, to the end of its answer.
struct UnderWay {
    place: Arc<Place>,
    begun: Once,
}

/// A request's body, which is under way once it is here.
struct Received {
    body: Incoming,
    under_way: Arc<UnderWay>,
}

impl Places {
    fn silent(&self) -> MutexGuard<'_, Silent> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit for one more connection, if need be at the cost of a silent one.
    async fn make_room(&self, room: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(permit) = Arc::clone(room).try_acquire_owned() {
                return Some(permit);
            }
            let one_more = self.one_more.notified();
            let longest = self.silent().waiting.pop_first();
            if let Some((_, longest)) = longest {
                longest.cancel();
                return Arc::clone(room).acquire_owned().await.ok();
            }
            tokio::select! {
                permit = Arc::clone(room).acquire_owned() => return permit.ok(),
                () = one_more => {}
            }
        }
    }
}

impl Place {
    fn new(places: &Arc<Places>) -> Arc<Self> {
        let place = Self { places: Arc::clone(places), number: Mutex::default(), taken: CancellationToken::new() };
        place.is_silent();
        Arc::new(place)
    }

    fn is_silent(&self) {
        let mut silent = self.places.silent();
        silent.number += 1;
        let number = silent.number;
        silent.waiting.insert(number, self.taken.clone());
        drop(silent);
        *self.number.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
        self.places.one_more.notify_one();
    }

    fn is_not_silent(&self) {
        let Some(number) = self.number.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        self.places.silent().waiting.remove(&number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.is_not_silent();
    }
}

impl UnderWay {
    fn not_yet(place: &Arc<Place>) -> Self {
        Self { place: Arc::clone(place), begun: Once::new() }
    }

    fn begin(&self) {
        self.begun.call_once(|| self.place.is_not_silent());
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.begun.is_completed() {
            self.place.is_silent();
        }
    }
}

impl Received {
    fn by(body: Incoming, under_way: Arc<UnderWay>) -> Self {
        let received = Self { body, under_way };
        received.look();
        received
    }

    fn look(&self) {
        if self.body.is_end_stream() {
            self.under_way.begin();
        }
    }
}

impl hyper::body::Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() {
            self.under_way.begin();
        }
        self.look();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
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
    async fn whoever_comes_when_all_places_are_taken_gets_that_of_who_was_silent_longest() {
        let limits = Limits { connections: 2, head: PATIENCE, ..Limits::default() };
        let server = start(Router::new().route("/", get(async || "here")), limits).await;
        let ask = async |stream: &mut TcpStream| {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            let mut answer = [0; 1024];
            let read = tokio::time::timeout(PATIENCE, stream.read(&mut answer)).await.expect("no answer").unwrap();
            String::from_utf8_lossy(&answer[..read]).into_owned()
        };
        let mut longest = TcpStream::connect(server.address).await.unwrap();
        let mut other = TcpStream::connect(server.address).await.unwrap();
        assert!(ask(&mut longest).await.ends_with("here"));
        assert!(ask(&mut other).await.ends_with("here"));
        assert!(ask(&mut other).await.ends_with("here"));

        let mut next = TcpStream::connect(server.address).await.unwrap();
        assert!(ask(&mut next).await.ends_with("here"));

        let ended = tokio::time::timeout(PATIENCE, longest.read(&mut [0; 1])).await.expect("it still has its place");
        assert!(ended.is_err() || ended.is_ok_and(|read| read == 0));
        assert!(ask(&mut other).await.ends_with("here"), "who asked later keeps their place");
    }

    #[tokio::test]
    async fn whoever_sends_half_a_body_keeps_nobody_out() {
        let limits = Limits { connections: 2, head: PATIENCE, ..Limits::default() };
        let echo = axum::routing::post(async |body: String| body);
        let server = start(Router::new().route("/", get(async || "here")).route("/echo", echo), limits).await;
        let mut halves = Vec::new();
        for half in ["Content-Length: 9\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(format!("POST /echo HTTP/1.1\r\nHost: x\r\n{half}").as_bytes()).await.unwrap();
            halves.push(stream);
        }

        let other = exchange(server.address, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
        halves[1].write_all(b"5\r\n-body\r\n0\r\n\r\n").await.unwrap();
        let mut answer = vec![0; 1024];
        let read = tokio::time::timeout(PATIENCE, halves[1].read(&mut answer)).await.expect("no answer").unwrap();

        assert!(other.ends_with("here"), "{other}");
        let ended = tokio::time::timeout(PATIENCE, halves[0].read(&mut [0; 1])).await.expect("it still has its place");
        assert!(ended.is_err() || ended.is_ok_and(|read| read == 0));
        assert!(String::from_utf8_lossy(&answer[..read]).ends_with("half-body"), "who was there shorter goes on");
    }

    #[tokio::test]
    async fn an_answer_that_is_being_sent_keeps_its_place_to_its_end() {
        let limits = Limits { connections: 1, ..Limits::default() };
        let (sender, body) = tokio::sync::mpsc::channel::<Result<&str, io::Error>>(1);
        let body = Arc::new(tokio::sync::Mutex::new(Some(body)));
        let stream = get(async move || {
            let body = body.lock().await.take();
            let chunks = futures::stream::unfold(body, async |body| {
                let mut body = body?;
                body.recv().await.map(|chunk| (chunk, Some(body)))
            });
            Body::from_stream(chunks)
        });
        let router = Router::new().route("/stream", stream).route("/", get(async || "here"));
        let server = start(router, limits).await;
        let mut streaming = TcpStream::connect(server.address).await.unwrap();
        streaming.write_all(b"GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        sender.send(Ok("begun ")).await.unwrap();
        let mut answer = vec![0; 4096];
        let begun = tokio::time::timeout(PATIENCE, streaming.read(&mut answer)).await.unwrap().unwrap();
        answer.truncate(begun);
        let next = exchange(server.address, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let next = tokio::spawn(next);

        for part in ["and ", "gone ", "on"] {
            tokio::time::timeout(PATIENCE, sender.send(Ok(part))).await.expect("nobody sends it").unwrap();
        }
        assert!(!next.is_finished(), "there was no place for it");
        drop(sender);

        tokio::time::timeout(PATIENCE, streaming.read_to_end(&mut answer)).await.unwrap().unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(["begun ", "and ", "gone ", "on"].iter().all(|part| answer.contains(part)), "{answer}");
        assert!(next.await.unwrap().ends_with("here"));
    }

    #[tokio::test]
    async fn nothing_but_http_1_is_spoken_whatever_a_client_asks_for() {
        let server = start(Router::new().route("/", get(async || "here")), Limits::default()).await;
        // A preface with empty SETTINGS, as a client sends that knows beforehand; and then resets and empty frames.
        let settings = "\0\0\0\u{4}\0\0\0\0\0";
        let resets = "\0\0\u{4}\u{3}\0\0\0\0\u{1}\0\0\0\u{8}".repeat(1_000);
        let empty = "\0\0\0\0\0\0\0\0\u{1}".repeat(1_000);
        let known_beforehand = format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{settings}{resets}{empty}");
        let upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n\
                       HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n";

        let refused = exchange(server.address, &known_beforehand).await;
        let not_upgraded = exchange(server.address, upgrade).await;

        assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 400"), "{refused}");
        assert!(not_upgraded.starts_with("HTTP/1.1 200") && not_upgraded.ends_with("here"), "{not_upgraded}");
    }
}
