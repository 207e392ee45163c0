//! The page about the phases is the one that the plan prints.

use std::path::Path;

#[test]
fn the_page_about_the_phases_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/phases.md");
    let committed = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        committed == host_cluster_controller_decide::phases_page(),
        "docs/phases.md is not what plan.rs says. Run `cargo xtask generate`."
    );
}
