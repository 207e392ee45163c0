//! Many clusters behind one server, made up as they are read: no API server's cost is in the figures.

use std::{
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, bail};
use bytes::Bytes;
use futures::{StreamExt, stream};
use testkit_hostile_api_server::{Answer, Asked, Server};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
    sync::{broadcast, mpsc},
    time::sleep,
};

use crate::{objects::Template, process::this_program};

/// The server in a process of its own, which ends with this.
pub struct Replay {
    url: String,
    http: reqwest::Client,
    _child: Child,
}

impl Replay {
    /// Starts this program as `serve CLUSTERS NODES PODS`, which has to be [`serve_replay`].
    pub async fn start(clusters: u32, nodes: u32, pods: u32) -> anyhow::Result<Self> {
        let mut command = this_program()?;
        command.args(["serve", &clusters.to_string(), &nodes.to_string(), &pods.to_string()]);
        let mut child = command.stdout(Stdio::piped()).spawn().context("starting the replay server")?;
        let output = child.stdout.take().context("the replay server has no output")?;
        let url = BufReader::new(output).lines().next_line().await?.context("the replay server said nothing")?;
        let http = reqwest::Client::builder().timeout(Duration::from_secs(10)).build()?;
        Ok(Self { url, http, _child: child })
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Address of the API server of a cluster.
    pub fn cluster(&self, number: u32) -> String {
        format!("{}/c/{number}", self.url)
    }

    /// So many clusters, the first ones, answer nothing more.
    pub async fn kill(&self, count: u32) -> anyhow::Result<()> {
        self.ask(&format!("dead/{count}")).await.map(|_| ())
    }

    /// The first node of a cluster becomes ready, or not ready.
    pub async fn change(&self, cluster: u32, is_ready: bool) -> anyhow::Result<()> {
        self.ask(&format!("change/{cluster}/{is_ready}")).await.map(|_| ())
    }

    /// So many pods of every cluster are replaced each second.
    pub async fn churn(&self, count: u32) -> anyhow::Result<()> {
        self.ask(&format!("churn/{count}")).await.map(|_| ())
    }

    /// Goes away for a while, as an API server that is restarted: connections break off and new ones are refused.
    pub async fn go_away(&self, seconds: u32) -> anyhow::Result<()> {
        self.ask(&format!("away/{seconds}")).await.map(|_| ())
    }

    /// What it was asked for so far.
    pub async fn asked(&self) -> anyhow::Result<AskedSoFar> {
        let text = self.ask("asked").await?;
        let numbers: Vec<usize> = text.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [open, watches, requests] = numbers[..] else { bail!("the replay server answers something else") };
        Ok(AskedSoFar { open, watches, requests })
    }

    async fn ask(&self, path: &str) -> anyhow::Result<String> {
        Ok(self.http.get(format!("{}/{path}", self.url)).send().await?.error_for_status()?.text().await?)
    }
}

/// What a replay server was asked for.
#[derive(Debug, Clone, Copy)]
pub struct AskedSoFar {
    /// Watches of nodes, pods and events that are open.
    pub open: usize,
    /// Watches that were asked for, of whatever.
    pub watches: usize,
    /// Requests of all kinds.
    pub requests: usize,
}

struct Clusters {
    nodes: u32,
    pods: u32,
    dead: AtomicU32,
    /// Pods that are replaced each second.
    churn: AtomicU32,
    pod: Template,
    ready: Template,
    not_ready: Template,
    node_metrics: Template,
    changes: broadcast::Sender<(u32, Bytes)>,
    open: Arc<AtomicUsize>,
    watches: AtomicUsize,
    requests: AtomicUsize,
    away: mpsc::UnboundedSender<Duration>,
}

/// A watch that is open.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(watches: &Arc<AtomicUsize>) -> Self {
        watches.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(watches))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves for ever, and prints its address first.
pub async fn serve_replay(clusters: u32, nodes: u32, pods: u32) -> anyhow::Result<()> {
    let (away, mut absences) = mpsc::unbounded_channel();
    let all = Arc::new(Clusters {
        nodes,
        pods,
        dead: AtomicU32::new(0),
        churn: AtomicU32::new(0),
        pod: Template::pod(),
        ready: Template::node(true),
        not_ready: Template::node(false),
        node_metrics: Template::node_metrics(),
        changes: broadcast::Sender::new(1024),
        open: Arc::default(),
        watches: AtomicUsize::new(0),
        requests: AtomicUsize::new(0),
        away,
    });
    let server = Server::start(move |asked| all.answer(asked, clusters)).await?;
    println!("{}", server.url());
    while let Some(absence) = absences.recv().await {
        // The answer to who wants it leaves first.
        sleep(Duration::from_millis(100)).await;
        server.refuse().await;
        sleep(absence).await;
        server.come_back().await?;
    }
    Ok(())
}

const BOOKMARK: &str = "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1234567\",\"annotations\":\
                        {\"k8s.io/initial-events-end\":\"true\"}}}}\n";

const API_GROUPS: &str = "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{\"name\":\"metrics.k8s.io\",\
                          \"versions\":[{\"groupVersion\":\"metrics.k8s.io/v1beta1\",\"version\":\"v1beta1\"}]}]}";

