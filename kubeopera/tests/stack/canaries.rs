//! A secret that leaves its place is seen here: every way of the stack tests to Ready ends with a look, and one test looks
//! everywhere.

use std::{collections::BTreeSet, path::Path, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::{Api, ResourceExt, api::ListParams};
use reqwest::Method;
use serde_json::Value;
use stack::LocalCluster;
use tokio::process::Command;

use crate::{
    World,
    flux::{git_repositories, kustomizations},
    host_clusters,
};

/// The API's document: every route of it is asked.
const ROUTES: &str = include_str!("../../../openapi/kubeopera-api.json");
/// Kinds of objects in which nothing secret belongs, on whichever cluster.
const KINDS: [&str; 13] = [
    "configmaps",
    "events",
    "events.events.k8s.io",
    "jobs",
    "leases",
    "pods",
    "serviceaccounts",
    "hostclusters.kubeopera.io",
    "gitrepositories.source.toolkit.fluxcd.io",
    "ocirepositories.source.toolkit.fluxcd.io",
    "helmreleases.helm.toolkit.fluxcd.io",
    "kustomizations.kustomize.toolkit.fluxcd.io",
    "helmcharts.source.toolkit.fluxcd.io",
];

/// A secret, and what it is for.
pub(crate) struct Canary {
    pub(crate) name: &'static str,
    /// One line of it, at least, that is nowhere by chance.
    pub(crate) value: String,
}

impl Canary {
    /// The secret as it is, and as it looks in base64, in a URL and in JSON, whatever stands around it.
    fn forms(&self) -> BTreeSet<String> {
        let secret = self.value.as_bytes();
        let in_url: String = url::form_urlencoded::byte_serialize(secret).collect();
        let in_json = Value::from(self.value.as_str()).to_string();
        let mut forms = BTreeSet::from([
            self.value.clone(),
            in_url.replace('+', "%20"),
            in_url,
            in_json.trim_matches('"').to_owned(),
        ]);
        // Of base64 only what does not depend on the neighbours: these are three bytes at a time.
        for shift in 0..3 {
            let whole = secret.get(shift..).unwrap_or_default();
            let whole = whole.get(..whole.len() / 3 * 3).unwrap_or_default();
            forms.insert(STANDARD_NO_PAD.encode(whole));
        }
        assert!(forms.iter().all(|form| form.len() > 12), "{} is too short to be looked for", self.name);
        forms
    }
}

/// The repository's passwords and the administrator's are in the Secrets and answers that are meant to hold them, and
/// nowhere else.
pub(crate) async fn are_nowhere(world: &World) {
    none_in(&of_every_world(world).await, &places(world).await);
}

/// None of these is anywhere where people, programs or other clusters look.
pub(crate) async fn are_nowhere_at_all(world: &World, canaries: Vec<Canary>, other: &LocalCluster, temporary: &Path) {
    let mut canaries = canaries;
    canaries.extend(of_every_world(world).await);
    let mut places = places(world).await;
    places.extend(answers(world).await);
    places.push(("the event stream".to_owned(), stream(world).await));
    places.push(("the pages".to_owned(), pages(world, temporary).await));
    places.push(("what the program printed".to_owned(), world.program.said().await.unwrap()));
    for cluster in [&world.cluster, other] {
        places.extend(objects(cluster).await);
    }
    places.push(("all objects of the Git repository".to_owned(), git_objects(world).await));
    let data = files(world.program.data());
    assert!(data.iter().any(|(file, _)| file.ends_with("kubeopera.db")), "the data folder was read");
    // The one place where the built-in repository's passwords live between two starts; only its owner may read it.
    places.extend(data.into_iter().filter(|(file, _)| !file.ends_with("/git-passwords.json")));
    places.extend(files(temporary));
    none_in(&canaries, &places);

    // A web hook is given in the environment, where only whoever runs the program sees it.
    let own = std::fs::read(format!("/proc/{}/environ", world.program.process().unwrap())).unwrap();
    let elsewhere: Vec<_> = canaries.into_iter().filter(|canary| canary.name != "the web hook's address").collect();
    none_in(&elsewhere, &[("the program's environment".to_owned(), String::from_utf8_lossy(&own).into_owned())]);
}

fn none_in(canaries: &[Canary], places: &[(String, String)]) {
    let mut seen = Vec::new();
    for canary in canaries {
        for form in canary.forms() {
            let of_place = |(place, text): &(String, String)| {
                let at = text.find(&form)?;
                let before: String = text[..at].chars().rev().take(120).collect::<Vec<_>>().into_iter().rev().collect();
                Some(format!("{} in {place}, after {before:?}", canary.name))
            };
            seen.extend(places.iter().filter_map(of_place));
        }
    }
    assert!(seen.is_empty(), "seen: {}", seen.join("\n"));
}

async fn of_every_world(world: &World) -> Vec<Canary> {
    let resources = host_clusters(&world.client).await.unwrap();
    let name = &resources.iter().find(|one| one.spec.connect_kubeconfig_secret_ref.is_none()).unwrap().spec;
    let name = &name.git_credentials_secret_ref;
    let secret: Secret = Api::namespaced(world.client.clone(), "kubeopera-system").get(name).await.unwrap();
    let passwords = secret.data.unwrap().into_iter().filter(|(key, _)| key.ends_with("password"));
    let mut canaries: Vec<_> = passwords
        .map(|(_, value)| Canary { name: "a password of the repository", value: String::from_utf8(value.0).unwrap() })
        .collect();
    assert!(!canaries.is_empty(), "the repository's");
    let value = world.program.password().unwrap().to_owned();
    canaries.push(Canary { name: "the administrator's password", value });
    canaries
}

async fn places(world: &World) -> Vec<(String, String)> {
    let all = ListParams::default();
    let json = |value: serde_json::Result<String>| value.unwrap();
    let events = Api::<Event>::all(world.client.clone()).list(&all).await.unwrap();
    let sources = git_repositories(&world.client).list(&all).await.unwrap();
    let applied = kustomizations(&world.client).list(&all).await.unwrap();
    [
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
    .map(|(place, text)| (place.to_owned(), text))
    .into()
}

/// What every route answers an administrator who only looks, its head included.
async fn answers(world: &World) -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(ROUTES).unwrap();
    let clusters = world.dashboard.clusters().await.unwrap();
    let mut answers = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        if operations.get("get").is_none() || path == "/api/v1/events" {
            continue;
        }
        let path = path.replace("{provider}", "aws").replace("{region}", "eu-north-1");
        for id in clusters.iter().map(|cluster| cluster["id"].as_str().unwrap()) {
            let path = path.replace("{id}", id);
            let answer = world.dashboard.request(Method::GET, &path).send().await.unwrap();
            let head = format!("{} {:?}", answer.status(), answer.headers());
            answers.push((format!("GET {path}"), format!("{head} {}", answer.text().await.unwrap())));
        }
    }
    let good = answers.iter().filter(|(_, answer)| answer.starts_with("200")).count();
    assert!(good >= 15, "only {good} routes answered");
    answers
}

