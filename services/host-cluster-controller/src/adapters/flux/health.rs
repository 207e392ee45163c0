//! How KubeOpera's own Flux objects do, and what the first cause is when one of them does not.
//!
//! The conditions are read as Flux's controllers write them (<https://fluxcd.io/flux/components/kustomize/kustomizations/>):
//! `Ready` speaks of the current generation only if `status.observedGeneration` is that generation, `Stalled` exists only
//! when somebody has to act, and an expired token leaves every Kustomization ready while the source is not.

use std::collections::BTreeSet;

use host_cluster_controller_decide::{KustomizationSeen, Readiness, SourceSeen, SyncSeen};
use kube::Client;
use kube_kit::{Attempt, View, read, read_all, word};
use serde::Deserialize;
use vocabulary::{ClusterId, Trouble};

use super::workload::{self, not_ready, sentence};
use crate::adapters::{
    FLUX_NAMESPACE, LABEL_HELM_RELEASE, LABEL_HELM_RELEASE_NAMESPACE, LABEL_KUSTOMIZATION,
    LABEL_KUSTOMIZATION_NAMESPACE,
    object::{Condition, Metadata},
};

const ATTEMPT: Attempt<'static> = Attempt("look at KubeOpera's Flux objects");
/// Name of the `GitRepository` and of the root Kustomization.
pub(super) const NAME: &str = "kubeopera";

/// Source, root and children as they are.
pub(super) async fn look(client: &Client, cluster: ClusterId) -> Result<SyncSeen, Trouble> {
    let source = source(client, cluster).await?;
    let kustomizations = kustomizations(client, cluster).await?;
    let artifact =
        source.as_ref().and_then(|source| source.status.artifact.as_ref()).map(|artifact| artifact.revision.as_str());
    let tree = Tree { client, artifact, kustomizations: &kustomizations };
    let mut seen = SyncSeen { source: source.as_ref().map(GitRepository::seen), ..SyncSeen::default() };
    for kustomization in &kustomizations {
        let one = kustomization.seen(tree.explained(kustomization).await?);
        if kustomization.metadata.name == NAME { seen.root = Some(one) } else { seen.children.push(one) }
    }
    Ok(seen)
}

/// Our `GitRepository`; none if there is none, if it does not carry the cluster's label, or if there is no Flux.
pub(super) async fn source(client: &Client, cluster: ClusterId) -> Result<Option<GitRepository>, Trouble> {
    let path = format!("/apis/source.toolkit.fluxcd.io/v1/namespaces/{FLUX_NAMESPACE}/gitrepositories/{NAME}");
    let found: Option<GitRepository> = read(client, ATTEMPT, &path, View::Whole).await?;
    Ok(found.filter(|source| source.metadata.is_marked(cluster) == Some(true)))
}

/// The Kustomizations that carry the cluster's label, or none and read from our source, sorted by name.
pub(super) async fn kustomizations(client: &Client, cluster: ClusterId) -> Result<Vec<Kustomization>, Trouble> {
    let collection = format!("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{FLUX_NAMESPACE}/kustomizations");
    let found: Option<Vec<Kustomization>> = read_all(client, ATTEMPT, &collection, &[], View::Whole).await?;
    let mut ours: Vec<_> = found.unwrap_or_default().into_iter().filter(|one| one.belongs_to(cluster)).collect();
    ours.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    Ok(ours)
}

/// The Kustomizations of a cluster, which explain each other.
struct Tree<'a> {
    client: &'a Client,
    artifact: Option<&'a str>,
    kustomizations: &'a [Kustomization],
}

/// What keeps something from being ready.
struct Cause {
    why: String,
    /// Nothing is wrong, it only takes its time.
    is_progress: bool,
}

impl Cause {
    fn progress(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_progress: true }
    }

    fn trouble(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_progress: false }
    }

    /// The same, said of the object it is about.
    fn of(self, object: &str) -> Self {
        Self { why: format!("{object}: {}", self.why), ..self }
    }
}

