//! Values reach Terraform as they are, and only as values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{collections::BTreeSet, process::Command};

use cluster_provisioner_catalogue::{Catalogue, Cloud};
use cluster_provisioner_contract::{RunRequest, Topology};
use cluster_provisioner_terraform::{Access, Configuration, MODULES, VARIABLES_FILE, digest};
use proptest::{prelude::*, sample::select};
use vocabulary::ClusterId;

fn request(topology: Topology, name: &str, region: &str, instance_type: &str, nodes: u16) -> RunRequest {
    RunRequest {
        cluster: ClusterId::random(),
        name: name.parse().unwrap(),
        provider: if topology == Topology::ManagedGke { "gcp" } else { "aws" }.parse().unwrap(),
        region: region.parse().unwrap(),
        topology,
        nodes,
        instance_type: instance_type.to_owned(),
        kubernetes_version: "1.35".parse().unwrap(),
        credential: "c1".to_owned(),
    }
}

/// The variables that a module declares, and those of them that have to be given.
fn declared(module: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let path = format!("{module}/variables.tf");
    let text = MODULES.iter().find(|file| file.path == path).unwrap().text;
    let blocks = text.split("\nvariable \"").skip(1).map(|block| block.split_once('"').unwrap());
    let (mut all, mut required) = (BTreeSet::new(), BTreeSet::new());
    for (name, block) in blocks {
        all.insert(name.to_owned());
        if !block.contains("default ") {
            required.insert(name.to_owned());
        }
    }
    (all, required)
}

fn topologies() -> impl Strategy<Value = (Topology, Cloud)> {
    select(vec![
        (Topology::VanillaKubeadm { control_planes: 3 }, Cloud::Aws),
        (Topology::ManagedEks, Cloud::Aws),
        (Topology::ManagedGke, Cloud::Gcp),
    ])
}

proptest! {
    #[test]
    fn every_accepted_value_is_in_the_file_as_it_is_and_every_variable_is_given(
        (topology, cloud) in topologies(),
        name in "[a-z]([-a-z0-9]{0,29}[a-z0-9])?",
        at in any::<prop::sample::Index>(),
        size in any::<prop::sample::Index>(),
        nodes in 1_u16..=450,
        told in "\\PC{1,80}",
        is_role in any::<bool>(),
    ) {
        let catalogue = Catalogue::built_in().unwrap();
        let regions: Vec<_> = catalogue.regions(cloud).collect();
        let region = regions[at.index(regions.len())];
        let types: Vec<_> = catalogue.instance_types(region).collect();
        let instance_type = types[size.index(types.len())];
        let access = match cloud {
            Cloud::Gcp => Access::Gcp { project: told.clone() },
            Cloud::Aws if is_role => Access::AwsRole { arn: told.clone(), external_id: told.clone() },
            Cloud::Aws => Access::Aws,
        };
        let request = request(topology, &name, region.id, instance_type.name, nodes);

        let Configuration { module, variables } = Configuration::of(&request, &access, catalogue).unwrap();

        let written: serde_json::Value = serde_json::from_str(&format!("{variables:#}")).unwrap();
        prop_assert_eq!(&written["cluster_name"], &name);
        prop_assert_eq!(&written["cloud_name"], &format!("{name}-{}", request.cluster.short()));
        prop_assert_eq!(&written["region"], region.id);
        prop_assert_eq!(&written["instance_type"], instance_type.name);
        prop_assert_eq!(&written["node_count"], nodes);
        for field in ["project", "assume_role_arn", "assume_role_external_id"] {
            prop_assert!(written.get(field).is_none_or(|value| *value == told), "{}", written);
        }
        let given: BTreeSet<_> = written.as_object().unwrap().keys().cloned().collect();
        let (declared, required) = declared(module);
        prop_assert!(given.is_subset(&declared) && required.is_subset(&given), "{:?} of {:?}", given, declared);
    }
}

#[test]
fn a_text_in_terraforms_own_language_stays_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"${file("/etc/hostname")} %{ if true }x%{ endif } $${a} "#;
    let module = "variable \"text\" { type = string }\noutput \"text\" { value = var.text }\n";
    std::fs::write(folder.path().join("main.tf"), module).unwrap();
    let variables = serde_json::json!({ "text": text });
    std::fs::write(folder.path().join(VARIABLES_FILE), format!("{variables:#}")).unwrap();
    let terraform = |arguments: &[&str]| {
        let mut command = Command::new("terraform");
        command.args(arguments).current_dir(folder.path()).env("TF_CLI_CONFIG_FILE", "/dev/null");
        let answer = command.output().expect("Terraform is needed for this test, and not on the PATH");
        assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
        String::from_utf8(answer.stdout).unwrap()
    };

    terraform(&["init", "-input=false"]);
    terraform(&["apply", "-input=false", "-auto-approve"]);

    assert_eq!(terraform(&["output", "-raw", "text"]), text);
}

#[test]
fn what_the_catalogue_does_not_have_and_another_clouds_credential_are_refused() {
    let catalogue = Catalogue::built_in().unwrap();
    let reason =
        |request: &RunRequest, access: &Access| Configuration::of(request, access, catalogue).unwrap_err().reason;
    let eks = |region, size| request(Topology::ManagedEks, "north", region, size, 2);
    assert_eq!(reason(&eks("nowhere", "m7g.large"), &Access::Aws), "NotInCatalogue");
    assert_eq!(reason(&eks("eu-north-1", "m7g.huge"), &Access::Aws), "NotInCatalogue");
    let google = Access::Gcp { project: "acme".to_owned() };
    assert_eq!(reason(&eks("eu-north-1", "m7g.large"), &google), "CredentialOfOtherProvider");
}

#[test]
fn every_file_of_a_module_is_part_of_the_executable() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../modules");
    let mut files = BTreeSet::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(&folder).unwrap().display().to_string());
            }
        }
    }
    let embedded: BTreeSet<_> = MODULES.iter().map(|file| file.path.to_owned()).collect();
    assert_eq!(embedded, files);
    assert_eq!((digest().len(), digest()), (64, digest()));
}
