//! Another kubeconfig for a cluster that is connected: the one it has ends, or was lost.
//!
//! host-cluster-controller sees the Secret change and validates it anew. Nothing else of the cluster changes, and the
//! same again changes nothing.

use host_cluster_controller_crd::Mode;
use kube_kit::Discovery;
use service_kit::database::{begin_write, is_unique_violation};
use vocabulary::ClusterId;

use super::{Caller, Platform, connect::chosen, doctor::Known};
use crate::{
    error::AppError,
    resources::input_kubeconfig::{self, Kept},
    store::{
        audit::{self, Action, Outcome},
        clusters::{self, Record},
    },
    verdict::Finding,
    view::Cluster,
};

impl Platform {
    /// Replaces the kubeconfig that was supplied for a cluster, if the new one leads to the same cluster.
    pub(crate) async fn replace_kubeconfig(
        &self,
        caller: &Caller,
        id: ClusterId,
        kubeconfig: &[u8],
        context: Option<&str>,
    ) -> Result<Cluster, AppError> {
        let action = Action::ReplaceKubeconfig;
        self.permit(caller, action).await?;
        let record = clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
        let replace = async {
            refuse_without_kubeconfig(&record)?;
            self.spend(caller, Action::TryToConnect, self.allowances.connects).await?;
            self.replace(caller, &record, kubeconfig, context).await
        };
        let outcome = match self.judged(caller, action, Some(id.to_string()), replace).await? {
            Kept::Before => Outcome::Unchanged,
            Kept::Now | Kept::Another => Outcome::Done,
        };
        audit::write(&self.db, caller.actor(), action, Some(id.to_string()), outcome).await?;
        self.events.mark(id);
        self.look_at(id).await?.ok_or(AppError::NoSuchCluster)
    }

    async fn replace(
        &self,
        caller: &Caller,
        record: &Record,
        kubeconfig: &[u8],
        context: Option<&str>,
    ) -> Result<Kept, AppError> {
        let (usable, given) = chosen(kubeconfig, context, self.kubeconfigs)?;
        let discovery = self.look_through(&usable).await?;
        let is_first_look = self.confirm_same(record, &discovery).await?;
        let tx = begin_write(&self.db).await?;
        if is_first_look {
            match clusters::identify(&tx, record.id, &discovery.uid).await {
                // Another cluster was connected meanwhile, and it is the one that this kubeconfig leads to.
                Err(error) if is_unique_violation(&error) => return Err(another_cluster(record, "to another cluster")),
                identified => identified?,
            }
        }
        let object = Some(record.id.to_string());
        audit::write(&tx, caller.actor(), Action::ReplaceKubeconfig, object, Outcome::Asked).await?;
        tx.commit().await?;
        Ok(input_kubeconfig::replace(&self.client, record.id, &given).await?)
    }

    /// The cluster at the other end has to be the one that is on record. `true` if nobody had looked which one that is.
    async fn confirm_same(&self, record: &Record, discovery: &Discovery) -> Result<bool, AppError> {
        if record.kube_system_uid.as_ref() == Some(&discovery.uid) {
            return Ok(false);
        }
        let known = self.known_as(&discovery.uid).await?;
        // Taken on record from its resource, before anybody looked at which cluster it is.
        if record.kube_system_uid.is_none() && known.is_none() {
            let seen = self.observed.resource(record.id).and_then(|seen| seen.status?.cluster_uid);
            if seen.is_none_or(|uid| uid == discovery.uid) {
                return Ok(true);
            }
        }
        let leads_to = match known {
            Some(Known::Connected(other)) => format!("to {}", other.name),
            Some(Known::Host) => "to the cluster that KubeOpera runs on".to_owned(),
            None => "to a cluster that KubeOpera does not know".to_owned(),
        };
        Err(another_cluster(record, &leads_to))
    }
}

fn another_cluster(record: &Record, leads_to: &str) -> AppError {
    let message = format!(
        "This kubeconfig leads {leads_to}, which is another cluster than {}: its kube-system namespace has another UID. A \
         cluster that was built anew is another one, too: disconnect the old one and connect it.",
        record.name
    );
    Finding::new("another_cluster", Some("kubeconfig".to_owned()), message).into()
}

fn refuse_without_kubeconfig(record: &Record) -> Result<(), AppError> {
    if record.removing_since.is_some() {
        return Err(AppError::BeingRemoved);
    }
    let message = match (&record.spec.connect_kubeconfig_secret_ref, record.spec.mode) {
        (Some(name), _) if *name == record.id.input_kubeconfig_secret() => return Ok(()),
        (Some(name), _) => format!(
            "The kubeconfig of this cluster is in Secret {name}, which KubeOpera did not make. Replace it there."
        ),
        (None, Mode::ConnectExisting) => {
            "This is the cluster that KubeOpera runs on. It is reached by KubeOpera's own service account and has no \
             kubeconfig."
                .to_owned()
        }
        (None, _) => "KubeOpera provisioned this cluster and fetches its kubeconfig from the cloud itself.".to_owned(),
    };
    Err(AppError::NoKubeconfig(message))
}
