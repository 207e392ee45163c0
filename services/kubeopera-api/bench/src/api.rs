//! The API as a client sees it.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use reqwest::{Method, StatusCode};
use serde_json::Value;

/// A client with a token.
pub(crate) struct Caller {
    http: reqwest::Client,
    base: String,
    token: String,
}

/// An answer, and how long it took to its last byte.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) tag: String,
    pub(crate) body: Vec<u8>,
    pub(crate) took: Duration,
}

impl Answer {
    pub(crate) fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).context("the answer is not JSON")
    }
}

impl Caller {
    pub(crate) fn new(address: &str, token: &str) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().timeout(Duration::from_mins(1)).build()?;
        Ok(Self { http, base: format!("http://{address}"), token: token.to_owned() })
    }

    /// The same who opens a connection for each request.
    pub(crate) fn on_new_connections(&self) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().timeout(Duration::from_mins(1)).pool_max_idle_per_host(0).build()?;
        Ok(Self { http, base: self.base.clone(), token: self.token.clone() })
    }

    /// Where the API listens.
    pub(crate) fn address(&self) -> anyhow::Result<SocketAddr> {
        self.base.trim_start_matches("http://").parse().context("the API listens at no address")
    }

    /// Sends a request, as JSON if it has a body. An answer that is an error of the server is none.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        header: Option<(&str, &str)>,
    ) -> anyhow::Result<Answer> {
        let request = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token);
        let request = body.into_iter().fold(request, reqwest::RequestBuilder::json);
        let request = header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let began = Instant::now();
        let response = request.send().await?;
        let status = response.status();
        let tag = response.headers().get("etag").and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned();
        let body = response.bytes().await?.to_vec();
        let took = began.elapsed();
        ensure!(!status.is_server_error(), "{path} was answered with {status}: {}", String::from_utf8_lossy(&body));
        Ok(Answer { status, tag, body, took })
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        let answer = self.send(Method::GET, path, None, None).await?;
        ensure!(answer.status == StatusCode::OK, "{path}: {}", String::from_utf8_lossy(&answer.body));
        Ok(answer)
    }
}
