//! Files that follow from code and are committed, so that a change of behaviour shows as a diff.

use std::{fs, path::Path};

use anyhow::{Context, bail};

/// Writes every generated file, or with `check` names those that are not current.
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<()> {
    let files = [
        ("deploy/crds/hostclusters.kubeopera.io.yaml", host_cluster_controller_crd::crd_yaml()?),
        ("docs/phases.md", host_cluster_controller_decide::phases_page()),
        ("openapi/kubeopera-api.json", kubeopera_api::openapi_json()?),
    ];
    let mut stale = Vec::new();
    for (path, text) in files {
        let file = root.join(path);
        if fs::read_to_string(&file).is_ok_and(|present| present == text) {
            continue;
        }
        stale.push(path);
        if !check {
            fs::create_dir_all(file.parent().unwrap_or(root))
                .with_context(|| format!("making the folder of {path}"))?;
            fs::write(&file, text).with_context(|| format!("writing {path}"))?;
        }
    }
    if check && !stale.is_empty() {
        bail!("not current: {}. Run `make generate` and commit the result.", stale.join(", "));
    }
    Ok(())
}
