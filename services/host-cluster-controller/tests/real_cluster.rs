//! The adapters on a real cluster with a real Flux. One test with one cluster, which its parts take over from each other
//! as they left it: to start a cluster and a Flux takes longer than all they do with it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use gitops_scaffolder_contract::GitCredential;
use host_cluster_controller::{
    adapters::{Clusters, Connections, FluxConfig, FluxOnClusters, ManagementSecrets},
    ports::{Flux, Secrets, SyncPart, TargetCluster},
};
use host_cluster_controller_crd::{ANNOTATION_GIT_REPOSITORY, Installation, LABEL_CLUSTER_ID, NAMESPACE};
use host_cluster_controller_decide::{
    FluxFitness, FluxInstallation, FluxSeen, GitSecretSeen, Reach, Readiness, SyncSeen, SyncWanted, Target,
};
use k8s_openapi::{
    ByteString,
    api::core::v1::{Namespace, Secret as SecretObject},
};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
};
use kube_kit::{KubeconfigOptions, wait_until};
use serde_json::json;
use stack::LocalCluster;
use vocabulary::{ClusterId, GitUrl, Secret, SecretName};

const PATIENCE: Duration = Duration::from_secs(150);
const PAUSE: Duration = Duration::from_millis(500);
const ALLOW: KubeconfigOptions = KubeconfigOptions { allow_loopback: true, allowed_targets: &[], own_ranges: None };

#[tokio::test]
#[ignore = "starts a cluster"]
async fn the_adapters_do_on_a_real_cluster_what_their_ports_promise() {
    let real = Real::start().await;

    git_credentials_are_read_from_the_management_cluster(&real).await;
    a_cluster_is_reached_by_its_kubeconfig_secret_and_a_dangerous_one_is_refused(&real).await;
    what_others_installed_counts_as_present_and_what_our_tree_installed_does_not(&real).await;

    flux_becomes_available_from_the_manifest_and_installing_it_again_changes_nothing(&real).await;
    an_object_of_flux_that_is_gone_is_noticed_and_comes_back(&real).await;
    a_flux_of_others_is_used_as_it_is_and_never_written_to(&real).await;
    an_image_that_cannot_be_pulled_is_named_and_the_right_one_mends_it(&real).await;
    credentials_that_somebody_changed_on_the_cluster_are_known_to_be_changed(&real).await;
    another_kubeopera_sees_whose_the_cluster_is_until_it_is_let_go_of(&real).await;
    a_registry_credential_is_copied_to_where_the_tree_pulls_and_what_others_have_there_is_left_alone(&real).await;
    a_git_server_that_does_not_answer_is_said_to_be_so_and_letting_go_leaves_what_is_not_ours(&real).await;
}

struct Real {
    client: Client,
    host: Target,
    connections: Arc<Connections>,
    config: FluxConfig,
    flux: FluxOnClusters,
    cluster: LocalCluster,
}

/// The KubeOpera of these tests.
fn ours() -> Installation {
    Installation { id: "ours".to_owned(), url: Some("https://ours.acme.com".to_owned()) }
}

impl Real {
    async fn start() -> Self {
        let cluster = LocalCluster::up("stack-adapters", &[]).await.unwrap();
        let client = cluster.client().await.unwrap();
        let connections = Arc::new(Connections::new(client.clone(), ALLOW));
        let host = Target {
            cluster: "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap(),
            reach: Reach::OwnServiceAccount,
        };
        let (manifest, sha256) = stack::flux_manifest().await.unwrap();
        let manifest = manifest.display().to_string();
        let config = FluxConfig { manifest, sha256, image_registry: None, image_pull_secrets: Vec::new() };
        let flux = FluxOnClusters::new(Arc::clone(&connections), Some(config.clone()), ours());
        Self { client, host, connections, config, flux, cluster }
    }

    /// Installs our Flux, or makes it ours again.
    async fn flux_ready(&self) -> FluxInstallation {
        self.flux.install(&self.host).await.unwrap();
        self.available().await
    }

    async fn seen(&self) -> FluxInstallation {
        match self.flux.look(&self.host).await.unwrap() {
            FluxSeen::Present(flux) => flux,
            FluxSeen::Absent => panic!("there is no Flux"),
        }
    }

