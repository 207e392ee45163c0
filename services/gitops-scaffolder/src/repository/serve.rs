//! The two services of smart HTTP, for the visitors that may use them.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::any,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, Method, StatusCode, header};
use service_kit::serve::{self, Limits};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::sync::CancellationToken;

use super::{Credentials, NAME, Repository, Visitor, backend};

/// Conversations at a time. A member cluster fetches once a minute and is done in a moment.
const AT_ONCE: usize = 16;
/// How long somebody waits for a turn before being told to come back.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// What a visitor wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    Fetch,
    Push,
}

struct Served {
    repository: Repository,
    credentials: Credentials,
    turns: Arc<Semaphore>,
}

/// Serves the repository at `/gitops.git` of `listener` until `shutdown`, and no longer than that to whoever is slow.
pub async fn serve(
    listener: TcpListener,
    repository: Repository,
    credentials: Credentials,
    shutdown: CancellationToken,
) -> io::Result<()> {
    serve::serve(listener, router(repository, credentials), Limits::default(), shutdown).await
}

/// The repository as part of another server.
pub fn router(repository: Repository, credentials: Credentials) -> Router {
    let served = Arc::new(Served { repository, credentials, turns: Arc::new(Semaphore::new(AT_ONCE)) });
    Router::new().route(&format!("/{NAME}/{{*rest}}"), any(answer)).with_state(served)
}

async fn answer(State(served): State<Arc<Served>>, request: Request<Body>) -> Response {
    let Some(visitor) = visitor(request.headers()) else { return who_are_you() };
    let may_push = visitor.is(&served.credentials.read_write);
    // Both comparisons are made, so that time does not tell which failed.
    let may_fetch = visitor.is(&served.credentials.read_only) | may_push;
    if !may_fetch {
        return who_are_you();
    }
    let Some(service) = service(&request) else {
        return (StatusCode::NOT_FOUND, "There is no such page of this repository.\n").into_response();
    };
    if service == Service::Push && !may_push {
        let refusal = "This credential may fetch from the repository but not push to it.\n";
        return (StatusCode::FORBIDDEN, refusal).into_response();
    }
    let Ok(Ok(turn)) = tokio::time::timeout(LONGEST_WAIT, Arc::clone(&served.turns).acquire_owned()).await else {
        return (StatusCode::SERVICE_UNAVAILABLE, "Too many others use the repository. Try again.\n").into_response();
    };
    backend::answer(&served.repository, request, turn).await
}

/// The service a request is part of; nothing for anything but the three requests git makes.
fn service(request: &Request<Body>) -> Option<Service> {
    let page = request.uri().path().strip_prefix(&format!("/{NAME}/"))?;
    match (request.method(), page, request.uri().query()) {
        (&Method::GET, "info/refs", Some("service=git-upload-pack")) | (&Method::POST, "git-upload-pack", None) => {
            Some(Service::Fetch)
        }
        (&Method::GET, "info/refs", Some("service=git-receive-pack")) | (&Method::POST, "git-receive-pack", None) => {
            Some(Service::Push)
        }
        _ => None,
    }
}

fn visitor(headers: &HeaderMap) -> Option<Visitor> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let basic = scheme.eq_ignore_ascii_case("basic");
    basic.then(|| STANDARD.decode(token.trim()).ok()).flatten().map(|text| Visitor::of(&text))
}

fn who_are_you() -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"KubeOpera GitOps repository\", charset=\"UTF-8\"")];
    (StatusCode::UNAUTHORIZED, challenge, "User name and password are needed.\n").into_response()
}
