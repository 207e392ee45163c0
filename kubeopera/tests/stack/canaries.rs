//! A secret that leaves its place is seen here: every way of the stack tests to Ready ends with this look.

use k8s_openapi::api::core::v1::{Event, Secret};
use kube::{Api, api::ListParams};
use tokio::process::Command;

use crate::{
    World,
    flux::{git_repositories, kustomizations},
    host_clusters,
};

/// The repository's passwords and the administrator's are in the Secrets and answers that are meant to hold them, and
/// nowhere else.
pub(crate) async fn are_nowhere(world: &World) {
    let canaries = canaries(world).await;
    for (place, text) in places(world).await {
        for canary in &canaries {
            assert!(!text.contains(canary), "a password is seen in {place}");
        }
    }
}

async fn canaries(world: &World) -> Vec<String> {
    let name = world.host_cluster().await.unwrap().spec.git_credentials_secret_ref;
    let secret: Secret = Api::namespaced(world.client.clone(), "kubeopera-system").get(&name).await.unwrap();
    let passwords: Vec<String> = secret
        .data
        .unwrap()
        .into_iter()
        .filter(|(key, _)| key.ends_with("password"))
        .map(|(_, value)| String::from_utf8(value.0).unwrap())
        .chain([world.program.password().unwrap().to_owned()])
        .collect();
    assert!(passwords.len() >= 2, "the repository's and the administrator's");
    passwords
}

async fn places(world: &World) -> Vec<(&'static str, String)> {
    let all = ListParams::default();
    let json = |value: serde_json::Result<String>| value.unwrap();
    let events = Api::<Event>::all(world.client.clone()).list(&all).await.unwrap();
    let sources = git_repositories(&world.client).list(&all).await.unwrap();
    let applied = kustomizations(&world.client).list(&all).await.unwrap();
    vec![
        ("HostClusters", json(serde_json::to_string(&host_clusters(&world.client).await.unwrap()))),
        ("events", json(serde_json::to_string(&events.items))),
        ("Flux's sources", json(serde_json::to_string(&sources.items))),
        ("Flux's Kustomizations", json(serde_json::to_string(&applied.items))),
        ("API answers", world.dashboard.list().await.unwrap().to_string()),
        ("the Git repository", git_text(world).await),
        ("the log", world.program.logged().await.unwrap()),
        ("the database", database_text(world).await),
        ("the arguments of processes", stack::run(Command::new("ps").args(["-eo", "args"])).await.unwrap()),
    ]
}

/// Everything on the default branch of the built-in repository; nothing where another one is used.
async fn git_text(world: &World) -> String {
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(world.program.repository());
    stack::run(git.args(["grep", "-h", "-I", "", "main"])).await.unwrap_or_default()
}

/// The database as it is on disk, what has not been moved into its main file yet included.
async fn database_text(world: &World) -> String {
    let mut text = String::new();
    for file in ["kubeopera.db", "kubeopera.db-wal"] {
        let bytes = tokio::fs::read(world.program.data().join(file)).await.unwrap_or_default();
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    assert!(text.contains("host"), "the database was read");
    text
}