    async fn available(&self) -> FluxInstallation {
        let available = wait_until(PATIENCE, PAUSE, || async {
            let seen = self.seen().await;
            let ready = seen.components.len() >= 4 && seen.components.iter().all(|one| one.readiness.is_ready());
            Ok(if ready { Some(seen) } else { None })
        });
        match available.await.unwrap() {
            Some(seen) => seen,
            None => panic!("Flux is not available: {:?}", self.seen().await.components),
        }
    }

    async fn sync_until(&self, what: &str, holds: impl Fn(&SyncSeen) -> bool) -> SyncSeen {
        let found = wait_until(PATIENCE, PAUSE, || async {
            let seen = self.flux.sync(&self.host).await?;
            Ok(if holds(&seen) { Some(seen) } else { None })
        });
        match found.await.unwrap() {
            Some(seen) => seen,
            None => panic!("{what}: {:?}", self.flux.sync(&self.host).await),
        }
    }

    /// `kind name -> resourceVersion` of everything that carries Flux's label.
    async fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::new();
        for (group, version, kind) in [
            ("", "v1", "Namespace"),
            ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
            ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
            ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
            ("", "v1", "ServiceAccount"),
            ("", "v1", "Service"),
            ("", "v1", "ResourceQuota"),
            ("apps", "v1", "Deployment"),
            ("networking.k8s.io", "v1", "NetworkPolicy"),
        ] {
            let resource = match kind {
                "NetworkPolicy" => {
                    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), "networkpolicies")
                }
                _ => ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind)),
            };
            let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
            let params = ListParams::default().labels("app.kubernetes.io/part-of=flux");
            for object in api.list(&params).await.unwrap() {
                versions.insert(format!("{kind} {}", object.name_any()), object.resource_version().unwrap());
            }
        }
        versions
    }

    async fn label_source_crd(&self, labels: serde_json::Value) {
        let resource =
            ApiResource::from_gvk(&GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"));
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let patch = Patch::Merge(json!({"metadata": {"labels": labels}}));
        api.patch("gitrepositories.source.toolkit.fluxcd.io", &PatchParams::default(), &patch).await.unwrap();
    }

    async fn ensure_namespace(&self) {
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(NAMESPACE.to_owned());
        // Existing already is as good.
        let _ = Api::<Namespace>::all(self.client.clone()).create(&PostParams::default(), &namespace).await;
    }

    async fn put_secret(&self, name: &str, data: &[(&str, &str)]) {
        self.ensure_namespace().await;
        let mut secret = SecretObject::default();
        secret.metadata.name = Some(name.to_owned());
        secret.metadata.labels = Some([(LABEL_CLUSTER_ID.to_owned(), self.host.cluster.to_string())].into());
        secret.data =
            Some(data.iter().map(|(key, text)| ((*key).to_owned(), ByteString(text.as_bytes().to_vec()))).collect());
        let params = PatchParams::apply("real-cluster-tests").force();
        let api: Api<SecretObject> = Api::namespaced(self.client.clone(), NAMESPACE);
        api.patch(name, &params, &Patch::Apply(secret)).await.unwrap();
    }
}

fn wanted(cluster: ClusterId, url: &str) -> SyncWanted {
    SyncWanted {
        cluster,
        url: url.parse().unwrap(),
        branch: "main".to_owned(),
        path: "fluxcd/clusters/prod".parse().unwrap(),
        request: "1".to_owned(),
    }
}

async fn flux_becomes_available_from_the_manifest_and_installing_it_again_changes_nothing(real: &Real) {
    let seen = real.flux_ready().await;
    let before = real.versions().await;

    real.flux.install(&real.host).await.unwrap();

    assert_eq!(real.versions().await, before);
    assert!(before.len() >= 25, "{before:?}");
    assert_eq!((seen.managed_by_other, seen.fitness), (None, FluxFitness::Usable));
    assert_eq!(seen.version.as_deref(), Some("v2.9.4"));
}

