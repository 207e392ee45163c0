//! What a new tree changes in the folder as it is in Git: everything KubeOpera owns, nothing that somebody edited.

use std::collections::BTreeMap;

use gitops_scaffolder_tree::{Class, LOCK_PATH, Lock, Tree};

/// The files of a folder in Git by their path in it.
pub(crate) type Folder = BTreeMap<String, String>;

/// What to change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes<'tree> {
    /// Files to write.
    pub(crate) write: Vec<(&'tree str, &'tree str)>,
    /// Files to remove.
    pub(crate) remove: Vec<String>,
    /// Generated files that somebody changed or removed, and that stay as they are.
    pub(crate) kept_edits: Vec<String>,
}

/// The folder holds files that are not KubeOpera's where KubeOpera's would go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign(pub(crate) Vec<String>);

/// Compares what is there, what we last wrote (`lock`) and what should be there.
pub(crate) fn changes<'tree>(
    there: &Folder,
    lock: Option<&Lock>,
    tree: &'tree Tree,
) -> Result<Changes<'tree>, Foreign> {
    let Some(lock) = lock else { return first(there, tree) };
    let mut changes = Changes::default();
    for (path, file) in tree.files() {
        let current = there.get(path);
        let wrote_before = lock.files.contains_key(path);
        let untouched = current.map_or(!wrote_before, |text| lock.wrote(path, text));
        if current == Some(&file.text) {
            continue;
        }
        match file.class {
            _ if path == LOCK_PATH => changes.write.push((path, &file.text)),
            // A seed is written once; after that, and if there is anything in its place, it is the user's.
            Class::Seed if wrote_before || current.is_some() => {}
            Class::Owned if !untouched => changes.kept_edits.push(path.to_owned()),
            Class::Seed | Class::Owned => changes.write.push((path, &file.text)),
        }
    }
    for (path, locked) in &lock.files {
        let Some(current) = there.get(path).filter(|_| tree.get(path).is_none()) else { continue };
        match locked.class {
            Class::Seed => {}
            Class::Owned if lock.wrote(path, current) => changes.remove.push(path.clone()),
            Class::Owned => changes.kept_edits.push(path.clone()),
        }
    }
    changes.kept_edits.sort();
    Ok(changes)
}

/// The first tree in a folder. What is there without a lock file is not ours.
fn first<'tree>(there: &Folder, tree: &'tree Tree) -> Result<Changes<'tree>, Foreign> {
    let mut changes = Changes::default();
    let mut foreign = Vec::new();
    for (path, file) in tree.files() {
        match there.get(path) {
            None => changes.write.push((path, &file.text)),
            Some(text) if *text == file.text || file.class == Class::Seed => {}
            Some(_) => foreign.push(path.to_owned()),
        }
    }
    if foreign.is_empty() { Ok(changes) } else { Err(Foreign(foreign)) }
}

#[cfg(test)]
mod tests {
    use gitops_scaffolder_contract::TreeInputs;
    use gitops_scaffolder_tree::{TreeConfig, render};

    use super::*;
    use crate::tests::inputs;

    fn tree(change: impl FnOnce(&mut TreeInputs)) -> (Tree, Lock, Folder) {
        let mut inputs = inputs("prod");
        change(&mut inputs);
        let tree = render(&inputs, &TreeConfig::default());
        let lock = Lock::parse(&tree.get(LOCK_PATH).unwrap().text).unwrap();
        let folder = tree.files().map(|(path, file)| (path.to_owned(), file.text.clone())).collect();
        (tree, lock, folder)
    }

    const TRAEFIK: &str = "infrastructure/controllers/traefik.yaml";
    const ISSUERS: &str = "infrastructure/configs/issuers.yaml";

    fn with_domain() -> (Tree, Lock, Folder) {
        tree(|inputs| inputs.domain = Some("prod.acme.com".parse().unwrap()))
    }

    #[test]
    fn an_empty_folder_gets_every_file() {
        let (tree, ..) = tree(|_| {});

        let changes = changes(&Folder::new(), None, &tree).unwrap();

        assert_eq!(changes.write.len(), tree.files().count());
        assert!(changes.remove.is_empty() && changes.kept_edits.is_empty());
    }

    #[test]
    fn the_same_tree_changes_nothing() {
        let (tree, lock, folder) = tree(|_| {});

        assert_eq!(changes(&folder, Some(&lock), &tree), Ok(Changes::default()));
    }

    #[test]
    fn new_inputs_change_the_files_they_reach_and_no_others() {
        let (_, lock, folder) = tree(|_| {});
        let (tree, ..) = with_domain();

        let changes = changes(&folder, Some(&lock), &tree).unwrap();

        let written: Vec<&str> = changes.write.iter().map(|(path, _)| *path).collect();
        let expected = [
            LOCK_PATH,
            "README.md",
            "apps/kubeopera/kubeopera.yaml",
            ISSUERS,
            "infrastructure/monitoring/kube-prometheus-stack.yaml",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn an_edited_file_is_kept_and_reported_and_the_rest_is_updated() {
        let (_, lock, mut folder) = tree(|_| {});
        folder.insert(ISSUERS.into(), "mine\n".into());
        let (tree, ..) = with_domain();

        let changes = changes(&folder, Some(&lock), &tree).unwrap();

        assert_eq!(changes.kept_edits, [ISSUERS]);
        assert!(changes.write.iter().all(|(path, _)| *path != ISSUERS));
        assert!(changes.write.iter().any(|(path, _)| *path == "apps/kubeopera/kubeopera.yaml"));
    }

    #[test]
    fn a_file_somebody_removed_stays_removed_and_is_reported() {
        let (tree, lock, mut folder) = tree(|_| {});
        folder.remove(TRAEFIK);

        assert_eq!(changes(&folder, Some(&lock), &tree).unwrap().kept_edits, [TRAEFIK]);
    }

    #[test]
    fn overrides_are_never_touched_again() {
        let (_, lock, mut folder) = tree(|_| {});
        folder.insert("overrides/values.yaml".into(), "mine\n".into());
        folder.remove("overrides/kustomization.yaml");
        folder.insert("overrides/extra.yaml".into(), "mine too\n".into());
        let (tree, ..) = with_domain();

        let changes = changes(&folder, Some(&lock), &tree).unwrap();

        let touched = changes.write.iter().map(|(path, _)| (*path).to_owned()).chain(changes.remove);
        assert!(touched.chain(changes.kept_edits).all(|path| !path.starts_with("overrides/")));
    }

    #[test]
    fn a_component_that_goes_takes_its_file_along_unless_it_was_edited() {
        let (_, lock, mut folder) = tree(|_| {});
        let (tree, ..) = tree(|inputs| inputs.present.ingress_class = true);
        assert_eq!(changes(&folder, Some(&lock), &tree).unwrap().remove, [TRAEFIK]);

        folder.insert(TRAEFIK.into(), "mine\n".into());
        let changes = changes(&folder, Some(&lock), &tree).unwrap();

        assert!(changes.remove.is_empty());
        assert_eq!(changes.kept_edits, [TRAEFIK]);
    }

    #[test]
    fn somebody_elses_files_are_not_overwritten() {
        let (tree, ..) = tree(|_| {});
        let folder =
            Folder::from([("kustomization.yaml".into(), "theirs\n".into()), ("other.yaml".into(), "x\n".into())]);

        assert_eq!(changes(&folder, None, &tree), Err(Foreign(vec!["kustomization.yaml".into()])));
    }
}
