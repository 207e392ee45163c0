//! API servers that listen with TLS, as those of clusters do.

use std::{
    collections::BTreeSet,
    net::IpAddr,
    sync::{Arc, Mutex},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{Request, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
    server::TlsStream,
};
use tokio_util::task::AbortOnDropHandle;

use super::{elsewhere::kubeconfig, kubernetes::ApiServer};

/// A port of its own, where whoever connects is shown a certificate. It ends with this value.
pub(super) struct Listening {
    pub(super) port: u16,
    authority: String,
    shown: Arc<Mutex<BTreeSet<String>>>,
    _serving: AbortOnDropHandle<()>,
}

impl Listening {
    /// A cluster's API server whose certificate is for `name`.
    pub(super) async fn at(address: IpAddr, name: &str, server: &ApiServer) -> Self {
        let client = server.client();
        let shown = Arc::<Mutex<BTreeSet<String>>>::default();
        let noted = Arc::clone(&shown);
        let serve = move |connection: TlsStream<TcpStream>| {
            let (client, noted) = (client.clone(), Arc::clone(&noted));
            let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                let (client, noted) = (client.clone(), Arc::clone(&noted));
                async move {
                    let (parts, body) = request.into_parts();
                    if let Some(credential) = parts.headers.get(header::AUTHORIZATION) {
                        noted.lock().unwrap().insert(credential.to_str().unwrap().to_owned());
                    }
                    let body = body.collect().await.unwrap().to_bytes();
                    client.send(Request::from_parts(parts, body.to_vec().into())).await
                }
            });
            async move {
                let http = hyper::server::conn::http1::Builder::new();
                let _ = http.serve_connection(TokioIo::new(connection), service).await;
            }
        };
        Self::start(address, name, shown, serve).await
    }

    /// Whatever answers at this port of 127.0.0.1, which speaks without TLS.
    pub(super) async fn before(behind: u16) -> Self {
        let pass_on = move |mut connection: TlsStream<TcpStream>| async move {
            let mut plain = TcpStream::connect(("127.0.0.1", behind)).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut connection, &mut plain).await;
        };
        Self::start("127.0.0.1".parse().unwrap(), "127.0.0.1", Arc::default(), pass_on).await
    }

    async fn start<F: Future<Output = ()> + Send + 'static>(
        address: IpAddr,
        name: &str,
        shown: Arc<Mutex<BTreeSet<String>>>,
        serve: impl Fn(TlsStream<TcpStream>) -> F + Clone + Send + 'static,
    ) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let _ = aws_lc_rs::default_provider().install_default();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder().with_no_client_auth();
        let tls = TlsAcceptor::from(Arc::new(config.with_single_cert(vec![leaf.der().clone()], key).unwrap()));
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let (tls, serve) = (tls.clone(), serve.clone());
                tokio::spawn(async move {
                    if let Ok(connection) = tls.accept(connection).await {
                        serve(connection).await;
                    }
                });
            }
        });
        let authority = STANDARD.encode(authority.pem());
        Self { port, authority, shown, _serving: AbortOnDropHandle::new(serving) }
    }

    /// A kubeconfig for it by this host of its certificate's.
    pub(super) fn kubeconfig(&self, host: &str) -> Value {
        let mut file = kubeconfig(&[("here", host)]);
        file["clusters"][0]["cluster"] =
            json!({"server": format!("https://{host}:{}", self.port), "certificate-authority-data": self.authority});
        file
    }

    /// What was shown to it as `Authorization` so far.
    pub(super) fn credentials(&self) -> Vec<String> {
        self.shown.lock().unwrap().iter().cloned().collect()
    }
}
