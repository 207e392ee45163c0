//! How healthy a cluster is: facts about its parts in, score out. No client, no clock, no runtime.
//!
//! Whoever watches a cluster keeps a [`Tally`] and tells it each node and pod that comes, changes or goes. Each of these
//! takes the same short time however large the cluster is, and the score follows at once.
//!
//! # The table
//!
//! A score starts at 100, loses these points, and ends at 0 at the lowest:
//!
//! | penalty | points | when |
//! | --- | --- | --- |
//! | `node_not_ready` | 5 each | the Ready condition is not True: False, Unknown or missing |
//! | `node_memory_pressure` | 3 each | `MemoryPressure` is True |
//! | `node_disk_pressure` | 4 each | `DiskPressure` is True |
//! | `node_pid_pressure` | 2 each | `PIDPressure` is True |
//! | `node_network_unavailable` | 6 each | `NetworkUnavailable` is True |
//! | `pod_failed` | 2 each | see [`PodSeen::judge`] |
//! | `pod_crash_looping` | 2.5 each | see [`PodSeen::judge`]; a pod once, however many of its containers do |
//! | `pods_restarting` | 5 | more than 10 pods restart; see [`PodSeen::judge`] |
//! | `control_plane_degraded` | 30 | any component is unhealthy; 15 if that is only the API server |
//! | `component_unhealthy` | 8 each | API server, scheduler, controller manager, etcd |
//! | `cpu_high`, `memory_high` | 10 each | from 95 % of what the measured nodes can allocate; 5 from 80 % |
//!
//! What cannot be looked at costs nothing and is named as not assessed: never taken for well, never for ill.

mod control_plane;
mod node;
mod pod;
mod quantity;
mod requests;
mod tally;

pub use control_plane::{ComponentState, ControlPlane, HAND_OVER, judge_lease, judge_readyz};
pub use node::{NodeFacts, NodeRef};
pub use pod::{ContainerSeen, ContainerState, Phase, PodFacts, PodProblems, PodSeen, Run, Verdict};
pub use quantity::{bytes, millicores};
pub use requests::{PodRequests, effective};
pub use tally::{PodName, Source, Tally};
