//! A spec that passed validation: what every later step works with, never the raw spec again.
//!
//! The rules are those of the CRD (patterns and CEL rules); `tests/corpus` at the repository's stack tests holds both
//! against the same examples. A resource can still arrive unvalidated where an older CRD is installed.

use cluster_provisioner_contract::Topology;
use vocabulary::{
    AdminUsername, ClusterId, ClusterName, Domain, Email, GitBranch, GitPath, GitUrl, KubernetesVersion, Provider,
    Region, SecretName,
};

use crate::hostcluster::{HostCluster, Mode, ProvisioningSpec, TopologyName};

/// A field that is not acceptable, and the rule it breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {rule}")]
pub struct SpecProblem {
    /// Path of the field, such as `spec.domain`.
    pub field: &'static str,
    /// The rule, as a sentence for people.
    pub rule: String,
}

/// A spec whose every field is of its own type, with what only some modes have inside the mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidSpec {
    /// Identity.
    pub id: ClusterId,
    /// Name people gave it.
    pub name: ClusterName,
    /// How it joins.
    pub mode: ModeSpec,
    /// Cloud.
    pub provider: Provider,
    /// Region.
    pub region: Region,
    /// Repository.
    pub git_url: GitUrl,
    /// Branch in it; without one the default branch.
    pub git_branch: Option<GitBranch>,
    /// Folder in it.
    pub git_path: GitPath,
    /// Secret with its credentials.
    pub git_credentials: SecretName,
    /// Domain of the environment.
    pub domain: Option<Domain>,
    /// Secret with the user's registry credential.
    pub registry_pull_secret: Option<SecretName>,
    /// First administrator to create.
    pub administrator: Option<Administrator>,
}

/// How a cluster joins, with what that way needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModeSpec {
    /// The cluster KubeOpera runs on, by its own service account.
    Host,
    /// A cluster that exists, by a kubeconfig.
    Connect {
        /// Secret with the kubeconfig as supplied.
        kubeconfig: SecretName,
    },
    /// A cluster to create.
    Provision(ProvisionedCluster),
}

/// A cluster to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvisionedCluster {
    /// What to build.
    pub topology: Topology,
    /// Worker nodes.
    pub nodes: u16,
    /// Their size.
    pub instance_type: String,
    /// Kubernetes version.
    pub kubernetes_version: KubernetesVersion,
    /// Stored credential to use.
    pub credential: String,
}

/// The first administrator of an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Administrator {
    /// Address.
    pub email: Email,
    /// Name to log in with.
    pub username: AdminUsername,
}

impl ValidSpec {
    /// Checks a resource as a whole and names every field that breaks a rule.
    pub fn of(resource: &HostCluster) -> Result<Self, Vec<SpecProblem>> {
        let spec = &resource.spec;
        let mut check = Check::default();

        let id = check.parse::<ClusterId>("spec.clusterID", &spec.cluster_id);
        check.rule(
            "metadata.name",
            resource.metadata.name.as_deref() == Some(&spec.cluster_id),
            "The name of the resource must be the cluster's ID (spec.clusterID).",
        );
        let name = resource.cluster_name();
        check.rule(
            "metadata.labels",
            name.is_some(),
            "The label kubeopera.io/cluster-name must hold the cluster's name: at most 40 lower-case letters, digits and hyphens.",
        );
        let provider = check.parse::<Provider>("spec.provider", &spec.provider);
        let region = check.parse::<Region>("spec.region", &spec.region);
        let git_url = check.parse::<GitUrl>("spec.gitOpsRepoURL", &spec.git_ops_repo_url);
        let git_branch = check.optional::<GitBranch>("spec.gitOpsBranch", spec.git_ops_branch.as_deref());
        let git_path = check.parse::<GitPath>("spec.gitOpsPath", &spec.git_ops_path);
        check.rule(
            "spec.gitOpsPath",
            git_path.as_ref().is_none_or(|path| path.as_str() == spec.git_ops_path),
            "Write the folder without a slash at its beginning or end.",
        );
        let git_credentials =
            check.parse::<SecretName>("spec.gitCredentialsSecretRef", &spec.git_credentials_secret_ref);
        let domain = check.optional::<Domain>("spec.domain", spec.domain.as_deref());
        let registry_pull_secret =
            check.optional::<SecretName>("spec.registryPullSecretRef", spec.registry_pull_secret_ref.as_deref());
        let email = check.optional::<Email>("spec.adminEmail", spec.admin_email.as_deref());
        let username = check.optional::<AdminUsername>("spec.adminUsername", spec.admin_username.as_deref());
        check.rule(
            "spec.adminEmail",
            spec.admin_email.is_some() == spec.admin_username.is_some(),
            "spec.adminEmail and spec.adminUsername go together: set both or neither.",
        );
        let mode = mode_spec(&mut check, resource);

        match (check.problems.is_empty(), id, name, provider, region, git_url, git_path, git_credentials, mode) {
            (
                true,
                Some(id),
                Some(name),
                Some(provider),
                Some(region),
                Some(git_url),
                Some(git_path),
                Some(git_credentials),
                Some(mode),
            ) => {
                let administrator = email.zip(username).map(|(email, username)| Administrator { email, username });
                Ok(Self {
                    id,
                    name,
                    mode,
                    provider,
                    region,
                    git_url,
                    git_branch,
                    git_path,
                    git_credentials,
                    domain,
                    registry_pull_secret,
                    administrator,
                })
            }
            _ => Err(check.problems),
        }
    }
}

