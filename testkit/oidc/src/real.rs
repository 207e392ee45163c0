//! `oidc-provider`, a certified OpenID Connect provider, which logs in whoever it is told to.

use std::{
    env,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use serde_json::{Value, json};
use url::Url;

/// The one client's id.
pub const CLIENT_ID: &str = "kubeopera";
/// The one client's secret.
pub const CLIENT_SECRET: &str = "CANARY-client-secret+/=of:the%tests-0123456789";

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/provider/provider.mjs");
/// More redirects than this are a circle.
const MOST_REDIRECTS: usize = 10;

/// A provider of a test's own, which ends with the test process, however that ends.
#[derive(Debug)]
pub struct RealProvider {
    /// Its standard input is what keeps it alive.
    _process: Child,
    /// Its issuer.
    pub issuer: String,
}

impl RealProvider {
    /// Starts a provider whose one client may be sent back to `redirect_uri` only.
    ///
    /// # Errors
    /// Where its packages are not installed, the error says how to install them. A test must fail then, not skip.
    pub async fn start(redirect_uri: &str) -> Result<Self> {
        let mut process = Command::new("node")
            .arg(PROGRAM)
            .arg(packages()?)
            .arg(redirect_uri)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("starting node")?;
        let output = process.stdout.take().context("the provider has no output")?;
        let issuer = tokio::task::spawn_blocking(move || {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            let issuer = lines.find(|line| line.starts_with("http://"));
            // Read on, or the provider would wait for room in the pipe.
            std::thread::spawn(move || lines.for_each(drop));
            issuer
        });
        let issuer = issuer.await?.context("the provider ended before it listened")?;
        Ok(Self { _process: process, issuer })
    }

    /// From now on everybody who comes is this person: their subject and what is known of them, such as
    /// `{"preferred_username": "ada", "groups": ["staff"]}`.
    pub async fn log_in_as(&self, subject: &str, claims: Value) -> Result<()> {
        self.put_next(&json!({"sub": subject, "claims": claims})).await
    }

    /// From now on nobody is logged in.
    pub async fn refuse(&self) -> Result<()> {
        self.put_next(&Value::Null).await
    }

    async fn put_next(&self, next: &Value) -> Result<()> {
        let client = reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?;
        let request = client.put(format!("{}/next", self.issuer)).body(next.to_string());
        request.send().await?.error_for_status()?;
        Ok(())
    }

    /// What a browser does that was sent to the provider: it goes on until it is sent back. The address it is sent to.
    pub async fn visit(&self, address: &Url) -> Result<Url> {
        let browser = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(30))
            .build()?;
        let mut cookies: Vec<(String, String)> = Vec::new();
        let mut address = address.clone();
        for _ in 0..MOST_REDIRECTS {
            let jar: Vec<_> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let answer = browser.get(address.clone()).header(COOKIE, jar.join("; ")).send().await?;
            for set in answer.headers().get_all(SET_COOKIE) {
                let pair = set.to_str()?.split(';').next().unwrap_or_default();
                let (name, value) = pair.split_once('=').context("a cookie without a value")?;
                cookies.retain(|(known, _)| known != name);
                cookies.push((name.to_owned(), value.to_owned()));
            }
            let Some(to) = answer.headers().get(LOCATION) else {
                bail!("the provider answered {}: {}", answer.status(), answer.text().await?);
            };
            address = address.join(to.to_str()?)?;
            if !address.as_str().starts_with(&self.issuer) {
                return Ok(address);
            }
        }
        bail!("the provider sends its visitors around in circles")
    }
}

/// Where `tools/oidc-provider` installs them.
fn packages() -> Result<PathBuf> {
    let cache = env::var_os("KUBEOPERA_CACHE").map(PathBuf::from).or_else(|| {
        let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home).map(|cache| cache.join("kubeopera"))
    });
    let packages = cache.map(|cache| cache.join("tools/oidc-provider/node_modules"));
    packages
        .filter(|folder| folder.join("oidc-provider").is_dir())
        .context("an identity provider is needed for this test. Install it with: tools/oidc-provider")
}
