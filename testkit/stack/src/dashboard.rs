//! A person at the dashboard, by way of the same API the page uses.

use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::{
    Method, RequestBuilder, StatusCode,
    header::{COOKIE, SET_COOKIE},
};
use serde_json::{Value, json};

use crate::Program;

/// Does what a person does with the printed password: chooses another.
pub(crate) async fn choose_password(address: &str, printed: &str) -> anyhow::Result<String> {
    let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?;
    let mut dashboard = Dashboard { http, address: address.to_owned(), cookie: String::new() };
    let session = dashboard.open(printed).await?;
    let admin = session.pointer("/user/id").and_then(Value::as_str).context("the session is nobody's")?;
    let chosen = format!("chosen-{printed}");
    dashboard
        .request(Method::PUT, &format!("/api/v1/users/{admin}/password"))
        .json(&json!({ "current_password": printed, "password": chosen }))
        .send()
        .await?
        .error_for_status()
        .context("choosing a password")?;
    Ok(chosen)
}

/// A session of the first administrator.
#[derive(Clone)]
pub struct Dashboard {
    http: reqwest::Client,
    address: String,
    cookie: String,
}

impl Dashboard {
    /// Logs in as the first administrator.
    pub async fn log_in(program: &Program) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?;
        let mut dashboard = Self { http, address: program.address(), cookie: String::new() };
        dashboard.open(program.password()?).await?;
        Ok(dashboard)
    }

    /// The same session at another process that shares the database.
    pub fn at(&self, program: &Program) -> Self {
        Self { address: program.address(), ..self.clone() }
    }

    /// Opens a session, which is then the dashboard's.
    async fn open(&mut self, password: &str) -> anyhow::Result<Value> {
        let answer = self
            .request(Method::POST, "/api/v1/session")
            .json(&json!({ "username": "admin", "password": password }))
            .send()
            .await?;
        let status = answer.status();
        let cookie = answer.headers().get(SET_COOKIE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        match (status, cookie) {
            (StatusCode::OK, Some(cookie)) => {
                cookie.split(';').next().unwrap_or_default().clone_into(&mut self.cookie);
                answer.json().await.context("reading the session")
            }
            _ => bail!("logging in was answered with {status}: {}", answer.text().await?),
        }
    }

    /// The session's secret, as the cookie has it.
    pub fn session(&self) -> anyhow::Result<&str> {
        self.cookie.split_once('=').map(|(_, secret)| secret).context("the cookie has no value")
    }

    /// A request with this session's cookie, as the page would send it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.address))
            .header(COOKIE, &self.cookie)
            .header("Sec-Fetch-Site", "same-origin")
    }

    /// Register This Cluster: the answer's status and the cluster.
    pub async fn register(&self) -> anyhow::Result<(StatusCode, Value)> {
        let answer = self.request(Method::POST, "/api/v1/clusters/register").send().await?;
        let status = answer.status();
        let body: Value = answer.json().await.context("reading the answer")?;
        if !status.is_success() {
            bail!("registering was answered with {status}: {body}");
        }
        Ok((status, body))
    }

    /// Posts a body below `/api/v1/clusters/`: the answer's status and body, refusals included.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<(StatusCode, Value)> {
        let answer = self.request(Method::POST, &format!("/api/v1/clusters/{path}")).json(body).send().await?;
        let status = answer.status();
        Ok((status, answer.json().await.context("reading the answer")?))
    }

    /// What is at a path, which has to be something.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let answer = self.request(Method::GET, path).send().await?.error_for_status()?;
        answer.json().await.context("reading the answer")
    }

    /// The list of clusters as the API answers it.
    pub async fn list(&self) -> anyhow::Result<Value> {
        let answer = self.request(Method::GET, "/api/v1/clusters").send().await?.error_for_status()?;
        answer.json().await.context("reading the list")
    }

    /// All clusters as the page lists them.
    pub async fn clusters(&self) -> anyhow::Result<Vec<Value>> {
        self.list().await?.get("items").and_then(Value::as_array).cloned().context("the list has no items")
    }
}