impl Tree<'_> {
    /// Whether a Kustomization has applied what it should; if not, why, in terms of what is at the bottom of it.
    ///
    /// One that has applied an earlier commit and is on its way to the next does its work: every commit leads through that.
    async fn explained(&self, kustomization: &Kustomization) -> Result<Readiness, Trouble> {
        let readiness = kustomization.readiness(self.artifact);
        let Readiness::NotReady { reason, why } = readiness else { return Ok(readiness) };
        let cause = if reason == "DependencyNotReady" {
            match self.awaited_by(kustomization) {
                Awaited::Nothing => Cause::progress("It is about to be applied."),
                Awaited::Missing(name) => {
                    Cause::trouble(format!("It waits for Kustomization {}, which does not exist.", word(&name)))
                }
                Awaited::Kustomization(awaited) => {
                    let cause = match awaited.readiness(self.artifact) {
                        Readiness::NotReady { reason, why } => self.cause(awaited, &reason, why).await?,
                        Readiness::Stalled { why, .. } => Cause::trouble(why),
                        Readiness::Ready => Cause::progress("It is being applied."),
                    };
                    cause.of(&format!("It waits for Kustomization {}", word(&awaited.metadata.name)))
                }
            }
        } else {
            self.cause(kustomization, &reason, why).await?
        };
        let is_between_commits = cause.is_progress && kustomization.status.last_applied_revision.is_some();
        Ok(if is_between_commits { Readiness::Ready } else { not_ready(&reason, cause.why) })
    }

    /// What a Kustomization itself lacks: where it waits for health, the object that is not healthy.
    async fn cause(&self, kustomization: &Kustomization, reason: &str, why: String) -> Result<Cause, Trouble> {
        let is_progress = match reason {
            "DependencyNotReady" => return Ok(Cause::progress("It is about to be applied.")),
            "NotPickedUp" => return Ok(Cause::progress(why)),
            "Progressing" => true,
            "HealthCheckFailed" | "HealthCheckCanceled" | "ProgressingWithRetry" => false,
            _ => return Ok(Cause::trouble(why)),
        };
        let name = kustomization.metadata.name.as_str();
        let labels = [(LABEL_KUSTOMIZATION, name), (LABEL_KUSTOMIZATION_NAMESPACE, FLUX_NAMESPACE)];
        if let Some(cause) = self.release_not_ready(&labels).await? {
            return Ok(cause);
        }
        if let Some(cause) = self.workload_not_ready(&labels).await? {
            return Ok(cause);
        }
        Ok(Cause { why, is_progress })
    }

    /// The first Helm release with these labels that is not ready, and why.
    async fn release_not_ready(&self, labels: &[(&str, &str)]) -> Result<Option<Cause>, Trouble> {
        let collection = "/apis/helm.toolkit.fluxcd.io/v2/helmreleases";
        let releases: Option<Vec<HelmRelease>> =
            read_all(self.client, ATTEMPT, collection, labels, View::Whole).await?;
        let mut waiting = releases.unwrap_or_default();
        waiting.retain(|release| !release.status.is_ready(release.metadata.generation));
        // One that waits for another explains nothing.
        waiting.sort_by_key(|release| release.status.ready().is_some_and(|ready| ready.reason == "DependencyNotReady"));
        let Some(release) = waiting.first() else { return Ok(None) };
        let Metadata { name, namespace, .. } = &release.metadata;
        let object = format!("HelmRelease {}/{}", word(namespace), word(name));
        if let Some(why) = self.chart_not_ready(release).await? {
            return Ok(Some(Cause::trouble(why).of(&object)));
        }
        let labels = [(LABEL_HELM_RELEASE, name.as_str()), (LABEL_HELM_RELEASE_NAMESPACE, namespace.as_str())];
        if let Some(cause) = self.workload_not_ready(&labels).await? {
            return Ok(Some(cause.of(&object)));
        }
        let cause = match release.status.ready() {
            None => Cause::progress("Flux has not looked at it yet."),
            Some(ready) => Cause { why: sentence(&ready.message), is_progress: ready.status == "Unknown" },
        };
        Ok(Some(cause.of(&object)))
    }

    /// The first workload with these labels that does not run, and why.
    async fn workload_not_ready(&self, labels: &[(&str, &str)]) -> Result<Option<Cause>, Trouble> {
        let found = workload::first_unavailable(self.client, labels).await?;
        Ok(found.map(|one| Cause { why: one.why, is_progress: one.is_starting }.of(&one.object)))
    }

    /// Why the chart of a release is not there, if that is what it waits for.
    async fn chart_not_ready(&self, release: &HelmRelease) -> Result<Option<String>, Trouble> {
        let own = release.metadata.namespace.as_str();
        let (kind, plural, namespace, name) = match (&release.spec.chart_ref, &release.status.helm_chart) {
            (Some(chart), _) if chart.kind == "OCIRepository" => {
                ("OCIRepository", "ocirepositories", chart.namespace.as_deref().unwrap_or(own), chart.name.as_str())
            }
            (Some(chart), _) if chart.kind == "HelmChart" => {
                ("HelmChart", "helmcharts", chart.namespace.as_deref().unwrap_or(own), chart.name.as_str())
            }
            (None, Some(chart)) => match chart.split_once('/') {
                Some((namespace, name)) => ("HelmChart", "helmcharts", namespace, name),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let path = format!("/apis/source.toolkit.fluxcd.io/v1/namespaces/{}/{plural}/{}", word(namespace), word(name));
        let Some(chart) = read::<Object>(self.client, ATTEMPT, &path, View::Whole).await? else {
            return Ok(Some(format!("{kind} {}/{} does not exist.", word(namespace), word(name))));
        };
        let failed = chart.status.ready().filter(|ready| ready.status == "False");
        Ok(failed.map(|ready| format!("{kind} {}/{}: {}", word(namespace), word(name), sentence(&ready.message))))
    }

    /// What a Kustomization waits for in the end: follows dependencies to the one that waits for none itself.
    fn awaited_by(&self, kustomization: &Kustomization) -> Awaited<'_> {
        let mut at = kustomization;
        let mut visited = BTreeSet::new();
        let mut found = Awaited::Nothing;
        while visited.insert(&at.metadata.name) {
            let dependencies = at.spec.depends_on.iter().map(|dependency| dependency.name.as_str());
            let unmet = dependencies.map(|name| (name, self.named(name))).find(|(_, one)| {
                one.is_none_or(|one| !one.has_applied(self.artifact) || !one.readiness(self.artifact).is_ready())
            });
            match unmet {
                None => return found,
                Some((name, None)) => return Awaited::Missing(name.to_owned()),
                Some((_, Some(next))) => {
                    found = Awaited::Kustomization(next);
                    at = next;
                }
            }
        }
        found
    }

    fn named(&self, name: &str) -> Option<&Kustomization> {
        self.kustomizations.iter().find(|one| one.metadata.name == name)
    }
}

