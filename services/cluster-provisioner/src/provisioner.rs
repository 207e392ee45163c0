//! What host-cluster-controller asks: prepares runs, starts their Jobs, and says where they are.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use auth_service_contract::{AwsAccessKey, CloudAccess, CredentialError, CredentialId, Credentials};
use base64::{Engine, engine::general_purpose::STANDARD};
use cluster_provisioner_catalogue::Catalogue;
use cluster_provisioner_contract::{ClusterProvisioner, RunRequest, RunStatus};
use cluster_provisioner_terraform::{Access, Configuration, Purpose};
use host_cluster_controller_crd::{LABEL_CLUSTER_ID, NAMESPACE, PROVISIONING_NAMESPACE, marks};
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Pod, Secret as SecretObject},
};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use kube_kit::{Attempt, is_not_found, trouble};
use serde_json::{Value, json};
use vocabulary::{ClusterId, Secret, Trouble};

use crate::{
    book::{KUBECONFIG, PROGRESS, REQUEST, RESULT, RUN, RunResult, bytes_of, text_of},
    job::{self, Image, LABEL_RUN},
    names,
    order::{AWS_CREDENTIALS, GOOGLE_CREDENTIALS, Order},
    seal::{Content, Key},
};

const MANAGER: &str = "cluster-provisioner";
const KEY: &str = "key";

/// How runs are run.
#[derive(Debug, Clone)]
pub struct Config {
    /// Image of the Job: KubeOpera with Terraform or `OpenTofu` and the providers.
    pub image: String,
    /// When its nodes pull it, such as `IfNotPresent`.
    pub pull_policy: String,
}

/// cluster-provisioner.
pub struct Provisioner {
    pub(crate) client: Client,
    credentials: Arc<dyn Credentials>,
    image: Image,
}

/// Where a Job is.
enum JobSeen {
    Absent,
    /// It works, or waits for a node: as a sentence.
    Active {
        run: String,
        waits: Option<String>,
    },
    Ended {
        run: String,
        why: Option<String>,
    },
}

impl Provisioner {
    /// `client` is for the cluster KubeOpera itself belongs to, where the Jobs run.
    pub fn new(client: Client, credentials: Arc<dyn Credentials>, config: Config) -> Self {
        let image = Image { name: config.image, pull_policy: config.pull_policy };
        Self { client, credentials, image }
    }

    fn secrets(&self) -> Api<SecretObject> {
        Api::namespaced(self.client.clone(), PROVISIONING_NAMESPACE)
    }

    fn jobs(&self) -> Api<Job> {
        Api::namespaced(self.client.clone(), PROVISIONING_NAMESPACE)
    }

    async fn book(&self, cluster: ClusterId) -> Result<Option<SecretObject>, Trouble> {
        let found = self.secrets().get_opt(&names::provision(cluster)).await;
        found.map_err(|error| trouble(Attempt("read the Secret of the provisioning run"), &error))
    }

    async fn job(&self, cluster: ClusterId) -> Result<JobSeen, Trouble> {
        let attempt = Attempt("read the provisioning Job");
        let found = self.jobs().get_opt(&names::provision(cluster)).await.map_err(|error| trouble(attempt, &error))?;
        let Some(job) = found else { return Ok(JobSeen::Absent) };
        let run = job.metadata.labels.as_ref().and_then(|labels| labels.get(LABEL_RUN)).cloned().unwrap_or_default();
        let conditions = job.status.and_then(|status| status.conditions).unwrap_or_default();
        let ended =
            conditions.iter().find(|one| one.status == "True" && matches!(one.type_.as_str(), "Complete" | "Failed"));
        let pod = self.pod(cluster).await?;
        if let Some(ended) = ended {
            let why = pod.as_ref().and_then(why_ended).or_else(|| match ended.reason.as_deref() {
                Some("DeadlineExceeded") => Some("it took longer than two hours".to_owned()),
                _ => None,
            });
            return Ok(JobSeen::Ended { run, why });
        }
        Ok(JobSeen::Active { run, waits: pod.as_ref().and_then(why_waiting) })
    }

