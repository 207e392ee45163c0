//! What may change between two starts: the cluster, and which KubeOpera it is, must not; the built-in repository's address
//! may.

use host_cluster_controller_crd::BUILT_IN_GIT_CREDENTIALS;
use sea_orm::ConnectionTrait;
use tokio_util::sync::CancellationToken;

use super::{World, kubernetes::UID, on_both_databases};
use crate::{
    BindError, PlatformDefaults,
    app::Platform,
    bind,
    resources::{relay::relay_what_is_due, repository},
};

on_both_databases! {
    a_database_belongs_to_the_cluster_of_its_first_start
    of_two_first_starts_at_once_on_two_clusters_one_is_refused
    records_from_before_ids_stay_those_of_the_kubeopera_that_clusters_are_marked_with
    a_lost_host_resource_is_not_made_again_on_another_cluster
    a_built_in_repository_at_another_address_is_followed_by_records_and_resources
    a_cluster_that_is_being_let_go_of_follows_as_well_and_is_not_made_again
    a_repository_that_somebody_named_is_left_where_it_is
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

async fn records_from_before_ids_stay_those_of_the_kubeopera_that_clusters_are_marked_with(world: World) {
    let db = &world.platform.db;
    for before in [
        "ALTER TABLE installation DROP COLUMN installation_id",
        "DELETE FROM kubeopera_api_migrations WHERE version = '0008_installation_id'",
        "INSERT INTO installation (id, kube_system_uid) VALUES (1, 'marked-with')",
    ] {
        db.execute_unprepared(before).await.unwrap();
    }

    assert_eq!(bind(db, "marked-with").await.unwrap(), "marked-with");
    // Restored onto another cluster.
    db.execute_unprepared("UPDATE installation SET kube_system_uid = 'another-uid'").await.unwrap();
    assert_eq!(bind(db, "another-uid").await.unwrap(), "marked-with");
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

/// The process after another start: the repository is at `url` now.
fn started(world: &World, git_url: &str, git_credentials_secret: &str) -> Platform {
    let before = &world.platform;
    let defaults = PlatformDefaults {
        git_url: git_url.parse().unwrap(),
        git_credentials_secret: git_credentials_secret.parse().unwrap(),
        ..before.defaults.clone()
    };
    let (db, client) = (before.db.clone(), world.api_server.client());
    Platform::new(
        db,
        client,
        before.auth.clone(),
        before.scaffolder.clone(),
        before.monitor.clone(),
        defaults,
        CancellationToken::new(),
    )
}

/// Registers the host cluster with its tree in a repository.
async fn registered(world: &World, git_url: &str, git_credentials_secret: &str) -> String {
    let cookie = world.log_in("operator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    let mut record = crate::store::clusters::by_id(&world.platform.db, id.parse().unwrap()).await.unwrap().unwrap();
    world.platform.finish_removal(record.id).await.unwrap();
    record.spec.git_ops_repo_url = git_url.to_owned();
    record.spec.git_credentials_secret_ref = git_credentials_secret.to_owned();
    world.put_on_record(&record).await;
    crate::store::outbox::ask(&world.platform.db, record.id, record.created_at).await.unwrap();
    relay_what_is_due(&world.platform).await.unwrap();
    assert_eq!(world.api_server.resources()[0]["spec"]["gitOpsRepoURL"], git_url);
    id
}

async fn a_built_in_repository_at_another_address_is_followed_by_records_and_resources(world: World) {
    registered(&world, "http://10.0.0.1:7071/gitops.git", BUILT_IN_GIT_CREDENTIALS).await;
    let started = started(&world, "http://10.0.0.2:7072/gitops.git", BUILT_IN_GIT_CREDENTIALS);

    repository::follow(&started).await.unwrap();
    relay_what_is_due(&started).await.unwrap();
    repository::follow(&started).await.unwrap();

    assert!(world.dump("outbox").await.is_empty());
    let [record] = &world.dump("clusters").await[..] else { panic!("not one record") };
    assert!(record.contains("10.0.0.2:7072") && !record.contains("10.0.0.1"), "{record}");
    assert_eq!(world.api_server.resources()[0]["spec"]["gitOpsRepoURL"], "http://10.0.0.2:7072/gitops.git");
}

async fn a_cluster_that_is_being_let_go_of_follows_as_well_and_is_not_made_again(world: World) {
    let id = registered(&world, "http://10.0.0.1:7071/gitops.git", BUILT_IN_GIT_CREDENTIALS).await;
    world.platform.begin_removal(id.parse().unwrap()).await.unwrap();
    let creates = world.api_server.creates();
    let url = "http://10.0.0.2:7071/gitops.git";
    let started = started(&world, url, BUILT_IN_GIT_CREDENTIALS);

    repository::follow(&started).await.unwrap();
    relay_what_is_due(&started).await.unwrap();

    assert_eq!(world.api_server.resources()[0]["spec"]["gitOpsRepoURL"], url);
    assert_eq!((world.api_server.creates(), world.dump("outbox").await.len()), (creates, 0));
}

async fn a_repository_that_somebody_named_is_left_where_it_is(world: World) {
    let url = "https://git.acme.com/one.git";
    registered(&world, url, "gitops-iac-credentials").await;

    repository::follow(&started(&world, "https://git.acme.com/two.git", "gitops-iac-credentials")).await.unwrap();
    repository::follow(&started(&world, "http://10.0.0.2:7071/gitops.git", BUILT_IN_GIT_CREDENTIALS)).await.unwrap();

    assert!(world.dump("outbox").await.is_empty());
    assert!(world.dump("clusters").await[0].contains(url));
}