async fn an_object_of_flux_that_is_gone_is_noticed_and_comes_back(real: &Real) {
    let bindings: Api<k8s_openapi::api::rbac::v1::ClusterRoleBinding> = Api::all(real.client.clone());
    bindings.delete("cluster-reconciler-flux-system", &DeleteParams::default()).await.unwrap();

    assert_eq!(real.seen().await.fitness, FluxFitness::ToBeInstalledAgain);
    real.flux.install(&real.host).await.unwrap();

    assert_eq!(real.seen().await.fitness, FluxFitness::Usable);
    bindings.get("cluster-reconciler-flux-system").await.unwrap();
}

async fn a_flux_of_others_is_used_as_it_is_and_never_written_to(real: &Real) {
    real.label_source_crd(json!({"app.kubernetes.io/managed-by": "Helm"})).await;
    let before = real.versions().await;

    let seen = real.seen().await;
    let refused = real.flux.install(&real.host).await;

    let after = real.versions().await;
    real.label_source_crd(json!({"app.kubernetes.io/managed-by": "kubeopera"})).await;
    assert_eq!((seen.managed_by_other.as_deref(), seen.fitness), (Some("Helm"), FluxFitness::Usable));
    assert!(seen.components.iter().all(|one| one.readiness.is_ready()));
    assert_eq!(refused.unwrap_err().reason, "FluxManagedByOther");
    assert_eq!(after, before);
}

async fn an_image_that_cannot_be_pulled_is_named_and_the_right_one_mends_it(real: &Real) {
    let elsewhere = FluxConfig { image_registry: Some("127.0.0.1:1/nowhere".to_owned()), ..real.config.clone() };
    let broken = FluxOnClusters::new(Arc::clone(&real.connections), Some(elsewhere), ours());

    broken.install(&real.host).await.unwrap();
    let complaint = wait_until(PATIENCE, PAUSE, || async {
        let seen = real.seen().await;
        Ok(seen.components.into_iter().find_map(|one| match one.readiness {
            Readiness::NotReady { reason, why } if why.contains("cannot be pulled") => Some((one.object, reason, why)),
            _ => None,
        }))
    });
    let (object, reason, why) = complaint.await.unwrap().expect("a Deployment complains");
    let fitness = real.seen().await.fitness;
    real.flux.install(&real.host).await.unwrap();
    real.available().await;

    assert!(object.starts_with("Deployment flux-system/"), "{object}");
    assert!(why.contains("127.0.0.1:1/nowhere/"), "{why}");
    assert!(matches!(reason.as_str(), "ErrImagePull" | "ImagePullBackOff"), "{reason}");
    assert_eq!(fitness, FluxFitness::ToBeInstalledAgain);
}

async fn a_git_server_that_does_not_answer_is_said_to_be_so_and_letting_go_leaves_what_is_not_ours(real: &Real) {
    let cluster = real.host.cluster;
    let credential = GitCredential::Basic {
        username: "reader".to_owned(),
        password: Secret::new("CANARY-read"),
        certificate_authority: None,
    };
    real.flux.write_git_secret(&real.host, &credential, "version-1").await.unwrap();
    let foreign = foreign_kustomization(&real.client).await;

    // Port 9 of this machine: nobody answers there.
    real.flux.point(&real.host, &wanted(cluster, "http://127.0.0.1:9/nowhere.git")).await.unwrap();
    let seen = real
        .sync_until("the source complains", |seen| {
            seen.source.as_ref().is_some_and(|source| matches!(&source.readiness, Readiness::NotReady { reason, .. } if reason == "GitOperationFailed"))
        })
        .await;
    let secret = real.flux.git_secret(&real.host).await.unwrap();
    real.flux.suspend_kustomizations(&real.host).await.unwrap();
    let suspended = real.flux.sync(&real.host).await.unwrap();
    real.flux.remove(&real.host, SyncPart::Kustomizations).await.unwrap();
    let gone = real.sync_until("the Kustomizations are gone", |seen| seen.kustomizations().next().is_none()).await;
    real.flux.remove(&real.host, SyncPart::Source).await.unwrap();
    real.flux.remove(&real.host, SyncPart::GitSecret).await.unwrap();
    let nothing = real.sync_until("the source is gone", |seen| seen.source.is_none()).await;

    assert!(!format!("{seen:?}").contains("CANARY"));
    assert_eq!(secret, GitSecretSeen::Present { version: Some("version-1".to_owned()) });
    assert!(suspended.kustomizations().all(|one| one.is_suspended));
    assert!(gone.source.is_some());
    assert_eq!(nothing, SyncSeen::default());
    assert_eq!(real.flux.git_secret(&real.host).await.unwrap(), GitSecretSeen::Absent);
    let after = foreign.0.get(&foreign.1).await.unwrap();
    assert_eq!(after.data["spec"].get("suspend"), None);
    foreign.0.delete(&foreign.1, &DeleteParams::default()).await.unwrap();
}

