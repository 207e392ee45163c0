//! The decisions of host-cluster-controller: facts in, next step out; outcome in, status out.
//!
//! Start with [`next_step`]. Nothing here may talk to anything: no client, no clock, no chance, no async. Whatever is
//! needed is handed in as [`Facts`] and leaves as a [`Step`] or a [`Report`].

mod attempts;
mod conditions;
mod copies;
mod credential;
mod facts;
mod identity;
mod latch;
mod learn;
mod next_step;
mod obstacle;
mod outcome;
pub mod phase;
mod phases_page;
pub mod plan;
mod report;
mod retry;
mod sentence;
mod standing;
mod step;

pub use facts::{
    ClusterSeen, CredentialSeen, Fact, Facts, FluxFitness, FluxInstallation, FluxSeen, GitSecretSeen,
    KustomizationSeen, Neighbour, ObjectSeen, Observations, PullSecretSeen, Reach, Readiness, Removal, Resource,
    SecretSeen, SecretsSeen, SourceSeen, SyncSeen, Target, Thing,
};
pub use next_step::{Next, next_step};
pub use obstacle::Obstacle;
pub use outcome::Outcome;
pub use phase::provisioning::no_provisioner;
pub use phases_page::phases_page;
pub use plan::{Milestone, Parting, Way};
pub use report::{Event, Report, Requeue, report};
pub use step::{Place, Step, SyncWanted};
