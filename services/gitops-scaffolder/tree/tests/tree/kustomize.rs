//! What kustomize, which is what Flux builds with, makes of each folder that a Flux Kustomization applies.

use std::process::Command;

use gitops_scaffolder_tree::Layer;

use crate::cases;

#[test]
fn kustomize_builds_every_layer_of_every_case() {
    if Command::new("kubectl").arg("version").arg("--client").output().is_err() {
        eprintln!("SKIPPED: there is no kubectl on this machine, so no layer was built with kustomize");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in cases::all() {
        let root = folder.path().join(&case.name);
        cases::write(&case.tree, &root);

        let layers = Layer::ALL.iter().map(|layer| layer.folder()).filter(|layer| root.join(layer).exists());
        for layer in layers.chain(["."]) {
            let built = Command::new("kubectl")
                .args(["kustomize", "--load-restrictor", "LoadRestrictionsNone"])
                .arg(root.join(layer))
                .output()
                .unwrap();

            let complaint = String::from_utf8_lossy(&built.stderr);
            assert!(built.status.success() && complaint.is_empty(), "{} {layer}: {complaint}", case.name);
            assert!(!built.stdout.is_empty(), "{} {layer} builds to nothing", case.name);
        }
    }
}
