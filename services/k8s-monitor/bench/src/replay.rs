//! Many clusters behind one server, made up as they are read: no API server's cost is in the figures.
//!
//! `/c/7/api/v1/pods` are the pods of cluster 7. `/dead/10` makes the first ten answer nothing more, `/change/7/false`
//! makes the first node of cluster 7 not ready, `/churn/500` replaces so many pods of every cluster each second.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use testkit_hostile_api_server::{Answer, Asked, Server};
use tokio::sync::broadcast;

use crate::objects::Template;

struct Clusters {
    nodes: u32,
    pods: u32,
    dead: AtomicU32,
    /// Pods that are replaced each second.
    churn: AtomicU32,
    pod: Template,
    ready: Template,
    not_ready: Template,
    changes: broadcast::Sender<(u32, Bytes)>,
}

/// Serves for ever, and prints its address first.
pub(crate) async fn serve(clusters: u32, nodes: u32, pods: u32) -> anyhow::Result<()> {
    let all = Arc::new(Clusters {
        nodes,
        pods,
        dead: AtomicU32::new(0),
        churn: AtomicU32::new(0),
        pod: Template::pod(),
        ready: Template::node(true),
        not_ready: Template::node(false),
        changes: broadcast::Sender::new(1024),
    });
    let server = Server::start(move |asked| all.answer(asked, clusters)).await?;
    println!("{}", server.url());
    futures::future::pending().await
}

const BOOKMARK: &str = "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1234567\",\"annotations\":\
                        {\"k8s.io/initial-events-end\":\"true\"}}}}\n";

impl Clusters {
    fn answer(self: &Arc<Self>, asked: &Asked, clusters: u32) -> Answer {
        let words: Vec<&str> = asked.path.trim_start_matches('/').splitn(3, '/').collect();
        match words.as_slice() {
            ["dead", count] => {
                self.dead.store(count.parse().unwrap_or_default(), Ordering::Relaxed);
                Answer::Json(200, Bytes::new())
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
            "api/v1/events" => (|all| &all.pod, 0),
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
        if asked.parameter("sendInitialEvents") != "true" {
            return Answer::Chunks(changes);
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