impl Clusters {
    fn answer(self: &Arc<Self>, asked: &Asked, clusters: u32) -> Answer {
        let words: Vec<&str> = asked.path.trim_start_matches('/').splitn(3, '/').collect();
        match words.as_slice() {
            ["dead", count] => {
                self.dead.store(count.parse().unwrap_or_default(), Ordering::Relaxed);
                Answer::Json(200, Bytes::new())
            }
            ["away", seconds] => {
                let _ = self.away.send(Duration::from_secs(seconds.parse().unwrap_or_default()));
                Answer::Json(200, Bytes::new())
            }
            ["asked"] => {
                let [open, watches, requests] =
                    [&*self.open, &self.watches, &self.requests].map(|count| count.load(Ordering::Relaxed));
                Answer::Json(200, format!("{open} {watches} {requests}").into())
            }
            ["churn", count] => {
                self.churn.store(count.parse().unwrap_or_default(), Ordering::Relaxed);
                Answer::Json(200, Bytes::new())
            }
            ["change", cluster, ready] => {
                let template = if *ready == "true" { &self.ready } else { &self.not_ready };
                let line = template.line(0).replacen("ADDED", "MODIFIED", 1);
                let _ = self.changes.send((cluster.parse().unwrap_or_default(), line.into()));
                Answer::Json(200, Bytes::new())
            }
            ["c", cluster, rest] => {
                let cluster = cluster.parse().unwrap_or(clusters);
                self.requests.fetch_add(1, Ordering::Relaxed);
                self.watches.fetch_add(usize::from(asked.is_watch()), Ordering::Relaxed);
                if cluster < self.dead.load(Ordering::Relaxed) {
                    Answer::Silence
                } else {
                    self.of_cluster(cluster, rest, asked)
                }
            }
            _ => Answer::Json(404, Bytes::new()),
        }
    }

    fn of_cluster(self: &Arc<Self>, cluster: u32, path: &str, asked: &Asked) -> Answer {
        let (template, count): (fn(&Self) -> &Template, u32) = match path {
            "api/v1/nodes" => (|all| &all.ready, self.nodes),
            "api/v1/pods" => (|all| &all.pod, self.pods),
            "apis/metrics.k8s.io/v1beta1/nodes" => (|all| &all.node_metrics, self.nodes),
            "api/v1/events" => (|all| &all.pod, 0),
            // Where kubectl looks for the metrics API.
            "api" => return Answer::Json(200, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}".into()),
            "apis" => return Answer::Json(200, API_GROUPS.into()),
            "livez" | "readyz" => return Answer::Json(200, "[+]ping ok\n[+]etcd ok\nreadyz check passed\n".into()),
            _ => return Answer::Json(404, "{\"kind\":\"Status\",\"code\":404}".into()),
        };
        let is_nodes = path == "api/v1/nodes";
        if asked.parameter("sendInitialEvents") != "true" && !asked.is_watch() {
            let from: u32 = asked.parameter("continue").parse().unwrap_or_default();
            let to = count.min(from + asked.parameter("limit").parse().unwrap_or(count));
            let items: Vec<_> = (from..to).map(|number| template(self).object(number)).collect();
            let next = if to < count { to.to_string() } else { String::new() };
            let items = items.join(",");
            let list = format!(
                "{{\"metadata\":{{\"resourceVersion\":\"1234567\",\"continue\":\"{next}\"}},\"items\":[{items}]}}"
            );
            return Answer::Json(200, list.into());
        }
        let changes = stream::unfold(self.changes.subscribe(), move |mut changes| async move {
            loop {
                match changes.recv().await {
                    Ok((changed, line)) if changed == cluster && is_nodes => return Some((line, changes)),
                    Err(broadcast::error::RecvError::Closed) => return None,
                    Ok(_) | Err(_) => {}
                }
            }
        });
        let changes = if path == "api/v1/pods" { self.replacements(count).boxed() } else { changes.boxed() };
        let open = Open::new(&self.open);
        let changes = changes.inspect(move |_| {
            let _ = &open;
        });
        if asked.parameter("sendInitialEvents") != "true" {
            return Answer::Chunks(changes.boxed());
        }
        // Eight at a time: about what fits into a segment of the loopback.
        let all = Arc::clone(self);
        let first = stream::iter((0..count).step_by(8)).map(move |from| {
            let lines: Vec<_> = (from..count.min(from + 8)).map(|number| template(&all).line(number)).collect();
            Bytes::from(lines.concat())
        });
        let end = stream::once(async { Bytes::from_static(BOOKMARK.as_bytes()) });
        Answer::Chunks(first.chain(end).chain(changes).boxed())
    }

    /// Every tenth of a second some pods go, the oldest first, and as many come.
    fn replacements(self: &Arc<Self>, count: u32) -> impl futures::Stream<Item = Bytes> + Send + 'static {
        let ticks = tokio::time::interval(Duration::from_millis(100));
        stream::unfold((Arc::clone(self), ticks, 0), move |(all, mut ticks, oldest)| async move {
            loop {
                ticks.tick().await;
                let replaced = all.churn.load(Ordering::Relaxed) / 10;
                if replaced > 0 {
                    let gone =
                        (oldest..oldest + replaced).map(|number| all.pod.line(number).replacen("ADDED", "DELETED", 1));
                    let come = (oldest + count..oldest + count + replaced).map(|number| all.pod.line(number));
                    let lines: String = gone.chain(come).collect();
                    return Some((Bytes::from(lines), (all, ticks, oldest + replaced)));
                }
            }
        })
    }
}
