//! A running KubeOpera, asked over its API with a personal access token.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use reqwest::{Client, Method, StatusCode, header};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use service_kit::outbound;
use url::Url;
use vocabulary::Secret;

use crate::terminal::plain;

/// Environment variable with a personal access token. It is no option: the command line of a process is for everybody to
/// see.
const TOKEN_VARIABLE: &str = "KUBEOPERA_TOKEN";
/// Looking at every context of a kubeconfig takes longest.
const LONGEST_CALL: Duration = Duration::from_mins(1);
/// Many times what the view of a thousand clusters takes.
const LARGEST_ANSWER: usize = 64 << 20;

/// Which KubeOpera is asked.
#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct ServerOptions {
    /// Address of KubeOpera
    #[arg(long, global = true, value_name = "URL", default_value = "http://127.0.0.1:7070", env = "KUBEOPERA_SERVER")]
    server: Url,
}

impl ServerOptions {
    /// The server, with the token of whoever asks.
    pub(crate) fn server(&self) -> anyhow::Result<Server> {
        let token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty()).map(Secret::new);
        let token = token.with_context(|| {
            format!(
                "the variable {TOKEN_VARIABLE} is not set. Make a personal access token in the dashboard and put it there"
            )
        })?;
        Server::new(self.server.clone(), token)
    }
}

/// A server that can be asked.
pub(crate) struct Server {
    address: Url,
    token: Secret,
    client: Client,
}

/// A request: an operation of the API, what it is asked with, and whether it may be done but once.
pub(crate) struct Request<'a> {
    method: Method,
    path: &'a str,
    query: Vec<(&'a str, String)>,
    body: Option<Result<Vec<u8>, serde_json::Error>>,
    key: Option<String>,
}

impl<'a> Request<'a> {
    /// Asks for `path`, which begins with a slash and is one below `/api/v1`.
    pub(crate) const fn new(method: Method, path: &'a str) -> Self {
        Self { method, path, query: Vec::new(), body: None, key: None }
    }

    /// With these keys and values.
    pub(crate) fn query(self, query: Vec<(&'a str, String)>) -> Self {
        Self { query, ..self }
    }

    /// With a body, as JSON.
    pub(crate) fn body(self, body: &impl Serialize) -> Self {
        Self { body: Some(serde_json::to_vec(body)), ..self }
    }

    /// Under a name of its own, so that it is done once even if something on the way repeats it.
    pub(crate) fn once(self) -> Self {
        Self { key: Some(uuid::Uuid::new_v4().to_string()), ..self }
    }
}

/// What the server answered to a request it did.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status, which tells what is new from what was there.
    pub(crate) status: StatusCode,
    /// The body as it came.
    pub(crate) json: Value,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    /// The server said no.
    #[error("{sentence}")]
    Refused {
        /// The HTTP status.
        status: StatusCode,
        /// The refused field, what happened and what to do.
        sentence: String,
    },
    /// There was no answer that could be read.
    #[error("{address} does not answer as KubeOpera does. Name its address with --server")]
    NotKubeOpera {
        /// Who was asked.
        address: Url,
        /// What went wrong.
        #[source]
        why: anyhow::Error,
    },
}

impl ServerError {
    /// Whether the same request may be answered a moment later.
    pub(crate) const fn may_pass(&self) -> bool {
        match self {
            Self::Refused { status, .. } => {
                status.as_u16() == StatusCode::TOO_MANY_REQUESTS.as_u16() || status.as_u16() >= 500
            }
            Self::NotKubeOpera { .. } => true,
        }
    }
}

/// An RFC 9457 problem document, as far as people are told.
#[derive(Deserialize)]
struct Problem {
    detail: String,
    field: Option<String>,
    hint: Option<String>,
    request_id: String,
}

impl Server {
    /// The server at an address, asked with this token.
    pub(crate) fn new(address: Url, token: Secret) -> anyhow::Result<Self> {
        let names_nobody = address.username().is_empty() && address.password().is_none();
        if !names_nobody || !["http", "https"].contains(&address.scheme()) {
            bail!("the address of KubeOpera begins with http:// or https:// and has no user name or password in it");
        }
        if !token.reveal().bytes().all(|c| c.is_ascii_graphic()) {
            bail!("what is in {TOKEN_VARIABLE} is no token: there are spaces or other characters in it that none has");
        }
        Ok(Self { address, token, client: outbound::client(LONGEST_CALL)? })
    }

    /// Asks once.
    pub(crate) async fn ask(&self, request: Request<'_>) -> Result<Answer, ServerError> {
        let (status, retry_after, body) = self.send(request).await.map_err(|why| self.strange(why))?;
        if status == StatusCode::UNAUTHORIZED {
            let sentence = format!(
                "{} does not accept the token in {TOKEN_VARIABLE}. It may have ended or been revoked; make another",
                self.address
            );
            return Err(ServerError::Refused { status, sentence });
        }
        if !status.is_success() {
            let problem: Option<Problem> = serde_json::from_slice(&body).ok();
            let sentence = problem.map_or_else(
                || format!("{} answered {status}. Look into KubeOpera's log", self.address),
                |problem| problem.sentence(status, retry_after.as_deref()),
            );
            return Err(ServerError::Refused { status, sentence });
        }
        let json = serde_json::from_slice(&body).map_err(|error| self.strange(error.into()))?;
        Ok(Answer { status, json })
    }

