//! Flux's install manifest: fetched, compared with its checksum, and turned into the objects we apply.

use std::{path::Path, time::Duration};

use host_cluster_controller_crd::{KUBEOPERA, LABEL_MANAGED_BY};
use kube::api::DynamicObject;
use kube_kit::null_as_empty;
use serde::Deserialize;
use service_kit::outbound::{self, BodyError};
use sha2::{Digest, Sha256};
use vocabulary::{Trouble, hex};

use super::{FluxConfig, detect};
use crate::adapters::object::Condition;

/// Upstream's is 270 kB with four controllers, 400 kB with all.
const LARGEST: usize = 8 << 20;

/// Annotation on everything installed: SHA-256 of all that was installed with it. Another value means another manifest
/// or other patches.
pub(super) const INSTALLATION: &str = "kubeopera.io/flux-installation";

/// Where upstream's manifest takes images from.
const UPSTREAM_IMAGES: &str = "ghcr.io/fluxcd/";

/// A flag that we set on one of Flux's controllers.
struct Flag {
    controller: &'static str,
    name: &'static str,
    value: &'static str,
    /// The minor version of Flux that knows it first; an older controller would not start with it.
    since: u32,
}

const fn flag(controller: &'static str, name: &'static str, value: &'static str, since: u32) -> Flag {
    Flag { controller, name, value, since }
}

/// What we change of upstream's flags.
///
/// `--requeue-dependency`: what depends on something that is not ready is looked at again after this time. A tree of six
/// layers would spend three minutes per commit in upstream's 30 s.
///
/// `CancelHealthCheckOnNewRevision`: a new commit ends the waiting for the health of the last one. Otherwise the commit that
/// mends a broken image is not looked at before the time-out of the broken one.
///
/// `--no-remote-bases`: kustomize fetches nothing from elsewhere while it builds; our trees need nothing.
const FLAGS: &[Flag] = &[
    flag("kustomize-controller", "--requeue-dependency", "5s", 0),
    flag("helm-controller", "--requeue-dependency", "5s", 0),
    flag("kustomize-controller", "--feature-gates", "CancelHealthCheckOnNewRevision=true", 7),
    flag("helm-controller", "--feature-gates", "CancelHealthCheckOnNewRevision=true", 8),
    flag("kustomize-controller", "--no-remote-bases", "true", 0),
];

/// Flux as it is installed.
pub(super) struct Manifest {
    /// Every object, patched and marked.
    pub(super) objects: Vec<DynamicObject>,
    /// The value of [`INSTALLATION`].
    pub(super) installation: String,
}

impl Manifest {
    /// Fetches the manifest and checks it.
    pub(super) async fn load(config: &FluxConfig) -> Result<Self, Trouble> {
        let wanted = config.sha256.trim().to_ascii_lowercase();
        if wanted.len() != 64 || wanted.bytes().any(|c| !c.is_ascii_hexdigit()) {
            return Err(Trouble::rejected(
                "FluxManifestChecksumMissing",
                "The SHA-256 of Flux's install manifest is not configured. Set it to the 64 hex digits that `sha256sum` \
                 prints for the manifest you trust.",
            ));
        }
        let bytes = fetch(&config.manifest).await?;
        let found = hex(&Sha256::digest(&bytes));
        if found != wanted {
            return Err(Trouble::rejected(
                "FluxManifestChecksumMismatch",
                format!(
                    "Flux's install manifest at {} has the SHA-256 {found}, and {wanted} is configured, so it is not \
                     applied. Configure the checksum of the manifest you trust.",
                    config.manifest
                ),
            ));
        }
        Self::parse(&bytes, config)
    }

    fn parse(bytes: &[u8], config: &FluxConfig) -> Result<Self, Trouble> {
        let unusable = |what: &str| {
            Trouble::rejected("FluxManifestUnusable", format!("Flux's install manifest at {} {what}.", config.manifest))
        };
        let text = std::str::from_utf8(bytes).map_err(|_| unusable("is not text"))?;
        let documents: Vec<serde_json::Value> =
            serde_saphyr::from_multiple(text).map_err(|_| unusable("is not YAML"))?;
        let mut objects = documents
            .into_iter()
            .filter(|document| !document.is_null())
            .map(serde_json::from_value)
            .collect::<Result<Vec<DynamicObject>, _>>()
            .map_err(|_| unusable("has a document that is not a Kubernetes object"))?;
        let has = |wanted: &str, name: &str| objects.iter().any(|object| is(object, wanted, name));
        if !has("CustomResourceDefinition", "gitrepositories.source.toolkit.fluxcd.io")
            || !has("Deployment", "source-controller")
        {
            return Err(unusable("is not Flux's: it has neither its CRDs nor its controllers"));
        }
        for object in &mut objects {
            patch(object, config);
        }
        let installation = fingerprint(&objects);
        for object in &mut objects {
            object.metadata.labels.get_or_insert_default().insert(LABEL_MANAGED_BY.to_owned(), KUBEOPERA.to_owned());
            object.metadata.annotations.get_or_insert_default().insert(INSTALLATION.to_owned(), installation.clone());
        }
        Ok(Self { objects, installation })
    }