    /// The Job's Pod, the newest if there are several.
    async fn pod(&self, cluster: ClusterId) -> Result<Option<Pod>, Trouble> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), PROVISIONING_NAMESPACE);
        let of_cluster = ListParams::default().labels(&format!("{LABEL_CLUSTER_ID}={cluster}"));
        let all = api.list(&of_cluster).await.map_err(|error| trouble(Attempt("list the Pods of the run"), &error))?;
        Ok(all.items.into_iter().max_by_key(|pod| pod.metadata.creation_timestamp.clone()))
    }

    /// Makes a run the cluster's one run. Its Job is made last, so that whoever is killed on the way does it again.
    async fn start(&self, request: &RunRequest, run: &str, purpose: Purpose) -> Result<(), Trouble> {
        let cluster = request.cluster;
        let (access, credential) = self.access(request).await?;
        let catalogue = Catalogue::built_in();
        let catalogue = catalogue.map_err(|broken| Trouble::bug("CatalogueBroken", broken.to_string()))?;
        let Configuration { module, variables } = Configuration::of(request, &access, catalogue)?;
        let order = Order {
            cluster,
            run: run.to_owned(),
            purpose,
            module: module.to_owned(),
            variables,
            key: self.key(cluster).await?,
            credential,
        };
        self.turn_page(request, run).await?;
        for (resource, object) in job::rights(cluster) {
            self.apply(resource, &object).await?;
        }
        self.apply("secrets", &job::order(cluster, &order.files())).await?;
        let made: Job = serde_json::from_value(job::job(cluster, run, &self.image))
            .map_err(|error| Trouble::bug("JobUnusable", error.to_string()))?;
        match self.jobs().create(&PostParams::default(), &made).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
            Err(error) => Err(trouble(Attempt("create the provisioning Job"), &error)),
            Ok(_) => Ok(()),
        }
    }

    /// The book for a new run: the state stays, how the last run went does not. From now on no earlier run can write.
    async fn turn_page(&self, request: &RunRequest, run: &str) -> Result<(), Trouble> {
        let cluster = request.cluster;
        let attempt = Attempt("write the Secret of the provisioning run");
        let encoded = |text: String| STANDARD.encode(text);
        let data = json!({ RUN: encoded(run.to_owned()), REQUEST: encoded(json!(request).to_string()) });
        if self.book(cluster).await?.is_none() {
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
                Err(error) => Err(trouble(attempt, &error)),
            };
        }
        let mut page = data;
        if let Some(page) = page.as_object_mut() {
            page.extend([PROGRESS, RESULT].map(|key| (key.to_owned(), Value::Null)));
        }
        let patch = Patch::Merge(json!({ "data": page }));
        let written = self.secrets().patch(&names::provision(cluster), &PatchParams::default(), &patch).await;
        written.map(drop).map_err(|error| trouble(attempt, &error))
    }

    /// The key that the book is sealed with, which is made once.
    async fn key(&self, cluster: ClusterId) -> Result<Secret, Trouble> {
        let api: Api<SecretObject> = Api::namespaced(self.client.clone(), NAMESPACE);
        let (name, attempt) = (names::key(cluster), Attempt("read the key of the provisioning run"));
        let read = || async {
            let found = api.get_opt(&name).await.map_err(|error| trouble(attempt, &error))?;
            Ok::<_, Trouble>(found.and_then(|secret| text_of(&secret, KEY)).map(Secret::new))
        };
        if let Some(key) = read().await? {
            return Ok(key);
        }
        let key = Key::random().map_err(|_| Trouble::bug("NoRandomness", "The system gives no random numbers."))?;
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {
                "name": name, "namespace": NAMESPACE,
                "labels": marks(cluster),
            },
            "data": { KEY: STANDARD.encode(key.reveal()) },
        });
        let secret = serde_json::from_value(secret).map_err(|error| Trouble::bug("KeyUnusable", error.to_string()))?;
        match api.create(&PostParams::default(), &secret).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => return Err(trouble(Attempt("keep the key of the provisioning run"), &error)),
            Ok(_) => return Ok(key),
        }
        // Of two that make one at once, the first's is the one that counts.
        read()
            .await?
            .ok_or_else(|| Trouble::transient("KeyMissing", "The key of the provisioning run was just deleted."))
    }

    /// The credential for a run: what Terraform is told of it, and the files that hold it.
    async fn access(&self, request: &RunRequest) -> Result<(Access, BTreeMap<&'static str, Secret>), Trouble> {
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

    async fn apply(&self, resource: &str, object: &Value) -> Result<(), Trouble> {
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

    async fn delete_job(&self, cluster: ClusterId) -> Result<(), Trouble> {
        let deleted = self.jobs().delete(&names::provision(cluster), &DeleteParams::foreground()).await;
        gone(deleted.map(drop), "delete the provisioning Job")
    }

    /// The credential is there only while a run may need it.
    async fn take_back_order(&self, cluster: ClusterId) -> Result<(), Trouble> {
        let deleted = self.secrets().delete(&names::order(cluster), &DeleteParams::default()).await;
        gone(deleted.map(drop), "delete the Secret with the credential of the run")
    }

    /// Everything of a cluster that is gone; the book last, as it is what makes this be tried again.
    async fn forget(&self, cluster: ClusterId) -> Result<(), Trouble> {
        self.delete_job(cluster).await?;
        self.take_back_order(cluster).await?;
        for (resource, object) in job::rights(cluster) {
            let types = serde_json::from_value::<DynamicObject>(object).ok().and_then(|object| object.types);
            let kind = types.and_then(|types| GroupVersionKind::try_from(types).ok());
            let kind = kind.ok_or_else(|| Trouble::bug("ObjectUnusable", "An object of the run has no kind."))?;
            let resource = ApiResource::from_gvk_with_plural(&kind, resource);
            let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), PROVISIONING_NAMESPACE, &resource);
            let deleted = api.delete(&names::provision(cluster), &DeleteParams::default()).await;
            gone(deleted.map(drop), "delete the rights of the run")?;
        }
        let deleted = self.secrets().delete(&names::provision(cluster), &DeleteParams::default()).await;
        gone(deleted.map(drop), "delete the Secret of the run")?;
        let keys: Api<SecretObject> = Api::namespaced(self.client.clone(), NAMESPACE);
        gone(keys.delete(&names::key(cluster), &DeleteParams::default()).await.map(drop), "delete the key of the run")
    }

    /// Where the run is that the book is about.
    async fn status(&self, cluster: ClusterId, book: &SecretObject) -> Result<RunStatus, Trouble> {
        let job = names::provision(cluster);
        let run = text_of(book, RUN).unwrap_or_default();
        let result = text_of(book, RESULT).and_then(|text| serde_json::from_str::<RunResult>(&text).ok());
        let seen = self.job(cluster).await?;
        if let JobSeen::Active { run: active, waits } = &seen
            && (*active == run || result.is_none())
        {
            let told = text_of(book, PROGRESS).filter(|_| *active == run);
            let progress = told.or_else(|| waits.clone()).unwrap_or_else(|| "Waiting for the run to start.".to_owned());
            return Ok(RunStatus::Running { job, progress });
        }
        match (result, seen) {
            (Some(result), _) => {
                self.take_back_order(cluster).await?;
                Ok(match result {
                    RunResult::Succeeded => RunStatus::Succeeded { job },
                    RunResult::Failed(trouble) => RunStatus::Failed { job, trouble },
                })
            }
            (None, JobSeen::Ended { run: ended, why }) if ended == run => {
                self.take_back_order(cluster).await?;
                self.take_back_order(cluster).await?;
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                let message = format!(
                    "The run ended without saying what came of it{why}. What it had made is noted down, and the next run goes \
                     on from there."
                );
                Ok(RunStatus::Failed { job, trouble: Trouble::transient("RunLost", message) })
            }
            // The Job has vanished, or is not made yet.
            (None, _) => Ok(RunStatus::Absent),
        }
    }
}

