#![allow(clippy::unwrap_used)]
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::Value;
use tower::{BoxError, service_fn};

use super::*;

const SECRET: &str = "/api/v1/namespaces/flux-system/secrets/kubeopera-git";
const SOURCE: &str = "/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories/kubeopera";
const KUSTOMIZATIONS: &str = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations";

/// A cluster with Flux objects by which KubeOpera's are known, all of them with this label; it notes down every write.
fn cluster(label: Option<ClusterId>) -> (Client, Arc<Mutex<Vec<String>>>) {
    let writes = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&writes);
    let labels = label.map_or_else(|| json!({}), |id| json!(marks(id)));
    let service = service_fn(move |request: Request<Body>| {
        let path = request.uri().path();
        let named = |name: &str| json!({"name": name, "namespace": FLUX_NAMESPACE, "labels": labels});
        let kustomization = json!({
            "metadata": named(NAME),
            "spec": {"path": "./fluxcd", "suspend": true, "sourceRef": {"kind": "GitRepository", "name": NAME}},
        });
        let object: Value = match path {
            SECRET => json!({"apiVersion": "v1", "kind": "Secret", "metadata": named(GIT_SECRET)}),
            SOURCE => json!({"metadata": named(NAME), "spec": {"url": "https://git.acme.com/iac.git"}}),
            KUSTOMIZATIONS => json!({"items": [kustomization]}),
            _ => Value::Null,
        };
        let is_read = request.method() == Method::GET;
        if !is_read {
            let name = path.rsplit('/').next().unwrap_or_default();
            noted.lock().unwrap().push(format!("{} {name}", request.method()));
        }
        let object = if is_read { object } else { json!({"kind": "Status", "status": "Success"}) };
        let answer = Response::builder().body(Body::from(object.to_string().into_bytes()));
        async { Ok::<_, BoxError>(answer.unwrap()) }
    });
    (Client::new(service, "default"), writes)
}

/// Whether source, Kustomizations and Git credentials are seen, and what is written when all of them are taken away.
async fn let_go_of(label: Option<ClusterId>, by: ClusterId) -> ([bool; 3], Vec<String>) {
    let (client, writes) = cluster(label);
    let installation = Installation { id: "ours".to_owned(), url: None };
    let seen = health::look(&client, by).await.unwrap();
    let secret = git_secret(&client, by, &installation).await.unwrap();
    for part in [SyncPart::Kustomizations, SyncPart::Source, SyncPart::GitSecret] {
        remove(&client, by, part).await.unwrap();
    }
    let written = writes.lock().unwrap().clone();
    ([seen.source.is_some(), seen.root.is_some(), secret != GitSecretSeen::Absent], written)
}

#[tokio::test]
async fn what_is_the_clusters_own_is_seen_and_taken_away() {
    let cluster = ClusterId::random();
    let (seen, written) = let_go_of(Some(cluster), cluster).await;
    assert_eq!(seen, [true; 3]);
    assert_eq!(written, ["DELETE kubeopera", "DELETE kubeopera", "DELETE kubeopera-git"]);
}

#[tokio::test]
async fn what_has_the_label_of_another_cluster_is_neither_seen_nor_touched() {
    let (seen, written) = let_go_of(Some(ClusterId::random()), ClusterId::random()).await;
    assert_eq!((seen, written), ([false; 3], Vec::new()));
}

#[tokio::test]
async fn what_is_not_taken_away_as_its_label_is_gone_is_not_seen_either_so_that_letting_go_ends() {
    let (seen, written) = let_go_of(None, ClusterId::random()).await;
    assert_eq!(seen, [false, true, false]);
    assert_eq!(written, ["DELETE kubeopera"], "the Kustomization, which reads from our source");
}
