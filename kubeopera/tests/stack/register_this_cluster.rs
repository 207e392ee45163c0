//! Register This Cluster: one click, nothing to enter.

use std::time::Duration;

use host_cluster_controller_crd::{HostCluster, NAMESPACE, Phase};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Event, Secret},
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use rand::RngExt;
use serde_json::Value;
use stack::{Dashboard, PhaseLog, Program, commits_of_path};
use tokio::process::Command;

use crate::{
    World,
    flux::{FLUX, git_repositories, kustomizations},
    host_clusters, names, options,
};

#[tokio::test]
#[ignore = "starts a cluster"]
async fn one_click_in_the_browser_leads_through_the_phases_to_ready() {
    let world = World::fresh("stack-register").await;
    let phases = PhaseLog::follow(world.client.clone());

    // The click: Chromium at the real page.
    stack::run(
        Command::new("npm")
            .args(["run", "e2e", "--", "--reporter", "list"])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../web"))
            .env("BASE_URL", world.program.address())
            .env("USERNAME", "admin")
            .env("PASSWORD", world.program.password().unwrap()),
    )
    .await
    .unwrap();

    let resource = world.ready().await;
    assert_eq!(
        phases.phases(),
        [
            Phase::Pending,
            Phase::BootstrappingFlux,
            Phase::GeneratingGitOpsTree,
            Phase::InstallingKubeOpera,
            Phase::Ready
        ]
    );
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

    no_secret_is_seen_anywhere(&world).await;
    a_second_start_changes_nothing(world).await;
}

/// The repository's passwords stay in the Secrets that are meant to hold them.
async fn no_secret_is_seen_anywhere(world: &World) {
    let secret: Secret = Api::<Secret>::namespaced(world.client.clone(), "kubeopera-system")
        .get(&world.host_cluster().await.unwrap().spec.git_credentials_secret_ref)
        .await
        .unwrap();
    let canaries: Vec<String> = secret
        .data
        .unwrap()
        .into_iter()
        .filter(|(key, _)| key.ends_with("password"))
        .map(|(_, value)| String::from_utf8(value.0).unwrap())
        .chain([world.program.password().unwrap().to_owned()])
        .collect();
    assert_eq!(canaries.len(), 3, "two passwords of the repository and the administrator's");

    let resources = serde_json::to_string(&host_clusters(&world.client).await.unwrap()).unwrap();
    let events = Api::<Event>::all(world.client.clone()).list(&kube::api::ListParams::default()).await.unwrap();
    let cards = serde_json::to_string(&world.dashboard.clusters().await.unwrap()).unwrap();
    let tree = stack::run(
        Command::new("git").arg("--git-dir").arg(world.program.repository()).args(["grep", "-h", "-I", "", "main"]),
    )
    .await
    .unwrap();
    let database = tokio::fs::read(world.program.data().join("kubeopera.db")).await.unwrap();
    let seen = [
        ("HostClusters", resources),
        ("events", serde_json::to_string(&events.items).unwrap()),
        ("API answers", cards),
        ("the Git tree", tree),
        ("the log", world.program.logged().await.unwrap()),
        ("the database", String::from_utf8_lossy(&database).into_owned()),
    ];
    for canary in canaries {
        for (place, text) in &seen {
            assert!(!text.contains(&canary), "a password is seen in {place}");
        }
    }
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
    let cluster =
        stack::LocalCluster::up("stack-aws", &["--provider-id", "aws:///eu-north-1a/i-0abc1234"]).await.unwrap();
    let program = stack::Program::start(&cluster, crate::options()).await.unwrap();
    let dashboard = Dashboard::log_in(&program).await.unwrap();

    let (_, card) = dashboard.register().await.unwrap();

    assert_eq!((card["provider"].as_str(), card["region"].as_str()), (Some("aws"), Some("eu-north-1")));
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn killed_at_any_moment_it_still_ends_ready_with_one_of_everything() {
    let moments = std::env::var("KUBEOPERA_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let mut world = World::fresh("stack-kills").await;
    world.dashboard.register().await.unwrap();
    let way = std::time::Instant::now();
    world.ready().await;
    let way = way.elapsed();

    for moment in 0..moments {
        world.forget_the_cluster().await;
        world.dashboard.register().await.unwrap();
        let delay = rand::rng().random_range(Duration::ZERO..way.min(Duration::from_secs(40)));
        tokio::time::sleep(delay).await;
        world.program.kill().await.unwrap();
        world.program.start_again().await.unwrap();

        let resource = world.ready().await;

        let context = format!("kill {moment}, {} ms after the click", delay.as_millis());
        assert_eq!(world.dashboard.clusters().await.unwrap().len(), 1, "one row: {context}");
        assert_eq!(world.commits(&resource.spec.git_ops_path).await.len(), 1, "one commit: {context}");
        assert_eq!(names(git_repositories(&world.client)).await, ["kubeopera"], "{context}");
        let flux_secrets = Api::<Secret>::namespaced(world.client.clone(), FLUX);
        assert_eq!(names(flux_secrets).await, ["kubeopera-git"], "{context}");
        let roots = names(kustomizations(&world.client)).await;
        assert_eq!(roots.iter().filter(|name| *name == "kubeopera").count(), 1, "{context}");
    }
}

impl World {
    /// As if KubeOpera had never seen the cluster: a fresh KubeOpera, and nothing of the old one on the cluster but the
    /// workloads it installed (real Flux adopts them again, which keeps each round short).
    async fn forget_the_cluster(&mut self) {
        self.program.kill().await.unwrap();
        let suspended = Patch::Merge(serde_json::json!({ "spec": { "suspend": true } }));
        for kustomization in kustomizations(&self.client).list(&ListParams::default()).await.unwrap() {
            let name = kustomization.name_any();
            kustomizations(&self.client).patch(&name, &PatchParams::default(), &suspended).await.unwrap();
        }
        remove_all(kustomizations(&self.client)).await;
        remove_all(git_repositories(&self.client)).await;
        let deployments = Api::<Deployment>::namespaced(self.client.clone(), FLUX);
        remove_all(deployments).await;
        Api::<Secret>::namespaced(self.client.clone(), FLUX)
            .delete("kubeopera-git", &DeleteParams::default())
            .await
            .unwrap();
        let resources = Api::<HostCluster>::namespaced(self.client.clone(), NAMESPACE);
        let let_go = Patch::Merge(serde_json::json!({ "metadata": { "finalizers": null } }));
        for resource in host_clusters(&self.client).await.unwrap() {
            resources.patch(&resource.name_any(), &PatchParams::default(), &let_go).await.unwrap();
        }
        remove_all(resources).await;

        self.program = Program::start(&self.cluster, options()).await.unwrap();
        self.dashboard = Dashboard::log_in(&self.program).await.unwrap();
    }

    /// Commits that touch a cluster's folder in the built-in repository, newest first.
    async fn commits(&self, path: &str) -> Vec<String> {
        commits_of_path(&self.program.repository(), "main", path).await.unwrap()
    }
}

/// Deletes every object of one kind and waits until none is left.
async fn remove_all<K>(api: Api<K>)
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    stack::eventually("an empty list", Duration::from_mins(1), || async {
        Ok(api.list(&ListParams::default()).await?.items.is_empty())
    })
    .await
    .unwrap();
}
