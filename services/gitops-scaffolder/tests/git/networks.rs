//! What is between us and a server: TLS with an authority of one's own, a proxy, and lines that cost.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use gitops_scaffolder::{Config, Scaffolder};
use gitops_scaffolder_contract::{Answer, Destination, GitCredential, GitOpsScaffolder, Question};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, copy_bidirectional},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};
use vocabulary::Secret;

use crate::stage::{CANARY, Stage, git, inputs, with_domain};

/// A name that only the proxy knows.
const NAME: &str = "git.acme.invalid";
/// Set for the process that has a proxy.
const BEHIND_PROXY: &str = "TEST_AUTHORITY_FILE";

/// A port on which each connection is served by `serve`.
async fn listen<F: Future<Output = std::io::Result<()>> + Send>(
    serve: impl Fn(TcpStream) -> F + Clone + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let serve = serve.clone();
            // A client that goes away ends its own connection only.
            tokio::spawn(async move { serve(stream).await });
        }
    });
    address
}

/// A server before the stage's with a certificate of an authority of its own, for loopback and [`NAME`]; and the authority.
async fn over_tls(stage: &Stage) -> (SocketAddr, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), NAME.to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let (acceptor, behind) = (TlsAcceptor::from(Arc::new(config)), stage.address);
    let address = listen(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = acceptor.accept(stream).await?;
            copy_bidirectional(&mut stream, &mut TcpStream::connect(behind).await?).await.map(drop)
        }
    });
    (address.await, authority.pem())
}

/// A proxy that knows where [`NAME`] is and counts who asked for it.
async fn proxy(to: SocketAddr) -> (SocketAddr, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    let address = listen(move |stream| {
        let count = Arc::clone(&count);
        async move {
            let mut stream = BufReader::new(stream);
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                if stream.read_until(b'\n', &mut head).await? == 0 {
                    return Ok(());
                }
            }
            if !head.starts_with(format!("CONNECT {NAME}:443 ").as_bytes()) {
                return stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").await;
            }
            count.fetch_add(1, Ordering::Relaxed);
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            copy_bidirectional(&mut stream, &mut TcpStream::connect(to).await?).await.map(drop)
        }
    });
    (address.await, asked)
}

/// Passes everything on, and counts it before it arrives.
async fn counting(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, count: &AtomicU64) -> std::io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = from.read(&mut chunk).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        count.fetch_add(read as u64, Ordering::Relaxed);
        to.write_all(&chunk[..read]).await?;
    }
}

