//! A Kubernetes client that no server can make wait, swallow memory or send elsewhere.
//!
//! kube's own client has no limit on time or size and tries a refused request fifteen times; the guard stands between
//! it and the network. kube follows no redirects; the guard turns one into an error of its own.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, future::BoxFuture, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, BodyStream, StreamBody, combinators::UnsyncBoxBody};
use hyper_timeout::TimeoutConnector;
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioExecutor};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, ConfigExt},
};
use tokio::time::{Instant, timeout_at};
use tower::{BoxError, Layer, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;
use vocabulary::Trouble;

use crate::{
    kubeconfig::Judged,
    trouble::{Attempt, trouble},
};

/// What one call may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Making the connection, TLS included.
    pub connect: Duration,
    /// The whole call, from sending it to the last byte of the answer. For a watch: to the head of the answer; the
    /// stream itself may last, and kube's watcher ends an idle one.
    pub whole: Duration,
    /// Bytes of an answer, decompressed; of a watch, bytes of one line.
    pub body: usize,
}

impl Default for Limits {
    /// 5 s to connect, 30 s in all, 8 MiB.
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), whole: Duration::from_secs(30), body: 8 << 20 }
    }
}

/// Why the guard ended a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GuardError {
    #[error("the answer took too long")]
    Timeout,
    #[error("the answer is too large")]
    TooLarge,
    #[error("the answer is a redirect")]
    Redirect,
}

/// A client for this configuration within these limits: no retries, no redirects. A proxy that the configuration names is
/// used; a kubeconfig from outside cannot bring one here.
pub fn guarded(mut config: Config, limits: Limits) -> Result<Client, Trouble> {
    config.default_retry = false;
    config.connect_timeout = Some(limits.connect);
    let builder = ClientBuilder::try_from(config).map_err(|error| unprepared(&error))?;
    Ok(builder.with_layer(&GuardLayer(limits)).build())
}

/// The same for the server of somebody else, whose name `judged` looks up for each connection. kube's own way of making a
/// client has no place for that, so this is that way without what a kubeconfig from outside has no use of: proxies,
/// programs that log in, further headers.
pub(crate) fn guarded_by(judged: Judged, config: &Config, limits: Limits) -> Result<Client, Trouble> {
    // Only the first in a process counts.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let mut tcp = HttpConnector::new_with_resolver(judged);
    tcp.enforce_http(false);
    let tls = config.rustls_https_connector_with_connector(tcp).map_err(|error| unprepared(&error))?;
    let mut connector = TimeoutConnector::new(tls);
    connector.set_connect_timeout(Some(limits.connect));
    let service = ServiceBuilder::new()
        .layer(GuardLayer(limits))
        .map_response(|answer: Response<_>| answer.map(BodyExt::boxed_unsync))
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new())
        .option_layer(config.auth_layer().map_err(|error| unprepared(&error))?)
        .map_err(BoxError::from)
        .service(hyper_util::client::legacy::Builder::new(TokioExecutor::new()).build(connector));
    Ok(Client::new(service, config.default_namespace.clone()))
}

fn unprepared(error: &kube::Error) -> Trouble {
    trouble(Attempt("prepare the connection to the API server"), error)
}

#[derive(Clone)]
struct GuardLayer(Limits);

impl<S> Layer<S> for GuardLayer {
    type Service = Guard<S>;

    fn layer(&self, inner: S) -> Guard<S> {
        Guard { inner, limits: self.0 }
    }
}

struct Guard<S> {
    inner: S,
    limits: Limits,
}

impl<S, B> Service<Request<Body>> for Guard<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let limits = self.limits;
        let deadline = Instant::now() + limits.whole;
        let streams = is_stream(request.uri().query().unwrap_or_default());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = timeout_at(deadline, answer).await.map_err(|_| GuardError::Timeout)??;
            if answer.status().is_redirection() {
                return Err(GuardError::Redirect.into());
            }
            let deadline = if streams { None } else { Some(deadline) };
            Ok(answer.map(|body| limited(body, deadline, limits.body)))
        })
    }
}

/// A watch or a followed log: an answer that is meant to last.
fn is_stream(query: &str) -> bool {
    query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1" | "follow=true" | "follow=1"))
}

/// The body, ended by an error when it is late or too large. Without a deadline the size counts anew with each line.
fn limited<B>(body: B, deadline: Option<Instant>, most: usize) -> UnsyncBoxBody<Bytes, BoxError>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    let frames = stream::unfold(Some((BodyStream::new(body), 0_usize)), move |state| async move {
        let (mut body, mut size) = state?;
        let next = match deadline {
            Some(deadline) => timeout_at(deadline, body.next()).await.map_err(|_| GuardError::Timeout),
            None => Ok::<_, GuardError>(body.next().await),
        };
        let frame = match next {
            Ok(None) => return None,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => return Some((Err(error.into()), None)),
            Err(late) => return Some((Err(late.into()), None)),
        };
        if let Some(bytes) = frame.data_ref() {
            let line_end = if deadline.is_none() { bytes.iter().rposition(|byte| *byte == b'\n') } else { None };
            size = line_end.map_or_else(|| size.saturating_add(bytes.len()), |end| bytes.len() - end);
        }
        if size > most {
            return Some((Err(GuardError::TooLarge.into()), None));
        }
        Some((Ok(frame), Some((body, size))))
    });
    StreamBody::new(frames).map_err(|error: BoxError| error).boxed_unsync()
}

