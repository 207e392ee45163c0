//! The modules, which are part of the executable.

use sha2::{Digest, Sha256};
use vocabulary::hex;

/// A file of a module.
#[derive(Debug, Clone, Copy)]
pub struct ModuleFile {
    /// Where it is, such as `managed_eks/main.tf`. Modules use each other by these paths.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

macro_rules! files {
    ($($path:literal)*) => {
        &[$(ModuleFile { path: $path, text: include_str!(concat!("../../modules/", $path)) },)*]
    };
}

/// All files of all modules. Each topology has one of its name.
pub const MODULES: &[ModuleFile] = files! {
    "aws-leftovers/main.tf"
    "aws-network/main.tf"
    "managed_eks/main.tf"
    "managed_eks/variables.tf"
    "managed_eks/versions.tf"
    "managed_gke/main.tf"
    "managed_gke/variables.tf"
    "managed_gke/versions.tf"
    "vanilla_kubeadm/main.tf"
    "vanilla_kubeadm/load_balancer.tf"
    "vanilla_kubeadm/rights.tf"
    "vanilla_kubeadm/security.tf"
    "vanilla_kubeadm/variables.tf"
    "vanilla_kubeadm/versions.tf"
    "vanilla_kubeadm/boot/addons.yaml"
    "vanilla_kubeadm/boot/cloud-config.tftpl"
    "vanilla_kubeadm/boot/node.service"
    "vanilla_kubeadm/boot/node.sh"
    "vanilla_kubeadm/boot/tokens.service"
    "vanilla_kubeadm/boot/tokens.timer"
};

/// A hash of all modules: which ones a cluster was made with.
pub fn digest() -> String {
    let mut hash = Sha256::new();
    for file in MODULES {
        for part in [file.path, file.text] {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
    }
    hex(&hash.finalize())
}