fn destination(url: &str, authority: Option<&str>) -> Destination {
    let credential = GitCredential::Basic {
        username: "kubeopera".to_owned(),
        password: Secret::new(CANARY),
        certificate_authority: authority.map(str::to_owned),
    };
    Destination { url: url.parse().unwrap(), branch: None, credential }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_of_ones_own_is_trusted_for_this_repository_and_without_it_nothing_is_sent() {
    let stage = Stage::new().await;
    let (address, authority) = over_tls(&stage).await;
    let (_, of_another) = over_tls(&stage).await;
    let (inputs, url) = (inputs("prod"), format!("https://{address}/gitops.git"));
    let scaffolder = stage.scaffolder_at("a", &url.parse().unwrap()).await;

    for wrong in [None, Some(of_another.as_str())] {
        let refused = scaffolder.ensure_tree(&inputs, &destination(&url, wrong)).await.unwrap_err();
        assert_eq!(refused.reason, "GitCertificateNotTrusted", "{refused}");
        let found = scaffolder.check(&destination(&url, wrong)).await.unwrap();
        let (question, answer) = &found.answers[1];
        assert!(*question == Question::Identity && matches!(answer, Answer::No(_)), "{found:?}");
    }
    let trusted = destination(&url, Some(&authority));
    assert!(scaffolder.check(&trusted).await.unwrap().is_usable());
    scaffolder.ensure_tree(&inputs, &trusted).await.unwrap();

    assert_eq!(stage.history("main"), ["Add the environment of prod"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_the_site_has_is_used() {
    // The proxy is a variable of the process, so that it takes one of its own.
    if let Some(file) = std::env::var_os(BEHIND_PROXY) {
        let authority = std::fs::read_to_string(file).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let scaffolder = Scaffolder::new(Config::new(folder.path().to_owned())).await.unwrap();
        let destination = destination(&format!("https://{NAME}/gitops.git"), Some(&authority));
        assert!(scaffolder.check(&destination).await.unwrap().is_usable());
        scaffolder.ensure_tree(&inputs("prod"), &destination).await.unwrap();
        return;
    }
    let stage = Stage::new().await;
    let (address, authority) = over_tls(&stage).await;
    let (proxy, asked) = proxy(address).await;
    let file = stage.folder.path().join("authority.pem");
    std::fs::write(&file, authority).unwrap();
    let run = async |proxy: SocketAddr| {
        tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "networks::a_proxy_that_the_site_has_is_used"])
            .env(BEHIND_PROXY, &file)
            .env("HTTPS_PROXY", format!("http://{proxy}"))
            .kill_on_drop(true)
            .output()
            .await
            .unwrap()
    };

    let through = run(proxy).await;
    let elsewhere = run(address).await;

    assert!(through.status.success(), "{}", String::from_utf8_lossy(&through.stdout));
    assert!(asked.load(Ordering::Relaxed) > 0, "nobody asked the proxy");
    assert_eq!(stage.history("main"), ["Add the environment of prod"]);
    assert!(!elsewhere.status.success(), "without a proxy there is no such name");
}

/// Bytes that compress badly, other ones for each seed.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next).flatten().take(bytes).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_huge_repository_only_little_is_fetched() {
    let stage = Stage::new().await;
    let counted = Arc::new(AtomicU64::new(0));
    let (count, behind) = (Arc::clone(&counted), stage.address);
    let line = listen(move |stream| {
        let count = Arc::clone(&count);
        async move {
            let (from_us, to_us) = stream.into_split();
            let (from_server, to_server) = TcpStream::connect(behind).await?.into_split();
            tokio::try_join!(counting(from_us, to_server, &count), counting(from_server, to_us, &count)).map(drop)
        }
    });
    let url = format!("http://{}/gitops.git", line.await);
    // A long history of a file of half a MiB, and a film of 16 MiB.
    let person = stage.person();
    std::fs::write(person.path("film.bin"), noise(0, 16 << 20)).unwrap();
    for version in 1..=40 {
        std::fs::write(person.path("data.bin"), noise(version, 512 << 10)).unwrap();
        person.git(&["add", "--all"]);
        person.git(&["commit", "--quiet", "-m", &format!("Version {version}")]);
    }
    person.git(&["push", "--quiet", "origin", "HEAD"]);
    let on_server: u64 = git(stage.repository.folder(), &["count-objects", "-v"])
        .lines()
        .filter_map(|line| line.strip_prefix("size: ").or_else(|| line.strip_prefix("size-pack: ")))
        .map(|kib| kib.parse::<u64>().unwrap() << 10)
        .sum();
    assert!(on_server > 35 << 20, "the repository is not huge: {on_server} bytes");
    let scaffolder = stage.scaffolder_at("a", &url.parse().unwrap()).await;
    let spent = || counted.swap(0, Ordering::Relaxed);

    let inputs = inputs("prod");
    scaffolder.ensure_tree(&inputs, &destination(&url, None)).await.unwrap();
    let first = spent();
    let changed = with_domain(&inputs, "prod.acme.com");
    scaffolder.ensure_tree(&changed, &destination(&url, None)).await.unwrap();
    let second = spent();
    scaffolder.look(&inputs.cluster_uid, &inputs.path, &destination(&url, None)).await.unwrap();
    let look = spent();

    eprintln!(
        "a repository of {on_server} bytes: {first} for the first tree, {second} for a change, {look} for a look"
    );
    assert!(first < 1 << 20, "{first} bytes");
    assert!(second < 256 << 10, "{second} bytes");
    assert!(look < 16 << 10, "{look} bytes");
}
