//! Terraform without a cloud: the real program with the real provider of AWS in front of emulators of AWS on this machine,
//! and with a stand-in for Google's provider that has the real schemas. `tools/terraform` puts all of it into the cache.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

/// Runs a server until standard input ends, which it does when the process that holds the other end is gone.
const KEEPER: &str = r#"
"$@" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
cat >/dev/null
"#;

/// A header of requests to EC2.
const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

/// Terraform, and where its providers are.
#[derive(Debug)]
pub struct Terraform {
    /// The program.
    pub program: PathBuf,
    cli_configuration: PathBuf,
}

impl Terraform {
    /// Finds it.
    ///
    /// # Errors
    /// Where it is missing, the error says how to install it. A test must fail then, not skip.
    pub fn find() -> Result<Self> {
        let cli_configuration = cache()?.join("terraform.rc");
        if !cli_configuration.is_file() {
            bail!("Terraform's providers are needed for this test. Put them into the cache with: tools/terraform");
        }
        let in_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
        let program = in_path.into_iter().map(|folder| folder.join("terraform")).find(|program| program.is_file());
        let program = program.context("Terraform is needed for this test, and not on the PATH")?;
        Ok(Self { program, cli_configuration })
    }

    /// The folder that mirrors the providers, as `filesystem_mirror` takes it.
    pub fn providers(&self) -> PathBuf {
        self.cli_configuration.with_file_name("providers")
    }

    /// What Terraform has to have in its environment to find the providers.
    pub fn environment(&self) -> Vec<(String, String)> {
        vec![("TF_CLI_CONFIG_FILE".to_owned(), self.cli_configuration.display().to_string())]
    }
}

/// A stand-in for Google, which its provider's stand-in looks into.
#[derive(Debug)]
pub struct Google {
    folder: TempDir,
}

impl Google {
    /// One with nothing in it, whose regions have three zones.
    pub fn new() -> Result<Self> {
        let google = Self { folder: tempfile::tempdir()? };
        google.answers(&serde_json::json!({}))?;
        Ok(google)
    }

    /// What it makes up, by type and attribute, beside the zones.
    pub fn answers(&self, answers: &Value) -> Result<()> {
        let mut all = answers.clone();
        let zones = serde_json::json!({ "names": ["zone-a", "zone-b", "zone-c"] });
        all.as_object_mut().context("answers are an object")?.insert("google_compute_zones".to_owned(), zones);
        Ok(fs::write(self.folder.path().join("answers.json"), all.to_string())?)
    }

    /// What goes wrong from now on; see the stand-in for the fields.
    pub fn faults(&self, faults: &Value) -> Result<()> {
        Ok(fs::write(self.folder.path().join("faults.json"), faults.to_string())?)
    }

    /// What was done: operation, type and name.
    pub fn journal(&self) -> Vec<(String, String, String)> {
        let text = fs::read_to_string(self.folder.path().join("journal.jsonl")).unwrap_or_default();
        let field = |line: &Value, name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.map(|line| (field(&line, "operation"), field(&line, "type"), field(&line, "name"))).collect()
    }

    /// How many resources there are: what was created and not deleted.
    pub fn inventory(&self) -> usize {
        let count = |wanted: &str| self.journal().iter().filter(|(operation, ..)| operation == wanted).count();
        count("create").saturating_sub(count("delete"))
    }

    /// What the stand-in has to have in its environment to find it.
    pub fn environment(&self) -> Vec<(String, String)> {
        vec![("STANDIN_FOLDER".to_owned(), self.folder.path().display().to_string())]
    }
}

/// An AWS of one's own: moto, and `MiniStack` for EKS, of which moto does not know enough.
#[derive(Debug)]
pub struct Aws {
    /// Where AWS answers, all but EKS.
    pub endpoint: String,
    eks: String,
    _keepers: [Child; 2],
}

impl Aws {
    /// Whether the provider could be had on this machine; `tools/terraform` says so loudly where it could not.
    pub fn has_provider() -> Result<bool> {
        let registries = fs::read_dir(cache()?.join("providers"))?;
        Ok(registries.flatten().any(|registry| registry.path().join("hashicorp/aws").is_dir()))
    }