#[async_trait]
impl ClusterProvisioner for Provisioner {
    async fn ensure_run(&self, request: &RunRequest, attempt: u32) -> Result<(), Trouble> {
        let run = format!("create-{attempt}");
        match self.job(request.cluster).await? {
            JobSeen::Active { .. } => Ok(()),
            JobSeen::Ended { run: ended, .. } if ended == run => Ok(()),
            // Jobs never change: the last one has to go before the next can be made.
            JobSeen::Ended { .. } => {
                self.delete_job(request.cluster).await?;
                Err(Trouble::waiting("RunBeingReplaced", "The Job of the last attempt is being removed."))
            }
            JobSeen::Absent => self.start(request, &run, Purpose::Create).await,
        }
    }

    async fn run_status(&self, cluster: ClusterId) -> Result<RunStatus, Trouble> {
        match self.book(cluster).await? {
            None => Ok(RunStatus::Absent),
            Some(book) => self.status(cluster, &book).await,
        }
    }

    async fn kubeconfig(&self, cluster: ClusterId) -> Result<Secret, Trouble> {
        let missing =
            || Trouble::transient("NoKubeconfig", "The finished run has left no kubeconfig. It is run again.");
        let book = self.book(cluster).await?.ok_or_else(missing)?;
        let sealed = bytes_of(&book, KUBECONFIG).ok_or_else(missing)?;
        let key = Key::parse(cluster, &self.key(cluster).await?);
        let opened = key.and_then(|key| key.open(Content::Kubeconfig, &sealed)).map_err(|_| {
            Trouble::rejected(
                "KubeconfigUnreadable",
                "The kubeconfig that the run has left was altered, or its key was lost.",
            )
        })?;
        String::from_utf8(opened).map(Secret::new).map_err(|_| missing())
    }

