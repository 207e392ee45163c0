//! `kubeopera tree`: a cluster's tree on this machine, without a running KubeOpera: made, compared, judged.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use gitops_scaffolder::{
    TreeConfig,
    checkout::{Checkout, FileChange, Upgrade},
    render,
};
use gitops_scaffolder_contract::{Origin, Present, TreeInputs};
use vocabulary::{ClusterId, ClusterName, Domain, Email, GitPath, KubernetesVersion, Provider, Region};

use crate::{
    terminal::{plain, print},
    welcome,
};

/// As `diff` and `kubectl diff` have it: 1 says that there is a difference, more that it is not known.
const DIFFERENT: u8 = 1;
const TROUBLE: u8 = 2;

#[derive(Subcommand)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) enum TreeCommand {
    /// Write the tree of a cluster into an empty folder, to look at what KubeOpera would commit
    Render(Box<RenderOptions>),
    /// Print what this version of KubeOpera would change in a tree, edits of people merged. Ends with 1 if it would
    Diff(FolderOptions),
    /// Print what is wrong with a tree, edits of people included. Ends with 1 if there is something
    Lint(FolderOptions),
}

#[derive(Args)]
pub(crate) struct FolderOptions {
    /// Folder of one cluster in a clone of the repository: the one with .kubeopera/lock.json in it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct RenderOptions {
    /// Where to write it; empty, or not there yet
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Name of the cluster
    #[arg(long, value_name = "NAME")]
    name: ClusterName,
    /// Its folder in the repository [default: fluxcd/clusters/NAME]
    #[arg(long, value_name = "PATH")]
    path: Option<GitPath>,
    /// Its provider
    #[arg(long, value_name = "PROVIDER", default_value = "unknown")]
    provider: Provider,
    /// Its region
    #[arg(long, value_name = "REGION", default_value = "unknown")]
    region: Region,
    /// How it came to be
    #[arg(long, value_enum, default_value_t = Came::Existing)]
    origin: Came,
    /// Version of Kubernetes, such as 1.34
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<KubernetesVersion>,
    /// How many nodes it has
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    nodes: u16,
    /// Its domain; without one nothing is reachable from outside
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<Domain>,
    /// Contact of the certificate issuer
    #[arg(long, value_name = "EMAIL")]
    admin_email: Option<Email>,
    /// Secret that images are pulled with
    #[arg(long, value_name = "SECRET")]
    registry_pull_secret: Option<String>,
    /// What is on the cluster already and is left alone
    #[arg(long, value_enum, value_delimiter = ',', value_name = "COMPONENT,…")]
    present: Vec<Component>,
    /// Id of its HostCluster [default: a new one]
    #[arg(long, value_name = "ID")]
    cluster_id: Option<ClusterId>,
    /// UID of its kube-system namespace [default: a new one, so that no cluster is taken for it]
    #[arg(long, value_name = "UID")]
    cluster_uid: Option<ClusterId>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Came {
    /// It existed before KubeOpera knew it
    Existing,
    /// KubeOpera made it with kubeadm
    Kubeadm,
    /// KubeOpera made it on EKS
    Eks,
    /// KubeOpera made it on GKE
    Gke,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Component {
    IngressClass,
    CertManager,
    DefaultStorageClass,
    CloudnativePg,
    PrometheusOperator,
    MetricsApi,
}

/// Runs a command and says how it ended.
pub(crate) async fn run(command: TreeCommand) -> ExitCode {
    let outcome = match command {
        TreeCommand::Render(options) => render_into(*options).map(|()| 0),
        TreeCommand::Diff(options) => diff(&options.folder).await,
        TreeCommand::Lint(options) => lint(&options.folder),
    };
    outcome.map_or_else(
        |error| {
            welcome::complain(&format!("{error:#}"));
            TROUBLE.into()
        },
        ExitCode::from,
    )
}

fn render_into(options: RenderOptions) -> anyhow::Result<()> {
    let folder = options.folder.clone();
    let in_folder = || format!("writing into {}", folder.display());
    if fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty. Name another folder, or empty it", folder.display());
    }
    let tree = render(&options.inputs(), &TreeConfig::default());
    for (path, file) in tree.files() {
        let path = folder.join(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).with_context(in_folder)?;
        }
        fs::write(path, &file.text).with_context(in_folder)?;
    }
    print(&format!("{} files are in {}.\n", tree.files().count(), folder.display()))
}