enum Awaited<'a> {
    Nothing,
    Missing(String),
    Kustomization(&'a Kustomization),
}

/// The status that Flux's objects have in common.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    observed_generation: i64,
    conditions: Vec<Condition>,
    artifact: Option<Artifact>,
    last_handled_reconcile_at: Option<String>,
    last_applied_revision: Option<String>,
    helm_chart: Option<String>,
}

#[derive(Deserialize)]
struct Artifact {
    revision: String,
}

impl Status {
    fn condition(&self, wanted: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.r#type == wanted)
    }

    fn ready(&self) -> Option<&Condition> {
        self.condition("Ready")
    }

    fn is_ready(&self, generation: i64) -> bool {
        self.observed_generation == generation && self.ready().is_some_and(|ready| ready.status == "True")
    }

    /// Whether a reconciliation is under way.
    pub(super) fn is_reconciling(&self) -> bool {
        self.condition("Reconciling").is_some_and(|condition| condition.status == "True")
    }

    /// `had_result`: whether what is being looked at anew was fine before, so that a look in progress is no news.
    fn readiness(&self, generation: i64, had_result: bool) -> Readiness {
        let of_now = |condition: &&Condition| condition.observed_generation.is_none_or(|seen| seen == generation);
        if let Some(stalled) = self.condition("Stalled").filter(|stalled| stalled.status == "True").filter(of_now) {
            return Readiness::Stalled { reason: reason(&stalled.reason), why: sentence(&stalled.message) };
        }
        let is_current = self.observed_generation == generation;
        match self.ready() {
            Some(ready) if ready.status == "True" && is_current => Readiness::Ready,
            Some(ready) if ready.status == "Unknown" && is_current && had_result => Readiness::Ready,
            // A failure of an older generation says nothing about this one.
            Some(ready)
                if ready.status != "True" && ready.observed_generation.is_none_or(|seen| seen == generation) =>
            {
                not_ready(&reason(&ready.reason), sentence(&ready.message))
            }
            _ => not_ready("NotPickedUp", "Flux has not looked at it in its present form yet.".to_owned()),
        }
    }
}