    /// What has to exist before anything else can: the namespace, the CRDs, and the ClusterRoles that others are bound to.
    pub(super) fn foundation(&self) -> Vec<DynamicObject> {
        self.objects.iter().filter(|object| is_foundation(object)).cloned().collect()
    }

    /// All the rest.
    pub(super) fn rest(&self) -> Vec<DynamicObject> {
        self.objects.iter().filter(|object| !is_foundation(object)).cloned().collect()
    }

    /// The CRDs, with the versions each of them serves or stores.
    pub(super) fn crds(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.objects.iter().filter(|object| kind(object) == "CustomResourceDefinition").map(|crd| {
            let versions = crd.data.pointer("/spec/versions").and_then(serde_json::Value::as_array);
            let names = versions.into_iter().flatten().filter_map(|version| version.get("name")?.as_str());
            (crd.metadata.name.as_deref().unwrap_or_default(), names.collect())
        })
    }
}

fn is_foundation(object: &DynamicObject) -> bool {
    matches!(kind(object), "Namespace" | "CustomResourceDefinition" | "ClusterRole")
}

/// The kind an object gives itself.
pub(super) fn kind(object: &DynamicObject) -> &str {
    object.types.as_ref().map_or("", |types| &types.kind)
}

fn is(object: &DynamicObject, wanted: &str, name: &str) -> bool {
    kind(object) == wanted && object.metadata.name.as_deref() == Some(name)
}

/// Our changes to a controller: flags, where its image comes from, and what it is pulled with.
fn patch(object: &mut DynamicObject, config: &FluxConfig) {
    if kind(object) != "Deployment" {
        return;
    }
    let name = object.metadata.name.clone().unwrap_or_default();
    let version = object.metadata.labels.as_ref().and_then(|labels| labels.get("app.kubernetes.io/version"));
    let minor = version.and_then(|version| detect::minor(version)).unwrap_or_default();
    let Some(pod) = object.data.pointer_mut("/spec/template/spec").and_then(serde_json::Value::as_object_mut) else {
        return;
    };
    if !config.image_pull_secrets.is_empty() {
        let secrets = config.image_pull_secrets.iter().map(|name| serde_json::json!({ "name": name }));
        pod.insert("imagePullSecrets".to_owned(), secrets.collect());
    }
    let containers = pod.get_mut("containers").and_then(serde_json::Value::as_array_mut);
    for container in containers.into_iter().flatten() {
        if let (Some(registry), Some(image)) = (&config.image_registry, container.get_mut("image")) {
            let path = image.as_str().and_then(|image| image.strip_prefix(UPSTREAM_IMAGES)).map(str::to_owned);
            if let Some(path) = path {
                *image = format!("{}/{path}", registry.trim_end_matches('/')).into();
            }
        }
        let Some(args) = container.get_mut("args").and_then(serde_json::Value::as_array_mut) else { continue };
        for Flag { name: flag, value, .. } in FLAGS.iter().filter(|flag| flag.controller == name && flag.since <= minor)
        {
            // Feature gates add up; of any other flag the last one would win, and one is enough.
            args.retain(|arg| {
                *flag == "--feature-gates" || arg.as_str().is_none_or(|arg| arg.split('=').next() != Some(*flag))
            });
            args.push(format!("{flag}={value}").into());
        }
    }
}

fn fingerprint(objects: &[DynamicObject]) -> String {
    let mut digest = Sha256::new();
    for object in objects {
        // A map of serde_json is sorted, so equal objects give equal bytes.
        digest.update(serde_json::to_vec(&serde_json::to_value(object).unwrap_or_default()).unwrap_or_default());
    }
    hex(&digest.finalize())
}

