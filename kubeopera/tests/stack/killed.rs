//! SIGKILL at random moments of the way from the click to Ready, start-up included.

use std::{collections::BTreeMap, time::Duration};

use host_cluster_controller_crd::{HostCluster, NAMESPACE, Phase};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams},
};
use rand::RngExt;
use stack::{Dashboard, PhaseLog, Program, commits_of_path};

use crate::{
    World,
    flux::{FLUX, git_repositories, kustomizations},
    host_clusters, names, options,
};

/// How often each way is interrupted: once in each phase, twice in the longest one, and once while starting up.
const KILLS_ON_EACH_WAY: usize = 5;
/// How long a phase may be waited for.
const TO_PHASE: Duration = Duration::from_mins(3);

#[tokio::test]
#[ignore = "starts a cluster"]
async fn killed_at_twenty_moments_of_the_way_it_ends_ready_with_one_of_everything() {
    let kills: usize = std::env::var("KUBEOPERA_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let mut world = World::fresh("stack-kills").await;
    world.dashboard.register().await.unwrap();
    world.ready().await;
    let undisturbed = world.inventory().await;
    let mut by_phase = BTreeMap::<Phase, usize>::new();

    for way in 0..kills.div_ceil(KILLS_ON_EACH_WAY) {
        world.forget_the_cluster().await;
        let phases = PhaseLog::follow(world.client.clone());
        world.dashboard.register().await.unwrap();
        for (phase, spread) in [
            (Phase::BootstrappingFlux, Duration::from_secs(4)),
            (Phase::GeneratingGitOpsTree, Duration::from_millis(400)),
            (Phase::InstallingKubeOpera, Duration::from_secs(2)),
            (Phase::InstallingKubeOpera, Duration::from_secs(5)),
        ] {
            phases.reached(phase, TO_PHASE).await.unwrap();
            tokio::time::sleep(rand::rng().random_range(Duration::ZERO..spread)).await;
            world.program.kill().await.unwrap();
            let (killed_in, _) = phases.lines().last().cloned().unwrap();
            *by_phase.entry(killed_in).or_default() += 1;
            if phase == Phase::BootstrappingFlux {
                world.program.launch().await.unwrap();
                tokio::time::sleep(rand::rng().random_range(Duration::ZERO..Duration::from_secs(2))).await;
                world.program.kill().await.unwrap();
            }
            world.program.start_again().await.unwrap();
        }

        world.ready().await;

        assert_eq!(world.inventory().await, undisturbed, "way {way}, killed so far in {by_phase:?}");
    }

    let before_ready: usize =
        by_phase.iter().filter(|(phase, _)| **phase != Phase::Ready).map(|(_, times)| times).sum();
    let in_all: usize = by_phase.values().sum();
    assert!(before_ready * 4 >= in_all * 3, "most kills met an unfinished cluster: {by_phase:?}");
    for phase in [Phase::BootstrappingFlux, Phase::InstallingKubeOpera] {
        assert!(by_phase.contains_key(&phase), "{phase:?} was never interrupted: {by_phase:?}");
    }
}

impl World {
    /// All that KubeOpera has made, counted and named: rows, resources, commits, and its objects on the cluster.
    async fn inventory(&self) -> BTreeMap<&'static str, Vec<String>> {
        let resource = self.host_cluster().await.unwrap();
        let commits = commits_of_path(&self.program.repository(), "main", &resource.spec.git_ops_path).await.unwrap();
        let subjects =
            commits.iter().filter_map(|commit| commit.split_once(' ')).map(|(_, subject)| subject.to_owned());
        let cards = self.dashboard.clusters().await.unwrap();
        let card_names = cards.iter().map(|card| card["name"].as_str().unwrap().to_owned());
        let secrets = Api::<Secret>::namespaced(self.client.clone(), FLUX);
        let deployments = Api::<Deployment>::namespaced(self.client.clone(), FLUX);
        let own_secrets = Api::<Secret>::namespaced(self.client.clone(), NAMESPACE);
        BTreeMap::from([
            ("cards", card_names.collect()),
            ("commits", subjects.collect()),
            ("sources", all_names(git_repositories(&self.client)).await),
            ("Kustomizations", all_names(kustomizations(&self.client)).await),
            ("Flux", all_names(deployments).await),
            ("Secrets on the cluster", names(secrets).await),
            ("Secrets of KubeOpera", names(own_secrets).await),
        ])
    }

    /// As if KubeOpera had never seen the cluster: let go of, Flux gone, and a fresh KubeOpera. The workloads stay, and
    /// real Flux adopts them again, which keeps each way short.
    async fn forget_the_cluster(&mut self) {
        remove_all(Api::<HostCluster>::namespaced(self.client.clone(), NAMESPACE)).await;
        self.program.stop().await.unwrap();
        remove_all(Api::<Deployment>::namespaced(self.client.clone(), FLUX)).await;
        self.program = Program::start(&self.cluster, options()).await.unwrap();
        self.dashboard = Dashboard::log_in(&self.program).await.unwrap();
        assert_eq!(host_clusters(&self.client).await.unwrap().len(), 0);
    }
}

async fn all_names<K>(api: Api<K>) -> Vec<String>
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let all = api.list(&ListParams::default()).await.unwrap();
    let mut names: Vec<String> = all.items.iter().map(ResourceExt::name_any).collect();
    names.sort();
    names
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
