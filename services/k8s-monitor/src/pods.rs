//! The pods of a cluster: a few bytes for each, more only for those with which something is wrong.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use k8s_monitor_contract::Resources;
use k8s_monitor_health::{
    ContainerSeen, ContainerState, Phase, PodFacts, PodName, PodRequests, PodSeen, Run, Tally, Verdict, bytes,
    effective, millicores,
};
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    node_names::NodeNames,
    watch::{Metadata, Text},
};

/// So many pods are kept: twice what Kubernetes is made for.
pub(crate) const MOST: usize = 250_000;
/// Containers of a pod that are looked at: more than any node would start.
const MOST_CONTAINERS: usize = 512;

/// What is looked at of a pod.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Pod<'a> {
    #[serde(borrow)]
    pub(crate) metadata: Metadata<'a>,
    #[serde(borrow)]
    spec: Spec<'a>,
    #[serde(borrow)]
    status: Status<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow)]
    node_name: Text<'a>,
    #[serde(borrow)]
    containers: Vec<Container<'a>>,
    #[serde(borrow)]
    init_containers: Vec<Container<'a>>,
    #[serde(borrow)]
    overhead: Amounts<'a>,
    #[serde(borrow)]
    resources: Requests<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Container<'a> {
    #[serde(borrow)]
    restart_policy: Text<'a>,
    #[serde(borrow)]
    resources: Requests<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Requests<'a> {
    #[serde(borrow)]
    requests: Amounts<'a>,
}

/// Of whatever resources there are, these two.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Amounts<'a> {
    #[serde(borrow)]
    cpu: Text<'a>,
    #[serde(borrow)]
    memory: Text<'a>,
}

impl Amounts<'_> {
    /// None if either is no quantity: half a measurement is none.
    pub(crate) fn measured(&self) -> Option<Resources> {
        Some(Resources { cpu_millicores: millicores(&self.cpu)?, memory_bytes: bytes(&self.memory)? })
    }

    /// What is no quantity counts as nothing.
    pub(crate) fn resources(&self) -> Resources {
        Resources {
            cpu_millicores: millicores(&self.cpu).unwrap_or_default(),
            memory_bytes: bytes(&self.memory).unwrap_or_default(),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow)]
    phase: Text<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    conditions: Vec<Condition<'a>>,
    #[serde(borrow)]
    init_container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(borrow)]
    container_statuses: Vec<ContainerStatus<'a>>,
}

/// A condition of a pod or a node.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Condition<'a> {
    #[serde(borrow)]
    pub(crate) r#type: Text<'a>,
    #[serde(borrow)]
    pub(crate) status: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatus<'a> {
    restart_count: i64,
    #[serde(borrow)]
    state: State<'a>,
    #[serde(borrow)]
    last_state: State<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State<'a> {
    #[serde(borrow)]
    waiting: Option<Waiting<'a>>,
    #[serde(borrow)]
    running: Option<Running<'a>>,
    #[serde(borrow)]
    terminated: Option<Terminated<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Waiting<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Running<'a> {
    #[serde(borrow)]
    started_at: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Terminated<'a> {
    exit_code: i64,
    #[serde(borrow)]
    started_at: Text<'a>,
    #[serde(borrow)]
    finished_at: Text<'a>,
}

impl Pod<'_> {
    fn uid(&self) -> Option<u128> {
        Uuid::try_parse(&self.metadata.uid).ok().map(|uid| uid.as_u128())
    }

    /// What it requests; nothing once its containers have ended for good.
    fn requested(&self) -> Resources {
        if matches!(&*self.status.phase, "Succeeded" | "Failed") {
            return Resources::default();
        }
        let of = |container: &Container<'_>| container.resources.requests.resources();
        let containers: Vec<_> = self.spec.containers.iter().map(of).collect();
        let is_sidecar = |container: &Container<'_>| &*container.restart_policy == "Always";
        let init_containers: Vec<_> =
            self.spec.init_containers.iter().map(|each| (of(each), is_sidecar(each))).collect();
        let pod = &self.spec.resources.requests;
        effective(&PodRequests {
            containers: &containers,
            init_containers: &init_containers,
            overhead: self.spec.overhead.resources(),
            pod_millicores: millicores(&pod.cpu),
            pod_bytes: bytes(&pod.memory),
        })
    }

    fn containers(&self) -> Vec<ContainerSeen> {
        let statuses = self.status.init_container_statuses.iter().chain(&self.status.container_statuses);
        statuses.take(MOST_CONTAINERS).map(ContainerStatus::seen).collect()
    }

    fn seen<'b>(&'b self, containers: &'b [ContainerSeen]) -> PodSeen<'b> {
        let is_disruption =
            |condition: &Condition<'_>| &*condition.r#type == "DisruptionTarget" && &*condition.status == "True";
        PodSeen {
            phase: match &*self.status.phase {
                "Running" => Phase::Running,
                "Succeeded" => Phase::Succeeded,
                "Failed" => Phase::Failed,
                "Unknown" => Phase::Unknown,
                _ => Phase::Pending,
            },
            reason: &self.status.reason,
            is_disrupted: self.status.conditions.iter().any(is_disruption),
            is_being_deleted: self.metadata.deletion_timestamp.is_some(),
            containers,
        }
    }
}

impl ContainerStatus<'_> {
    fn seen(&self) -> ContainerSeen {
        let state = match &self.state {
            State { running: Some(running), .. } => ContainerState::Running(running.started_at.time()),
            State { terminated: Some(run), .. } => ContainerState::Ended(run.run()),
            State { waiting: Some(waiting), .. } if &*waiting.reason == "CrashLoopBackOff" => {
                ContainerState::BackingOff
            }
            _ => ContainerState::Waiting,
        };
        ContainerSeen {
            restarts: self.restart_count.clamp(0, u32::MAX.into()).try_into().unwrap_or_default(),
            state,
            last_run: self.last_state.terminated.as_ref().map(Terminated::run),
        }
    }
}