fn reason(text: &str) -> String {
    let text = word(text);
    if text.is_empty() { "NotReady".to_owned() } else { text }
}

/// A `GitRepository`.
#[derive(Deserialize)]
pub(super) struct GitRepository {
    pub(super) metadata: Metadata,
    #[serde(default)]
    spec: SourceSpec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SourceSpec {
    url: String,
    r#ref: Option<Branch>,
    suspend: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Branch {
    branch: Option<String>,
}

impl GitRepository {
    fn seen(&self) -> SourceSeen {
        SourceSeen {
            url: self.spec.url.clone(),
            branch: self.spec.r#ref.as_ref().and_then(|reference| reference.branch.clone()),
            is_suspended: self.spec.suspend,
            readiness: self.status.readiness(self.metadata.generation, self.status.artifact.is_some()),
            revision: self.status.artifact.as_ref().map(|artifact| artifact.revision.clone()),
            requested: self.metadata.annotations.get(REQUESTED_AT).cloned(),
            handled_request: self.status.last_handled_reconcile_at.clone(),
        }
    }
}

/// Annotation by which Flux is asked to look at once.
pub(super) const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";

/// A Kustomization.
#[derive(Deserialize)]
pub(super) struct Kustomization {
    pub(super) metadata: Metadata,
    #[serde(default)]
    pub(super) spec: KustomizationSpec,
    #[serde(default)]
    pub(super) status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct KustomizationSpec {
    path: String,
    pub(super) suspend: bool,
    source_ref: Reference,
    depends_on: Vec<Reference>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    kind: String,
    name: String,
    namespace: Option<String>,
}

impl Kustomization {
    /// By label; without one, because it reads from our source.
    fn belongs_to(&self, cluster: ClusterId) -> bool {
        let source = &self.spec.source_ref;
        self.metadata.is_marked(cluster).unwrap_or_else(|| {
            source.kind == "GitRepository"
                && source.name == NAME
                && source.namespace.as_deref().is_none_or(|namespace| namespace == FLUX_NAMESPACE)
        })
    }

    /// Whether it has applied this revision of the source, health checks included.
    fn has_applied(&self, artifact: Option<&str>) -> bool {
        self.status.last_applied_revision.is_some() && self.status.last_applied_revision.as_deref() == artifact
    }

    fn readiness(&self, artifact: Option<&str>) -> Readiness {
        self.status.readiness(self.metadata.generation, self.has_applied(artifact))
    }

    fn seen(&self, readiness: Readiness) -> KustomizationSeen {
        KustomizationSeen {
            name: self.metadata.name.clone(),
            path: self.spec.path.trim_start_matches("./").trim_matches('/').to_owned(),
            is_suspended: self.spec.suspend,
            deletion_requested_at: self.metadata.deletion_timestamp,
            readiness,
            applied_revision: self.status.last_applied_revision.clone(),
        }
    }
}

#[derive(Deserialize)]
struct HelmRelease {
    metadata: Metadata,
    #[serde(default)]
    spec: ReleaseSpec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ReleaseSpec {
    chart_ref: Option<Reference>,
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    status: Status,
}

#[cfg(test)]
mod tests;
