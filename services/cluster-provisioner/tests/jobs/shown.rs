//! What people are shown of a cluster's runs.

use cluster_provisioner::book::{Book, Entry, RunResult};
use cluster_provisioner_contract::{ClusterProvisioner, Price, RunState, RunStatus};

use super::{
    life::{state, told},
    world::World,
};

#[tokio::test]
async fn what_there_is_is_shown_with_its_price_while_a_run_works_and_after_it_is_gone() {
    let world = World::new();
    let cluster = world.request.cluster;
    assert_eq!(world.provisioner.provisioning(cluster).await, Ok(None));
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.book("create-1").write(state(b"sealed")).await.unwrap();
    world.book("create-1").write(told("Creating the nodes (3 of 41 resources done).")).await.unwrap();

    let shown = world.provisioner.provisioning(cluster).await.unwrap().unwrap();
    assert_eq!((shown.run.as_str(), shown.state), ("create-1", RunState::Running));
    assert_eq!(shown.message, "Creating the nodes (3 of 41 resources done).");
    let [control_plane, network] = &shown.resources[..] else { panic!("{:?}", shown.resources) };
    assert_eq!(
        (control_plane.what.as_str(), control_plane.id.as_str()),
        ("the EKS control plane", "arn:aws:eks:::north")
    );
    assert!(matches!(control_plane.price, Price::Monthly(_) | Price::Unknown), "{control_plane:?}");
    assert_eq!((network.price, network.gone_at), (Price::Free, None));

    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    world.book("destroy-1").write(Entry { ledger: Some(super::life::ledger(&[])), ..Entry::default() }).await.unwrap();
    world.ends("destroy-1", RunResult::Succeeded).await;
    world.provisioner.ensure_destroyed(cluster).await.unwrap();

    let shown = world.provisioner.provisioning(cluster).await.unwrap().unwrap();
    assert_eq!((shown.run.as_str(), shown.state), ("destroy-1", RunState::Destroyed));
    assert!(shown.ended_at.is_some());
}

#[tokio::test]
async fn the_record_of_a_cluster_says_what_may_be_left_and_is_of_that_run_alone() {
    for (remark, told) in [(None, "The infrastructure is gone."), (Some("Disks may be left."), "Disks may be left.")] {
        let world = World::new();
        let cluster = world.request.cluster;
        world.provisioner.ensure_run(&world.request, 1).await.unwrap();
        let said = |remark: &str| Entry { remark: Some(remark.to_owned()), ..Entry::default() };
        world.book("create-1").write(said("Of another run.")).await.unwrap();
        world.provisioner.ensure_destroyed(cluster).await.unwrap();
        world.provisioner.ensure_destroyed(cluster).await.unwrap();
        if let Some(remark) = remark {
            world.book("destroy-1").write(said(remark)).await.unwrap();
        }
        world.ends("destroy-1", RunResult::Succeeded).await;

        assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));

        let shown = world.provisioner.provisioning(cluster).await.unwrap().unwrap();
        assert_eq!((shown.state, shown.message.as_str()), (RunState::Destroyed, told));
    }
}

#[tokio::test]
async fn looking_at_a_run_changes_nothing() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.api_server.remove("jobs");
    let before = world.api_server.all("secrets");

    world.provisioner.provisioning(cluster).await.unwrap();
    world.provisioner.log(cluster, 0).await.unwrap();

    assert_eq!(world.api_server.all("secrets"), before);
}

#[tokio::test]
async fn a_log_is_live_while_a_run_works_and_not_when_it_is_lost_or_has_vanished() {
    let world = World::new();
    let cluster = world.request.cluster;
    let is_live = async || world.provisioner.log(cluster, 0).await.unwrap().unwrap().is_live;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    assert!(is_live().await);

    world.job_ends("Failed");
    assert!(!is_live().await, "it ended without a word");
    world.api_server.remove("jobs");
    assert!(!is_live().await, "its Job has vanished");

    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    assert!(is_live().await);
    world.ends("create-1", RunResult::Succeeded).await;
    assert!(!is_live().await);
}
