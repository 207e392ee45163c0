//! Certificates as servers show them, over real TLS on loopback: which are taken, and what is said of the others.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what it expects and stops where it is not so"
)]

use std::{net::IpAddr, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use kube_kit::{Attempt, KubeconfigOptions, Limits, ValidKubeconfig, trouble};
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};
use vocabulary::Secret;

type Authority = CertifiedIssuer<'static, KeyPair>;

const VERSION: &str = r#"{"major":"1","minor":"34","gitVersion":"v1.34.4","gitCommit":"","gitTreeState":"",
    "buildDate":"","goVersion":"","compiler":"","platform":""}"#;

/// Servers of tests are on this machine.
const HERE: KubeconfigOptions = KubeconfigOptions { allow_loopback: true, allowed_targets: &[], own_ranges: None };

/// What a server shows, and the key to it.
struct Shown {
    chain: Vec<CertificateDer<'static>>,
    key: KeyPair,
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn authority(params: CertificateParams) -> Authority {
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn leaf(names: &[&str]) -> CertificateParams {
    CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
}

fn signed(params: &CertificateParams, by: &Authority) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, by).unwrap(), key)
}

fn shown(params: &CertificateParams, by: &Authority) -> Shown {
    let (certificate, key) = signed(params, by);
    Shown { chain: vec![certificate.der().clone()], key }
}

fn kubeconfig(server: &str, authorities: &[String]) -> ValidKubeconfig {
    kubeconfig_with(server, authorities, "")
}

/// With a further line about the cluster.
fn kubeconfig_with(server: &str, authorities: &[String], line: &str) -> ValidKubeconfig {
    let authority = match authorities {
        [] => String::new(),
        some => format!("certificate-authority-data: {}", STANDARD.encode(some.concat())),
    };
    let file = format!(
        "current-context: a\ncontexts:\n- name: a\n  context: {{cluster: c, user: u}}\nclusters:\n- name: c\n  cluster:\n    \
         server: {server}\n    {authority}\n    {line}\nusers:\n- name: u\n  user:\n    token: CANARY\n"
    );
    ValidKubeconfig::parse(&Secret::new(file), HERE).unwrap()
}

/// What is seen of a server at `host`, a name or address of this machine, by who has `authorities` in the kubeconfig: its
/// version, or reason and message.
async fn seen(host: &str, server: Shown, authorities: &[String]) -> Result<String, (String, String)> {
    seen_with(host, server, authorities, "").await
}

/// By who has this further line about the cluster.
async fn seen_with(host: &str, server: Shown, authorities: &[String], line: &str) -> Result<String, (String, String)> {
    let _ = aws_lc_rs::default_provider().install_default();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server.key.serialize_der()));
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(server.chain, key).unwrap();
    let address: IpAddr = if host.contains(':') { "::1" } else { "127.0.0.1" }.parse().unwrap();
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (connection, _) = listener.accept().await.unwrap();
        let Ok(mut connection) = TlsAcceptor::from(Arc::new(config)).accept(connection).await else { return };
        let read = connection.read(&mut [0; 4096]).await.unwrap();
        assert!(read > 0, "there was a request");
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", VERSION.len());
        connection.write_all((head + VERSION).as_bytes()).await.unwrap();
        connection.shutdown().await.unwrap();
    });
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let kubeconfig = kubeconfig_with(&format!("https://{host}:{port}"), authorities, line);
    let client = kubeconfig.client(Limits::default()).unwrap();
    let version = client.apiserver_version().await;
    serving.abort();
    version.map(|version| version.git_version).map_err(|error| {
        let trouble = trouble(Attempt("look"), &error);
        (trouble.reason, trouble.message)
    })
}

