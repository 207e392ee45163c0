//! One file per phase: what it looks at, its steps, its messages, its limits.

pub mod bootstrapping_flux;
pub mod generating_tree;
pub mod installing;
pub mod provisioning;
pub mod ready;
pub mod removing;
pub mod validating_access;

use host_cluster_controller_crd::{ModeSpec, ValidSpec};
use vocabulary::{ClusterId, SecretName, Trouble};

use crate::facts::{Reach, Target};

/// The way to a cluster once its access is validated: the stored kubeconfig, or our own service account.
pub(crate) fn target(spec: &ValidSpec) -> Result<Target, Trouble> {
    let reach = match &spec.mode {
        ModeSpec::Host => Reach::OwnServiceAccount,
        ModeSpec::Connect { .. } | ModeSpec::Provision(_) => Reach::Kubeconfig(stored_kubeconfig(spec.id)?),
    };
    Ok(Target { cluster: spec.id, reach })
}

/// The Secret with the kubeconfig to work with.
pub(crate) fn stored_kubeconfig(cluster: ClusterId) -> Result<SecretName, Trouble> {
    secret_name(cluster.kubeconfig_secret())
}

/// A name made by us as a Secret's name, which it always is.
pub(crate) fn secret_name(name: String) -> Result<SecretName, Trouble> {
    SecretName::try_from(name).map_err(|why| Trouble::bug("BadSecretName", why.to_string()))
}