impl Terminated<'_> {
    fn run(&self) -> Run {
        Run {
            exit_code: i32::try_from(self.exit_code).unwrap_or(i32::MAX),
            started: self.started_at.time(),
            ended: self.finished_at.time(),
        }
    }
}

/// The pods of a cluster.
#[derive(Default)]
pub(crate) struct Pods {
    by_uid: HashMap<u128, Kept>,
    /// Those with which something is wrong, or will be right again after a while.
    ill: HashMap<u128, Box<Ill>>,
    /// When to judge one of them again though nothing was heard of it.
    due: BTreeSet<(Timestamp, u128)>,
    /// Of the present list.
    list: u8,
}

/// What is kept of every pod.
struct Kept {
    facts: PodFacts,
    /// The list that named it last.
    list: u8,
}

/// What is kept of a pod that is ill: its name, and what is needed to judge it again.
struct Ill {
    namespace: Box<str>,
    name: Box<str>,
    phase: Phase,
    containers: Box<[ContainerSeen]>,
    until: Option<Timestamp>,
}

impl Ill {
    fn name(&self) -> PodName<'_> {
        PodName { namespace: &self.namespace, name: &self.name }
    }
}

/// Pods without trouble are not listed by name, so that theirs is not kept.
const UNNAMED: PodName<'static> = PodName { namespace: "", name: "" };

impl Pods {
    /// A new list begins.
    pub(crate) const fn list_begins(&mut self) {
        self.list = self.list.wrapping_add(1);
    }

    /// The list is complete: what it did not name is gone.
    pub(crate) fn list_ends(&mut self, tally: &mut Tally) {
        let gone: Vec<_> = self.by_uid.iter().filter(|(_, kept)| kept.list != self.list).map(|(uid, _)| *uid).collect();
        for uid in gone {
            self.remove(uid, tally);
        }
        self.by_uid.shrink_to_fit();
    }

    /// A pod is there, as it is now. Returns whether it was kept: it is not if there are too many, or it has no identity.
    pub(crate) fn put(&mut self, pod: &Pod<'_>, names: &mut NodeNames, tally: &mut Tally, now: Timestamp) -> bool {
        let Some(uid) = pod.uid() else { return false };
        self.remove(uid, tally);
        if self.by_uid.len() >= MOST {
            return false;
        }
        let containers = pod.containers();
        let seen = pod.seen(&containers);
        let Verdict { problems, until } = seen.judge(now);
        let requested = pod.requested();
        let facts = PodFacts {
            node: names.number(&pod.spec.node_name),
            requested_millicores: requested.cpu_millicores.try_into().unwrap_or(u32::MAX),
            requested_bytes: requested.memory_bytes,
            problems,
        };
        let is_ill = problems.failed || problems.crash_looping || problems.restarting || until.is_some();
        if is_ill {
            let name = |text: &Text<'_>| text.kept().unwrap_or_default().into_boxed_str();
            let (namespace, name) = (name(&pod.metadata.namespace), name(&pod.metadata.name));
            let phase = seen.phase;
            let ill = Ill { namespace, name, phase, containers: containers.into_boxed_slice(), until };
            tally.add_pod(ill.name(), &facts);
            self.due.extend(until.map(|until| (until, uid)));
            self.ill.insert(uid, Box::new(ill));
        } else {
            tally.add_pod(UNNAMED, &facts);
        }
        self.by_uid.insert(uid, Kept { facts, list: self.list });
        true
    }

    /// A pod is gone.
    pub(crate) fn delete(&mut self, pod: &Pod<'_>, tally: &mut Tally) {
        if let Some(uid) = pod.uid() {
            self.remove(uid, tally);
        }
    }

    fn remove(&mut self, uid: u128, tally: &mut Tally) {
        let Some(kept) = self.by_uid.remove(&uid) else { return };
        let ill = self.ill.remove(&uid);
        tally.remove_pod(ill.as_ref().map_or(UNNAMED, |ill| ill.name()), &kept.facts);
        if let Some(until) = ill.and_then(|ill| ill.until) {
            self.due.remove(&(until, uid));
        }
    }

    /// When a pod is to be judged again.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Judges those again whose verdict ends with time.
    pub(crate) fn judge_due(&mut self, tally: &mut Tally, now: Timestamp) {
        while let Some((at, uid)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, uid));
            let (Some(kept), Some(ill)) = (self.by_uid.get_mut(&uid), self.ill.get_mut(&uid)) else { continue };
            let seen = PodSeen { phase: ill.phase, containers: &ill.containers, ..PodSeen::default() };
            let Verdict { problems, until } = seen.judge(now);
            tally.remove_pod(ill.name(), &kept.facts);
            kept.facts.problems = problems;
            tally.add_pod(ill.name(), &kept.facts);
            // A moment that has passed would be due again at once, and for ever.
            ill.until = until.filter(|until| *until > now);
            self.due.extend(ill.until.map(|until| (until, uid)));
        }
    }

    /// The nodes that pods are on.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = k8s_monitor_health::NodeRef> {
        self.by_uid.values().filter_map(|kept| kept.facts.node)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_uid.len()
    }

    /// How many there are, are ill, and are to be judged again.
    #[cfg(test)]
    pub(crate) fn sizes(&self) -> (usize, usize, usize) {
        (self.by_uid.len(), self.ill.len(), self.due.len())
    }
}