    /// Starts it; it ends with the test process, however that ends.
    pub fn start() -> Result<Self> {
        let cache = cache()?;
        let moto = [cache.join("bin/moto_server").display().to_string()];
        let moto = moto.into_iter().chain(["-H", "127.0.0.1", "-p", "0"].map(str::to_owned));
        let (moto, endpoint) = serve(moto, &[("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")])?;
        let port = free_port()?.to_string();
        let ministack = [cache.join("bin/ministack").display().to_string()];
        let (ministack, eks) = serve(ministack.into_iter(), &[("BIND_HOST", "127.0.0.1"), ("GATEWAY_PORT", &port)])?;
        Ok(Self { endpoint, eks, _keepers: [moto, ministack] })
    }

    /// Writes a parameter that is there, as a machine would.
    pub fn put_parameter(&self, name: &str, value: &str) -> Result<()> {
        let kind = if name.contains("/status/") { "String" } else { "SecureString" };
        let body = serde_json::json!({ "Name": name, "Value": value, "Type": kind, "Overwrite": true }).to_string();
        let head = "X-Amz-Target: AmazonSSM.PutParameter\r\nContent-Type: application/x-amz-json-1.1\r\n";
        self.post("ssm", head, &body).map(drop)
    }

    /// Makes a disk that is marked as a cluster's own, as a storage driver would; its id.
    pub fn make_volume(&self, tag: &str) -> Result<String> {
        let tag = tag.replace('/', "%2F");
        let body = format!(
            "Action=CreateVolume&Version=2016-11-15&AvailabilityZone=eu-north-1a&Size=1&TagSpecification.1.ResourceType=volume\
             &TagSpecification.1.Tag.1.Key={tag}&TagSpecification.1.Tag.1.Value=owned"
        );
        let answer = self.post("ec2", FORM, &body)?;
        let id = answer.split_once("<volumeId>").and_then(|(_, rest)| rest.split_once("</volumeId>"));
        Ok(id.context("the emulator made no volume")?.0.to_owned())
    }

    /// Deletes it.
    pub fn delete_volume(&self, id: &str) -> Result<()> {
        self.post("ec2", FORM, &format!("Action=DeleteVolume&Version=2016-11-15&VolumeId={id}")).map(drop)
    }

    fn post(&self, service: &str, head: &str, body: &str) -> Result<String> {
        let address = self.endpoint.trim_start_matches("http://").trim_end_matches('/');
        let head = format!(
            "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{head}Authorization: AWS4-HMAC-SHA256 \
             Credential=none/20260101/eu-north-1/{service}/aws4_request, SignedHeaders=host, Signature=none\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = std::net::TcpStream::connect(address)?;
        connection.write_all(head.as_bytes())?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        if !answer.starts_with("HTTP/1.1 200") {
            bail!("the emulator refused it: {answer}");
        }
        Ok(answer)
    }

    /// What the provider has to have in its environment to find it.
    pub fn environment(&self) -> Vec<(String, String)> {
        [
            ("AWS_ENDPOINT_URL", self.endpoint.as_str()),
            ("AWS_ENDPOINT_URL_EKS", &self.eks),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }
}

fn serve(command: impl Iterator<Item = String>, environment: &[(&str, &str)]) -> Result<(Child, String)> {
    let mut keeper = Command::new("sh")
        .args(["-c", KEEPER, "keeper"])
        .args(command)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting an emulator of AWS")?;
    let output = keeper.stdout.take().context("the emulator has no output")?;
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let said = lines.find_map(|line| {
        let address = line.split_once("Running on ")?.1.split_whitespace().next()?.to_owned();
        Some(address)
    });
    // Read on, or the server would wait for room in the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Ok((keeper, said.context("the emulator ended before it listened. Install it with: tools/terraform")?))
}

fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Where `tools/terraform` puts things.
fn cache() -> Result<PathBuf> {
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = env::var_os("KUBEOPERA_CACHE").map(PathBuf::from).or_else(|| {
        env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home).map(|cache| cache.join("kubeopera"))
    });
    Ok(cache.context("there is no HOME")?.join("tools/terraform"))
}
