//! What a client can do to a listening KubeOpera: others do not notice.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{World, world::cookie_of};
use crate::config::Config;

/// KubeOpera as it is started, listening.
pub(super) struct Served {
    pub(super) address: SocketAddr,
    shutdown: CancellationToken,
    ended: JoinHandle<Result<(), crate::RunError>>,
}

impl World {
    pub(super) async fn serve(&self, config: Config) -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (platform, shutdown) = (&self.platform, CancellationToken::new());
        let ended = tokio::spawn(crate::run(
            config,
            listener,
            platform.db.clone(),
            platform.client.clone(),
            platform.auth.clone(),
            platform.scaffolder.clone(),
            platform.monitor.clone(),
            platform.defaults.clone(),
            shutdown.clone(),
        ));
        Served { address, shutdown, ended }
    }
}

impl Served {
    pub(super) async fn end(self) {
        self.shutdown.cancel();
        self.ended.await.unwrap().unwrap();
    }

    /// Sends a request and reads the answer until the connection ends. It may be reset when the answer is there.
    async fn exchange(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer));
        let _ = read.await.expect("no answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn is_well(&self) {
        let began = std::time::Instant::now();
        let answer = self.exchange(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    }
}

fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn of_a_body_without_an_end_only_the_beginning_is_read() {
    let world = World::on_sqlite().await;
    let served = world.serve(Config::default()).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream
        .write_all(b"POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await
        .unwrap();
    let (mut read, mut write) = stream.into_split();
    let sending = tokio::spawn(async move {
        let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
        let mut sent = 0_usize;
        // A gigabyte, if anybody took it.
        while sent < 1 << 30 && write.write_all(&chunk).await.is_ok() {
            sent += 0x10000;
        }
        sent
    });

    let mut answer = [0; 512];
    let length = tokio::time::timeout(Duration::from_secs(20), read.read(&mut answer)).await.unwrap().unwrap();

    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    served.is_well().await;
    drop(read);
    let sent = tokio::time::timeout(Duration::from_secs(20), sending).await.expect("it is still read").unwrap();
    assert!(sent < 16 << 20, "{sent} bytes were taken");
    served.end().await;
}

#[tokio::test]
async fn heads_that_are_too_much_are_refused() {
    let world = World::on_sqlite().await;
    let served = world.serve(Config::default()).await;
    let many = (0..10_000).map(|n| format!("X-{n}: v\r\n")).collect::<Vec<_>>().concat();
    let long = format!("X-Long: {}\r\n", "x".repeat(1 << 20));

    for headers in [many, long] {
        let request = format!("GET /livez HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        let answer = served.exchange(request.as_bytes()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
        served.is_well().await;
    }
    served.end().await;
}

#[tokio::test]
async fn bodies_are_never_unpacked_and_depth_ends_in_a_refusal() {
    let world = World::on_sqlite().await;
    let cookie = cookie_of(&world.try_log_in("administrator", super::world::PASSWORD).await);
    let served = world.serve(Config::default()).await;
    let cookie = format!("Cookie: {cookie}\r\n");
    // The head of what unpacks to much more than it is.
    let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xed, 0xc1, 1, 1, 0, 0, 0, 0x80];
    for headers in ["Content-Encoding: gzip\r\n", "Content-Encoding: deflate\r\n", "Content-Encoding: br\r\n"] {
        let answer = served.exchange(&post("/api/v1/session", headers, &packed)).await;
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("body_not_json"), "{answer}");
    }
    let deep = |depth: usize| [br#"{"name":"#.as_slice(), "[".repeat(depth).as_bytes()].concat();
    for (path, depth) in [
        ("/api/v1/session", 60_000),
        ("/api/v1/users", 60_000),
        ("/api/v1/clusters/connect", 1_000_000),
        ("/api/v1/clusters/create", 60_000),
    ] {
        let answer = served.exchange(&post(path, &cookie, &deep(depth))).await;
        let status = answer.get(9..12).unwrap_or_default();
        assert!(["400", "422"].contains(&status), "{path}: {answer}");
    }
    served.is_well().await;
    served.end().await;
}

#[tokio::test]
async fn five_hundred_silent_connections_keep_nobody_waiting() {
    let world = World::on_sqlite().await;
    let served = world.serve(Config::default()).await;
    let mut silent = Vec::new();
    for _ in 0..500 {
        silent.push(TcpStream::connect(served.address).await.unwrap());
    }

    served.is_well().await;

    drop(silent);
    served.end().await;
}
