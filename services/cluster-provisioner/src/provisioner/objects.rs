//! The objects of a cluster's runs beside their Jobs: the book and its key, the order, the rights.

use base64::{Engine, engine::general_purpose::STANDARD};
use cluster_provisioner_contract::RunRequest;
use host_cluster_controller_crd::{HostCluster, NAMESPACE, PROVISIONING_NAMESPACE, is_marked, marks};
use k8s_openapi::api::{batch::v1::Job, core::v1::Secret as SecretObject};
use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use kube_kit::{Attempt, trouble, unless_gone};
use serde_json::{Value, json};
use vocabulary::{ClusterId, Secret, Trouble};

use super::{DESTROY, GIVEN_UP, Provisioner};
use crate::{
    book::{KUBECONFIG, PROGRESS, REMARK, REQUEST, RESULT, RUN, text_of},
    job, names,
    record::Records,
    seal::Key,
};

pub(crate) const MANAGER: &str = "cluster-provisioner";
const KEY: &str = "key";
const WRITE: &str = "write the Secret of the provisioning run";

impl Provisioner {
    pub(super) fn secrets(&self) -> Api<SecretObject> {
        Api::namespaced(self.client.clone(), PROVISIONING_NAMESPACE)
    }

    pub(super) fn records(&self) -> Records {
        Records::new(self.client.clone())
    }

    pub(super) async fn book(&self, cluster: ClusterId) -> Result<Option<SecretObject>, Trouble> {
        let found = self.secrets().get_opt(&names::provision(cluster)).await;
        found.map_err(|error| trouble(Attempt("read the Secret of the provisioning run"), &error))
    }

