//! What holds for every cluster there can be.

use gitops_scaffolder_contract::{Origin, Present, TreeInputs};
use gitops_scaffolder_tree::{LOCK_PATH, Lock, Mirror, TreeConfig, lint, render, render_again};
use proptest::prelude::*;
use serde_json::Value;
use vocabulary::{Domain, Email};

/// Domains that other readers of YAML, kustomize or Flux might take for something else, all of them valid.
fn domains() -> impl Strategy<Value = Option<Domain>> {
    let tricky = ["no.yes", "1e3.on", "0x1f.null", "y.n", "12.30.true", "a.b"].map(|text| text.parse().unwrap());
    prop_oneof![
        Just(None),
        prop::sample::select(tricky.to_vec()).prop_map(Some),
        "[a-z0-9]{1,20}(-[a-z0-9]{1,5})?\\.[a-z]{2,8}".prop_map(|text| text.parse().ok()),
    ]
}

/// E-mail addresses with every character that means something somewhere.
fn emails() -> impl Strategy<Value = Option<Email>> {
    prop_oneof![
        Just(None),
        "[a-z0-9!#$%&'*+/=?^_{|}~.-]{1,30}@[a-z]{1,10}\\.[a-z]{2,5}".prop_map(|text| text.parse().ok()),
        Just("${cluster_domain}@acme.com".parse().ok()),
        Just("*&!%-@acme.com".parse().ok()),
    ]
}

prop_compose! {
    fn inputs()(
        id in "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        uid in "[0-9A-Za-z-]{1,63}",
        name in "[a-z0-9]{1,18}(-[a-z0-9]{1,18})?",
        path in "[a-z]{1,10}(/[a-zA-Z0-9_.]{0,3}[a-z]){0,4}",
        provider in prop::sample::select(vec!["aws", "gcp", "unknown", "on-premises"]),
        region in prop::sample::select(vec!["eu-north-1", "unknown", "1e3", "no"]),
        origin in prop::sample::select(vec![Origin::Existing, Origin::Kubeadm, Origin::Eks, Origin::Gke]),
        version in prop::sample::select(vec![None, Some("1.31.0"), Some("1.34.4+k3s1"), Some("1.30.4-eks-1552ad0")]),
        nodes in 0u16..200,
        domain in domains(),
        admin_email in emails(),
        registry_pull_secret in prop::option::of(Just("hostcluster-7e9d3a1b-registry-pull".to_owned())),
        present in any::<[bool; 6]>(),
    ) -> TreeInputs {
        TreeInputs {
            cluster: id.parse().unwrap(),
            cluster_uid: uid,
            name: name.parse().unwrap(),
            path: path.parse().unwrap_or_else(|_| "clusters/x".parse().unwrap()),
            provider: provider.parse().unwrap(),
            region: region.parse().unwrap(),
            origin,
            kubernetes_version: version.map(|text| text.parse().unwrap()),
            nodes,
            domain,
            admin_email,
            registry_pull_secret,
            present: Present {
                ingress_class: present[0],
                cert_manager: present[1],
                default_storage_class: present[2],
                cloudnative_pg: present[3],
                prometheus_operator: present[4],
                metrics_api: present[5],
            },
        }
    }
}

fn config(mirrored: bool) -> TreeConfig {
    TreeConfig { mirror: mirrored.then(|| Mirror::new("registry.internal:5000/all", true).unwrap()) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_tree_is_sound_and_the_same_each_time(inputs in inputs(), mirrored: bool) {
        let tree = render(&inputs, &config(mirrored));

        prop_assert_eq!(lint(&tree), []);
        let again = render(&inputs.clone(), &config(mirrored));
        prop_assert_eq!(tree.hash(), again.hash());
        prop_assert_eq!(tree, again);
    }

    #[test]
    fn the_lock_file_holds_all_that_a_tree_is_made_from(inputs in inputs(), mirrored: bool) {
        let tree = render(&inputs, &config(mirrored));
        let lock = Lock::parse(&tree.get(LOCK_PATH).unwrap().text).unwrap();

        prop_assert_eq!(render_again(&lock, &config(mirrored)), tree.clone());
        prop_assert!(render_again(&lock, &config(!mirrored)).hash() != tree.hash(), "the mirror is today's");
    }

    #[test]
    fn what_people_type_stays_data(inputs in inputs()) {
        let plain = TreeInputs {
            domain: inputs.domain.as_ref().map(|_| "plain.example.org".parse().unwrap()),
            admin_email: inputs.admin_email.as_ref().map(|_| "plain@example.org".parse().unwrap()),
            ..inputs.clone()
        };
        let typed = objects(&inputs);
        let expected = objects(&plain);

        // The same objects with the same fields, and in the fields either the same or the typed text as it was typed.
        prop_assert_eq!(typed.len(), expected.len());
        for (typed, expected) in typed.iter().zip(&expected) {
            let substituted = substitute(expected, &inputs);
            prop_assert_eq!(typed, &substituted);
        }
    }

    #[test]
    fn nodes_beyond_the_second_and_patch_releases_write_no_commit(inputs in inputs(), more in 2u16..500) {
        let inputs = TreeInputs { nodes: 2, kubernetes_version: Some("1.34.1".parse().unwrap()), ..inputs };
        let later = TreeInputs { nodes: more, kubernetes_version: Some("1.34.9".parse().unwrap()), ..inputs.clone() };

        prop_assert_eq!(render(&inputs, &config(false)).hash(), render(&later, &config(false)).hash());
    }

    #[test]
    fn what_the_tree_installed_is_not_taken_for_somebody_elses_later(inputs in inputs()) {
        let first = render(&inputs, &config(false));
        let lock = Lock::parse(&first.get(LOCK_PATH).unwrap().text).unwrap();
        let everything = Present {
            ingress_class: true,
            cert_manager: true,
            default_storage_class: true,
            cloudnative_pg: true,
            prometheus_operator: true,
            metrics_api: true,
        };

        let later = TreeInputs { present: lock.present_before(everything), ..inputs };

        let installed = |tree: &gitops_scaffolder_tree::Tree| {
            Lock::parse(&tree.get(LOCK_PATH).unwrap().text).unwrap().components.into_iter()
                .filter(|(_, component)| component.fate == gitops_scaffolder_tree::LockedFate::Installed)
                .map(|(name, _)| name).collect::<Vec<_>>()
        };
        prop_assert_eq!(installed(&first), installed(&render(&later, &config(false))));
    }
}

/// Every object of the tree as YAML readers see it.
fn objects(inputs: &TreeInputs) -> Vec<Value> {
    let tree = render(inputs, &config(false));
    let yaml = tree.files().filter(|(path, _)| path.rsplit_once('.').is_some_and(|(_, end)| end == "yaml"));
    yaml.flat_map(|(_, file)| serde_saphyr::from_multiple::<Value>(&file.text).unwrap()).collect()
}

fn substitute(value: &Value, inputs: &TreeInputs) -> Value {
    match value {
        Value::String(text) => {
            let domain = inputs.domain.as_ref().map_or("", Domain::as_str);
            let email = inputs.admin_email.as_ref().map_or("", Email::as_str);
            text.replace("plain.example.org", domain).replace("plain@example.org", email).into()
        }
        Value::Array(list) => list.iter().map(|value| substitute(value, inputs)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), substitute(value, inputs))).collect(),
        scalar => scalar.clone(),
    }
}