/// A Kustomization of somebody else's in the same namespace.
async fn foreign_kustomization(client: &Client) -> (Api<DynamicObject>, String) {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("kustomize.toolkit.fluxcd.io", "v1", "Kustomization"));
    let api = Api::namespaced_with(client.clone(), "flux-system", &resource);
    let object = DynamicObject::new("theirs", &resource).data(json!({"spec": {
        "interval": "10m", "prune": true, "path": "./", "sourceRef": {"kind": "GitRepository", "name": "theirs"},
    }}));
    api.patch("theirs", &PatchParams::apply("somebody").force(), &Patch::Apply(object)).await.unwrap();
    (api, "theirs".to_owned())
}

async fn credentials_that_somebody_changed_on_the_cluster_are_known_to_be_changed(real: &Real) {
    let credential = GitCredential::Ssh { private_key: Secret::new("CANARY-key"), known_hosts: "host key".to_owned() };
    real.flux.write_git_secret(&real.host, &credential, "version-2").await.unwrap();
    let written = real.flux.git_secret(&real.host).await.unwrap();

    let api: Api<SecretObject> = Api::namespaced(real.client.clone(), "flux-system");
    let change = Patch::Merge(json!({"stringData": {"identity": "another"}}));
    api.patch("kubeopera-git", &PatchParams::default(), &change).await.unwrap();
    let changed = real.flux.git_secret(&real.host).await.unwrap();
    real.flux.write_git_secret(&real.host, &credential, "version-2").await.unwrap();
    let mended = real.flux.git_secret(&real.host).await.unwrap();
    real.flux.remove(&real.host, SyncPart::GitSecret).await.unwrap();

    assert_eq!(written, GitSecretSeen::Present { version: Some("version-2".to_owned()) });
    assert_eq!(changed, GitSecretSeen::Present { version: None });
    assert_eq!(mended, written);
}

async fn another_kubeopera_sees_whose_the_cluster_is_until_it_is_let_go_of(real: &Real) {
    let theirs = Installation { id: "theirs".to_owned(), url: None };
    let another = Clusters { connections: Arc::clone(&real.connections), installation: theirs.clone() };
    let ourselves = Clusters { connections: Arc::clone(&real.connections), installation: ours() };
    let sees = async |clusters: &Clusters| clusters.look(&real.host).await.unwrap().managed_by_other;
    let credential = GitCredential::Ssh { private_key: Secret::new("CANARY-key"), known_hosts: "host key".to_owned() };
    assert_eq!((sees(&another).await, sees(&ourselves).await), (None, None));

    real.flux.write_git_secret(&real.host, &credential, "version-3").await.unwrap();
    assert_eq!((sees(&another).await, sees(&ourselves).await), (Some(ours()), None));
    let flux_of_another = FluxOnClusters::new(Arc::clone(&real.connections), None, theirs.clone());
    let unwritten = GitSecretSeen::Present { version: None };
    assert_eq!(flux_of_another.git_secret(&real.host).await.unwrap(), unwritten);

    // Taken over, and let go of.
    flux_of_another.write_git_secret(&real.host, &credential, "version-1").await.unwrap();
    assert_eq!((sees(&another).await, sees(&ourselves).await), (None, Some(theirs)));
    assert_eq!(real.flux.git_secret(&real.host).await.unwrap(), unwritten);
    flux_of_another.remove(&real.host, SyncPart::GitSecret).await.unwrap();
    assert_eq!((sees(&another).await, sees(&ourselves).await), (None, None));
}

