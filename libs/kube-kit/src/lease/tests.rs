#![allow(clippy::unwrap_used)]
use std::{
    convert::Infallible,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower::{BoxError, service_fn};

use super::*;

/// Long enough for a machine that stands still for seconds: nobody loses the lead by that.
const TIMES: LeaseTimes = LeaseTimes {
    duration: Duration::from_secs(6),
    renew_within: Duration::from_secs(4),
    retry: Duration::from_millis(50),
};
const SOON: Duration = Duration::from_mins(1);

/// An API server with one Lease, which takes a write only at the version it has.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Option<Value>>>);

impl Server {
    fn answer(&self, method: &Method, body: Option<Value>) -> (u16, Value) {
        let mut lease = self.0.lock().unwrap();
        let version = |lease: &Value| lease["metadata"]["resourceVersion"].as_str().map(str::to_owned);
        let failure = |code: u16, reason: &str| (code, json!({"kind": "Status", "code": code, "reason": reason}));
        let mut body = match (method, lease.as_ref()) {
            (&Method::GET, None) => return failure(404, "NotFound"),
            (&Method::GET, Some(lease)) => return (200, lease.clone()),
            (&Method::POST, Some(_)) => return failure(409, "AlreadyExists"),
            (&Method::PUT, Some(is)) if version(is) != version(body.as_ref().unwrap()) => {
                return failure(409, "Conflict");
            }
            _ => body.unwrap(),
        };
        let before = lease.as_ref().and_then(version).map_or(0, |version| version.parse::<u32>().unwrap());
        body["metadata"]["resourceVersion"] = (before + 1).to_string().into();
        *lease = Some(body.clone());
        (200, body)
    }

    /// The Lease as somebody sees it whose calls stay without an answer while `cut_off`.
    fn lease(&self, holder: &str, cut_off: Arc<AtomicBool>) -> Lease {
        let server = self.clone();
        let way = service_fn(move |request: Request<Body>| {
            let (server, cut_off) = (server.clone(), Arc::clone(&cut_off));
            async move {
                let method = request.method().clone();
                let body = request.into_body().collect().await?.to_bytes();
                if cut_off.load(Ordering::SeqCst) {
                    futures::future::pending::<()>().await;
                }
                let (code, answer) = server.answer(&method, serde_json::from_slice(&body).ok());
                let answer = Body::from(answer.to_string().into_bytes());
                Ok::<_, BoxError>(Response::builder().status(code).body(answer).unwrap())
            }
        });
        let (seat, start) = holder.split_once('_').unwrap();
        Lease::new(Client::new(way, "default"), "home", "leader", Holder::new(seat, start), TIMES)
    }

    fn change(&self, change: impl Fn(&mut Value)) {
        loop {
            let mut lease = self.answer(&Method::GET, None).1;
            change(&mut lease);
            if self.answer(&Method::PUT, Some(lease)).0 == 200 {
                return;
            }
        }
    }

    async fn until_it_is_written(&self) {
        let version = || self.0.lock().unwrap().as_ref().map(|lease| lease["metadata"]["resourceVersion"].clone());
        let before = version();
        while version() == before {
            sleep(Duration::from_millis(5)).await;
        }
    }

    fn holder(&self) -> Option<String> {
        self.0.lock().unwrap().as_ref()?["spec"]["holderIdentity"].as_str().map(str::to_owned)
    }
}

/// A process that may lead, and the way it has to the API server.
struct Process {
    leadership: Leadership,
    leads: Arc<AtomicBool>,
    is_cut_off: Arc<AtomicBool>,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), Infallible>>,
}

/// How many act at a time, and the most there ever were.
#[derive(Clone, Default)]
struct Stage(Arc<(AtomicUsize, AtomicUsize)>);

