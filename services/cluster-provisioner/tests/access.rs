//! From the cloud's token for a new cluster to one of KubeOpera's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{Json, Router, body::Bytes, extract::State, http::StatusCode, response::IntoResponse};
use base64::{Engine, engine::general_purpose::STANDARD};
use cluster_provisioner::runner::{Access, Outputs, ServiceAccountAccess};
use kube_kit::KubeconfigOptions;
use rustls::{ServerConfig, pki_types::PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
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

/// Connections over TLS, as [`axum::serve`] takes them.
struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (connection, from) = self.listener.accept().await.unwrap();
            if let Ok(connection) = self.acceptor.accept(connection).await {
                return (connection, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// Its address, and the certificate it shows.
async fn started(calls: &Calls) -> (String, String) {
    serve(Router::new().fallback(api_server).with_state(Arc::clone(calls))).await
}

async fn serve(router: Router) -> (String, String) {
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let shown = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(shown.signing_key.serialize_der()).into();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![shown.cert.der().clone()], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("https://{}/", listener.local_addr().unwrap());
    let tls = Tls { listener, acceptor: TlsAcceptor::from(Arc::new(config)) };
    tokio::spawn(async move { axum::serve(tls, router).await });
    (endpoint, STANDARD.encode(shown.cert.pem()))
}

const LOOPBACK: ServiceAccountAccess = ServiceAccountAccess {
    allowed: KubeconfigOptions { allow_loopback: true, allowed_targets: &[], own_ranges: None },
};

#[tokio::test]
async fn a_kubeconfig_has_a_token_of_kubeoperas_own_and_waits_for_its_rights() {
    let calls = Calls::default();
    let (endpoint, certificate_authority) = started(&calls).await;
    let outputs =
        Outputs::Managed { endpoint: endpoint.clone(), certificate_authority, token: Secret::new("CANARY-cloud") };

    let kubeconfig = LOOPBACK.kubeconfig(&outputs).await.unwrap();

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

#[tokio::test]
async fn a_published_kubeconfig_that_acts_on_this_machine_or_leads_into_it_is_refused_at_once() {
    let calls = Calls::default();
    let (endpoint, certificate_authority) = started(&calls).await;
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let token = json!({ "token": "CANARY-cloud" });
    let exec = json!({ "exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [mark], "interactiveMode": "Never",
    }});
    let here = json!({ "server": endpoint, "certificate-authority-data": certificate_authority });
    let with = |name: &str, value: Value| {
        let mut cluster = here.clone();
        cluster[name] = value;
        cluster
    };
    for (cluster, user, access, field) in [
        (here.clone(), exec, LOOPBACK, "exec"),
        (here.clone(), json!({ "tokenFile": "/etc/hostname" }), LOOPBACK, "tokenFile"),
        (with("insecure-skip-tls-verify", json!(true)), token.clone(), LOOPBACK, "insecure-skip-tls-verify"),
        (with("proxy-url", json!("http://127.0.0.1:1")), token.clone(), LOOPBACK, "proxy-url"),
        (with("server", json!("https://169.254.169.254/")), token.clone(), LOOPBACK, "server"),
        (here.clone(), token, ServiceAccountAccess::default(), "server"),
    ] {
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{ "name": "c", "cluster": cluster }],
            "users": [{ "name": "u", "user": user }],
            "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
        });

        let refused = access.kubeconfig(&Outputs::Published(Secret::new(kubeconfig.to_string()))).await.unwrap_err();

        assert_eq!(refused.reason, "KubeconfigRefused", "{field}");
        assert!(refused.message.contains(field) && !refused.message.contains("CANARY"), "{refused:?}");
    }
    assert!(!mark.exists() && calls.lock().unwrap().is_empty());
}

