//! What somebody who runs `kubectl get hostcluster -w` sees.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::bail;
use futures::TryStreamExt;
use host_cluster_controller_crd::{HostCluster, NAMESPACE, Phase};
use kube::{Api, runtime::watcher};
use tokio::{task::JoinHandle, time::Instant};

/// One line of the watch: phase and message.
type Line = (Phase, String);

/// Follows all HostClusters from now on and remembers each change of phase or message.
pub struct PhaseLog {
    lines: Arc<Mutex<Vec<Line>>>,
    task: JoinHandle<()>,
}

impl PhaseLog {
    /// Starts to watch.
    pub fn follow(client: kube::Client) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&lines);
        let events = watcher(Api::<HostCluster>::namespaced(client, NAMESPACE), watcher::Config::default());
        let task = tokio::spawn(async move {
            let mut events = Box::pin(events);
            loop {
                match events.try_next().await {
                    Ok(Some(watcher::Event::Apply(resource) | watcher::Event::InitApply(resource))) => {
                        let status = resource.status.unwrap_or_default();
                        let Some(phase) = status.phase else { continue };
                        let line = (phase, status.message.unwrap_or_default());
                        let mut lines = seen.lock().unwrap_or_else(PoisonError::into_inner);
                        if lines.last() != Some(&line) {
                            lines.push(line);
                        }
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => return,
                    // The watch heals itself; a short pause keeps a stopped API server from being asked in a tight loop.
                    Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
                }
            }
        });
        Self { lines, task }
    }

    /// Every line so far.
    pub fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until `phase` or a later one was seen; the phase seen last.
    pub async fn reached(&self, phase: Phase, limit: Duration) -> anyhow::Result<Phase> {
        let deadline = Instant::now() + limit;
        loop {
            match self.lines().last() {
                Some((last, _)) if *last >= phase => return Ok(*last),
                last if Instant::now() >= deadline => bail!("{phase:?} was not reached; seen last: {last:?}"),
                // A phase can be over in less than the second that other waits may take.
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// The phases so far, each run of one phase once.
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases: Vec<Phase> = self.lines().into_iter().map(|(phase, _)| phase).collect();
        phases.dedup();
        phases
    }
}

impl Drop for PhaseLog {
    fn drop(&mut self) {
        self.task.abort();
    }
}