async fn diff(folder: &Path) -> anyhow::Result<u8> {
    let checkout = Checkout::read(folder)?;
    let upgrade = checkout.upgrade().await.with_context(|| format!("comparing {}", folder.display()))?;
    print(&for_people(&upgrade))?;
    Ok(if upgrade.files.is_empty() && upgrade.conflicts.is_empty() { 0 } else { DIFFERENT })
}

/// The remarks are comments between the diffs, which every reader of diffs passes over.
fn for_people(upgrade: &Upgrade) -> String {
    let kept = upgrade.kept_edits.iter().filter(|path| !upgrade.conflicts.contains(path));
    let conflicts = upgrade
        .conflicts
        .iter()
        .map(|path| format!("# {} stays as it was edited: KubeOpera's change is to the same lines.\n", plain(path)));
    let kept = kept.map(|path| format!("# {} was edited; the edit stays.\n", plain(path)));
    conflicts.chain(kept).chain(upgrade.files.iter().map(FileChange::diff)).collect()
}

fn lint(folder: &Path) -> anyhow::Result<u8> {
    let findings = Checkout::read(folder)?.findings();
    if findings.is_empty() {
        print("Nothing is wrong with this tree.\n")?;
        return Ok(0);
    }
    let lines: String = findings.iter().map(|finding| plain(&finding.to_string()) + "\n").collect();
    print(&lines)?;
    Ok(DIFFERENT)
}

impl RenderOptions {
    fn inputs(self) -> TreeInputs {
        let has = |component| self.present.contains(&component);
        TreeInputs {
            cluster: self.cluster_id.unwrap_or_else(ClusterId::random),
            cluster_uid: self.cluster_uid.unwrap_or_else(ClusterId::random).to_string(),
            path: self.path.unwrap_or_else(|| GitPath::of_cluster(&self.name)),
            name: self.name,
            provider: self.provider,
            region: self.region,
            origin: match self.origin {
                Came::Existing => Origin::Existing,
                Came::Kubeadm => Origin::Kubeadm,
                Came::Eks => Origin::Eks,
                Came::Gke => Origin::Gke,
            },
            kubernetes_version: self.kubernetes_version,
            nodes: self.nodes,
            domain: self.domain,
            admin_email: self.admin_email,
            registry_pull_secret: self.registry_pull_secret,
            present: Present {
                ingress_class: has(Component::IngressClass),
                cert_manager: has(Component::CertManager),
                default_storage_class: has(Component::DefaultStorageClass),
                cloudnative_pg: has(Component::CloudnativePg),
                prometheus_operator: has(Component::PrometheusOperator),
                metrics_api: has(Component::MetricsApi),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        command: TreeCommand,
    }

    async fn ended(arguments: &[&str]) -> ExitCode {
        run(Line::try_parse_from([&["tree"], arguments].concat()).unwrap().command).await
    }

    #[tokio::test]
    async fn a_rendered_tree_is_sound_and_up_to_date_until_somebody_breaks_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("prod");
        let at = at.to_str().unwrap();
        let render = ["render", at, "--name", "prod", "--domain", "prod.acme.com", "--present", "cert-manager"];

        assert_eq!(ended(&render).await, ExitCode::SUCCESS);
        assert_eq!(ended(&["lint", at]).await, ExitCode::SUCCESS);
        assert_eq!(ended(&["diff", at]).await, ExitCode::SUCCESS);

        let lock = fs::read_to_string(format!("{at}/.kubeopera/lock.json")).unwrap();
        assert!(lock.contains("prod.acme.com") && lock.contains("\"certManager\": true"), "{lock}");
        assert_eq!(ended(&render).await, ExitCode::from(TROUBLE), "the folder is not empty any more");

        fs::write(format!("{at}/kustomization.yaml"), "kind: [\n").unwrap();
        assert_eq!(ended(&["lint", at]).await, ExitCode::from(DIFFERENT));
        assert_eq!(ended(&["diff", at]).await, ExitCode::SUCCESS, "an edit is no difference of ours");
        assert_eq!(ended(&["diff", folder.path().to_str().unwrap()]).await, ExitCode::from(TROUBLE));
    }

    #[test]
    fn remarks_are_no_part_of_the_diff() {
        let upgrade = Upgrade {
            kept_edits: vec!["a.yaml".to_owned(), "b\x1b.yaml".to_owned()],
            conflicts: vec!["b\x1b.yaml".to_owned()],
            files: Vec::new(),
        };

        let text = for_people(&upgrade);

        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.lines().all(|line| line.starts_with("# ")) && !text.contains('\x1b'), "{text}");
    }
}