    /// Reads what is needed of an answer.
    pub(crate) fn read<T: DeserializeOwned>(&self, json: &Value) -> Result<T, ServerError> {
        T::deserialize(json).map_err(|error| self.strange(error.into()))
    }

    async fn send(&self, request: Request<'_>) -> anyhow::Result<(StatusCode, Option<String>, Vec<u8>)> {
        let Request { method, path, query, body, key } = request;
        let mut url = self.address.join(&format!("/api/v1{path}")).context("this is no address of a server")?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut asked = self.client.request(method, url).bearer_auth(self.token.reveal());
        if let Some(body) = body {
            asked = asked.header(header::CONTENT_TYPE, "application/json").body(body?);
        }
        if let Some(key) = key {
            asked = asked.header("idempotency-key", key);
        }
        let answer = asked.send().await?;
        let status = answer.status();
        let retry_after = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        Ok((status, retry_after, outbound::body(answer, LARGEST_ANSWER).await?))
    }

    fn strange(&self, why: anyhow::Error) -> ServerError {
        ServerError::NotKubeOpera { address: self.address.clone(), why }
    }
}

impl Problem {
    fn sentence(self, status: StatusCode, retry_after: Option<&str>) -> String {
        let field = self.field.map(|field| format!("{field}: ")).unwrap_or_default();
        let hint = self.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
        let wait = retry_after.map(|seconds| format!(" (Retry-After: {seconds} s)")).unwrap_or_default();
        let request = if status.is_server_error() { format!(" (request {})", self.request_id) } else { String::new() };
        plain(&format!("{field}{}{hint}{wait}{request}", self.detail))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use axum::{
        Router,
        http::{HeaderMap, StatusCode, header},
        routing,
    };
    use serde_json::json;

    use super::*;

    /// A server that answers so, whatever it is asked.
    async fn answering(status: u16, kind: &'static str, body: String) -> Server {
        let answer = (StatusCode::from_u16(status).unwrap(), [(header::CONTENT_TYPE, kind)], body);
        serving(Router::new().fallback(move || std::future::ready(answer.clone()))).await
    }

    /// A server that answers as the router does.
    pub(crate) async fn serving(router: Router) -> Server {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Server::new(address, Secret::new("kubeopera_pat_CANARY")).unwrap()
    }

    async fn refusal(status: u16, body: String) -> String {
        let server = answering(status, "application/problem+json", body).await;
        server.ask(Request::new(Method::GET, "/clusters")).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_refusal_is_a_sentence_with_the_field_and_what_to_do() {
        let problem = json!({
            "type": "about:blank", "title": "Conflict", "status": 409, "code": "git_path_in_use", "field": "git_path",
            "detail": "This folder is that of cluster \u{1b}[31mshop.", "hint": "Choose another folder.",
            "request_id": "0193f2c8",
        });

        assert_eq!(
            refusal(409, problem.to_string()).await,
            "git_path: This folder is that of cluster \u{fffd}[31mshop. Choose another folder."
        );
        assert!(refusal(503, problem.to_string()).await.ends_with("(request 0193f2c8)"));
    }

    #[tokio::test]
    async fn a_token_that_is_not_accepted_is_never_told() {
        let text = refusal(401, "{}".to_owned()).await;

        assert!(text.contains("KUBEOPERA_TOKEN") && !text.contains("CANARY"), "{text}");

        for (address, token, at_fault) in [
            ("http://127.0.0.1:7070", "CANARY\r", "KUBEOPERA_TOKEN"),
            ("http://admin:CANARY@127.0.0.1:7070", "t", "address"),
            ("ftp://127.0.0.1", "t", "address"),
        ] {
            let error = Server::new(address.parse().unwrap(), Secret::new(token)).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(at_fault) && !error.contains("CANARY"), "{error}");
        }
    }

    #[tokio::test]
    async fn what_is_not_kubeopera_is_called_so() {
        let server = answering(200, "text/html", "<html>".to_owned()).await;
        let error = server.ask(Request::new(Method::GET, "/clusters")).await.unwrap_err();

        assert!(error.to_string().contains("does not answer as KubeOpera does"), "{error}");
        assert!(refusal(502, "<html>".to_owned()).await.contains("answered 502"));
    }

    #[tokio::test]
    async fn a_request_brings_the_token_its_query_and_a_key_of_its_own() {
        let router = Router::new().route(
            "/api/v1/clusters",
            routing::post(|headers: HeaderMap, uri: axum::http::Uri, body: String| async move {
                let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
                let (token, key, kind) = (header("authorization"), header("idempotency-key"), header("content-type"));
                axum::Json(json!({"token": token, "key": key, "kind": kind, "query": uri.query(), "body": body}))
            }),
        );
        let server = serving(router).await;
        let request = || {
            let request = Request::new(Method::POST, "/clusters").query(vec![("label", "env=a&b".to_owned())]);
            server.ask(request.body(&json!({"name": "shop"})).once())
        };

        let (first, second) = (request().await.unwrap().json, request().await.unwrap().json);

        assert_eq!(first["token"], "Bearer kubeopera_pat_CANARY");
        assert_eq!(first["kind"], "application/json");
        assert_eq!(first["query"], "label=env%3Da%26b");
        assert_eq!(first["body"], r#"{"name":"shop"}"#);
        assert!(first["key"].is_string() && first["key"] != second["key"], "{first} {second}");
    }
}
