//! The complete environment of a cluster as a tree of files for Flux: [`render`] makes it, [`lint`] proves it sound.
//!
//! Pure: equal inputs give the equal tree, byte for byte. No clock, no client, no runtime. No secret ever is an input.
//!
//! ```text
//! kustomization.yaml      lists sync/
//! sync/                   one Flux Kustomization per layer
//! infrastructure/<layer>/ what the platform stands on, one file per component
//! apps/kubeopera/         KubeOpera's services
//! overrides/              the user's own; written once
//! .kubeopera/lock.json    what the tree was made from
//! README.md               for people
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod cluster;
pub mod component;
mod layer;
mod lint;
mod lock;
mod mirror;
mod object;
mod readme;
mod release;
mod render;
mod sync;
mod tree;
mod values;
mod yaml;

pub use cluster::Cluster;
pub use layer::Layer;
pub use lint::{Finding, lint, lint_edited};
pub use lock::{LOCK_PATH, Lock, LockUnreadable, LockedComponent, LockedFate, LockedFile};
pub use mirror::{Mirror, NotAMirror};
pub use object::{Metadata, Object};
pub use render::{TreeConfig, render, render_again};
pub use sync::{FLUX_NAMESPACE, GIT_REPOSITORY};
pub use tree::{Class, File, Tree};
