//! The cloud credential of a run.

use std::collections::BTreeMap;

use auth_service_contract::{AwsAccessKey, CloudAccess, CredentialError, CredentialId};
use cluster_provisioner_contract::RunRequest;
use cluster_provisioner_terraform::Access;
use vocabulary::{Secret, Trouble};

use super::Provisioner;
use crate::order::{AWS_CREDENTIALS, GOOGLE_CREDENTIALS};

impl Provisioner {
    /// The credential for a run: what Terraform is told of it, and the files that hold it.
    pub(super) async fn access(
        &self,
        request: &RunRequest,
    ) -> Result<(Access, BTreeMap<&'static str, Secret>), Trouble> {
        let id: CredentialId = request.credential.parse().map_err(|_| no_credential())?;
        let opened = self.credentials.open(id, request.cluster).await.map_err(|error| match error {
            CredentialError::NoSuchCredential => no_credential(),
            CredentialError::NotBound => Trouble::rejected(
                "CredentialNotPermitted",
                "The cloud credential that the HostCluster names was not chosen for this cluster by a platform administrator.",
            ),
            CredentialError::Unreadable => Trouble::rejected(
                "CredentialUnreadable",
                "The cloud credential of this cluster cannot be read any more. Save its secret again.",
            ),
            _ => Trouble::transient("CredentialUnavailable", "The cloud credential cannot be read at the moment."),
        })?;
        Ok(match opened {
            CloudAccess::AwsAccessKey(key) => (Access::Aws, aws_file(Some(&key))),
            CloudAccess::AwsAssumeRole { role_arn, external_id, source } => {
                (Access::AwsRole { arn: role_arn, external_id }, aws_file(source.as_ref()))
            }
            CloudAccess::GcpServiceAccountKey { project_id, key } => {
                (Access::Gcp { project: project_id }, BTreeMap::from([(GOOGLE_CREDENTIALS, key)]))
            }
        })
    }
}

/// The file that AWS's libraries read. Without a key it is whoever KubeOpera runs as.
fn aws_file(key: Option<&AwsAccessKey>) -> BTreeMap<&'static str, Secret> {
    let written = key.map(|key| {
        let (id, secret) = (key.access_key_id.reveal(), key.secret_access_key.reveal());
        Secret::new(format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\n"))
    });
    written.map(|file| (AWS_CREDENTIALS, file)).into_iter().collect()
}

fn no_credential() -> Trouble {
    Trouble::rejected(
        "NoSuchCredential",
        "The cloud credential that the HostCluster names does not exist. Create the cluster anew with another one.",
    )
}