#[tokio::test]
async fn a_server_that_is_named_by_its_address_is_verified_by_it() {
    let root = authority(named("root"));

    for host in ["127.0.0.1", "::1", "localhost"] {
        let server = shown(&leaf(&[host]), &root);
        assert_eq!(seen(host, server, &[root.pem()]).await.unwrap(), "v1.34.4", "{host}");
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_says_which_names_it_has() {
    let root = authority(named("root"));
    for host in ["127.0.0.1", "::1", "localhost"] {
        let server = shown(&leaf(&["api.acme.com", "10.0.0.7", "2001:db8::7", "*.prod.acme.com"]), &root);

        let (reason, message) = seen(host, server, &[root.pem()]).await.unwrap_err();

        assert_eq!(reason, "TLSVerificationFailed");
        assert_eq!(
            message,
            "Could not look: the API server's certificate does not name this address, but api.acme.com, 10.0.0.7, \
             2001:db8::7, *.prod.acme.com. Use one of these, or give one of them as tls-server-name.",
            "{host}"
        );
    }
}

#[tokio::test]
async fn the_name_that_the_kubeconfig_gives_the_server_is_the_one_that_the_certificate_must_have() {
    let root = authority(named("root"));
    for (given, taken) in [("api.acme.com", true), ("10.0.0.7", true), ("other.acme.com", false)] {
        let server = shown(&leaf(&["api.acme.com", "10.0.0.7"]), &root);

        let seen = seen_with("127.0.0.1", server, &[root.pem()], &format!("tls-server-name: {given}")).await;

        match seen {
            Ok(version) => assert!(taken && version == "v1.34.4", "{given}"),
            Err((reason, _)) => assert!(!taken && reason == "TLSVerificationFailed", "{given}: {reason}"),
        }
    }
}

#[tokio::test]
async fn an_authority_that_did_not_sign_it_is_told_with_the_command_for_the_right_one() {
    let (root, other) = (authority(named("root")), authority(named("root")));
    for authorities in [vec![other.pem()], vec![]] {
        let server = shown(&leaf(&["127.0.0.1"]), &root);

        let (reason, message) = seen("127.0.0.1", server, &authorities).await.unwrap_err();

        assert_eq!(reason, "TLSVerificationFailed");
        assert!(message.contains("not signed by the certificate authority"), "{message}");
        assert!(message.contains("kubectl -n kube-system get configmap kube-root-ca.crt"), "{message}");
    }
}

#[tokio::test]
async fn one_right_authority_in_a_bundle_is_enough() {
    let (old, new) = (authority(named("old")), authority(named("new")));
    let server = shown(&leaf(&["127.0.0.1"]), &new);

    assert!(seen("127.0.0.1", server, &[old.pem(), new.pem()]).await.is_ok());
}

#[tokio::test]
async fn a_chain_is_followed_if_it_is_whole_and_missed_if_it_is_not() {
    let root = authority(named("root"));
    let between = CertifiedIssuer::signed_by(named("between"), KeyPair::generate().unwrap(), &root).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = leaf(&["127.0.0.1"]).signed_by(&key, &between).unwrap();
    let server = |chain: &[&CertificateDer<'static>]| Shown {
        chain: chain.iter().map(|certificate| (*certificate).clone()).collect(),
        key: KeyPair::try_from(key.serialize_der()).unwrap(),
    };

    let whole = seen("127.0.0.1", server(&[certificate.der(), between.der()]), &[root.pem()]).await;
    let short = seen("127.0.0.1", server(&[certificate.der()]), &[root.pem()]).await;
    let by_the_middle = seen("127.0.0.1", server(&[certificate.der()]), &[between.pem()]).await;

    assert_eq!(whole.unwrap(), "v1.34.4");
    assert_eq!(short.unwrap_err().0, "TLSVerificationFailed");
    assert_eq!(by_the_middle.unwrap(), "v1.34.4");
}

#[tokio::test]
async fn a_certificate_out_of_its_time_is_not_taken() {
    let root = authority(named("root"));
    let (mut late, mut early) = (leaf(&["127.0.0.1"]), leaf(&["127.0.0.1"]));
    (late.not_before, late.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    (early.not_before, early.not_after) = (date_time_ymd(2100, 1, 1), date_time_ymd(2101, 1, 1));

    for (params, word) in [(late, "has expired"), (early, "is not valid yet")] {
        let (reason, message) = seen("127.0.0.1", shown(&params, &root), &[root.pem()]).await.unwrap_err();
        assert_eq!(reason, "TLSVerificationFailed");
        assert!(message.contains(word), "{message}");
    }
}

fn flaws(authorities: &[String]) -> Vec<String> {
    let flaws = kubeconfig("https://api.acme.com", authorities).authority_flaws();
    flaws.into_iter().map(|flaw| flaw.message).collect()
}

#[tokio::test]
async fn a_servers_own_certificate_in_the_place_of_an_authority_is_named_as_that() {
    let root = authority(named("root"));
    let (certificate, key) = signed(&leaf(&["127.0.0.1"]), &root);
    let pem = certificate.pem();
    let server = Shown { chain: vec![certificate.der().clone()], key };

    let (reason, _) = seen("127.0.0.1", server, std::slice::from_ref(&pem)).await.unwrap_err();

    assert_eq!(reason, "TLSVerificationFailed");
    assert!(flaws(&[pem])[0].contains("a server's own certificate"));
    assert_eq!(flaws(&[root.pem()]), [""; 0]);
    assert_eq!(flaws(&[]), [""; 0]);
}

#[test]
fn an_authority_that_has_expired_is_worth_a_word_unless_another_stands_beside_it() {
    let mut params = named("old");
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let (old, new) = (authority(params), authority(named("new")));

    assert!(flaws(&[old.pem()])[0].contains("has expired"));
    assert_eq!(flaws(&[old.pem(), new.pem()]), [""; 0]);
}
