//! A stand-in for AWS on this machine: one private moto server a call, which ends with the test process, however that
//! ends. It checks signatures and policies, so that a request that AWS would refuse is refused.

use std::{
    env,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// Runs the server until standard input ends, which it does when the process that holds the other end is gone.
const KEEPER: &str = r#"
"$1" -H 127.0.0.1 -p 0 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
cat >/dev/null
"#;

/// Requests in [`Aws::start`], which set up who may do what before anybody is asked for a signature.
const SETTING_UP: &str = "4";

/// An AWS account with one user, who may assume one role.
#[derive(Debug)]
pub struct Aws {
    /// Its standard input is what keeps the server alive.
    _keeper: Child,
    /// Where STS answers.
    pub endpoint: String,
    /// The user's access key ID.
    pub access_key_id: String,
    /// The user's secret access key.
    pub secret_access_key: String,
    /// A role that the user may assume.
    pub role_arn: String,
}

impl Aws {
    /// Starts a server with an account of its own.
    ///
    /// # Errors
    /// Where moto is not installed, the error says how to install it. A test must fail then, not skip.
    pub async fn start() -> Result<Self> {
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(program()?)
            .env("INITIAL_NO_AUTH_ACTION_COUNT", SETTING_UP)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting moto")?;
        let output = keeper.stdout.take().context("moto has no output")?;
        let endpoint = tokio::task::spawn_blocking(move || {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            let endpoint = lines.find_map(|line| line.split_once("Running on ").map(|(_, url)| url.trim().to_owned()));
            // Read on, or the server would wait for room in the pipe.
            std::thread::spawn(move || lines.for_each(drop));
            endpoint
        });
        let endpoint = endpoint.await?.context("moto ended before it listened")?;

        let everything = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}"#;
        let trust = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"*"}}]}"#;
        let user = ("UserName", "kubeopera");
        iam(&endpoint, &[("Action", "CreateUser"), user]).await?;
        let policy = [("Action", "PutUserPolicy"), user, ("PolicyName", "all"), ("PolicyDocument", everything)];
        iam(&endpoint, &policy).await?;
        let role = [("Action", "CreateRole"), ("RoleName", "kubeopera"), ("AssumeRolePolicyDocument", trust)];
        let role = iam(&endpoint, &role).await?;
        let key = iam(&endpoint, &[("Action", "CreateAccessKey"), user]).await?;
        Ok(Self {
            _keeper: keeper,
            access_key_id: text_of(&key, "AccessKeyId")?,
            secret_access_key: text_of(&key, "SecretAccessKey")?,
            role_arn: text_of(&role, "Arn")?,
            endpoint,
        })
    }
}

async fn iam(endpoint: &str, fields: &[(&str, &str)]) -> Result<String> {
    // Not a signature; only the name of the service in it counts.
    let service =
        "AWS4-HMAC-SHA256 Credential=none/20200101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=none";
    let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let client = reqwest::Client::builder().timeout(std::time::Duration::from_secs(30)).build()?;
    let request = client
        .post(endpoint)
        .header("authorization", service)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body.join("&"));
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        bail!("moto answered {status}: {text}");
    }
    Ok(text)
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn text_of(xml: &str, element: &str) -> Result<String> {
    let document = roxmltree::Document::parse(xml)?;
    let found = document.descendants().find(|node| node.tag_name().name() == element);
    Ok(found.and_then(|node| node.text()).with_context(|| format!("no {element} in moto's answer"))?.to_owned())
}

/// Where `tools/moto` installs it, or wherever it is.
fn program() -> Result<PathBuf> {
    let cache = env::var_os("KUBEOPERA_CACHE").map(PathBuf::from).or_else(|| {
        let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home).map(|cache| cache.join("kubeopera"))
    });
    let installed = cache.map(|cache| cache.join("tools/moto/bin"));
    let in_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    installed
        .into_iter()
        .chain(in_path)
        .map(|folder| folder.join("moto_server"))
        .find(|program| program.is_file())
        .context("moto is needed for this test. Install it with: tools/moto")
}
