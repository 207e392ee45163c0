//! What goes over the wire to the management cluster, against an API server that notes down what it is sent.

use std::sync::{Arc, Mutex};

use host_cluster_controller_crd::{FINALIZER, HostCluster, HostClusterStatus, Phase};
use host_cluster_controller_decide::Event;
use http::{Request, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::memory::{ID, host_cluster};
use crate::{host_clusters::OnManagementCluster, install, ports::HostClusters};

type Sent = Arc<Mutex<Vec<(String, Value)>>>;

/// An API server that answers each request with `answer` and keeps method, address and body.
fn server(answer: impl Fn(&str) -> (u16, Value) + Clone + Send + Sync + 'static) -> (Client, Sent) {
    let sent = Sent::default();
    let kept = Arc::clone(&sent);
    let service = tower::service_fn(move |request: Request<Body>| {
        let (kept, answer) = (Arc::clone(&kept), answer.clone());
        async move {
            let what = format!("{} {}", request.method(), request.uri());
            let body = request.into_body().collect_bytes().await.unwrap();
            kept.lock().unwrap().push((what.clone(), serde_json::from_slice(&body).unwrap_or_default()));
            let (code, answer) = answer(&what);
            let body = Body::from(serde_json::to_vec(&answer).unwrap());
            Ok::<_, std::convert::Infallible>(Response::builder().status(code).body(body).unwrap())
        }
    });
    (Client::new(service, "kubeopera-system"), sent)
}

fn resource() -> HostCluster {
    let mut resource: HostCluster = serde_json::from_value(host_cluster()).unwrap();
    resource.metadata.finalizers = Some(vec!["acme.com/keep".to_owned()]);
    resource
}

fn not_found() -> (u16, Value) {
    (404, json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "message": ""}))
}

#[tokio::test]
async fn a_note_that_no_event_may_have_is_cut_and_others_are_told_whole() {
    let (client, sent) = server(|_| (201, json!({})));
    let on_management_cluster = OnManagementCluster::new(client);
    let short = "x".repeat(1024);
    for (reason, note) in [("Short", &short), ("Long", &"é".repeat(600))] {
        let event = Event { is_warning: true, reason: reason.to_owned(), note: note.clone() };
        on_management_cluster.tell(&resource(), &event).await;
    }

    let sent = sent.lock().unwrap();
    let notes: Vec<_> = sent.iter().map(|(_, event)| event["note"].as_str().unwrap()).collect();
    assert_eq!(notes, [short, format!("{}…", "é".repeat(510))]);
}

#[tokio::test]
async fn a_status_is_applied_whole_forced_and_to_this_very_resource() {
    let (client, sent) = server(|_| (200, host_cluster()));
    let status = HostClusterStatus { phase: Some(Phase::Pending), ..HostClusterStatus::default() };

    OnManagementCluster::new(client).write_status(&resource(), &status).await.unwrap();

    let sent = sent.lock().unwrap();
    assert_eq!(
        sent[0].0,
        format!(
            "PATCH /apis/kubeopera.io/v1alpha1/namespaces/kubeopera-system/hostclusters/{ID}/status?&force=true\
             &fieldManager=host-cluster-controller"
        )
    );
    assert_eq!(
        sent[0].1,
        json!({
            "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
            "metadata": {"name": ID, "uid": "uid-of-the-resource"},
            "status": {"phase": "Pending"},
        })
    );
}

#[tokio::test]
async fn the_status_of_a_resource_that_is_gone_is_not_missed() {
    let (client, _) = server(|_| not_found());

    let written = OnManagementCluster::new(client).write_status(&resource(), &HostClusterStatus::default()).await;

    assert_eq!(written, Ok(()));
}

#[tokio::test]
async fn the_finalizer_is_put_on_and_taken_off_beside_those_of_others_and_only_as_it_was_read() {
    let (client, sent) = server(|_| (200, host_cluster()));
    let clusters = OnManagementCluster::new(client);
    let mut ours = resource();

    clusters.add_finalizer(&ours).await.unwrap();
    ours.metadata.finalizers.as_mut().unwrap().push(FINALIZER.to_owned());
    clusters.release_finalizer(&ours).await.unwrap();

    let sent = sent.lock().unwrap();
    let bodies: Vec<_> = sent.iter().map(|(_, body)| body.clone()).collect();
    let expected = |finalizers: Value| json!({"metadata": {"uid": "uid-of-the-resource", "resourceVersion": "41", "finalizers": finalizers}});
    assert_eq!(bodies, [expected(json!(["acme.com/keep", FINALIZER])), expected(json!(["acme.com/keep"]))]);
}

#[tokio::test]
async fn neighbours_are_read_even_if_one_of_them_cannot_be() {
    let mut other = host_cluster();
    other["metadata"]["name"] = json!("11111111-2222-4333-8444-555555555555");
    other["status"] = json!({"clusterUID": "uid-of-another"});
    let mut poisoned = host_cluster();
    poisoned["metadata"]["name"] = json!("22222222-2222-4333-8444-555555555555");
    poisoned["spec"]["mode"] = json!("teleport");
    let list = json!({"apiVersion": "kubeopera.io/v1alpha1", "kind": "HostClusterList", "metadata": {},
        "items": [host_cluster(), poisoned, other]});
    let (client, _) = server(move |_| (200, list.clone()));

    let neighbours = OnManagementCluster::new(client).neighbours(ID.parse().unwrap()).await.unwrap();

    assert_eq!(neighbours.len(), 1, "neither itself nor the one that cannot be read");
    assert_eq!(neighbours[0].cluster_uid.as_deref(), Some("uid-of-another"));
    assert_eq!(neighbours[0].name.as_ref().map(vocabulary::ClusterName::as_str), Some("harbour"));
}

#[tokio::test]
async fn installing_makes_both_namespaces_and_the_definition_and_waits_until_it_is_served() {
    let asked = Arc::new(Mutex::new(0));
    let (client, sent) = server(move |what| {
        if !what.contains("customresourcedefinitions") {
            return (200, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}));
        }
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        let is_served = if *asked > 3 { "True" } else { "False" };
        let mut definition = serde_json::to_value(<HostCluster as kube::CustomResourceExt>::crd()).unwrap();
        definition["status"] = json!({"acceptedNames": {"kind": "HostCluster", "plural": "hostclusters"}, "conditions": [
            {"type": "Established", "status": is_served}, {"type": "NamesAccepted", "status": "True"},
        ], "storedVersions": ["v1alpha1"]});
        (200, definition)
    });

    install(&client).await.unwrap();

    let sent = sent.lock().unwrap();
    let what: Vec<_> = sent.iter().map(|(what, _)| what.split('?').next().unwrap()).collect();
    assert_eq!(
        what[..3],
        [
            "PATCH /api/v1/namespaces/kubeopera-system",
            "PATCH /api/v1/namespaces/kubeopera-provisioning",
            "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/hostclusters.kubeopera.io",
        ]
    );
    assert_eq!(what.len(), 6, "asked until it was served: {what:?}");
}