/// A cluster with load balancers and a disk, which it lets go of when they are deleted. It knows no Gateways.
async fn a_cluster(State(calls): State<Calls>, request: axum::extract::Request) -> axum::response::Response {
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let mut calls = calls.lock().unwrap();
    calls.push((format!("{method} {path}"), Value::Null));
    if method == "DELETE" {
        return Json(json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200 }))
            .into_response();
    }
    let is_there = |name: &str| !calls.iter().any(|(call, _)| call.starts_with("DELETE") && call.ends_with(name));
    let named = |name: &str, namespace: &str, spec: Value| json!({ "metadata": { "name": name, "namespace": namespace }, "spec": spec });
    let deployment = |name, namespace| named(name, namespace, json!({ "selector": {}, "template": {} }));
    let items = match path.rsplit('/').next().unwrap() {
        "kube-system" => {
            return Json(json!({ "metadata": { "name": "kube-system", "uid": "uid-of-north" } })).into_response();
        }
        "deployments" => vec![deployment("traefik", "traefik"), deployment("ebs-csi-controller", "kube-system")],
        "services" if is_there("/services/traefik") => vec![
            named("traefik", "traefik", json!({ "type": "LoadBalancer" })),
            named("kubernetes", "default", json!({ "type": "ClusterIP" })),
        ],
        "gateways" => return not_found().into_response(),
        "ingresses" if is_there("/ingresses/shop") => vec![named("shop", "shop", json!({ "rules": [] }))],
        "persistentvolumeclaims" => vec![named("data", "shop", json!({}))],
        // In two answers.
        "pods" if !request.uri().query().unwrap().contains("continue=more") => {
            let web = named("web", "shop", json!({ "containers": [] }));
            return Json(
                json!({ "kind": "List", "apiVersion": "v1", "metadata": { "continue": "more" }, "items": [web] }),
            )
            .into_response();
        }
        "pods" => vec![named(
            "db",
            "shop",
            json!({ "containers": [], "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "data" } }] }),
        )],
        "persistentvolumes" => {
            let disk = |name: &str, policy: &str| json!({ "metadata": { "name": name }, "spec": { "persistentVolumeReclaimPolicy": policy } });
            let kept = disk("kept", "Retain");
            if is_there("/persistentvolumeclaims/data") { vec![disk("data", "Delete"), kept] } else { vec![kept] }
        }
        _ => vec![],
    };
    Json(json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": items })).into_response()
}

/// What a server says that does not know a kind.
fn not_found() -> impl IntoResponse {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "" });
    (StatusCode::NOT_FOUND, Json(status))
}

#[tokio::test]
async fn a_cluster_lets_go_of_load_balancers_and_disks_and_no_other_cluster_is_touched() {
    let calls = Calls::default();
    let (endpoint, certificate_authority) =
        serve(Router::new().fallback(a_cluster).with_state(Arc::clone(&calls))).await;
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{ "name": "c", "cluster": { "server": endpoint, "certificate-authority-data": certificate_authority } }],
        "users": [{ "name": "u", "user": { "token": "CANARY-own" } }],
        "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
    });
    let kubeconfig = Secret::new(kubeconfig.to_string());
    let deleted = || -> Vec<String> {
        let calls = calls.lock().unwrap();
        calls.iter().filter_map(|(call, _)| call.strip_prefix("DELETE ").map(str::to_owned)).collect()
    };

    let refused = LOOPBACK.clear(&kubeconfig, "uid-of-south").await.unwrap_err();
    assert_eq!((refused.reason.as_str(), deleted()), ("AnotherCluster", vec![]));

    LOOPBACK.clear(&kubeconfig, "uid-of-north").await.unwrap();

    assert_eq!(
        deleted(),
        [
            "/apis/apps/v1/namespaces/traefik/deployments/traefik",
            "/apis/networking.k8s.io/v1/namespaces/shop/ingresses/shop",
            "/api/v1/namespaces/traefik/services/traefik",
            "/api/v1/namespaces/shop/persistentvolumeclaims/data",
            "/api/v1/namespaces/shop/pods/db",
        ]
    );
}