async fn a_registry_credential_is_copied_to_where_the_tree_pulls_and_what_others_have_there_is_left_alone(real: &Real) {
    let name: SecretName = real.host.cluster.registry_pull_secret().parse().unwrap();
    let config = |password: &str| format!(r#"{{"auths":{{"registry.acme.com":{{"password":"CANARY-{password}"}}}}}}"#);
    real.put_secret(name.as_str(), &[(".dockerconfigjson", &config("1"))]).await;
    let secrets = ManagementSecrets::new(real.client.clone(), ALLOW);
    let credential = secrets.registry_credential(real.host.cluster, &name).await.unwrap();
    assert_eq!(credential.reveal(), config("1"));
    let of_another = secrets.registry_credential(ClusterId::random(), &name).await.unwrap_err();
    assert_eq!(of_another.reason, "RegistryCredentialNotPermitted");

    let namespaces: Api<Namespace> = Api::all(real.client.clone());
    for (namespace, cluster) in
        [("of-tree", Some(real.host.cluster)), ("with-theirs", Some(real.host.cluster)), ("of-others", None)]
    {
        let mut made = Namespace::default();
        made.metadata.name = Some(namespace.to_owned());
        made.metadata.labels = cluster.map(|id| [(LABEL_CLUSTER_ID.to_owned(), id.to_string())].into());
        namespaces.create(&PostParams::default(), &made).await.unwrap();
    }
    let at = |namespace: &str| Api::<SecretObject>::namespaced(real.client.clone(), namespace);
    let mut theirs = SecretObject::default();
    theirs.metadata.name = Some(name.to_string());
    let theirs = at("with-theirs").create(&PostParams::default(), &theirs).await.unwrap();
    let copies =
        async || real.flux.pull_secret(&real.host, &name).await.unwrap().copies.into_iter().collect::<Vec<_>>();
    let all = |version: Option<&str>| {
        ["flux-system", "kube-system", "of-tree"].map(|of| (of.to_owned(), version.map(str::to_owned)))
    };
    assert_eq!(copies().await, all(None));

    real.flux.write_pull_secret(&real.host, &name, &credential, "1").await.unwrap();
    assert_eq!(copies().await, all(Some("1")));
    let copy = at("of-tree").get(name.as_str()).await.unwrap();
    assert_eq!(copy.type_.as_deref(), Some("kubernetes.io/dockerconfigjson"));
    assert_eq!(copy.data.unwrap()[".dockerconfigjson"].0, config("1").into_bytes());

    let change = Patch::Merge(json!({"stringData": {".dockerconfigjson": "{}"}}));
    at("of-tree").patch(name.as_str(), &PatchParams::default(), &change).await.unwrap();
    let changed = copies().await;
    assert!(
        changed.contains(&("of-tree".to_owned(), None))
            && changed.contains(&("kube-system".to_owned(), Some("1".to_owned())))
    );
    real.flux.write_pull_secret(&real.host, &name, &Secret::new(config("2")), "2").await.unwrap();

    assert_eq!(copies().await, all(Some("2")));
    assert_eq!(at("with-theirs").get(name.as_str()).await.unwrap().resource_version(), theirs.resource_version());
    assert!(at("of-others").get_opt(name.as_str()).await.unwrap().is_none());

    // Somebody's own Secret stays when the cluster is let go of; the one that kubeopera-api made goes.
    secrets.delete_kubeconfigs(real.host.cluster).await.unwrap();
    assert!(at(NAMESPACE).get_opt(name.as_str()).await.unwrap().is_some());
    let made = Patch::Merge(json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "kubeopera"}}}));
    at(NAMESPACE).patch(name.as_str(), &PatchParams::default(), &made).await.unwrap();
    secrets.delete_kubeconfigs(real.host.cluster).await.unwrap();
    assert!(at(NAMESPACE).get_opt(name.as_str()).await.unwrap().is_none());
    assert_eq!(copies().await, all(Some("2")), "pods go on pulling with them");
}

