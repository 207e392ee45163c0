//! The page about the phases is the one that the plan prints.

use std::path::Path;

use host_cluster_controller_decide::Way;

use crate::scene::a_cluster;

#[test]
fn the_page_about_the_phases_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/phases.md");
    let committed = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        committed == host_cluster_controller_decide::phases_page(),
        "docs/phases.md is not what plan.rs says. Run `cargo xtask generate`."
    );
}

#[test]
fn the_way_that_a_resource_shows_is_the_one_that_is_gone() {
    for way in Way::ALL {
        let planned: Vec<_> = way.milestones().iter().map(|step| (step.condition(), step.phase())).collect();
        assert_eq!(a_cluster(way).resource.spec.way(), planned, "{way:?}");
    }
}