/// What an open page hears in a few seconds, from the beginning.
async fn stream(world: &World) -> String {
    let mut answer = world.dashboard.request(Method::GET, "/api/v1/events").send().await.unwrap();
    let mut heard = format!("{:?}", answer.headers());
    let listening = async {
        while let Ok(Some(chunk)) = answer.chunk().await {
            heard.push_str(&String::from_utf8_lossy(&chunk));
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(8), listening).await;
    assert!(heard.contains("event:"), "nothing was heard: {heard}");
    heard
}

/// Every page as the browser has it, with what the browser keeps.
async fn pages(world: &World, temporary: &Path) -> String {
    let file = temporary.with_extension("pages");
    let mut visit = Command::new("npm");
    visit
        .args(["run", "e2e"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../web"))
        .env("SWEEP_TO", &file)
        .env("BASE_URL", world.program.address())
        .env("USERNAME", "admin")
        .env("PASSWORD", world.program.password().unwrap());
    stack::run(&mut visit).await.unwrap();
    tokio::fs::read_to_string(file).await.unwrap()
}

/// The objects of a cluster with all their metadata, and of its Secrets the metadata alone.
async fn objects(cluster: &LocalCluster) -> Vec<(String, String)> {
    let mut objects = Vec::new();
    let served = stack::run(cluster.kubectl().args(["api-resources", "--output", "name"])).await.unwrap();
    for kind in KINDS {
        if !served.lines().any(|name| name == kind || name.split('.').next() == Some(kind)) {
            continue;
        }
        let mut list = cluster.kubectl();
        list.args(["get", kind, "--all-namespaces", "--output", "json", "--show-managed-fields"]);
        objects.push((format!("{kind} of {}", cluster.name()), stack::run(&mut list).await.unwrap()));
    }
    let secrets = Api::<Secret>::all(cluster.client().await.unwrap());
    for secret in secrets.list(&ListParams::default()).await.unwrap() {
        let annotated = secret.annotations().keys().any(|key| key.ends_with("last-applied-configuration"));
        assert!(!annotated, "an annotation of Secret {} repeats it", secret.name_any());
        let metadata = serde_json::to_string(&secret.metadata).unwrap();
        objects.push((format!("the metadata of Secret {}", secret.name_any()), metadata));
    }
    objects
}

/// Everything on the default branch of the built-in repository; nothing where another one is used.
async fn git_text(world: &World) -> String {
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(world.program.repository());
    stack::run(git.args(["grep", "-h", "-I", "", "main"])).await.unwrap_or_default()
}

/// Every commit, folder and file there ever was.
async fn git_objects(world: &World) -> String {
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(world.program.repository()).args(["cat-file", "--batch-all-objects", "--batch"]);
    let printed = git.output().await.unwrap();
    assert!(printed.status.success() && !printed.stdout.is_empty(), "{}", String::from_utf8_lossy(&printed.stderr));
    String::from_utf8_lossy(&printed.stdout).into_owned()
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

/// All files below a folder.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            all.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    all
}
