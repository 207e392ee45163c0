//! When a pod counts as failed, crash-looping or restarting.

use jiff::{SignedDuration, Timestamp};

use crate::NodeRef;

/// The kubelet starts its back-off anew for a container that has run this long.
/// <https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy>
const BACK_OFF_FORGOTTEN: SignedDuration = SignedDuration::from_mins(10);
/// A pod counts as restarting for this long after a container ended that was then started again.
const RESTART_FORGOTTEN: SignedDuration = SignedDuration::from_mins(15);

/// Reasons of failed pods that are left over after Kubernetes moved the work elsewhere. Newer versions say so with the
/// condition `DisruptionTarget`.
const MOVED_ELSEWHERE: &[&str] =
    &["Evicted", "NodeShutdown", "NodeLost", "NodeAffinity", "Preempting", "Shutdown", "Terminated"];

/// Where a pod is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "Kubernetes names and defines them")]
pub enum Phase {
    #[default]
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

/// A pod as the API server shows it, as far as it is needed.
#[derive(Debug, Clone, Copy, Default)]
pub struct PodSeen<'a> {
    /// `status.phase`.
    pub phase: Phase,
    /// `status.reason`; empty if there is none.
    pub reason: &'a str,
    /// The condition `DisruptionTarget` is True.
    pub is_disrupted: bool,
    /// There is a `metadata.deletionTimestamp`.
    pub is_being_deleted: bool,
    /// `status.initContainerStatuses` (sidecars are among them) and `status.containerStatuses`.
    pub containers: &'a [ContainerSeen],
}

/// A container's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContainerSeen {
    /// `restartCount`.
    pub restarts: u32,
    /// `state`.
    pub state: ContainerState,
    /// `lastState.terminated`.
    pub last_run: Option<Run>,
}

/// What a container is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContainerState {
    /// Waiting for whatever else.
    #[default]
    Waiting,
    /// Waiting with the reason `CrashLoopBackOff`.
    BackingOff,
    /// Running since then, if it says so.
    Running(Option<Timestamp>),
    /// It ended.
    Ended(Run),
}

/// One run of a container, now over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// `exitCode`.
    pub exit_code: i32,
    /// `startedAt`.
    pub started: Option<Timestamp>,
    /// `finishedAt`.
    pub ended: Option<Timestamp>,
}

/// What is wrong with a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PodProblems {
    /// It failed.
    pub failed: bool,
    /// It crashes again and again.
    pub crash_looping: bool,
    /// It was restarted of late.
    pub restarting: bool,
}

/// What is wrong with a pod, and until when that is so if nothing more happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verdict {
    /// What is wrong.
    pub problems: PodProblems,
    /// When to judge it again though nothing was heard of it. `None`: not before something is.
    pub until: Option<Timestamp>,
}

/// A pod as it counts, small enough to be kept for every pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PodFacts {
    /// The node it is on, if it is on one.
    pub node: Option<NodeRef>,
    /// What it requests of that node, in millicores; nothing once it has succeeded or failed.
    pub requested_millicores: u32,
    /// What it requests of that node, in bytes; nothing once it has succeeded or failed.
    pub requested_bytes: u64,
    /// What is wrong with it.
    pub problems: PodProblems,
}

impl PodSeen<'_> {
    /// Whether the pod counts as failed, crash-looping, restarting.
    ///
    /// - **Failed**: its phase is Failed. Not what is left over of a pod that was evicted, preempted or on a node that shut
    ///   down: its work runs elsewhere, and the leftovers may lie around for weeks.
    /// - **Crash-looping**: a container (init containers and sidecars are some) waits in `CrashLoopBackOff`; or would, as it
    ///   runs or has just crashed between two such waits: the run before lasted less than ten minutes, and this one does so
    ///   far. That is when the kubelet remembers its back-off.
    /// - **Restarting**: a container ended less than 15 minutes ago and was started again; a crash-looping pod is restarting.
    ///
    /// A pod that has succeeded or is being deleted has none of these problems. Nor has it one because its node is not
    /// ready: the node is counted, and the pod is judged by what the kubelet reported last. A time that is missing counts as
    /// long ago, one in the future as now.
    pub fn judge(&self, now: Timestamp) -> Verdict {
        let mut verdict = Verdict::default();
        if self.is_being_deleted {
            return verdict;
        }
        match self.phase {
            Phase::Succeeded => return verdict,
            Phase::Failed => {
                verdict.problems.failed = !self.is_disrupted && !MOVED_ELSEWHERE.contains(&self.reason);
                return verdict;
            }
            Phase::Pending | Phase::Running | Phase::Unknown => {}
        }
        for container in self.containers {
            let looping = container.crash_loops_until(now);
            verdict.problems.crash_looping |= looping.holds();
            let restarting = container.restarts_until(now);
            verdict.problems.restarting |= restarting.holds() || looping.holds();
            for end in [looping, restarting] {
                if let Holds::Until(end) = end {
                    verdict.until = Some(verdict.until.map_or(end, |until| until.min(end)));
                }
            }
        }
        verdict
    }
}

/// Whether something holds, and how long if nothing happens.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    No,
    Until(Timestamp),
    UntilToldOtherwise,
}

impl Holds {
    fn holds(self) -> bool {
        self != Self::No
    }

    /// From a moment that counts as now if it is in the future.
    fn for_a_while(from: Option<Timestamp>, length: SignedDuration, now: Timestamp) -> Self {
        let end = from.and_then(|from| from.min(now).checked_add(length).ok());
        end.filter(|end| *end > now).map_or(Self::No, Self::Until)
    }
}

impl ContainerSeen {
    fn crash_loops_until(&self, now: Timestamp) -> Holds {
        match self.state {
            ContainerState::BackingOff => Holds::UntilToldOtherwise,
            // The first restart comes without a wait, so only the second is one of a loop.
            ContainerState::Running(since)
                if self.restarts >= 2 && self.last_run.is_some_and(|run| run.was_short()) =>
            {
                Holds::for_a_while(since, BACK_OFF_FORGOTTEN, now)
            }
            ContainerState::Ended(run) if self.restarts >= 1 && run.exit_code != 0 && run.was_short() => {
                Holds::UntilToldOtherwise
            }
            _ => Holds::No,
        }
    }

    fn restarts_until(&self, now: Timestamp) -> Holds {
        let ended = self.last_run.filter(|_| self.restarts >= 1).and_then(|run| run.ended);
        Holds::for_a_while(ended, RESTART_FORGOTTEN, now)
    }
}

impl Run {
    fn was_short(&self) -> bool {
        let times = self.started.zip(self.ended);
        times.is_some_and(|(started, ended)| ended.duration_since(started) < BACK_OFF_FORGOTTEN)
    }
}

#[cfg(test)]
mod tests;
