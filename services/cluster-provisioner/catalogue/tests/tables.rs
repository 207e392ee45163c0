//! The tables hold together.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;

use cluster_provisioner_catalogue::{Architecture, Catalogue, Cloud, TopologyName};
use jiff::civil::date;

#[test]
fn every_region_offers_types_and_every_type_is_offered_somewhere() {
    let catalogue = Catalogue::built_in().unwrap();
    for cloud in Cloud::ALL {
        let mut offered = BTreeSet::new();
        for region in catalogue.regions(cloud) {
            let types: Vec<_> = catalogue.instance_types(region).collect();
            assert!(types.iter().any(|one| one.architecture == Architecture::Amd64), "{region:?}");
            assert!(types.len() > 30 && types.iter().all(|one| one.cloud == cloud), "{region:?}");
            offered.extend(types.into_iter().map(|one| one.name));
        }
        let named: BTreeSet<_> = include_str!("../data/instance-types.csv")
            .lines()
            .filter(|line| line.starts_with(cloud.as_str()))
            .filter_map(|line| line.split(',').nth(2))
            .collect();
        assert_eq!(offered, named);
    }
}

#[test]
fn ids_are_what_the_fields_of_a_hostcluster_take_and_no_two_are_alike() {
    let catalogue = Catalogue::built_in().unwrap();
    let mut seen = BTreeSet::new();
    for region in Cloud::ALL.iter().flat_map(|cloud| catalogue.regions(*cloud)) {
        assert!(region.id.parse::<vocabulary::Region>().is_ok() && !region.name.is_empty(), "{region:?}");
        assert!(seen.insert(region.id), "{region:?}");
        let mut types = BTreeSet::new();
        for one in catalogue.instance_types(region) {
            assert!(one.name.starts_with(one.family) && types.insert(one.name), "{one:?}");
            assert!(one.cpus >= 2 && one.memory_mib >= 4096 && !one.boot_disk.is_empty(), "{one:?}");
            assert!(one.gpus.is_none_or(|gpus| !gpus.model.is_empty()), "{one:?}");
        }
    }
}

#[test]
fn every_topology_has_versions_that_are_supported_now_the_newest_first() {
    let catalogue = Catalogue::built_in().unwrap();
    for topology in TopologyName::ALL {
        let releases: Vec<_> = catalogue.releases(topology).collect();
        assert!(releases.iter().filter(|release| release.is_offered(date(2026, 11, 30))).count() >= 2, "{topology:?}");
        let minors: Vec<u16> =
            releases.iter().map(|one| one.minor.strip_prefix("1.").unwrap().parse().unwrap()).collect();
        assert!(minors.is_sorted_by(|newer, older| newer > older), "{minors:?}");
        for release in releases {
            assert!(release.newest().parse::<vocabulary::KubernetesVersion>().is_ok(), "{release:?}");
            assert!(
                release.extended_until.is_none() || release.extended_until > release.supported_until,
                "{release:?}"
            );
        }
    }
}
