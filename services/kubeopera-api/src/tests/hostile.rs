//! What a client can do to a listening KubeOpera: others do not notice.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
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

    async fn exchange(&self, request: &[u8]) -> String {
        exchange(self.address, request).await
    }

    async fn is_well(&self) {
        is_well(self.address).await;
    }
}

/// Nothing of KubeOpera's takes as long, whatever else the machine does: it hangs.
const HANGS: Duration = Duration::from_mins(2);

/// Sends a request and reads the answer until the connection ends. It may be reset when the answer is there.
async fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let read = tokio::time::timeout(HANGS, stream.read_to_end(&mut answer));
    let _ = read.await.expect("no answer");
    String::from_utf8_lossy(&answer).into_owned()
}

async fn is_well(address: SocketAddr) {
    let answer = exchange(address, b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
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
    let length = tokio::time::timeout(HANGS, read.read(&mut answer)).await.unwrap().unwrap();

    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    served.is_well().await;
    drop(read);
    let sent = tokio::time::timeout(HANGS, sending).await.expect("it is still read").unwrap();
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
        ("/api/v1/session", 4_000),
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

/// Says to the process of a test that it is the server of [`what_they_do_costs_little_memory_and_others_no_time`].
const IS_SERVER: &str = "KUBEOPERA_TEST_IS_SERVER";
const SILENT: usize = 5_000;
/// 54 KiB for each of the 1,200 connections that are served at once, whether it is silent or leaves a head or a body
/// half sent.
const MOST_MEMORY: u64 = 64 << 20;
/// Bodies of 8 MiB at once, which is more than anybody may send.
const LARGE: usize = 16;
/// How much slower others may become: on a machine that is starved, what a round leaves behind costs them some of that.
/// Whoever had to wait for silent connections would wait for seconds, not milliseconds.
const SLOWER: u32 = 10;
/// The machine does other things beside the tests, so that one comparison says little: of so many the best one counts.
const ROUNDS: usize = 8;

/// KubeOpera in a process of its own, whose memory is its own as well.
struct Process {
    child: tokio::process::Child,
    address: SocketAddr,
    /// The header of somebody who is logged in.
    cookie: String,
}

impl Process {
    async fn start(test: &str) -> Self {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(IS_SERVER, "yes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let listens = async {
            while let Some(line) = said.next_line().await.unwrap() {
                if let Some((_, said)) = line.split_once("listens at ") {
                    let (address, cookie) = said.split_once(" for ").unwrap();
                    return (address.parse().unwrap(), format!("Cookie: {cookie}\r\n"));
                }
            }
            panic!("the server did not start")
        };
        let (address, cookie) = tokio::time::timeout(HANGS, listens).await.expect("the server does not start");
        Self { child, address, cookie }
    }

    /// The part of a process whose output this is: serves until nobody listens to it any more.
    async fn be() {
        let world = World::on_sqlite().await;
        let cookie = cookie_of(&world.try_log_in("operator", super::world::PASSWORD).await);
        let served = world.serve(Config::default()).await;
        // Its only reader is the test that started it.
        #[allow(clippy::print_stdout, reason = "it is how a process tells where it listens")]
        {
            println!("listens at {} for {cookie}", served.address);
        }
        let _ = tokio::task::spawn_blocking(|| std::io::Read::read(&mut std::io::stdin(), &mut [0])).await;
        served.end().await;
    }

    /// The most memory it had since that was forgotten, in bytes.
    fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        most.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// Begins to look for the most memory it takes, and tells what that is by now. Where the kernel does not let that
    /// be forgotten, it is what the start took.
    fn forget_peak(&self) -> u64 {
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.child.id().unwrap()), "5");
        self.most_memory()
    }

    /// What ninety-nine of a hundred requests of somebody else take at most, each on a connection of its own.
    async fn p99_of_others(&self) -> Duration {
        let mut took = Vec::new();
        for _ in 0..300 {
            let began = std::time::Instant::now();
            is_well(self.address).await;
            took.push(began.elapsed());
        }
        took.sort_unstable();
        took[took.len() * 99 / 100]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_they_do_costs_little_memory_and_others_no_time() {
    if std::env::var_os(IS_SERVER).is_some() {
        return Process::be().await;
    }
    // The server inherits it.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let all = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, all).unwrap();
    let allowed = limit.maximum.map_or(SILENT, |most| usize::try_from(most).unwrap().saturating_sub(500));
    let process = Process::start("tests::hostile::what_they_do_costs_little_memory_and_others_no_time").await;
    process.p99_of_others().await;
    let before = process.forget_peak();

    let deep = [br#"{"name":"#.as_slice(), "[".repeat(1_000_000).as_bytes()].concat();
    let deep = post("/api/v1/clusters/connect", &process.cookie, &deep);
    let many = (0..10_000).map(|n| format!("X-{n}: v\r\n")).collect::<Vec<_>>().concat();
    let many = format!("GET /livez HTTP/1.1\r\nHost: x\r\n{many}\r\n").into_bytes();
    let large = post("/api/v1/session", "", &vec![b'x'; 8 << 20]);
    for _ in 0..10 {
        let loads = [&deep, &many].into_iter().chain(std::iter::repeat_n(&large, LARGE));
        futures::future::join_all(loads.map(|load| exchange(process.address, load))).await;
    }
    let half = post("/api/v1/session", "", &[b' '; 4096]);
    let mut halves = Vec::new();
    for _ in 0..SILENT.min(allowed) {
        let mut stream = std::net::TcpStream::connect(process.address).unwrap();
        let _ = std::io::Write::write_all(&mut stream, &half[..half.len() - 1]);
        halves.push(stream);
    }
    is_well(process.address).await;
    drop(halves);
    let of_halves = process.most_memory().saturating_sub(before);
    assert!(of_halves <= MOST_MEMORY, "{} MiB more for bodies that were half sent", of_halves >> 20);
    let mut compared = Vec::new();
    let is_no_slower = async {
        for _ in 0..ROUNDS {
            let without = process.p99_of_others().await;
            let mut silent = Vec::new();
            for number in 0..SILENT.min(allowed) {
                let mut stream = std::net::TcpStream::connect(process.address).unwrap();
                // Every other one begins a head that never ends.
                if number % 2 == 0 {
                    let _ = std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\nX-Slow: ");
                }
                silent.push(stream);
            }
            // All have been accepted.
            is_well(process.address).await;
            let with = process.p99_of_others().await;
            compared.push((without, with));
            if with < without * SLOWER {
                return true;
            }
        }
        false
    };

    assert!(is_no_slower.await, "p99 without and with {} silent connections: {compared:?}", SILENT.min(allowed));
    let most = process.most_memory().saturating_sub(before);
    assert!(most <= MOST_MEMORY, "{} MiB more than before, {compared:?}", most >> 20);
}
