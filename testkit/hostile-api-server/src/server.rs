//! The server, and the ways in which it misbehaves.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures::{StreamExt, stream};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// What was asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Path without the query.
    pub path: String,
    /// The query.
    pub query: HashMap<String, String>,
}

impl Asked {
    /// A parameter of the query, empty if it is not there.
    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// Whether it is a watch.
    pub fn is_watch(&self) -> bool {
        self.parameter("watch") == "true"
    }
}

/// What the server does about a request.
pub enum Answer {
    /// An answer with this status and body, as JSON.
    Json(u16, Bytes),
    /// An answer with this status, content type and body.
    Text(u16, &'static str, Bytes),
    /// `Retry-After` with a status.
    Later(u16, u64),
    /// A redirect.
    Redirect(String),
    /// These chunks, one after the other, and then the end.
    Chunks(stream::BoxStream<'static, Bytes>),
    /// The head of a good answer and then nothing, for ever.
    Stall,
    /// Nothing at all, for ever.
    Silence,
    /// The connection breaks off in the middle of the answer.
    BreakOff(Bytes),
}

impl Answer {
    /// The same chunk for ever, as fast as it is taken.
    pub fn endless(chunk: impl Into<Bytes>) -> Self {
        Self::Chunks(stream::repeat(chunk.into()).boxed())
    }

    /// A byte every so often, for ever.
    pub fn trickle(every: Duration) -> Self {
        let bytes = stream::unfold((), move |()| async move {
            tokio::time::sleep(every).await;
            Some((Bytes::from_static(b" "), ()))
        });
        Self::Chunks(bytes.boxed())
    }

    /// These bytes, and then the connection stays open.
    pub fn and_stay(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::Chunks(stream::once(async move { bytes }).chain(stream::pending()).boxed())
    }

    fn response(self) -> Response {
        let built = match self {
            Self::Json(status, body) => {
                Response::builder().status(status).header(header::CONTENT_TYPE, "application/json").body(body.into())
            }
            Self::Text(status, kind, body) => {
                Response::builder().status(status).header(header::CONTENT_TYPE, kind).body(body.into())
            }
            Self::Later(status, seconds) => {
                Response::builder().status(status).header(header::RETRY_AFTER, seconds).body(Body::empty())
            }
            Self::Redirect(to) => {
                Response::builder().status(StatusCode::FOUND).header(header::LOCATION, to).body(Body::empty())
            }
            Self::Chunks(chunks) => {
                Response::builder().body(Body::from_stream(chunks.map(Ok::<_, std::convert::Infallible>)))
            }
            Self::Stall | Self::Silence => {
                Response::builder().body(Body::from_stream(stream::pending::<io::Result<Bytes>>()))
            }
            Self::BreakOff(first) => {
                let broken = io::Error::new(io::ErrorKind::ConnectionReset, "broken off");
                Response::builder().body(Body::from_stream(stream::iter([Ok(first), Err(broken)])))
            }
        };
        built.unwrap_or_default()
    }
}

type Script = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

struct Shared {
    script: Mutex<Script>,
    requests: Mutex<HashMap<String, usize>>,
    open: AtomicUsize,
    breaking_off: Mutex<CancellationToken>,
}

/// A server on a port of its own of this machine. It ends with this value.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
    connections: Mutex<Option<(CancellationToken, AbortOnDropHandle<()>)>>,
}

impl Server {
    /// Starts one that follows a script.
    pub async fn start(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let shared = Arc::new(Shared {
            script: Mutex::new(Arc::new(script)),
            requests: Mutex::default(),
            open: AtomicUsize::new(0),
            breaking_off: Mutex::default(),
        });
        let port = listener.local_addr()?.port();
        let connections = Mutex::new(Some(serve(listener, Arc::clone(&shared))));
        Ok(Self { port, shared, connections })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port at 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Follows another script from the next request on.
    pub fn follow(&self, script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(script);
    }

    /// Goes away: open connections break off, new ones are refused.
    pub async fn refuse(&self) {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((breaking_off, listening)) = connections {
            breaking_off.cancel();
            let _ = listening.await;
        }
    }

    /// Open connections break off; new ones are taken.
    pub fn break_off(&self) {
        let mut breaking_off = self.shared.breaking_off.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *breaking_off).cancel();
    }

    /// Comes back after [`Server::refuse`].
    pub async fn come_back(&self) -> io::Result<()> {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await?;
        let serving = serve(listener, Arc::clone(&self.shared));
        *self.connections.lock().unwrap_or_else(PoisonError::into_inner) = Some(serving);
        Ok(())
    }

    /// How often a path was asked for so far.
    pub fn requests(&self, path: &str) -> usize {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or_default()
    }

    /// Requests of all paths so far.
    pub fn all_requests(&self) -> usize {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.shared.open.load(Ordering::Relaxed)
    }
}

fn serve(listener: TcpListener, shared: Arc<Shared>) -> (CancellationToken, AbortOnDropHandle<()>) {
    let breaking_off = CancellationToken::new();
    let stopping = breaking_off.clone();
    let app = Router::new().fallback(answer).with_state(Arc::clone(&shared));
    let task = tokio::spawn(async move {
        loop {
            let accepted =
                tokio::select! { accepted = listener.accept() => accepted, () = stopping.cancelled() => return };
            let Ok((connection, _)) = accepted else { continue };
            let (app, shared, stopping) = (app.clone(), Arc::clone(&shared), stopping.clone());
            let breaking_off = shared.breaking_off.lock().unwrap_or_else(PoisonError::into_inner).clone();
            tokio::spawn(async move {
                let _ = connection.set_nodelay(true);
                shared.open.fetch_add(1, Ordering::Relaxed);
                let io = hyper_util::rt::TokioIo::new(connection);
                let service = hyper_util::service::TowerToHyperService::new(app);
                let served = hyper::server::conn::http1::Builder::new().serve_connection(io, service);
                tokio::select! { _ = served => {}, () = stopping.cancelled() => {}, () = breaking_off.cancelled() => {} }
                shared.open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    (breaking_off, AbortOnDropHandle::new(task))
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let asked = Asked {
        path: request.uri().path().to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
    };
    *shared.requests.lock().unwrap_or_else(PoisonError::into_inner).entry(asked.path.clone()).or_default() += 1;
    let script = Arc::clone(&shared.script.lock().unwrap_or_else(PoisonError::into_inner));
    let answer = script(&asked);
    if matches!(answer, Answer::Silence) {
        futures::future::pending::<()>().await;
    }
    answer.response()
}
