//! A database belongs to one cluster.

use super::{World, kubernetes::UID, on_both_databases};
use crate::{BindError, bind, resources::relay::relay_what_is_due};

on_both_databases! {
    a_database_belongs_to_the_cluster_of_its_first_start
    of_two_first_starts_at_once_on_two_clusters_one_is_refused
    a_lost_host_resource_is_not_made_again_on_another_cluster
}

async fn a_database_belongs_to_the_cluster_of_its_first_start(world: World) {
    let db = &world.platform.db;
    bind(db, UID).await.unwrap();
    bind(db, UID).await.unwrap();

    let refused = bind(db, "another-uid").await.unwrap_err();

    assert!(matches!(refused, BindError::AnotherCluster { bound } if bound == UID));
    bind(db, UID).await.unwrap();
}

async fn of_two_first_starts_at_once_on_two_clusters_one_is_refused(world: World) {
    let db = &world.platform.db;

    let (one, other) = tokio::join!(bind(db, "one"), bind(db, "other"));

    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
}

async fn a_lost_host_resource_is_not_made_again_on_another_cluster(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    world.api_server.become_another_cluster();

    relay_what_is_due(&world.platform).await.unwrap();

    assert_eq!(world.api_server.creates(), 0);
    let card = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.json();
    assert!(card["message"].as_str().unwrap().contains("the cluster it belongs to"), "{card}");
}
