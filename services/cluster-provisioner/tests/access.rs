//! From the cloud's token for a new cluster to one of KubeOpera's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::{Arc, Mutex};

use axum::{Json, Router, body::Bytes, extract::State, http::StatusCode, response::IntoResponse};
use cluster_provisioner::runner::{Access, Outputs, ServiceAccountAccess};
use serde_json::{Value, json};
use vocabulary::Secret;

type Calls = Arc<Mutex<Vec<(String, Value)>>>;

/// An API server that says yes, from the third call on.
async fn api_server(State(calls): State<Calls>, request: axum::extract::Request) -> impl IntoResponse {
    let (parts, body) = request.into_parts();
    let call = format!("{} {}", parts.method, parts.uri.path());
    let bytes: Bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let mut calls = calls.lock().unwrap();
    calls.push((call, body.clone()));
    if calls.len() < 3 {
        let refusal = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "namespaces is forbidden: User cannot patch" });
        return (StatusCode::FORBIDDEN, Json(refusal));
    }
    let is_token = parts.uri.path().ends_with("/token");
    let token = parts.headers["authorization"] == "Bearer CANARY-cloud";
    assert!(token, "{parts:?}");
    let mut answer = body;
    if is_token {
        answer["status"] = json!({ "token": "CANARY-own", "expirationTimestamp": "2030-01-01T00:00:00Z" });
    }
    (StatusCode::CREATED, Json(answer))
}

#[tokio::test]
async fn a_kubeconfig_has_a_token_of_kubeoperas_own_and_waits_for_its_rights() {
    rustls::crypto::aws_lc_rs::default_provider().install_default().unwrap();
    let calls = Calls::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(api_server).with_state(Arc::clone(&calls));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let outputs = Outputs::Managed {
        endpoint: endpoint.clone(),
        certificate_authority: String::new(),
        token: Secret::new("CANARY-cloud"),
    };

    let kubeconfig = ServiceAccountAccess.kubeconfig(&outputs).await.unwrap();

    let kubeconfig: Value = serde_json::from_str(kubeconfig.reveal()).unwrap();
    assert_eq!(kubeconfig["users"][0]["user"], json!({ "token": "CANARY-own" }));
    assert_eq!(kubeconfig["clusters"][0]["cluster"]["server"], endpoint);
    let calls = calls.lock().unwrap();
    let binding = calls.iter().find(|(call, _)| call.contains("/clusterrolebindings/kubeopera-manager")).unwrap();
    assert_eq!(binding.1["roleRef"]["name"], "cluster-admin");
    let account = "/api/v1/namespaces/kubeopera-system/serviceaccounts/kubeopera-manager";
    assert!(calls.iter().any(|(call, _)| *call == format!("PATCH {account}")), "{calls:?}");
    assert!(calls.iter().any(|(call, _)| *call == format!("POST {account}/token")), "{calls:?}");
}
