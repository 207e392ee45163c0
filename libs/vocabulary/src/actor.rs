//! Who does something, as the audit log tells it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ClusterId;

/// What a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May do everything, credentials and deletion included.
    PlatformAdministrator,
    /// May register and connect clusters; neither sees credentials nor deletes.
    Operator,
    /// May look.
    Viewer,
}

impl Role {
    /// The role in one word, stable over versions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlatformAdministrator => "platform_administrator",
            Self::Operator => "operator",
            Self::Viewer => "viewer",
        }
    }
}

/// Who does something. Whoever changes anything says on whose behalf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// Somebody who is logged in.
    Person {
        /// Stable identity.
        id: Uuid,
        /// Name to log in with.
        username: String,
        /// What they may do at this moment.
        role: Role,
        /// Where they come from.
        address: String,
    },
    /// Somebody who is not. No name: people type passwords into the box for it.
    Stranger {
        /// Where they come from.
        address: String,
    },
    /// A run for a cluster, such as its provisioning.
    Cluster(ClusterId),
    /// KubeOpera itself: at its start, on its command line, or following what somebody did in Kubernetes.
    KubeOpera,
}

impl Actor {
    /// Where they come from; empty for who is part of KubeOpera.
    pub fn address(&self) -> &str {
        match self {
            Self::Person { address, .. } | Self::Stranger { address } => address,
            Self::Cluster(_) | Self::KubeOpera => "",
        }
    }
}
