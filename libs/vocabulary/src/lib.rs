//! The words of the product as types that cannot be wrong.
//!
//! Each type is validated once, where it enters, and is a plain value from then on. Nothing here talks to anything:
//! no clock, no network, no client.

mod actor;
mod git;
mod hex;
mod id;
mod labels;
mod money;
mod names;
mod place;
mod secret;
mod text;
mod trouble;

pub use actor::{Actor, Role};
pub use git::{GitBranch, GitPath, GitUrl, NotAGitPath, NotAGitUrl};
pub use hex::hex;
pub use id::{ClusterId, NotAnId};
pub use labels::{ClusterLabels, LabelKey, LabelValue};
pub use money::{Money, NotMoney};
pub use names::{AdminUsername, ClusterName, Domain, Email, KubernetesVersion, Label, SecretName};
pub use place::{Provider, Region};
pub use secret::Secret;
pub use text::NotAcceptable;
pub use trouble::{Trouble, TroubleKind};
