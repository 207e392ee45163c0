//! Create a cluster in a cloud.
//!
//! Nothing is created here: the record says what is wanted, and host-cluster-controller has cluster-provisioner do it. What
//! can be known to fail is refused at once. The credential is bound to the cluster before the record is written; whoever is
//! killed in between leaves a binding without a cluster, which `resources::bindings` ends.

use auth_service_contract::{CredentialError, CredentialId, CredentialKind, NewSecret};
use cluster_provisioner_catalogue::{Accepted, Catalogue, Cloud, Order, TopologyName};
use cluster_provisioner_contract::Topology;
use host_cluster_controller_crd::{self as crd, Mode, ProvisioningSpec};
use jiff::{Timestamp, tz::TimeZone};
use vocabulary::{ClusterId, ClusterName, KubernetesVersion, Label, Trouble};

use super::{
    Caller, Platform,
    new_cluster::{Described, Joined, Joining, id_of, is_same, refuse_what_is_taken},
};
use crate::{
    error::AppError,
    settings::Refusal,
    store::{
        audit::{self, Action, Outcome},
        clusters::{self, Record},
    },
};

/// A cluster somebody wants.
pub(crate) struct ClusterWanted {
    pub(crate) described: Described,
    pub(crate) size: SizeWanted,
    pub(crate) credential: CredentialWanted,
}

/// Where it is and what it is made of.
pub(crate) struct SizeWanted {
    pub(crate) provider: String,
    pub(crate) topology: String,
    pub(crate) region: String,
    pub(crate) kubernetes_version: KubernetesVersion,
    pub(crate) node_count: u32,
    pub(crate) instance_type: String,
    pub(crate) control_plane_count: Option<u32>,
}

/// What the cloud is to be asked with.
pub(crate) enum CredentialWanted {
    /// One that is saved.
    Saved(CredentialId),
    /// One to save first.
    New { label: Label, secret: NewSecret },
}

impl Platform {
    /// What can be created where.
    pub(crate) async fn catalogue(&self, caller: &Caller) -> Result<&'static Catalogue, AppError> {
        self.permit(caller, Action::SeeCatalogue).await?;
        catalogue()
    }

    /// Takes a cluster on record, for it to be created. A request with a key that was done before is not done again: its
    /// cluster is answered once more.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        key: Option<&str>,
        wanted: ClusterWanted,
    ) -> Result<Joined, AppError> {
        self.permit(caller, Action::CreateCluster).await?;
        let id = key.map_or_else(ClusterId::random, |key| id_of(caller.user.id, key));
        // In a box, as what it waits for is large.
        let create = Box::pin(async {
            let is_new = match clusters::by_id(&self.db, id).await? {
                Some(record) => self.same_request(caller, &record, &wanted).await.map(|()| false)?,
                None => self.create_new(caller, id, wanted).await?,
            };
            let cluster = self.look_at(id).await?.ok_or(AppError::NoSuchCluster)?;
            Ok(Joined { cluster, is_new })
        });
        self.judged(caller, Action::CreateCluster, None, create).await
    }

    async fn create_new(&self, caller: &Caller, id: ClusterId, wanted: ClusterWanted) -> Result<bool, AppError> {
        let accepted = wanted.size.accepted(Some(&wanted.described.name))?;
        let mut record = self.record_to_create(id, &wanted, &accepted, String::new()).await?;
        refuse_what_is_taken(&self.db, &record).await?;
        record.spec.registry_pull_secret_ref = self.registry_secret(id).await?;
        self.spend(caller, Action::TryToCreate, self.allowances.creates).await?;
        let credential = self.credential_for(caller, id, accepted.region.cloud, wanted.credential).await?;
        self.auth.bind(&caller.actor(), credential, id).await.map_err(no_such_credential)?;
        if let Some(provisioning) = &mut record.spec.provisioning {
            provisioning.credential_ref = credential.to_string();
        }
        let written = self.take_on_record(caller, Action::CreateCluster, &record).await;
        // Of a database that broke off nobody knows what it did, so that the binding stays for the repair loop to judge.
        if written.as_ref().is_err_and(|error| !matches!(error, AppError::Database(_))) {
            self.auth.release(&caller.actor(), id).await?;
        }
        written
    }

    /// Whether a request is the very one that a cluster was taken on record by. The secret of a credential that came with
    /// it cannot be compared any more; its label is.
    async fn same_request(&self, caller: &Caller, record: &Record, wanted: &ClusterWanted) -> Result<(), AppError> {
        if record.removing_since.is_some() {
            return Err(AppError::BeingRemoved);
        }
        let used = record.spec.provisioning.as_ref().map_or("", |provisioning| &provisioning.credential_ref);
        let is_same_credential = match &wanted.credential {
            CredentialWanted::Saved(credential) => credential.to_string() == used,
            CredentialWanted::New { label, .. } => {
                let all = self.auth.credentials().await?;
                all.iter().any(|saved| saved.id.to_string() == used && saved.label == *label)
            }
        };
        let Ok(accepted) = wanted.size.accepted(Some(&wanted.described.name)) else { return Err(AppError::KeyReused) };
        let asked = self.record_to_create(record.id, wanted, &accepted, used.to_owned()).await?;
        if !is_same_credential || !is_same(record, asked) {
            return Err(AppError::KeyReused);
        }
        let object = Some(record.id.to_string());
        Ok(audit::write(&self.db, caller.actor(), Action::CreateCluster, object, Outcome::Unchanged).await?)
    }

    /// The credential to use, which is for this cloud and was saved if it was not.
    async fn credential_for(
        &self,
        caller: &Caller,
        cluster: ClusterId,
        cloud: Cloud,
        wanted: CredentialWanted,
    ) -> Result<CredentialId, AppError> {
        let (label, secret) = match wanted {
            CredentialWanted::Saved(id) => {
                let all = self.auth.credentials().await?;
                let saved = all.into_iter().find(|saved| saved.id == id);
                let saved = saved.ok_or_else(|| no_such_credential(CredentialError::NoSuchCredential))?;
                return if cloud_of(saved.kind) == cloud { Ok(id) } else { Err(other_cloud("credential_id", cloud)) };
            }
            CredentialWanted::New { label, secret } => (label, secret),
        };
        let kind = match &secret {
            NewSecret::AwsAccessKey { .. } => CredentialKind::AwsAccessKey,
            NewSecret::AwsAssumeRole { .. } => return Err(role_first()),
            NewSecret::GcpServiceAccountKey { .. } => CredentialKind::GcpServiceAccountKey,
        };
        if cloud_of(kind) != cloud {
            return Err(other_cloud("credential.secret", cloud));
        }
        match self.add_credential(caller, &label, secret).await {
            Ok(saved) => Ok(saved.credential.id),
            Err(AppError::Credential(CredentialError::LabelTaken)) => {
                // Perhaps by this very request, which was cut off before the cluster was on record.
                let all = self.auth.credentials().await?;
                let ours = all.into_iter().find(|saved| saved.label == label && saved.clusters.contains(&cluster));
                ours.map(|saved| saved.id).ok_or(AppError::NewCredential(CredentialError::LabelTaken))
            }
            Err(AppError::Credential(error)) => Err(AppError::NewCredential(error)),
            Err(error) => Err(error),
        }
    }

    async fn record_to_create(
        &self,
        id: ClusterId,
        wanted: &ClusterWanted,
        accepted: &Accepted<'_>,
        credential: String,
    ) -> Result<Record, AppError> {
        let (mode, topology) = match accepted.topology_name {
            TopologyName::VanillaKubeadm => (Mode::ProvisionVanilla, crd::TopologyName::VanillaKubeadm),
            TopologyName::ManagedEks => (Mode::ProvisionEks, crd::TopologyName::ManagedEks),
            TopologyName::ManagedGke => (Mode::ProvisionGke, crd::TopologyName::ManagedGke),
        };
        let control_plane_count = match accepted.topology {
            Topology::VanillaKubeadm { control_planes } => Some(control_planes.into()),
            Topology::ManagedEks | Topology::ManagedGke => None,
        };
        let joining = Joining {
            mode,
            provider: accepted.region.cloud.as_str().to_owned(),
            region: accepted.region.id.to_owned(),
            kubeconfig_secret: None,
            provisioning: Some(ProvisioningSpec {
                topology,
                control_plane_count,
                node_count: accepted.node_count.into(),
                instance_type: accepted.instance_type.name.to_owned(),
                kubernetes_version: wanted.size.kubernetes_version.to_string(),
                credential_ref: credential,
            }),
        };
        self.record(id, &wanted.described, joining).await
    }
}

