//! Specs that are not acceptable, each refused for its field.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use host_cluster_controller_crd::{HostCluster, ModeSpec, ValidSpec};
use serde_json::{Value, json};

fn connected() -> Value {
    json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
        "metadata": {"name": "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11", "labels": {"kubeopera.io/cluster-name": "harbour"}},
        "spec": {
            "clusterID": "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11", "mode": "connect_existing", "provider": "azure",
            "region": "westeurope", "connectKubeconfigSecretRef": "the-kubeconfig",
            "gitOpsRepoURL": "https://git.acme.com/iac.git", "gitOpsPath": "clusters/harbour",
            "gitCredentialsSecretRef": "the-git-credentials",
        },
    })
}

fn created() -> Value {
    let mut resource = connected();
    let spec = resource["spec"].as_object_mut().unwrap();
    spec.remove("connectKubeconfigSecretRef");
    spec.insert("mode".into(), json!("provision_vanilla"));
    spec.insert("provider".into(), json!("aws"));
    spec.insert(
        "provisioning".into(),
        json!({
            "topology": "vanilla_kubeadm", "controlPlaneCount": 3, "nodeCount": 5, "instanceType": "t3.medium",
            "kubernetesVersion": "1.31.0", "credentialRef": "cred-1",
        }),
    );
    resource
}

fn problems(resource: &Value) -> Vec<&'static str> {
    let resource: HostCluster = serde_json::from_value(resource.clone()).unwrap();
    let problems = ValidSpec::of(&resource).err().into_iter().flatten();
    problems.map(|problem| problem.field).collect()
}

fn with(mut resource: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    resource.pointer_mut(parent).unwrap()[key] = value;
    resource
}

#[test]
fn each_way_of_joining_is_a_kind_of_its_own() {
    let mode = |resource: Value| ValidSpec::of(&serde_json::from_value(resource).unwrap()).unwrap().mode;
    assert!(matches!(mode(connected()), ModeSpec::Connect { kubeconfig } if kubeconfig.as_str() == "the-kubeconfig"));
    assert!(matches!(mode(with(connected(), "/spec/connectKubeconfigSecretRef", Value::Null)), ModeSpec::Host));
    let ModeSpec::Provision(wanted) = mode(created()) else { panic!() };
    assert_eq!((wanted.nodes, wanted.instance_type.as_str(), wanted.credential.as_str()), (5, "t3.medium", "cred-1"));
}

#[test]
fn what_breaks_a_rule_is_named() {
    for (pointer, value, field) in [
        ("/metadata/name", json!("another"), "metadata.name"),
        ("/metadata/labels/kubeopera.io~1cluster-name", json!("Not A Name"), "metadata.labels"),
        ("/spec/provider", json!("AWS"), "spec.provider"),
        ("/spec/region", json!("eu north"), "spec.region"),
        ("/spec/gitOpsRepoURL", json!("file:///etc/passwd"), "spec.gitOpsRepoURL"),
        ("/spec/gitOpsBranch", json!("a..b"), "spec.gitOpsBranch"),
        ("/spec/gitOpsPath", json!("../other"), "spec.gitOpsPath"),
        ("/spec/gitCredentialsSecretRef", json!("No_Name"), "spec.gitCredentialsSecretRef"),
        ("/spec/connectKubeconfigSecretRef", json!("No_Name"), "spec.connectKubeconfigSecretRef"),
        ("/spec/domain", json!("https://acme.com"), "spec.domain"),
        ("/spec/registryPullSecretRef", json!("No_Name"), "spec.registryPullSecretRef"),
        ("/spec/adminEmail", json!("admin@acme.com"), "spec.adminEmail"),
        ("/spec/adminUsername", json!("captain"), "spec.adminEmail"),
        ("/spec/provisioning", created()["spec"]["provisioning"].clone(), "spec.provisioning"),
    ] {
        let resource = if pointer.contains("~1") {
            let mut resource = connected();
            *resource.pointer_mut(pointer).unwrap() = value;
            resource
        } else {
            with(connected(), pointer, value)
        };
        assert_eq!(problems(&resource), [field], "{pointer}");
    }
    assert_eq!(
        problems(&with(connected(), "/spec/clusterID", json!("harbour"))),
        ["spec.clusterID", "metadata.name"],
        "it is the name of the resource as well"
    );
    for (pointer, value, field) in [
        ("/spec/connectKubeconfigSecretRef", json!("the-kubeconfig"), "spec.connectKubeconfigSecretRef"),
        ("/spec/provisioning", Value::Null, "spec.provisioning"),
        ("/spec/provider", json!("gcp"), "spec.provider"),
        ("/spec/provisioning/topology", json!("managed_eks"), "spec.provisioning.topology"),
        ("/spec/provisioning/controlPlaneCount", json!(2), "spec.provisioning.controlPlaneCount"),
        ("/spec/provisioning/controlPlaneCount", json!(9), "spec.provisioning.controlPlaneCount"),
        ("/spec/provisioning/nodeCount", json!(0), "spec.provisioning.nodeCount"),
        ("/spec/provisioning/nodeCount", json!(501), "spec.provisioning.nodeCount"),
        ("/spec/provisioning/instanceType", json!("$(id)"), "spec.provisioning.instanceType"),
        ("/spec/provisioning/kubernetesVersion", json!("latest"), "spec.provisioning.kubernetesVersion"),
        ("/spec/provisioning/credentialRef", json!("../etc"), "spec.provisioning.credentialRef"),
    ] {
        let found = problems(&with(created(), pointer, value.clone()));
        assert!(found.contains(&field), "{pointer} {value}: {found:?}");
    }
}

#[test]
fn every_problem_is_named_at_once() {
    let both = with(with(connected(), "/spec/domain", json!("x")), "/spec/region", json!("X"));
    assert_eq!(problems(&both), ["spec.region", "spec.domain"]);
}

#[test]
fn every_resource_that_a_form_of_the_dashboard_shows_is_acceptable() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../web/tests/unit/manifests");
    let mut modes = std::collections::BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let written: Value = serde_saphyr::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let resource: HostCluster = serde_json::from_value(written.clone()).unwrap();
        let read = serde_json::to_value(&resource).unwrap();
        assert_eq!(read, written, "{}: a field that no HostCluster has", path.display());
        if let Err(problems) = ValidSpec::of(&resource) {
            panic!("{}: {problems:?}", path.display());
        }
        modes.insert(written["spec"]["mode"].as_str().unwrap().to_owned());
    }
    let all = ["connect_existing", "provision_eks", "provision_gke", "provision_vanilla"];
    assert!(modes.iter().eq(all), "{modes:?}");
}