async fn fetch(location: &str) -> Result<Vec<u8>, Trouble> {
    if location.starts_with("https://") {
        return download(location).await;
    }
    if location.contains("://") && !location.starts_with("file://") {
        return Err(Trouble::rejected(
            "FluxManifestUnusable",
            format!("Flux's install manifest cannot be read from {location}. Use a path, file:///… or https://…."),
        ));
    }
    let path = Path::new(location.strip_prefix("file://").unwrap_or(location));
    let unreadable = |why: &str| {
        Trouble::rejected(
            "FluxManifestUnreadable",
            format!(
                "Flux's install manifest {} cannot be read: {why}. Put it there or configure where it is.",
                path.display()
            ),
        )
    };
    let metadata = tokio::fs::metadata(path).await.map_err(|error| unreadable(&error.kind().to_string()))?;
    if !metadata.is_file() || metadata.len() > LARGEST as u64 {
        return Err(unreadable("it is not a file of at most 8 MiB"));
    }
    tokio::fs::read(path).await.map_err(|error| unreadable(&error.kind().to_string()))
}

/// Releases are served by way of a redirect, so a few are followed, over HTTPS only. What they lead to is trusted no more
/// than what they come from: the checksum decides.
async fn download(url: &str) -> Result<Vec<u8>, Trouble> {
    let unreachable = |why: &str| {
        Trouble::transient(
            "FluxManifestUnreachable",
            format!("Flux's install manifest could not be fetched from {url}: {why}."),
        )
    };
    let client = reqwest::Client::builder()
        .https_only(true)
        .redirect(reqwest::redirect::Policy::limited(3))
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(15))
        .timeout(Duration::from_mins(1))
        .build()
        .map_err(|_| unreachable("no secure connection can be made"))?;
    let answer =
        client.get(url).send().await.map_err(|_| unreachable("the server cannot be reached or does not answer"))?;
    if !answer.status().is_success() {
        return Err(unreachable(&format!("the server answered {}", answer.status().as_u16())));
    }
    outbound::body(answer, LARGEST).await.map_err(|error| match error {
        BodyError::BrokeOff(_) => unreachable("the connection was lost"),
        BodyError::TooLarge => Trouble::rejected(
            "FluxManifestUnusable",
            format!("What is at {url} is larger than 8 MiB, so it is not Flux's install manifest."),
        ),
    })
}

/// The parts of a CRD on the server that installing looks at.
#[derive(Deserialize)]
pub(super) struct CrdSeen {
    #[serde(default)]
    status: CrdStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CrdStatus {
    #[serde(deserialize_with = "null_as_empty")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "null_as_empty")]
    stored_versions: Vec<String>,
}

impl CrdSeen {
    /// Whether its kind is served.
    pub(super) fn is_established(&self) -> bool {
        let holds = |wanted: &str| {
            self.status.conditions.iter().any(|condition| condition.r#type == wanted && condition.is_true())
        };
        holds("Established") && holds("NamesAccepted")
    }

    /// Versions in which objects may be stored.
    pub(super) fn stored_versions(&self) -> &[String] {
        &self.status.stored_versions
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const MANIFEST: &str = "\
---
apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gitrepositories.source.toolkit.fluxcd.io
  labels: {app.kubernetes.io/part-of: flux}
spec:
  versions: [{name: v1}, {name: v1beta2}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller, namespace: flux-system}
spec: {template: {spec: {containers: [{name: manager, image: 'ghcr.io/fluxcd/source-controller:v1.9.4', args: [--log-level=info]}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system, labels: {app.kubernetes.io/version: v2.9.4}}
spec: {template: {spec: {containers: [{name: manager, image: 'ghcr.io/fluxcd/kustomize-controller:v1.9.4', args: [--requeue-dependency=30s]}]}}}
";

    fn config(manifest: &Path, sha256: &str) -> FluxConfig {
        FluxConfig {
            manifest: manifest.display().to_string(),
            sha256: sha256.to_owned(),
            image_registry: None,
            image_pull_secrets: Vec::new(),
        }
    }

    fn parsed(image_registry: Option<&str>, image_pull_secrets: &[&str]) -> Manifest {
        let config = FluxConfig {
            image_registry: image_registry.map(str::to_owned),
            image_pull_secrets: image_pull_secrets.iter().map(|name| (*name).to_owned()).collect(),
            ..config(Path::new("flux.yaml"), "")
        };
        Manifest::parse(MANIFEST.as_bytes(), &config).unwrap()
    }

    fn at<'a>(manifest: &'a Manifest, name: &str, pointer: &str) -> &'a serde_json::Value {
        let object = manifest.objects.iter().find(|object| is(object, "Deployment", name)).unwrap();
        object.data.pointer(pointer).unwrap()
    }

    #[tokio::test]
    async fn a_manifest_with_another_checksum_is_refused_and_both_are_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), MANIFEST).unwrap();
        let right = hex(&Sha256::digest(MANIFEST));
        let wrong = "0".repeat(64);

        let mismatch = Manifest::load(&config(file.path(), &wrong)).await.err().unwrap();

        assert_eq!(mismatch.reason, "FluxManifestChecksumMismatch");
        assert!(mismatch.message.contains(&right) && mismatch.message.contains(&wrong), "{mismatch}");
        assert!(Manifest::load(&config(file.path(), &right.to_uppercase())).await.is_ok());
        assert_eq!(Manifest::load(&config(file.path(), "")).await.err().unwrap().reason, "FluxManifestChecksumMissing");
        let absent = Manifest::load(&config(Path::new("/nowhere/flux.yaml"), &wrong)).await.err().unwrap();
        assert_eq!(absent.reason, "FluxManifestUnreadable");
        let other_scheme = Manifest::load(&config(Path::new("ftp://host/flux.yaml"), &wrong)).await.err().unwrap();
        assert_eq!(other_scheme.reason, "FluxManifestUnusable");
    }