impl Process {
    fn start(server: &Server, holder: &str, stage: &Stage) -> Self {
        let is_cut_off = Arc::new(AtomicBool::new(false));
        let lease = server.lease(holder, Arc::clone(&is_cut_off));
        let (leadership, shutdown, leads) =
            (lease.leadership(), CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let (leads_now, until, stage) = (Arc::clone(&leads), shutdown.clone(), stage.clone());
        let task = tokio::spawn(async move {
            lease
                .lead(&until, |over| {
                    let (leads, Stage(stage)) = (Arc::clone(&leads_now), stage.clone());
                    async move {
                        leads.store(true, Ordering::SeqCst);
                        let now = stage.0.fetch_add(1, Ordering::SeqCst) + 1;
                        stage.1.fetch_max(now, Ordering::SeqCst);
                        over.cancelled().await;
                        stage.0.fetch_sub(1, Ordering::SeqCst);
                        leads.store(false, Ordering::SeqCst);
                        Ok(())
                    }
                })
                .await
        });
        Self { leadership, leads, is_cut_off, shutdown, task }
    }

    async fn until_it_leads(&self, leads: bool) {
        let look = async {
            while self.leads.load(Ordering::SeqCst) != leads {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, look).await.unwrap();
    }
}

impl Stage {
    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn one_leads_and_when_it_ends_another_does_at_once() {
    let (server, stage) = (Server::default(), Stage::default());
    let first = Process::start(&server, "first_1", &stage);
    first.until_it_leads(true).await;
    let second = Process::start(&server, "second_1", &stage);
    sleep(TIMES.duration + TIMES.retry).await;
    assert!(first.leadership.is_held() && !second.leadership.is_held());

    first.shutdown.cancel();
    let ended = Instant::now();
    second.until_it_leads(true).await;

    assert!(ended.elapsed() < TIMES.duration, "it was left to it, not waited for");
    first.task.await.unwrap().unwrap();
    assert!(second.leadership.is_held() && !first.leadership.is_held());
    second.shutdown.cancel();
    second.task.await.unwrap().unwrap();
    assert_eq!((server.holder(), stage.most()), (None, 1));
}

#[tokio::test]
async fn after_a_kill_another_leads_as_soon_as_the_lease_is_over_and_not_before() {
    let (server, stage) = (Server::default(), Stage::default());
    let first = Process::start(&server, "first_1", &stage);
    first.until_it_leads(true).await;
    let second = Process::start(&server, "second_1", &stage);
    let before_a_renewal = Instant::now();
    server.until_it_is_written().await;

    first.task.abort();
    second.until_it_leads(true).await;

    assert!(before_a_renewal.elapsed() >= TIMES.duration, "{:?}", before_a_renewal.elapsed());
    assert_eq!(server.holder().as_deref(), Some("second_1"));
    assert_eq!(server.0.lock().unwrap().as_ref().unwrap()["spec"]["leaseTransitions"], 1);
}

#[tokio::test]
async fn who_comes_back_at_its_seat_after_a_kill_leads_at_once_and_nobody_else_does() {
    let (server, stage) = (Server::default(), Stage::default());
    let killed = Process::start(&server, "first_1", &stage);
    killed.until_it_leads(true).await;
    killed.task.abort();
    let _ = killed.task.await;
    // Nobody lives to see its end.
    server.change(|lease| lease["spec"]["leaseDurationSeconds"] = 3600.into());
    let another = Process::start(&server, "second_1", &stage);

    let again = Process::start(&server, "first_2", &stage);
    again.until_it_leads(true).await;

    assert_eq!(server.holder().as_deref(), Some("first_2"));
    assert!(!another.leads.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_leader_without_its_api_server_stops_before_another_begins_and_leads_again_only_in_its_turn() {
    let (server, stage) = (Server::default(), Stage::default());
    let first = Process::start(&server, "first_1", &stage);
    first.until_it_leads(true).await;
    let second = Process::start(&server, "second_1", &stage);

    first.is_cut_off.store(true, Ordering::SeqCst);
    second.until_it_leads(true).await;
    assert!(!first.leadership.is_held() && !first.leads.load(Ordering::SeqCst));

    first.is_cut_off.store(false, Ordering::SeqCst);
    sleep(TIMES.duration).await;
    assert!(!first.leads.load(Ordering::SeqCst) && second.leadership.is_held());
    assert_eq!(stage.most(), 1);
}

#[tokio::test]
async fn who_finds_the_lease_taken_does_not_take_it_back() {
    let (server, stage) = (Server::default(), Stage::default());
    let first = Process::start(&server, "first_1", &stage);
    first.until_it_leads(true).await;

    server.change(|lease| lease["spec"]["holderIdentity"] = "another".into());
    first.until_it_leads(false).await;

    assert!(!first.leadership.is_held());
    assert_eq!(server.holder().as_deref(), Some("another"));
}

#[tokio::test]
async fn somebodys_annotation_costs_nobody_the_lead() {
    let (server, stage) = (Server::default(), Stage::default());
    let first = Process::start(&server, "first_1", &stage);
    first.until_it_leads(true).await;

    for _ in 0..10 {
        server.change(|lease| lease["metadata"]["annotations"]["note"] = "mine".into());
        sleep(TIMES.renew_within / 8).await;
        assert!(first.leadership.is_held());
    }
}

#[tokio::test]
async fn the_clock_of_the_holder_means_nothing_to_others() {
    let long_ago = json!("2001-01-01T00:00:00.000000Z");
    for renewed in [long_ago.clone(), json!("2999-01-01T00:00:00.000000Z")] {
        let (server, stage) = (Server::default(), Stage::default());
        let spec = json!({"holderIdentity": "gone", "leaseDurationSeconds": 1, "renewTime": renewed});
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "leader", "namespace": "home"}, "spec": spec});
        server.answer(&Method::POST, Some(lease));
        let started = Instant::now();
        let process = Process::start(&server, "first_1", &stage);
        process.until_it_leads(true).await;
        assert!(started.elapsed() >= Duration::from_secs(1));
    }
    // A holder whose clock is far behind, and who renews.
    let (server, stage) = (Server::default(), Stage::default());
    let spec = json!({"holderIdentity": "alive", "leaseDurationSeconds": 3, "renewTime": long_ago});
    let lease = json!({"metadata": {"name": "leader", "namespace": "home"}, "spec": spec});
    server.answer(&Method::POST, Some(lease));
    let process = Process::start(&server, "first_1", &stage);
    for second in 0..20 {
        sleep(Duration::from_millis(200)).await;
        server.change(|lease| lease["spec"]["renewTime"] = format!("2001-01-01T00:00:{second:02}.000000Z").into());
        assert!(!process.leads.load(Ordering::SeqCst));
    }
}

#[tokio::test]
async fn work_that_fails_ends_all_and_leaves_the_lease() {
    let server = Server::default();
    let lease = server.lease("only_1", Arc::default());

    let outcome = lease.lead(&CancellationToken::new(), |_| async { Err("broken") }).await;

    assert_eq!((outcome, server.holder()), (Err("broken"), None));
    assert!(!lease.leadership().is_held());
}

#[tokio::test]
async fn a_lease_that_cannot_be_had_is_a_warning_at_first_and_whenever_it_is_for_another_reason() {
    let log = testkit_log::Log::of_this_process().unwrap();
    let server = Server::default();
    let refusals = Arc::new(Mutex::new(vec![403, 503, 503, 403, 403]));
    let left = Arc::clone(&refusals);
    let way = service_fn(move |request: Request<Body>| {
        let (server, refused) = (server.clone(), left.lock().unwrap().pop());
        async move {
            let method = request.method().clone();
            let body = request.into_body().collect().await?.to_bytes();
            let (code, answer) = match refused {
                Some(code) => (code, json!({"kind": "Status", "code": code, "message": "one cannot get leases"})),
                None => server.answer(&method, serde_json::from_slice(&body).ok()),
            };
            let answer = Body::from(answer.to_string().into_bytes());
            Ok::<_, BoxError>(Response::builder().status(code).body(answer).unwrap())
        }
    });
    let lease = Lease::new(Client::new(way, "default"), "home", "refused", Holder::new("only", "1"), TIMES);

    lease.lead(&CancellationToken::new(), |_| async { Err(()) }).await.unwrap_err();

    let text = log.text();
    let warnings: Vec<_> =
        text.lines().filter(|line| line.contains("WARN") && line.contains("the Lease cannot be had")).collect();
    assert_eq!(warnings.len(), 3, "{warnings:#?}");
    let told = ["the credential may not do this", "answered 503", "the credential may not do this"];
    assert!(warnings.iter().zip(told).all(|(warning, why)| warning.contains(why)), "{warnings:#?}");
    assert!(refusals.lock().unwrap().is_empty());
}
