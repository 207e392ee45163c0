//! Clusters at the other end of a kubeconfig that somebody brings.

use std::time::Duration;

use async_trait::async_trait;
use kube::Client;
use kube_kit::{Limits, ValidKubeconfig};
use vocabulary::Trouble;

/// What one call may take: somebody is waiting for the answer.
const LIMITS: Limits = Limits { connect: Duration::from_secs(4), whole: Duration::from_secs(6), body: 8 << 20 };

/// The way to them.
#[async_trait]
pub(crate) trait Elsewhere: Send + Sync {
    /// A client that does nothing yet.
    async fn client(&self, kubeconfig: &ValidKubeconfig) -> Result<Client, Trouble>;
}

/// The way there is.
pub(crate) struct OverTheNetwork;

#[async_trait]
impl Elsewhere for OverTheNetwork {
    async fn client(&self, kubeconfig: &ValidKubeconfig) -> Result<Client, Trouble> {
        kubeconfig.client(LIMITS)
    }
}
