//! What can be created, and what is refused by which field.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use cluster_provisioner_catalogue::{Catalogue, Order, Refusal, Support};
use cluster_provisioner_contract::Topology;
use jiff::civil::{Date, date};

const TODAY: Date = date(2026, 11, 30);

/// A cluster as the wizard would ask for it.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    provider: &'a str,
    topology: &'a str,
    region: &'a str,
    version: &'a str,
    nodes: u32,
    size: &'a str,
    control_planes: Option<u32>,
}

const VANILLA: Asked<'_> = Asked {
    provider: "aws",
    topology: "vanilla_kubeadm",
    region: "eu-north-1",
    version: "1.36.4",
    nodes: 2,
    size: "t3.medium",
    control_planes: Some(3),
};
const EKS: Asked<'_> = Asked {
    topology: "managed_eks",
    region: "us-east-1",
    version: "1.35",
    nodes: 450,
    size: "m7g.large",
    control_planes: None,
    ..VANILLA
};
const GKE: Asked<'_> = Asked {
    provider: "gcp",
    topology: "managed_gke",
    region: "europe-west4",
    nodes: 500,
    size: "n4-standard-4",
    ..EKS
};

fn check(name: &str, asked: Asked<'_>, today: Date) -> Result<(Topology, Support), Refusal> {
    let (name, version) = (name.parse().unwrap(), asked.version.parse().unwrap());
    let order = Order {
        name: Some(&name),
        provider: asked.provider,
        topology: asked.topology,
        region: asked.region,
        kubernetes_version: &version,
        node_count: asked.nodes,
        instance_type: asked.size,
        control_plane_count: asked.control_planes,
    };
    let catalogue = Catalogue::built_in().unwrap();
    catalogue.check(&order, today).map(|accepted| (accepted.topology, accepted.support))
}

fn refused(asked: Asked<'_>) -> (&'static str, &'static str, String) {
    let Refusal { field, code, rule } = check("north", asked, TODAY).unwrap_err();
    (field, code, rule)
}

#[test]
fn each_topology_can_be_had() {
    let topology = |asked| check("north", asked, TODAY).unwrap().0;
    assert_eq!(topology(VANILLA), Topology::VanillaKubeadm { control_planes: 3 });
    assert_eq!(topology(Asked { control_planes: None, ..VANILLA }), Topology::VanillaKubeadm { control_planes: 1 });
    assert_eq!(topology(EKS), Topology::ManagedEks);
    assert_eq!(topology(GKE), Topology::ManagedGke);
}

#[test]
fn what_cannot_be_had_is_refused_by_its_field_and_says_what_would_do() {
    for (asked, field, code, says) in [
        (Asked { provider: "azure", ..EKS }, "provider", "provider_unknown", "aws and gcp"),
        (
            Asked { topology: "managed_gke", ..EKS },
            "topology",
            "topology_of_other_provider",
            "vanilla_kubeadm and managed_eks",
        ),
        (Asked { topology: "managed_eks", ..GKE }, "topology", "topology_of_other_provider", "managed_gke"),
        (Asked { topology: "k3s", ..EKS }, "topology", "topology_unknown", "vanilla_kubeadm and managed_eks"),
        (Asked { region: "europe-west4", ..EKS }, "region", "region_unknown", "region of AWS"),
        (Asked { version: "1.31.0", ..VANILLA }, "kubernetes_version", "version_unknown", "1.37.2, 1.36.4, 1.35.9"),
        (Asked { version: "1.36", ..VANILLA }, "kubernetes_version", "version_unknown", "patch number"),
        (Asked { version: "1.36.99", ..VANILLA }, "kubernetes_version", "version_unknown", "1.36.4"),
        (Asked { version: "1.34.4", ..VANILLA }, "kubernetes_version", "version_unsupported", "ended on 2026-10-27"),
        (Asked { version: "1.35.2", ..EKS }, "kubernetes_version", "version_unknown", "leave it out"),
        (Asked { version: "1.31", ..EKS }, "kubernetes_version", "version_unsupported", "ended on 2026-11-26"),
        (Asked { version: "1.3", ..EKS }, "kubernetes_version", "version_unknown", "1.36, 1.35, 1.34, 1.33, 1.32"),
        (Asked { control_planes: Some(2), ..VANILLA }, "control_plane_count", "control_planes_not_odd", "majority"),
        (Asked { control_planes: Some(0), ..VANILLA }, "control_plane_count", "control_planes_not_odd", "1, 3, 5 or 7"),
        (Asked { control_planes: Some(9), ..VANILLA }, "control_plane_count", "control_planes_not_odd", "1, 3, 5 or 7"),
        (
            Asked { control_planes: Some(257), ..VANILLA },
            "control_plane_count",
            "control_planes_not_odd",
            "1, 3, 5 or 7",
        ),
        (Asked { control_planes: Some(3), ..EKS }, "control_plane_count", "control_planes_managed", "leave it out"),
        (Asked { nodes: 0, ..VANILLA }, "node_count", "node_count_out_of_range", "1 to 500"),
        (Asked { nodes: 451, ..EKS }, "node_count", "node_count_out_of_range", "1 to 450"),
        (Asked { nodes: 65_537, ..GKE }, "node_count", "node_count_out_of_range", "1 to 500"),
        (Asked { size: "t3.nano", ..EKS }, "instance_type", "instance_type_unknown", "Choose one of the list"),
        (Asked { size: "n4-standard-4", ..EKS }, "instance_type", "instance_type_unknown", "of AWS"),
        (
            Asked { region: "ca-west-1", size: "g5.xlarge", ..EKS },
            "instance_type",
            "instance_type_not_in_region",
            "in ca-west-1",
        ),
    ] {
        let (refused_field, refused_code, rule) = refused(asked);
        assert_eq!((refused_field, refused_code), (field, code), "{asked:?}: {rule}");
        assert!(rule.contains(says) && rule.ends_with('.'), "{asked:?}: {rule}");
    }
}

#[test]
fn a_name_on_gke_leaves_room_for_the_id_and_starts_with_a_letter() {
    let long = "a".repeat(32);
    assert_eq!(check(&long, GKE, TODAY).unwrap_err().code, "name_too_long");
    assert!(check(&long[1..], GKE, TODAY).is_ok());
    assert_eq!(check("1st", GKE, TODAY).unwrap_err().code, "name_not_for_cloud");
    for asked in [VANILLA, EKS] {
        assert!(check(&"1".repeat(40), asked, TODAY).is_ok());
    }
}

#[test]
fn support_ends_with_its_last_day_and_eks_goes_on_for_a_price() {
    let on_eks = |version, today| check("north", Asked { version, ..EKS }, today).map(|(_, support)| support);
    let (last, extended) = (date(2026, 12, 2), date(2027, 12, 2));
    assert_eq!(on_eks("1.34", last), Ok(Support::Standard { until: Some(last) }));
    assert_eq!(on_eks("1.34", last.tomorrow().unwrap()), Ok(Support::Extended { until: extended }));
    assert_eq!(on_eks("1.34", extended), Ok(Support::Extended { until: extended }));
    assert_eq!(on_eks("1.34", extended.tomorrow().unwrap()).unwrap_err().code, "version_unsupported");
    let unannounced = check("north", Asked { version: "1.36", ..GKE }, date(2030, 1, 1)).unwrap().1;
    assert_eq!(unannounced, Support::Standard { until: None });
}