fn mode_spec(check: &mut Check, resource: &HostCluster) -> Option<ModeSpec> {
    let spec = &resource.spec;
    if spec.mode == Mode::ConnectExisting {
        check.rule(
            "spec.provisioning",
            spec.provisioning.is_none(),
            "spec.provisioning is only for the provision_* modes.",
        );
        return match &spec.connect_kubeconfig_secret_ref {
            None => Some(ModeSpec::Host),
            Some(name) => check
                .parse::<SecretName>("spec.connectKubeconfigSecretRef", name)
                .map(|kubeconfig| ModeSpec::Connect { kubeconfig }),
        };
    }
    check.rule(
        "spec.connectKubeconfigSecretRef",
        spec.connect_kubeconfig_secret_ref.is_none(),
        "spec.connectKubeconfigSecretRef is only for mode connect_existing.",
    );
    let Some(wanted) = &spec.provisioning else {
        check.rule("spec.provisioning", false, "spec.provisioning is required in the provision_* modes.");
        return None;
    };
    provisioned_cluster(check, spec.mode, &spec.provider, wanted).map(ModeSpec::Provision)
}

fn provisioned_cluster(
    check: &mut Check,
    mode: Mode,
    provider: &str,
    wanted: &ProvisioningSpec,
) -> Option<ProvisionedCluster> {
    let (needed_provider, needed_topology) = match mode {
        Mode::ProvisionGke => (Provider::GCP, TopologyName::ManagedGke),
        Mode::ProvisionEks => (Provider::AWS, TopologyName::ManagedEks),
        Mode::ProvisionVanilla | Mode::ConnectExisting => (Provider::AWS, TopologyName::VanillaKubeadm),
    };
    check.rule(
        "spec.provider",
        provider == needed_provider,
        "This mode is for the other cloud: provision_gke needs gcp, the others aws.",
    );
    check.rule(
        "spec.provisioning.topology",
        wanted.topology == needed_topology,
        "The topology must match the mode: vanilla_kubeadm, managed_eks or managed_gke.",
    );
    let control_planes = wanted.control_plane_count.unwrap_or(1);
    check.rule(
        "spec.provisioning.controlPlaneCount",
        wanted.control_plane_count.is_none() || wanted.topology == TopologyName::VanillaKubeadm,
        "The number of control-plane nodes can be chosen for topology vanilla_kubeadm only.",
    );
    check.rule(
        "spec.provisioning.controlPlaneCount",
        (1..=7).contains(&control_planes) && control_planes % 2 == 1,
        "Use an odd number of control-plane nodes from 1 to 7: etcd needs a majority.",
    );
    check.rule("spec.provisioning.nodeCount", (1..=500).contains(&wanted.node_count), "Use 1 to 500 nodes.");
    let type_ok = (2..=63).contains(&wanted.instance_type.len())
        && wanted.instance_type.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && wanted.instance_type.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b".-".contains(&c));
    check.rule("spec.provisioning.instanceType", type_ok, "Use an instance type such as t3.medium or e2-standard-4.");
    let credential_ok = (1..=63).contains(&wanted.credential_ref.len())
        && wanted.credential_ref.starts_with(|c: char| c.is_ascii_alphanumeric())
        && wanted.credential_ref.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c));
    check.rule("spec.provisioning.credentialRef", credential_ok, "Use the ID of a stored cloud credential.");
    let kubernetes_version =
        check.parse::<KubernetesVersion>("spec.provisioning.kubernetesVersion", &wanted.kubernetes_version)?;
    Some(ProvisionedCluster {
        topology: match wanted.topology {
            TopologyName::VanillaKubeadm => {
                Topology::VanillaKubeadm { control_planes: u8::try_from(control_planes).ok()? }
            }
            TopologyName::ManagedEks => Topology::ManagedEks,
            TopologyName::ManagedGke => Topology::ManagedGke,
        },
        nodes: u16::try_from(wanted.node_count).ok()?,
        instance_type: wanted.instance_type.clone(),
        kubernetes_version,
        credential: wanted.credential_ref.clone(),
    })
}

/// Gathers problems instead of stopping at the first.
#[derive(Default)]
struct Check {
    problems: Vec<SpecProblem>,
}

impl Check {
    fn rule(&mut self, field: &'static str, holds: bool, rule: &str) {
        if !holds {
            self.problems.push(SpecProblem { field, rule: rule.to_owned() });
        }
    }

    fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self, field: &'static str, text: &str) -> Option<T> {
        text.parse().map_err(|why: T::Err| self.problems.push(SpecProblem { field, rule: why.to_string() })).ok()
    }

    fn optional<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
        field: &'static str,
        text: Option<&str>,
    ) -> Option<T> {
        self.parse(field, text?)
    }
}
