#![allow(clippy::unwrap_used, clippy::panic, clippy::needless_pass_by_value)]
use http::{Request, Response};
use kube::client::Body;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

use super::*;

const NOW: &str = "main@sha1:2222222222222222222222222222222222222222";
const BEFORE: &str = "main@sha1:1111111111111111111111111111111111111111";

fn ready(status: &str, reason: &str, message: &str) -> Value {
    json!([{"type": "Ready", "status": status, "reason": reason, "message": message, "observedGeneration": 2}])
}

fn kustomization(name: &str, applied: Option<&str>, conditions: Value, depends_on: &[&str]) -> Kustomization {
    let depends_on: Vec<_> = depends_on.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": "flux-system", "generation": 2},
        "spec": {"path": "./fluxcd/clusters/prod", "sourceRef": {"kind": "GitRepository", "name": "kubeopera"}, "dependsOn": depends_on},
        "status": {"observedGeneration": 2, "lastAppliedRevision": applied, "conditions": conditions},
    }))
    .unwrap()
}

/// The path of a collection, and what is in it.
type Collection = (&'static str, fn() -> Value);

/// An API server that has these collections and nothing else.
fn server(collections: &'static [Collection]) -> Client {
    let service = service_fn(move |request: Request<Body>| async move {
        let found = collections.iter().find(|(path, _)| *path == request.uri().path());
        let (code, body) = match found {
            Some((_, items)) => (200, items()),
            None => (404, json!({"kind": "Status", "code": 404, "reason": "NotFound", "message": ""})),
        };
        Ok::<_, BoxError>(Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap())
    });
    Client::new(service, "default")
}

async fn why(client: &Client, kustomizations: &[Kustomization], of: usize) -> String {
    let tree = Tree { client, artifact: Some(NOW), kustomizations };
    match tree.explained(&kustomizations[of]).await.unwrap() {
        Readiness::NotReady { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn conditions_are_read_as_flux_means_them() {
    let of = |status: Value, generation: i64, had_result: bool| {
        serde_json::from_value::<Status>(status).unwrap().readiness(generation, had_result)
    };
    let not_ready = |reason: &str, why: &str| Readiness::NotReady { reason: reason.into(), why: why.into() };
    let stalled = json!([
        {"type": "Ready", "status": "False", "reason": "URLInvalid", "message": "URL is wrong", "observedGeneration": 2},
        {"type": "Stalled", "status": "True", "reason": "URLInvalid", "message": "URL is wrong", "observedGeneration": 2}]);

    for (status, had_result, readiness) in [
        (json!({"observedGeneration": 2, "conditions": ready("True", "Succeeded", "")}), false, Readiness::Ready),
        (
            json!({"observedGeneration": 1, "conditions": ready("True", "Succeeded", "")}),
            true,
            not_ready("NotPickedUp", "Flux has not looked at it in its present form yet."),
        ),
        (json!({}), false, not_ready("NotPickedUp", "Flux has not looked at it in its present form yet.")),
        (
            json!({"observedGeneration": 2, "conditions": ready("False", "AuthenticationFailed", "token https://u:CANARY@h expired")}),
            true,
            not_ready("AuthenticationFailed", "token https://h expired."),
        ),
        (
            json!({"observedGeneration": 2, "conditions": ready("Unknown", "Progressing", "Reconciliation in progress")}),
            true,
            Readiness::Ready,
        ),
        (
            json!({"observedGeneration": 2, "conditions": ready("Unknown", "Progressing", "Reconciliation in progress")}),
            false,
            not_ready("Progressing", "Reconciliation in progress."),
        ),
        (
            json!({"observedGeneration": 1, "conditions": ready("Unknown", "Progressing", "Reconciliation in progress")}),
            true,
            not_ready("Progressing", "Reconciliation in progress."),
        ),
        (
            json!({"observedGeneration": 2, "conditions": stalled}),
            true,
            Readiness::Stalled { reason: "URLInvalid".into(), why: "URL is wrong.".into() },
        ),
    ] {
        assert_eq!(of(status.clone(), 2, had_result), readiness, "{status}");
    }
    let of_before = json!({"observedGeneration": 1, "conditions": [
        {"type": "Ready", "status": "False", "reason": "BuildFailed", "message": "x", "observedGeneration": 1}]});
    assert_eq!(of(of_before, 2, true), not_ready("NotPickedUp", "Flux has not looked at it in its present form yet."));
}

#[tokio::test]
async fn whoever_waits_for_others_names_the_first_cause() {
    let waits =
        |name: &str| ready("False", "DependencyNotReady", &format!("dependency 'flux-system/{name}' is not ready"));
    let tree = [
        kustomization("kubeopera-apps", None, waits("kubeopera-configs"), &["kubeopera-configs"]),
        kustomization("kubeopera-configs", None, waits("kubeopera-controllers"), &["kubeopera-controllers"]),
        kustomization(
            "kubeopera-controllers",
            None,
            ready("False", "BuildFailed", "no such file: x.yaml"),
            &["kubeopera-crds"],
        ),
        kustomization("kubeopera-crds", Some(NOW), ready("True", "ReconciliationSucceeded", ""), &[]),
    ];
    let client = server(&[]);

    let controllers = "It waits for Kustomization kubeopera-controllers: no such file: x.yaml.";
    assert_eq!(why(&client, &tree, 0).await, controllers);
    assert_eq!(why(&client, &tree, 1).await, controllers);
    assert_eq!(why(&client, &tree, 2).await, "no such file: x.yaml.");
}

#[tokio::test]
async fn a_dependency_that_is_missing_met_or_circular_is_said_to_be_so() {
    let waits = || ready("False", "DependencyNotReady", "dependency is not ready");
    let client = server(&[]);

    let missing = [kustomization("a", None, waits(), &["b"])];
    assert_eq!(why(&client, &missing, 0).await, "It waits for Kustomization b, which does not exist.");
    let met = [kustomization("a", None, waits(), &["b"]), kustomization("b", Some(NOW), ready("True", "", ""), &[])];
    assert_eq!(why(&client, &met, 0).await, "It is about to be applied.");
    let behind =
        [kustomization("a", None, waits(), &["b"]), kustomization("b", Some(BEFORE), ready("True", "", ""), &[])];
    assert_eq!(why(&client, &behind, 0).await, "It waits for Kustomization b: It is being applied.");
    let circle = [kustomization("a", None, waits(), &["b"]), kustomization("b", None, waits(), &["a"])];
    assert!(why(&client, &circle, 0).await.starts_with("It waits for Kustomization "));
}

#[tokio::test]
async fn on_the_way_to_the_next_commit_nothing_is_wrong_until_something_is() {
    let client = server(&[]);
    let readiness = async |conditions: Value, depends_on: &[&str]| {
        let tree = [
            kustomization("a", Some(BEFORE), conditions, depends_on),
            kustomization("b", Some(BEFORE), ready("True", "ReconciliationSucceeded", ""), &[]),
        ];
        let tree = Tree { client: &client, artifact: Some(NOW), kustomizations: &tree };
        tree.explained(&tree.kustomizations[0]).await.unwrap().is_ready()
    };

    assert!(readiness(ready("Unknown", "Progressing", "Reconciliation in progress"), &[]).await);
    assert!(readiness(ready("False", "DependencyNotReady", "dependency is not ready"), &["b"]).await);
    assert!(!readiness(ready("False", "DependencyNotReady", "dependency is not ready"), &["c"]).await);
    assert!(!readiness(ready("False", "HealthCheckFailed", "timeout"), &[]).await);
    assert!(!readiness(ready("False", "BuildFailed", "no such file"), &[]).await);
}

#[tokio::test]
async fn a_health_check_that_waits_names_the_pod_at_the_bottom_of_it() {
    fn releases() -> Value {
        json!({"items": [
            {"metadata": {"name": "grafana", "namespace": "monitoring", "generation": 1}, "status": {"observedGeneration": 1,
                "conditions": [{"type": "Ready", "status": "False", "reason": "DependencyNotReady", "message": "dependency"}]}},
            {"metadata": {"name": "traefik", "namespace": "ingress", "generation": 1},
                "spec": {"chartRef": {"kind": "OCIRepository", "name": "traefik"}},
                "status": {"observedGeneration": -1,
                "conditions": [{"type": "Ready", "status": "Unknown", "reason": "Progressing", "message": "Running 'install' action"}]}}]})
    }
    fn chart() -> Value {
        json!({"status": {"conditions": [{"type": "Ready", "status": "True", "message": "stored artifact"}]}})
    }
    fn deployments() -> Value {
        json!({"items": [{"metadata": {"name": "traefik", "namespace": "ingress", "generation": 1},
            "spec": {"selector": {"matchLabels": {"app": "traefik"}}}, "status": {"observedGeneration": 1}}]})
    }
    fn pods() -> Value {
        json!({"items": [{"status": {"containerStatuses": [{"image": "acme.com/traefik:v9", "state": {"waiting":
            {"reason": "ErrImagePull", "message": "not found"}}}]}}]})
    }
    let message = "Running health checks for revision main@sha1:2222 with a timeout of 9m30s";
    let tree = [kustomization("kubeopera-controllers", None, ready("Unknown", "Progressing", message), &[])];
    let client = server(&[
        ("/apis/helm.toolkit.fluxcd.io/v2/helmreleases", releases),
        ("/apis/source.toolkit.fluxcd.io/v1/namespaces/ingress/ocirepositories/traefik", chart),
        ("/apis/apps/v1/deployments", deployments),
        ("/api/v1/namespaces/ingress/pods", pods),
    ]);

    assert_eq!(
        why(&client, &tree, 0).await,
        "HelmRelease ingress/traefik: Deployment ingress/traefik: The image acme.com/traefik:v9 cannot be pulled. not found."
    );
}

#[tokio::test]
async fn a_chart_that_cannot_be_fetched_is_named_before_the_release_that_needs_it() {
    fn releases() -> Value {
        json!({"items": [{"metadata": {"name": "metrics-server", "namespace": "kube-system", "generation": 1},
            "status": {"helmChart": "flux-system/kube-system-metrics-server", "conditions": [
                {"type": "Ready", "status": "False", "reason": "SourceNotReady", "message": "HelmChart is not ready"}]}}]})
    }
    fn chart() -> Value {
        json!({"status": {"conditions": [{"type": "Ready", "status": "False", "message": "no chart version found"}]}})
    }
    let tree = [kustomization("kubeopera-controllers", None, ready("False", "HealthCheckFailed", "timeout"), &[])];
    let client = server(&[
        ("/apis/helm.toolkit.fluxcd.io/v2/helmreleases", releases),
        ("/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/helmcharts/kube-system-metrics-server", chart),
    ]);

    assert_eq!(
        why(&client, &tree, 0).await,
        "HelmRelease kube-system/metrics-server: HelmChart flux-system/kube-system-metrics-server: no chart version found."
    );
}
