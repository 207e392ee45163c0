//! The definition that is installed: what the API server demands of it and what people read in it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use host_cluster_controller_crd::{HostCluster, crd_yaml};
use kube::CustomResourceExt;
use serde_json::Value;

fn version() -> Value {
    let definition = serde_json::to_value(HostCluster::crd()).unwrap();
    let versions = definition["spec"]["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 1);
    versions[0].clone()
}

/// Every schema within a schema, with the path to it.
fn each(path: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        each(&format!("{path}.{name}"), property, visit);
    }
    for nested in ["items", "additionalProperties"] {
        if schema[nested].is_object() {
            each(&format!("{path}[]"), &schema[nested], visit);
        }
    }
}

#[test]
fn the_committed_definition_is_the_one_of_these_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../deploy/crds/hostclusters.kubeopera.io.yaml");
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == crd_yaml().unwrap(), "deploy/crds is not current. Run `cargo xtask generate`.");
    let read: Value = serde_saphyr::from_str(&committed).unwrap();
    assert_eq!(read, serde_json::to_value(HostCluster::crd()).unwrap(), "the YAML reads back as it was meant");
}

#[test]
fn every_field_is_explained_and_structural() {
    let schema = version()["schema"]["openAPIV3Schema"].clone();
    let mut fields = 0;
    each("hostcluster", &schema, &mut |path, schema| {
        let of_kubernetes = path.contains("conditions[]");
        for combination in ["oneOf", "anyOf", "allOf", "not", "$ref"] {
            assert!(schema[combination].is_null(), "{path} has {combination}, which is not structural");
        }
        assert!(schema["type"].is_string(), "{path} has no type");
        if !path.ends_with("[]") {
            let words = schema["description"].as_str().unwrap_or_default();
            assert!(!words.is_empty(), "`kubectl explain {path}` says nothing");
            assert!(of_kubernetes || words.ends_with(['.', ')']), "{path} is not explained in a sentence: {words}");
        }
        fields += 1;
    });
    assert!(fields > 60, "only {fields} fields were looked at");
}

#[test]
fn a_list_shows_the_columns_people_want() {
    let version = version();
    let columns = version["additionalPrinterColumns"].as_array().unwrap();
    let names: Vec<_> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Phase", "Provider", "Region", "Version", "Flux", "Age", "Message"]);
    let wide: Vec<_> = columns.iter().filter(|column| column["priority"] == 1).map(|column| &column["name"]).collect();
    assert_eq!(wide, ["Message"], "the message is for `-o wide`");

    for column in columns {
        let path = column["jsonPath"].as_str().unwrap();
        let mut schema = &version["schema"]["openAPIV3Schema"];
        if path.starts_with(".metadata") {
            continue;
        }
        for part in path.trim_start_matches('.').split('.') {
            schema = &schema["properties"][part];
        }
        assert!(schema.is_object(), "no field {path}");
    }
}

#[test]
fn status_has_one_writer_and_conditions_may_have_more() {
    let version = version();
    assert!(version["subresources"]["status"].is_object());
    let conditions = &version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"];
    assert_eq!(conditions["x-kubernetes-list-type"], "map");
    assert_eq!(conditions["x-kubernetes-list-map-keys"], serde_json::json!(["type"]));
}

#[test]
fn the_example_of_the_product_description_is_accepted_field_by_field() {
    let example = serde_json::json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
        "metadata": {"name": "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11", "namespace": "kubeopera-system"},
        "spec": {
            "clusterID": "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11",
            "mode": "connect_existing", "provider": "aws", "region": "eu-north-1",
            "connectKubeconfigSecretRef": "hostcluster-7e9d3a1b-input-kubeconfig",
            "gitOpsRepoURL": "https://github.com/acme/gitops-iac.git",
            "gitOpsPath": "fluxcd/clusters/my-cluster",
            "gitCredentialsSecretRef": "gitops-iac-credentials",
            "domain": "my-cluster.acme.com",
            "registryPullSecretRef": "hostcluster-7e9d3a1b-registry-pull",
            "adminEmail": "admin@acme.com", "adminUsername": "admin",
        },
        "status": {
            "phase": "Ready", "kubeconfigSecret": "hostcluster-7e9d3a1b-kubeconfig", "fluxHealthy": true,
            "adminPasswordSecretRef": "hostcluster-7e9d3a1b-admin-password",
            "message": "Flux healthy and reconciling fluxcd/clusters/my-cluster. Administrator admin@acme.com created.",
        },
    });

    let resource: HostCluster = serde_json::from_value(example.clone()).unwrap();

    assert_eq!(serde_json::to_value(&resource).unwrap(), example, "no field is lost or renamed");
    let spec = host_cluster_controller_crd::ValidSpec::of(&resource).unwrap();
    assert_eq!(spec.name.as_str(), "my-cluster", "without a label the name is the end of the path");
}
