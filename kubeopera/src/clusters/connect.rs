//! `kubeopera clusters register` and `kubeopera clusters connect`.

use std::{
    fmt::Write,
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use anyhow::{Context, bail};
use base64::{Engine, engine::general_purpose::STANDARD};
use clap::Args;
use kube_kit::LARGEST_KUBECONFIG;
use reqwest::{Method, StatusCode};
use vocabulary::Secret;

use super::{
    Output, follow, report,
    wire::{Cluster, ClusterToConnect, ContextVerdict, Finding, KubeconfigCheck, KubeconfigToCheck},
};
use crate::{
    server::{Request, Server},
    terminal::{json, plain, print},
};

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(super) struct ConnectOptions {
    /// Kubeconfig with cluster-admin access; - is the standard input
    #[arg(long, value_name = "FILE")]
    kubeconfig: PathBuf,
    /// Context in the kubeconfig [default: its current context, or the only one]
    #[arg(long, value_name = "CONTEXT")]
    context: Option<String>,
    /// Only look whether KubeOpera could use it; nothing is stored
    #[arg(long, conflicts_with_all =
        ["name", "provider", "region", "domain", "admin_email", "admin_username", "git_path"])]
    check: bool,
    /// Name of the cluster: at most 40 lower-case letters, digits and hyphens
    #[arg(long, value_name = "NAME", required_unless_present = "check")]
    name: Option<String>,
    /// Cloud or kind of installation, such as aws or on-premises
    #[arg(long, value_name = "PROVIDER", default_value = "unknown")]
    provider: String,
    /// Region of the provider, such as eu-north-1
    #[arg(long, value_name = "REGION", default_value = "unknown")]
    region: String,
    /// Domain under which it is reached; without one nothing is exposed
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// E-mail address of the first administrator to create on it
    #[arg(long, value_name = "EMAIL", requires = "admin_username")]
    admin_email: Option<String>,
    /// User name of that administrator
    #[arg(long, value_name = "NAME", requires = "admin_email")]
    admin_username: Option<String>,
    /// Folder of its tree in the Git repository [default: fluxcd/clusters/NAME]
    #[arg(long, value_name = "PATH")]
    git_path: Option<String>,
}

/// Registers the cluster KubeOpera runs on.
pub(super) async fn register(server: &Server, output: Output) -> anyhow::Result<()> {
    let answer = server.ask(Request::new(Method::POST, "/clusters/register")).await?;
    report(server, output, &answer, |cluster| joined(cluster, "registered", answer.status))
}

/// Connects a cluster, or asks only whether it could be.
pub(super) async fn run(server: &Server, output: Output, options: &ConnectOptions) -> anyhow::Result<()> {
    let file = &options.kubeconfig;
    let kubeconfig = if file.as_os_str() == "-" {
        in_base64(io::stdin().lock()).context("reading the kubeconfig from the standard input")?
    } else {
        let content = File::open(file).map_err(anyhow::Error::from).and_then(in_base64);
        content.with_context(|| format!("reading the kubeconfig {}", file.display()))?
    };
    let kubeconfig =
        KubeconfigToCheck { kubeconfig: kubeconfig.reveal(), encoding: "base64", context: options.context.as_deref() };
    let Some(name) = options.name.as_deref().filter(|_| !options.check) else {
        return check(server, output, &kubeconfig).await;
    };
    let wanted = ClusterToConnect {
        name,
        provider: &options.provider,
        region: &options.region,
        domain: options.domain.as_deref(),
        admin_email: options.admin_email.as_deref(),
        admin_username: options.admin_username.as_deref(),
        git_path: options.git_path.as_deref(),
        kubeconfig,
    };
    let answer = server.ask(Request::new(Method::POST, "/clusters/connect").body(&wanted).once()).await?;
    report(server, output, &answer, |cluster| joined(cluster, "connected", answer.status))
}

/// The bytes of a kubeconfig, of which nothing is looked at here.
fn in_base64(content: impl Read) -> anyhow::Result<Secret> {
    let mut bytes = Vec::new();
    // One more than KubeOpera takes tells that there are too many.
    content.take(u64::try_from(LARGEST_KUBECONFIG)?.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > LARGEST_KUBECONFIG {
        bail!(
            "it is larger than 1023 KiB. `kubectl config view --raw --minify --flatten` makes one that holds what is needed"
        )
    }
    Ok(Secret::new(STANDARD.encode(bytes)))
}

/// What became of it, and what KubeOpera does next.
pub(super) fn joined(cluster: &Cluster, how: &str, status: StatusCode) -> String {
    let when = if status == StatusCode::CREATED { "is" } else { "was already" };
    let mut text = format!("{} {when} {how}. {}\n", plain(&cluster.name), plain(&cluster.message));
    let next: Vec<_> =
        cluster.phases.iter().filter(|step| step.state != "done").map(|step| plain(&step.phase)).collect();
    if !next.is_empty() {
        _ = writeln!(text, "Next: {}.", next.join(", "));
    }
    text + &follow(cluster, "Ready")
}

/// A refused context is an answer: it is a failure only where none can be used.
async fn check(server: &Server, output: Output, kubeconfig: &KubeconfigToCheck<'_>) -> anyhow::Result<()> {
    let answer = server.ask(Request::new(Method::POST, "/clusters/kubeconfig-check").body(kubeconfig)).await?;
    let found: KubeconfigCheck = server.read(&answer.json)?;
    print(&match output {
        Output::Table => verdicts(&found),
        Output::Json => json(&answer.json)?,
    })?;
    if !found.contexts.iter().any(|context| context.verdict == "usable") {
        bail!("no context of this kubeconfig can be used");
    }
    Ok(())
}

pub(super) fn verdicts(found: &KubeconfigCheck) -> String {
    let mut text: String = found.contexts.iter().map(verdict).collect();
    if let Some(preferred) = &found.preferred {
        _ = writeln!(text, "Unless --context names another, {} is used.", plain(preferred));
    }
    text
}

fn verdict(context: &ContextVerdict) -> String {
    let server = context.server.as_deref().map(|server| format!(" ({})", plain(server))).unwrap_or_default();
    let mut text = format!("{}{server}: {}\n", plain(&context.name), plain(&context.verdict.replace('_', " ")));
    if let Some(cluster) = &context.cluster {
        let (version, provider, region) =
            (plain(&cluster.kubernetes_version), plain(&cluster.provider), plain(&cluster.region));
        let (ready, total) = (cluster.nodes.ready, cluster.nodes.total);
        let known = cluster.known_as.as_ref().map(|known| format!("; known as {}", plain(&known.name)));
        let known = known.unwrap_or_default();
        _ = writeln!(text, "  Kubernetes {version}, {ready} of {total} nodes ready, {provider} {region}{known}");
    }
    for finding in context.refusal.iter().chain(&context.warnings) {
        _ = writeln!(text, "  {}", words(finding));
    }
    text
}

/// The message quotes the commands that mend it.
fn words(finding: &Finding) -> String {
    let field = finding.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
    plain(&format!("{field}{}", finding.message))
}