/// A body that is at hand, for tests of what stands on top.
#[cfg(test)]
fn body(
    chunks: impl IntoIterator<Item = Bytes, IntoIter: Send + 'static>,
) -> impl http_body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + Unpin {
    StreamBody::new(stream::iter(chunks.into_iter().map(|chunk| Ok(http_body::Frame::data(chunk)))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::convert::Infallible;

    use tower::{ServiceExt, service_fn};
    use vocabulary::TroubleKind;

    use super::*;

    const LIMITS: Limits = Limits { connect: Duration::from_secs(1), whole: Duration::from_millis(50), body: 1000 };

    fn error_of(result: Result<impl Sized, BoxError>) -> GuardError {
        *result.err().unwrap().downcast::<GuardError>().unwrap()
    }

    /// What a client sees of a server that gives this answer to a request for `path`.
    async fn collected(path: &str, chunks: Vec<Bytes>) -> Result<usize, BoxError> {
        let server = service_fn(move |_: Request<Body>| {
            let chunks = chunks.clone();
            async move { Ok::<_, BoxError>(Response::new(body(chunks))) }
        });
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = GuardLayer(LIMITS).layer(server).oneshot(request).await?;
        Ok(answer.into_body().collect().await?.to_bytes().len())
    }

    #[tokio::test]
    async fn an_answer_above_the_limit_ends_in_an_error_before_it_is_read_whole() {
        let ten_kilobytes = vec![Bytes::from_static(&[b' '; 100]); 100];

        assert_eq!(error_of(collected("/api/v1/pods", ten_kilobytes).await), GuardError::TooLarge);
        assert_eq!(collected("/api/v1/pods", vec![Bytes::from_static(&[b' '; 1000])]).await.unwrap(), 1000);
    }

    #[tokio::test]
    async fn a_watch_may_be_endless_but_none_of_its_lines_may() {
        let lines = vec![Bytes::from_static(b"{\"type\":\"ADDED\"}\n"); 1000];
        let one_line = vec![Bytes::from_static(&[b' '; 100]); 100];

        assert_eq!(collected("/api/v1/pods?watch=true", lines).await.unwrap(), 17_000);
        assert_eq!(error_of(collected("/api/v1/pods?a=b&watch=true", one_line).await), GuardError::TooLarge);
    }

    #[tokio::test]
    async fn a_server_that_stays_silent_or_trickles_is_given_up() {
        let silent = service_fn(|_: Request<Body>| async {
            futures::future::pending::<()>().await;
            Ok::<_, BoxError>(Response::new(body([])))
        });
        let trickling = service_fn(|_: Request<Body>| async {
            let drops = stream::repeat(Bytes::from_static(b" ")).then(|drop| async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok::<_, Infallible>(http_body::Frame::data(drop))
            });
            Ok::<_, BoxError>(Response::new(StreamBody::new(Box::pin(drops))))
        });
        let request = || Request::get("/version").body(Body::empty()).unwrap();

        assert_eq!(error_of(GuardLayer(LIMITS).layer(silent).oneshot(request()).await), GuardError::Timeout);
        let answer = GuardLayer(LIMITS).layer(trickling).oneshot(request()).await.unwrap();
        assert_eq!(error_of(answer.into_body().collect().await), GuardError::Timeout);
    }

    #[tokio::test]
    async fn a_proxy_of_the_configuration_is_asked_for_the_way() {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let proxy = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut config = Config::new("https://192.0.2.1:6443".parse().unwrap());
        config.proxy_url = Some(format!("http://{}", proxy.local_addr().unwrap()).parse().unwrap());
        let client = guarded(config, Limits { whole: Duration::from_secs(20), ..Limits::default() }).unwrap();
        let call = tokio::spawn(async move { client.apiserver_version().await });

        let (mut connection, _) = proxy.accept().await.unwrap();
        let mut asked = [0; 26];
        tokio::io::AsyncReadExt::read_exact(&mut connection, &mut asked).await.unwrap();

        assert_eq!(&asked, b"CONNECT 192.0.2.1:6443 HTT");
        call.abort();
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed_and_says_so() {
        let server = service_fn(|_: Request<Body>| async {
            let answer = Response::builder().status(302).header("location", "http://169.254.169.254/");
            Ok::<_, BoxError>(answer.body(body([])).unwrap())
        });
        let guarded = GuardLayer(LIMITS).layer(server);

        let error = Client::new(guarded, "default").apiserver_version().await.unwrap_err();

        let trouble = trouble(Attempt("look"), &error);
        assert_eq!((trouble.kind, trouble.reason.as_str()), (TroubleKind::Rejected, "UnexpectedRedirect"));
    }
}