async fn a_cluster_is_reached_by_its_kubeconfig_secret_and_a_dangerous_one_is_refused(real: &Real) {
    let kubeconfig = std::fs::read_to_string(real.cluster.kubeconfig()).unwrap();
    let with_program =
        kubeconfig.replace("users:", "users:\n- name: x\n  user: {exec: {command: touch, args: [/tmp/ran]}}");
    real.put_secret("real-test-input", &[("kubeconfig", &kubeconfig)]).await;
    real.put_secret("real-test-exec", &[("kubeconfig", &with_program)]).await;
    let clusters = Clusters { connections: Arc::clone(&real.connections), installation: ours() };
    let by = |name: &str| Target { cluster: real.host.cluster, reach: Reach::Kubeconfig(name.parse().unwrap()) };

    let own = clusters.look(&real.host).await.unwrap();
    let same = clusters.look(&by("real-test-input")).await.unwrap();
    let refused = clusters.look(&by("real-test-exec")).await.unwrap_err();
    let anothers = Target { cluster: ClusterId::random(), ..by("real-test-input") };
    let anothers = clusters.look(&anothers).await.unwrap_err();
    let missing = clusters.look(&by("real-test-missing")).await.unwrap_err();

    assert_eq!(own, same);
    assert!(own.may_administer && own.nodes.total >= own.nodes.ready);
    assert!(refused.message.contains("users[0].user.exec"), "{refused}");
    assert_eq!(missing.reason, "KubeconfigMissing");
    assert_eq!(anothers.reason, "SecretNotPermitted", "{anothers}");
    let api: Api<SecretObject> = Api::namespaced(real.client.clone(), NAMESPACE);
    for name in ["real-test-input", "real-test-exec"] {
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

async fn what_others_installed_counts_as_present_and_what_our_tree_installed_does_not(real: &Real) {
    let clusters = Clusters { connections: Arc::clone(&real.connections), installation: ours() };
    let resource = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("networking.k8s.io", "v1", "IngressClass"),
        "ingressclasses",
    );
    let api: Api<DynamicObject> = Api::all_with(real.client.clone(), &resource);
    let class = |name: &str, labels: serde_json::Value| {
        let mut object =
            DynamicObject::new(name, &resource).data(json!({"spec": {"controller": "example.com/controller"}}));
        object.metadata.labels = serde_json::from_value(labels).unwrap();
        object
    };
    let before = clusters.present(&real.host).await.unwrap();
    let ours = json!({"kustomize.toolkit.fluxcd.io/name": "kubeopera-controllers", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"});

    api.create(&PostParams::default(), &class("real-test-ours", ours)).await.unwrap();
    let with_ours = clusters.present(&real.host).await.unwrap();
    api.create(&PostParams::default(), &class("real-test-theirs", json!({}))).await.unwrap();
    let with_theirs = clusters.present(&real.host).await.unwrap();
    for name in ["real-test-ours", "real-test-theirs"] {
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    assert_eq!(with_ours, before);
    assert!(with_theirs.ingress_class);
}

async fn git_credentials_are_read_from_the_management_cluster(real: &Real) {
    let secrets = ManagementSecrets::new(real.client.clone(), ALLOW);
    let keys = [("username", "bot"), ("password", "CANARY-write"), ("readonly-password", "CANARY-read")];
    real.put_secret("real-test-git", &keys).await;
    let name = "real-test-git".parse().unwrap();

    let url: GitUrl = "https://github.com/acme/gitops-iac.git".parse().unwrap();
    let unmarked = secrets.git_credentials(&name, &url).await.unwrap_err();
    let mark = Patch::Merge(json!({"metadata": {"annotations": {ANNOTATION_GIT_REPOSITORY: url.as_str()}}}));
    let api: Api<SecretObject> = Api::namespaced(real.client.clone(), NAMESPACE);
    api.patch("real-test-git", &PatchParams::default(), &mark).await.unwrap();
    let credentials = secrets.git_credentials(&name, &url).await.unwrap();
    let seen = secrets.look(&name).await.unwrap();
    api.delete("real-test-git", &DeleteParams::default()).await.unwrap();
    assert_eq!(unmarked.reason, "GitCredentialsNotPermitted");

    assert!(matches!(&credentials.write, GitCredential::Basic { password, .. } if password.reveal() == "CANARY-write"));
    assert!(matches!(&credentials.read, GitCredential::Basic { password, .. } if password.reveal() == "CANARY-read"));
    assert!(!format!("{credentials:?} {seen:?}").contains("CANARY"));
}
