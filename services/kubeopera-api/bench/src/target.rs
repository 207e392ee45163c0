//! Clusters to connect, all behind one address: which one is told by the token. They answer at once, so that what is
//! measured is KubeOpera.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context;
use axum::{Json, Router, extract::Request, http::header, routing::get};
use base64::{Engine, engine::general_purpose::STANDARD};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The clusters' address and authority.
pub(crate) struct Targets {
    address: SocketAddr,
    authority: String,
}

impl Targets {
    /// Serves from an address of this machine that is not loopback, as KubeOpera calls no other.
    pub(crate) async fn serve(ip: std::net::IpAddr) -> anyhow::Result<Self> {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec![ip.to_string()])?.self_signed(&key)?;
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let tls = rustls::ServerConfig::builder().with_no_client_auth();
        let tls = tls.with_single_cert(vec![certificate.der().clone()], private)?;
        let (acceptor, listener) = (TlsAcceptor::from(Arc::new(tls)), TcpListener::bind((ip, 0)).await?);
        let address = listener.local_addr()?;
        let service = router();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, service) = (acceptor.clone(), service.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let serving = auto::Builder::new(TokioExecutor::new());
                    let _ = serving.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).await;
                });
            }
        });
        Ok(Self { address, authority: STANDARD.encode(certificate.pem()) })
    }

    /// A kubeconfig for one of them.
    pub(crate) fn kubeconfig(&self, number: usize) -> String {
        let Self { address, authority } = self;
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\n\
             clusters:\n- name: c\n  cluster:\n    server: https://{address}\n    certificate-authority-data: {authority}\n\
             users:\n- name: u\n  user:\n    token: cluster-{number}\n"
        )
    }
}

fn router() -> Router {
    let version = json!({"major": "1", "minor": "34", "gitVersion": "v1.34.4"});
    let node = |number: u32| {
        json!({"metadata": {"name": format!("n{number}")}, "spec": {"providerID": "aws:///eu-north-1a/i-0abc"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let nodes = json!({"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": [node(1), node(2), node(3)]});
    Router::new()
        .route("/version", get(async move || Json(version)))
        .route("/api/v1/nodes", get(async move || Json(nodes)))
        .route("/api/v1/namespaces/kube-system", get(kube_system))
        .fallback(access_review)
}

async fn kube_system(request: Request) -> Json<Value> {
    let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let cluster = token.and_then(|token| token.strip_prefix("Bearer ")).unwrap_or("nobody");
    Json(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": format!("uid-of-{cluster}")}}),
    )
}

async fn access_review() -> Json<Value> {
    Json(json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {}, "spec": {},
        "status": {"allowed": true}}))
}

/// The address of this machine on the network of a cluster.
pub(crate) fn beside(server: &str) -> anyhow::Result<std::net::IpAddr> {
    let host = server.trim_start_matches("https://").rsplit_once(':').context("a server without a port")?.0;
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // Sends nothing: only the route is looked up.
    socket.connect((host, 443))?;
    Ok(socket.local_addr()?.ip())
}