    /// The book for a new run: the state stays, how the last run went does not. From now on no earlier run can write.
    pub(super) async fn turn_page(&self, request: &RunRequest, run: &str) -> Result<(), Trouble> {
        let cluster = request.cluster;
        let data = json!({ RUN: STANDARD.encode(run), REQUEST: STANDARD.encode(json!(request).to_string()) });
        let Some(book) = self.book(cluster).await? else {
            // Whoever deletes has seen one, and where there is a record there was one: it was just closed for good.
            if run.starts_with(DESTROY) || self.records().read(cluster).await?.is_some() {
                return Err(changing());
            }
            self.was_never_begun(cluster).await?;
            let book = json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {
                    "name": names::provision(cluster), "namespace": PROVISIONING_NAMESPACE,
                    "labels": marks(cluster),
                },
                "data": data,
            });
            let book = serde_json::from_value(book).map_err(|error| Trouble::bug("BookUnusable", error.to_string()))?;
            return match self.secrets().create(&PostParams::default(), &book).await {
                Ok(_) => Ok(()),
                Err(error) => Err(trouble(Attempt(WRITE), &error)),
            };
        };
        let last = text_of(&book, RUN).unwrap_or_default();
        if last == GIVEN_UP {
            return Err(changing());
        }
        if last.starts_with(DESTROY) && !run.starts_with(DESTROY) {
            return Err(Trouble::rejected("BeingDestroyed", "The infrastructure of this cluster is being deleted."));
        }
        let mut page = data;
        if let Some(page) = page.as_object_mut() {
            page.extend([PROGRESS, RESULT, REMARK].map(|key| (key.to_owned(), Value::Null)));
        }
        self.write_page(cluster, &book, page).await
    }

    /// The page after which there is none: from now on no run can write or be started.
    pub(super) async fn turn_last_page(&self, cluster: ClusterId, book: &SecretObject) -> Result<(), Trouble> {
        self.write_page(cluster, book, json!({ RUN: STANDARD.encode(GIVEN_UP) })).await
    }

    /// Over the page that was seen alone: another may have been turned, or what came of the run just been written down.
    async fn write_page(&self, cluster: ClusterId, seen: &SecretObject, page: Value) -> Result<(), Trouble> {
        let version = &seen.metadata.resource_version;
        let patch = Patch::Merge(json!({ "metadata": { "resourceVersion": version }, "data": page }));
        match self.secrets().patch(&names::provision(cluster), &PatchParams::default(), &patch).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.is_conflict() => Err(changing()),
            Err(error) => Err(trouble(Attempt(WRITE), &error)),
        }
    }

    /// Nothing is begun, and nothing called gone, where what was written down of a cluster was lost.
    pub(super) async fn was_never_begun(&self, cluster: ClusterId) -> Result<(), Trouble> {
        if self.known_key(cluster).await?.is_some() { Err(book_lost(cluster)) } else { Ok(()) }
    }

    /// Secrets in the namespace of the HostClusters.
    pub(super) fn keys(&self) -> Api<SecretObject> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn known_key(&self, cluster: ClusterId) -> Result<Option<Secret>, Trouble> {
        let found = self.keys().get_opt(&names::key(cluster)).await;
        let found = found.map_err(|error| trouble(Attempt("read the key of the provisioning run"), &error))?;
        // Names hold only the beginning of an id, which two clusters may share.
        let found = found.filter(|secret| is_marked(&secret.metadata, cluster));
        Ok(found.and_then(|secret| text_of(&secret, KEY)).map(Secret::new))
    }

    /// The key that the book is sealed with, which is made once.
    pub(super) async fn key(&self, cluster: ClusterId) -> Result<Secret, Trouble> {
        if let Some(key) = self.known_key(cluster).await? {
            return Ok(key);
        }
        let key = Key::random().map_err(|_| Trouble::bug("NoRandomness", "The system gives no random numbers."))?;
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {
                "name": names::key(cluster), "namespace": NAMESPACE,
                "labels": marks(cluster),
            },
            "data": { KEY: STANDARD.encode(key.reveal()) },
        });
        let secret = serde_json::from_value(secret).map_err(|error| Trouble::bug("KeyUnusable", error.to_string()))?;
        match self.keys().create(&PostParams::default(), &secret).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => return Err(trouble(Attempt("keep the key of the provisioning run"), &error)),
            Ok(_) => return Ok(key),
        }
        // Of two that make one at once, the first's is the one that counts.
        self.known_key(cluster)
            .await?
            .ok_or_else(|| Trouble::transient("KeyMissing", "The key of the provisioning run was just deleted."))
    }

    /// The credential goes with the Job, whoever deletes that.
    pub(super) async fn tie_order(&self, cluster: ClusterId, job: &Job) -> Result<(), Trouble> {
        let owner = json!({
            "apiVersion": "batch/v1", "kind": "Job", "name": job.metadata.name, "uid": job.metadata.uid,
        });
        let patch = Patch::Merge(json!({ "metadata": { "ownerReferences": [owner] } }));
        let tied = self.secrets().patch(&names::order(cluster), &PatchParams::default(), &patch).await;
        unless_gone(tied, Attempt("tie the Secret with the credential of the run to its Job"))
    }

    /// The credential is there only while a run may need it.
    pub(super) async fn take_back_order(&self, cluster: ClusterId) -> Result<(), Trouble> {
        let deleted = self.secrets().delete(&names::order(cluster), &DeleteParams::default()).await;
        unless_gone(deleted, Attempt("delete the Secret with the credential of the run"))
    }

    /// The kubeconfig that the controller works with, whose token is kept fresh.
    pub(super) async fn stored_kubeconfig(&self, cluster: ClusterId) -> Result<Option<Secret>, Trouble> {
        let found = self.keys().get_opt(&cluster.kubeconfig_secret()).await;
        let found = found.map_err(|error| trouble(Attempt("read the kubeconfig of the cluster"), &error))?;
        let found = found.filter(|secret| is_marked(&secret.metadata, cluster));
        Ok(found.and_then(|secret| text_of(&secret, KUBECONFIG)).map(Secret::new))
    }

    /// Which cluster it is, as the controller has seen it.
    pub(super) async fn cluster_uid(&self, cluster: ClusterId) -> Result<Option<String>, Trouble> {
        let api: Api<HostCluster> = Api::namespaced(self.client.clone(), NAMESPACE);
        let found = api.get_opt(&cluster.to_string()).await;
        let found = found.map_err(|error| trouble(Attempt("read the HostCluster"), &error))?;
        Ok(found.and_then(|found| found.status?.cluster_uid))
    }

    pub(super) async fn apply(&self, resource: &str, object: &Value) -> Result<(), Trouble> {
        let object: DynamicObject = serde_json::from_value(object.clone())
            .map_err(|error| Trouble::bug("ObjectUnusable", error.to_string()))?;
        let types = object.types.clone().unwrap_or_default();
        let kind =
            GroupVersionKind::try_from(types).map_err(|error| Trouble::bug("ObjectUnusable", error.to_string()))?;
        let api: Api<DynamicObject> = Api::namespaced_with(
            self.client.clone(),
            PROVISIONING_NAMESPACE,
            &ApiResource::from_gvk_with_plural(&kind, resource),
        );
        let name = object.metadata.name.clone().unwrap_or_default();
        let what = format!("prepare the provisioning run ({} {name})", kind.kind);
        let params = PatchParams::apply(MANAGER).force();
        let applied = api.patch(&name, &params, &Patch::Apply(&object)).await;
        applied.map(drop).map_err(|error| trouble(Attempt(&what), &error))
    }

    /// All of it goes but the Job; the book last, as it is what makes this be tried again.
    pub(super) async fn forget(&self, cluster: ClusterId) -> Result<(), Trouble> {
        self.take_back_order(cluster).await?;
        for (resource, object) in job::rights(cluster) {
            let types = serde_json::from_value::<DynamicObject>(object).ok().and_then(|object| object.types);
            let kind = types.and_then(|types| GroupVersionKind::try_from(types).ok());
            let kind = kind.ok_or_else(|| Trouble::bug("ObjectUnusable", "An object of the run has no kind."))?;
            let resource = ApiResource::from_gvk_with_plural(&kind, resource);
            let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), PROVISIONING_NAMESPACE, &resource);
            let deleted = api.delete(&names::provision(cluster), &DeleteParams::default()).await;
            unless_gone(deleted, Attempt("delete the rights of the run"))?;
        }
        let deleted = self.keys().delete(&names::key(cluster), &DeleteParams::default()).await;
        unless_gone(deleted, Attempt("delete the key of the run"))?;
        let deleted = self.secrets().delete(&names::provision(cluster), &DeleteParams::default()).await;
        unless_gone(deleted, Attempt("delete the Secret of the run"))
    }
}

fn changing() -> Trouble {
    Trouble::waiting("RunChanging", "The run is just changing. It is looked at again.")
}

fn book_lost(cluster: ClusterId) -> Trouble {
    Trouble::rejected(
        "StateUnavailable",
        format!(
            "Secret {PROVISIONING_NAMESPACE}/{} with Terraform's state of this cluster is gone, so that it is not known what \
             there is in the cloud. Nothing was done there. Put the Secret back from a backup; or delete in the cloud's console \
             what has the tag kubeopera.io/cluster-id={cluster}, and then have KubeOpera give its infrastructure up.",
            names::provision(cluster)
        ),
    )
}
