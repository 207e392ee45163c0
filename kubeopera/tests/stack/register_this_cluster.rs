//! Register This Cluster: one click, nothing to enter.

use std::time::Duration;

use host_cluster_controller_crd::Phase;
use serde_json::Value;
use stack::{Dashboard, LocalCluster, PhaseLog, ProgramOptions};
use testkit_moto::Aws;
use tokio::process::Command;

use crate::{World, flux::kustomizations};

#[tokio::test]
#[ignore = "starts a cluster"]
async fn one_click_in_the_browser_leads_through_the_phases_to_ready_and_then_every_chapter_works() {
    let cloud = Aws::start().await.unwrap();
    let options =
        ProgramOptions { arguments: vec!["--aws-sts-url".to_owned(), cloud.endpoint.clone()], ..crate::options() };
    let (world, second) =
        tokio::join!(World::from_nothing("stack-register", options), LocalCluster::up("stack-second", &[]));
    let second = second.unwrap();
    let phases = PhaseLog::follow(world.client.clone());
    let mut kubectl = world.cluster.kubectl();
    let printed = tempfile::NamedTempFile::new().unwrap();
    kubectl.args(["get", "hc", "--namespace", "kubeopera-system", "--watch"]).stdout(printed.reopen().unwrap());
    let _watching = kubectl.kill_on_drop(true).spawn().unwrap();

    // The click: Chromium at the real page.
    let mut chapter = browser(&world);
    stack::run(chapter.args(["--project", "register"])).await.unwrap();

    let resource = world.ready().await;
    let way = [
        Phase::Pending,
        Phase::BootstrappingFlux,
        Phase::GeneratingGitOpsTree,
        Phase::InstallingKubeOpera,
        Phase::Ready,
    ];
    assert_eq!(phases.phases(), way);
    let lines = tokio::fs::read_to_string(printed.path()).await.unwrap();
    let mut columns: Vec<&str> = lines.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    columns.dedup();
    // The header comes first; a resource that has no status yet has another column in this place.
    columns.retain(|column| way.iter().any(|phase| phase.as_str() == *column));
    assert_eq!(columns, way.map(Phase::as_str), "{lines}");
    let status = resource.status.clone().unwrap();
    assert_eq!(status.flux_healthy, Some(true));
    assert_eq!(status.message.unwrap(), format!("Flux healthy and reconciling {}.", resource.spec.git_ops_path));
    assert_eq!((resource.spec.provider.as_str(), resource.spec.region.as_str()), ("unknown", "unknown"));
    assert_eq!(status.nodes.map(|nodes| (nodes.total, nodes.ready)), Some((1, 1)));
    assert_eq!(status.kubernetes_version.as_deref(), Some("1.34.4"));

    // The commit that the status names is the one real Flux applied.
    let commit = status.git_ops.unwrap().commit.unwrap();
    let root = kustomizations(&world.client).get("kubeopera").await.unwrap();
    let applied = root.data["status"]["lastAppliedRevision"].as_str().unwrap().to_owned();
    assert!(applied.ends_with(&commit), "{applied} is not {commit}");

    // The other chapters, with a cluster to connect and a cloud to ask.
    let mut chapters = browser(&world);
    for chapter in ["connect", "settings", "create", "clusters", "multi", "disconnect"] {
        chapters.args(["--project", chapter]);
    }
    chapters
        .env("OTHER_KUBECONFIG", second.kubeconfig())
        .env("AWS_ACCESS_KEY_ID", &cloud.access_key_id)
        .env("AWS_SECRET_ACCESS_KEY", &cloud.secret_access_key);
    stack::run(&mut chapters).await.unwrap();
    drop(second);

    a_second_start_changes_nothing(world).await;
}

/// The tests of the dashboard, in Chromium and at a real KubeOpera.
fn browser(world: &World) -> Command {
    let mut command = Command::new("npm");
    command
        .args(["run", "e2e", "--"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../web"))
        .env("BASE_URL", world.program.address())
        .env("USERNAME", "admin")
        .env("PASSWORD", world.program.password().unwrap());
    command
}

async fn a_second_start_changes_nothing(mut world: World) {
    let before = world.host_cluster().await.unwrap();
    let commits = world.commits(&before.spec.git_ops_path).await;
    world.program.stop().await.unwrap();

    world.program.start_again().await.unwrap();
    let (status, answer) = world.dashboard.register().await.unwrap();

    assert_eq!(status, 200, "the session of before the restart is still good, and the cluster is known");
    assert_eq!(answer["id"], before.spec.cluster_id);
    assert!(world.program.said().await.unwrap().contains("KubeOpera is running"));
    assert!(!world.program.said().await.unwrap().contains("Password"));
    let after = world.ready().await;
    assert_eq!(before.metadata.uid, after.metadata.uid);
    assert_eq!(commits, world.commits(&after.spec.git_ops_path).await);
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn twenty_clicks_at_once_give_one_entry() {
    let world = World::fresh("stack-clicks").await;

    let clicks = (0..20).map(|_| {
        let dashboard: Dashboard = world.dashboard.clone();
        async move { dashboard.register().await.unwrap() }
    });
    let answers = futures::future::join_all(clicks).await;

    let ids: std::collections::BTreeSet<&str> =
        answers.iter().map(|(_, cluster)| cluster["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1, "every click is answered with the same cluster");
    assert_eq!(answers.iter().filter(|(status, _)| *status == 201).count(), 1, "one click created it");
    assert_eq!(world.dashboard.clusters().await.unwrap().len(), 1);
    stack::until("the resource", Duration::from_secs(30), || world.host_cluster()).await.unwrap();
    let card = &world.dashboard.clusters().await.unwrap()[0];
    assert_eq!(card["is_host"], Value::Bool(true));
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn provider_and_region_come_from_the_nodes_provider_ids() {
    let cluster = LocalCluster::up("stack-aws", &["--provider-id", "aws:///eu-north-1a/i-0abc1234"]).await.unwrap();
    let program = stack::Program::start(&cluster, crate::options()).await.unwrap();
    let dashboard = Dashboard::log_in(&program).await.unwrap();

    let (_, card) = dashboard.register().await.unwrap();

    assert_eq!((card["provider"].as_str(), card["region"].as_str()), (Some("aws"), Some("eu-north-1")));
}

impl World {
    /// Commits that touch a cluster's folder in the built-in repository, newest first.
    async fn commits(&self, path: &str) -> Vec<String> {
        stack::commits_of_path(&self.program.repository(), "main", path).await.unwrap()
    }
}
