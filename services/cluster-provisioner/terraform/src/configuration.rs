//! The one file with all values.

use cluster_provisioner_catalogue::{Catalogue, Cloud};
use cluster_provisioner_contract::{RunRequest, Topology};
use serde_json::{Value, json};
use vocabulary::{ClusterId, ClusterName, Trouble};

/// Name of the file with all values, in the folder of the topology's module.
pub const VARIABLES_FILE: &str = "terraform.tfvars.json";

/// Of the credential, what Terraform is told; the secret itself is in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// An AWS access key, or whoever KubeOpera runs as.
    Aws,
    /// An AWS role to assume.
    AwsRole {
        /// Its ARN.
        arn: String,
        /// What its trust policy asks for.
        external_id: String,
    },
    /// A Google service account.
    Gcp {
        /// The project it belongs to, where the cluster goes.
        project: String,
    },
}

/// A module and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// Folder of the module among [`crate::MODULES`].
    pub module: &'static str,
    /// What goes into [`VARIABLES_FILE`].
    pub variables: Value,
}

/// What a cluster is called in its cloud: what people call it, and the beginning of its id, so that it meets neither
/// another KubeOpera's nor one that is just being deleted.
pub fn cloud_name(name: &ClusterName, id: ClusterId) -> String {
    format!("{name}-{}", id.short())
}

impl Configuration {
    /// For a cluster that the catalogue knows the parts of.
    pub fn of(request: &RunRequest, access: &Access, catalogue: &Catalogue) -> Result<Self, Trouble> {
        let (module, cloud) = match request.topology {
            Topology::ManagedEks => ("managed_eks", Cloud::Aws),
            Topology::ManagedGke => ("managed_gke", Cloud::Gcp),
            Topology::VanillaKubeadm { .. } => ("vanilla_kubeadm", Cloud::Aws),
        };
        let region = catalogue.region(cloud, request.region.as_str());
        let region = region.ok_or_else(|| not_in_catalogue("region", request.region.as_str()))?;
        let instance_type = catalogue.instance_types(region).find(|one| one.name == request.instance_type);
        let instance_type =
            instance_type.ok_or_else(|| not_in_catalogue("instance type in this region", &request.instance_type))?;
        let mut variables = json!({
            "cluster_id": request.cluster,
            "cluster_name": request.name,
            "cloud_name": cloud_name(&request.name, request.cluster),
            "region": region.id,
            "kubernetes_version": request.kubernetes_version,
            "node_count": request.nodes,
            "instance_type": instance_type.name,
        });
        let own = match (request.topology, access) {
            (Topology::ManagedGke, Access::Gcp { project }) => json!({
                "project": project,
                "short_name": format!("ko-{}", request.cluster.short()),
                "boot_disk": instance_type.boot_disk,
            }),
            (Topology::ManagedEks, Access::Aws | Access::AwsRole { .. }) => {
                json!({ "architecture": instance_type.architecture.as_str() })
            }
            (Topology::VanillaKubeadm { control_planes }, Access::Aws | Access::AwsRole { .. }) => json!({
                "architecture": instance_type.architecture.as_str(),
                "control_plane_count": control_planes,
            }),
            _ => return Err(other_cloud()),
        };
        let role = match access {
            Access::AwsRole { arn, external_id } => {
                json!({ "assume_role_arn": arn, "assume_role_external_id": external_id })
            }
            Access::Aws | Access::Gcp { .. } => json!({}),
        };
        for more in [own, role] {
            if let (Some(all), Value::Object(more)) = (variables.as_object_mut(), more) {
                all.extend(more);
            }
        }
        Ok(Self { module, variables })
    }
}

fn not_in_catalogue(what: &str, name: &str) -> Trouble {
    let shown: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).take(63).collect();
    Trouble::rejected(
        "NotInCatalogue",
        format!(
            "KubeOpera knows no {what} called {shown}. Delete this cluster and create one of what the wizard offers."
        ),
    )
}

fn other_cloud() -> Trouble {
    Trouble::rejected(
        "CredentialOfOtherProvider",
        "The cloud credential of this cluster is for another cloud. Delete the cluster and create it with another one.",
    )
}