    #[test]
    fn everything_is_marked_and_what_upstream_marked_stays() {
        let manifest = parsed(None, &[]);

        assert_eq!(manifest.objects.len(), 4);
        for object in &manifest.objects {
            assert_eq!(object.metadata.labels.as_ref().unwrap()[LABEL_MANAGED_BY], KUBEOPERA);
            assert_eq!(object.metadata.annotations.as_ref().unwrap()[INSTALLATION], manifest.installation);
        }
        let foundation = manifest.foundation();
        assert_eq!(foundation.iter().map(kind).collect::<Vec<_>>(), ["Namespace", "CustomResourceDefinition"]);
        assert_eq!(foundation[1].metadata.labels.as_ref().unwrap()["app.kubernetes.io/part-of"], "flux");
        assert_eq!(manifest.rest().len(), 2);
        assert_eq!(
            manifest.crds().collect::<Vec<_>>(),
            [("gitrepositories.source.toolkit.fluxcd.io", vec!["v1", "v1beta2"])]
        );
    }

    #[test]
    fn flags_replace_upstreams_own() {
        let args = "/spec/template/spec/containers/0/args";

        assert_eq!(at(&parsed(None, &[]), "source-controller", args), &serde_json::json!(["--log-level=info"]));
        assert_eq!(
            at(&parsed(None, &[]), "kustomize-controller", args),
            &serde_json::json!([
                "--requeue-dependency=5s",
                "--feature-gates=CancelHealthCheckOnNewRevision=true",
                "--no-remote-bases=true"
            ])
        );
    }

    #[test]
    fn a_controller_gets_no_flag_it_does_not_know() {
        let old = MANIFEST.replace("v2.9.4", "v2.6.4");
        let config = config(Path::new("flux.yaml"), "");

        let manifest = Manifest::parse(old.as_bytes(), &config).unwrap();

        assert_eq!(
            at(&manifest, "kustomize-controller", "/spec/template/spec/containers/0/args"),
            &serde_json::json!(["--requeue-dependency=5s", "--no-remote-bases=true"])
        );
    }

    #[test]
    fn images_come_from_a_mirror_where_one_is_configured() {
        let manifest = parsed(Some("mirror.acme.com:5000/ghcr.io/fluxcd/"), &["registry-pull"]);

        assert_eq!(
            at(&manifest, "source-controller", "/spec/template/spec/containers/0/image"),
            "mirror.acme.com:5000/ghcr.io/fluxcd/source-controller:v1.9.4"
        );
        assert_eq!(at(&manifest, "source-controller", "/spec/template/spec/imagePullSecrets/0/name"), "registry-pull");
        assert_ne!(manifest.installation, parsed(None, &[]).installation);
        assert_eq!(
            manifest.installation,
            parsed(Some("mirror.acme.com:5000/ghcr.io/fluxcd"), &["registry-pull"]).installation
        );
    }

    #[test]
    fn a_manifest_of_something_else_is_refused() {
        let config = config(Path::new("flux.yaml"), "");
        for text in
            ["", "a: b", "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: source-controller}", "[", "- a"]
        {
            assert_eq!(
                Manifest::parse(text.as_bytes(), &config).err().unwrap().reason,
                "FluxManifestUnusable",
                "{text}"
            );
        }
    }
}
