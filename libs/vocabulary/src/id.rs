//! Typed identifiers.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The identity KubeOpera gives a cluster. It is the name of the cluster's HostCluster resource.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClusterId(Uuid);

/// The text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not a cluster id; an id looks like 7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11")]
pub struct NotAnId;

impl ClusterId {
    /// An id never given before.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// The id as a UUID, as databases keep it.
    pub const fn uuid(self) -> Uuid {
        self.0
    }

    /// The first eight digits, as they appear in the names of a cluster's Secrets.
    pub fn short(self) -> String {
        self.0.simple().to_string().chars().take(8).collect()
    }

    /// `hostcluster-<short id>-input-kubeconfig`: the kubeconfig exactly as supplied.
    pub fn input_kubeconfig_secret(self) -> String {
        format!("hostcluster-{}-input-kubeconfig", self.short())
    }

    /// `hostcluster-<short id>-kubeconfig`: the kubeconfig KubeOpera works with.
    pub fn kubeconfig_secret(self) -> String {
        format!("hostcluster-{}-kubeconfig", self.short())
    }

    /// `hostcluster-<short id>-admin-password`: the first administrator's password.
    pub fn admin_password_secret(self) -> String {
        format!("hostcluster-{}-admin-password", self.short())
    }

    /// `hostcluster-<short id>-registry-pull`: the credential with which the cluster pulls images and charts.
    pub fn registry_pull_secret(self) -> String {
        format!("hostcluster-{}-registry-pull", self.short())
    }

    /// `provision-<id>`: the Job that creates the cluster.
    pub fn provision_job(self) -> String {
        format!("provision-{self}")
    }
}

impl From<Uuid> for ClusterId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl FromStr for ClusterId {
    type Err = NotAnId;
    /// Accepts the one spelling we print (hyphenated, lower case), because ids are also object names.
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let id = Self(Uuid::parse_str(text).map_err(|_| NotAnId)?);
        if id.to_string() == text { Ok(id) } else { Err(NotAnId) }
    }
}

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.hyphenated(), f)
    }
}

impl fmt::Debug for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_follow_from_the_id() {
        let id: ClusterId = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap();
        assert_eq!(id.input_kubeconfig_secret(), "hostcluster-7e9d3a1b-input-kubeconfig");
        assert_eq!(id.kubeconfig_secret(), "hostcluster-7e9d3a1b-kubeconfig");
        assert_eq!(id.admin_password_secret(), "hostcluster-7e9d3a1b-admin-password");
        assert_eq!(id.provision_job(), "provision-7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11");
    }

    #[test]
    fn only_the_spelling_we_print_is_an_id() {
        for bad in ["", "7e9d3a1b", "7E9D3A1B-5C1F-4E0A-9B63-0D2F6F1F7A11", "{7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11}"] {
            assert!(bad.parse::<ClusterId>().is_err(), "{bad}");
        }
    }
}