impl SizeWanted {
    /// What it comes to, if it can be created today.
    pub(super) fn accepted(&self, name: Option<&ClusterName>) -> Result<Accepted<'static>, AppError> {
        let order = Order {
            name,
            provider: &self.provider,
            topology: &self.topology,
            region: &self.region,
            kubernetes_version: &self.kubernetes_version,
            node_count: self.node_count,
            instance_type: &self.instance_type,
            control_plane_count: self.control_plane_count,
        };
        let refused =
            |refusal: cluster_provisioner_catalogue::Refusal| refused(refusal.field, refusal.code, refusal.rule);
        catalogue()?.check(&order, today()).map_err(refused)
    }
}

/// The day it is for support of Kubernetes versions, which ends by UTC.
pub(crate) fn today() -> jiff::civil::Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

fn catalogue() -> Result<&'static Catalogue, AppError> {
    Catalogue::built_in().map_err(|broken| Trouble::bug("CatalogueBroken", broken.to_string()).into())
}

const fn cloud_of(kind: CredentialKind) -> Cloud {
    match kind {
        CredentialKind::AwsAccessKey | CredentialKind::AwsAssumeRole => Cloud::Aws,
        CredentialKind::GcpServiceAccountKey => Cloud::Gcp,
    }
}

/// Here the id is a field of the request and no address.
fn no_such_credential(error: CredentialError) -> AppError {
    match error {
        CredentialError::NoSuchCredential => {
            refused("credential_id", "no_such_credential", "KubeOpera has no credential with this id.".to_owned())
        }
        other => other.into(),
    }
}

fn other_cloud(field: &'static str, cloud: Cloud) -> AppError {
    let rule = format!("This credential is for another cloud. Choose one for {}.", cloud.title());
    refused(field, "credential_of_other_provider", rule)
}

fn role_first() -> AppError {
    let rule = "A role's trust policy has to ask for the external ID that KubeOpera makes up, so save the role first, put \
                the ID into the policy, and choose it here then.";
    refused("credential.secret", "save_role_first", rule.to_owned())
}

fn refused(field: &'static str, code: &'static str, rule: String) -> AppError {
    AppError::Setting(Refusal::new(code, field, rule))
}