    async fn ensure_destroyed(&self, cluster: ClusterId) -> Result<RunStatus, Trouble> {
        let job = names::provision(cluster);
        let Some(book) = self.book(cluster).await? else {
            // Nothing was ever begun, or all is gone but what a crash has left.
            self.forget(cluster).await?;
            return Ok(RunStatus::Absent);
        };
        let run = text_of(&book, RUN).unwrap_or_default();
        let seen = self.job(cluster).await?;
        let Some(attempt) = run.strip_prefix("destroy-").and_then(|number| number.parse::<u32>().ok()) else {
            return match seen {
                JobSeen::Absent => {
                    self.start(&request_of(&book)?, "destroy-1", Purpose::Destroy).await?;
                    Ok(RunStatus::Running { job, progress: "Asking for the infrastructure to be deleted.".to_owned() })
                }
                // Terraform is let finish what it is at, and its state is kept.
                JobSeen::Active { .. } | JobSeen::Ended { .. } => {
                    self.delete_job(cluster).await?;
                    Ok(RunStatus::Running { job, progress: "Stopping the run that creates the cluster.".to_owned() })
                }
            };
        };
        match (self.status(cluster, &book).await?, seen) {
            (RunStatus::Succeeded { .. }, _) => {
                self.forget(cluster).await?;
                Ok(RunStatus::Absent)
            }
            // Its reason was told when it ended, and whoever asks now has waited.
            (RunStatus::Failed { .. }, JobSeen::Absent) => {
                self.start(&request_of(&book)?, &format!("destroy-{}", attempt + 1), Purpose::Destroy).await?;
                Ok(RunStatus::Running { job, progress: "Trying again to delete the infrastructure.".to_owned() })
            }
            (failed @ RunStatus::Failed { .. }, _) => {
                self.delete_job(cluster).await?;
                Ok(failed)
            }
            (RunStatus::Absent, _) => {
                self.start(&request_of(&book)?, &run, Purpose::Destroy).await?;
                Ok(RunStatus::Running { job, progress: "Asking for the infrastructure to be deleted.".to_owned() })
            }
            (running @ RunStatus::Running { .. }, _) => Ok(running),
        }
    }
}

fn request_of(book: &SecretObject) -> Result<RunRequest, Trouble> {
    let read = text_of(book, REQUEST).and_then(|text| serde_json::from_str(&text).ok());
    read.ok_or_else(|| {
        Trouble::rejected(
            "RequestUnreadable",
            "What was asked for when the cluster was created cannot be read any more, so that its infrastructure cannot be \
             deleted by KubeOpera. Delete it in the cloud's console; everything has the tag kubeopera.io/cluster-id.",
        )
    })
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

fn gone(deleted: Result<(), kube::Error>, attempt: &str) -> Result<(), Trouble> {
    match deleted {
        Err(error) if !is_not_found(&error) => Err(trouble(Attempt(attempt), &error)),
        _ => Ok(()),
    }
}

/// Why a Pod is not running yet, if there is more to say than that.
fn why_waiting(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let waiting = status.container_statuses.iter().flatten().find_map(|one| one.state.as_ref()?.waiting.as_ref());
    if let Some(reason) = waiting.and_then(|waiting| waiting.reason.as_deref())
        && ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"].contains(&reason)
    {
        return Some(format!("The Pod of the run cannot start ({reason}). Check its image with kubectl describe."));
    }
    let unschedulable = status.conditions.iter().flatten().any(|one| one.reason.as_deref() == Some("Unschedulable"));
    unschedulable.then(|| "The Pod of the run waits for a node with room for it (1.5 GiB of memory).".to_owned())
}

/// Why a Pod ended, if it did not end by itself.
fn why_ended(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let reason = status
        .container_statuses
        .iter()
        .flatten()
        .find_map(|one| one.state.as_ref()?.terminated.as_ref()?.reason.clone());
    match (status.reason.as_deref(), reason.as_deref()) {
        (Some("Evicted"), _) => Some("its node had no room left, and it was evicted".to_owned()),
        (_, Some("OOMKilled")) => Some("it needed more than 1.5 GiB of memory".to_owned()),
        _ => None,
    }
}
