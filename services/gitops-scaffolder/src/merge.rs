//! What a new tree changes in the folder as it is in Git: everything KubeOpera owns, and nothing that somebody edited. Where
//! both changed a file, it gets both changes, or stays as it is if they are to the same lines.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use gitops_scaffolder_tree::{Class, File, LOCK_PATH, Lock, Tree, lint_edited};

/// The files of a folder in Git by their path in it.
pub(crate) type Folder = BTreeMap<String, String>;

/// What to change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes<'tree> {
    /// Files to write.
    pub(crate) write: Vec<(&'tree str, Cow<'tree, str>)>,
    /// Files to remove.
    pub(crate) remove: Vec<String>,
    /// Generated files that somebody changed or removed; what they made of them stays.
    pub(crate) kept_edits: Vec<String>,
    /// Of these, the ones to which a change of the tree could not come, as it is to the same lines.
    pub(crate) conflicts: Vec<String>,
}

/// The folder holds files that are not KubeOpera's where KubeOpera's would go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign(pub(crate) Vec<String>);

/// The files that were edited and that the new tree changes: to merge them it takes what was last generated.
pub(crate) fn to_merge<'tree>(there: &Folder, lock: &Lock, tree: &'tree Tree) -> Vec<&'tree str> {
    let edited = tree.files().filter(|(path, file)| {
        let current = there.get(*path).filter(|current| **current != file.text && !lock.wrote(path, current));
        current.is_some() && file.class == Class::Owned && is_changed(lock, path, file)
    });
    edited.map(|(path, _)| path).filter(|path| *path != LOCK_PATH).collect()
}

/// Whether the new tree has another text than the last one had.
fn is_changed(lock: &Lock, path: &str, file: &File) -> bool {
    lock.files.contains_key(path) && !lock.wrote(path, &file.text)
}

/// Compares what is there, what we last wrote (`lock`) and what should be there. `bases` is what we last wrote of the files
/// [`to_merge`]; one that is not among them stays as it is.
pub(crate) fn changes<'tree>(
    there: &Folder,
    lock: Option<&Lock>,
    bases: &Folder,
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
            _ if path == LOCK_PATH => changes.write.push((path, Cow::Borrowed(&file.text))),
            // A seed is written once; after that, and if there is anything in its place, it is the user's.
            Class::Seed if wrote_before || current.is_some() => {}
            Class::Owned if !untouched => {
                changes.kept_edits.push(path.to_owned());
                let Some(current) = current.filter(|_| is_changed(lock, path, file)) else { continue };
                match merged(bases.get(path), current, file) {
                    Some(text) if text == *current => {}
                    Some(text) => changes.write.push((path, Cow::Owned(text))),
                    None => changes.conflicts.push(path.to_owned()),
                }
            }
            Class::Seed | Class::Owned => changes.write.push((path, Cow::Borrowed(&file.text))),
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
    leave_out_unsound(&mut changes, there, tree);
    Ok(changes)
}

/// Both changes in one text; nothing if they collide.
fn merged(base: Option<&String>, current: &str, file: &File) -> Option<String> {
    diffy::merge(base?, current, &file.text).ok()
}

/// Lines that do not collide may still make no sense together. A merged file that would bring a fault into the folder that is
/// not there without it stays as it is.
fn leave_out_unsound(changes: &mut Changes<'_>, there: &Folder, tree: &Tree) {
    let is_merged = |text: &Cow<'_, str>| matches!(text, Cow::Owned(_));
    if !changes.write.iter().any(|(_, text)| is_merged(text)) {
        return;
    }
    let faults_of = |path: &str, text: &str| -> BTreeSet<_> {
        let mut folder = tree.clone();
        folder.insert(path, Class::Owned, text.to_owned());
        lint_edited(&folder).into_iter().collect()
    };
    changes.write.retain(|(path, text)| {
        let edited = there.get(*path).map(String::as_str).unwrap_or_default();
        let is_sound = !is_merged(text) || faults_of(path, text).is_subset(&faults_of(path, edited));
        if !is_sound {
            changes.conflicts.push((*path).to_owned());
        }
        is_sound
    });
    changes.conflicts.sort();
}

/// The first tree in a folder. What is there without a lock file is not ours.
fn first<'tree>(there: &Folder, tree: &'tree Tree) -> Result<Changes<'tree>, Foreign> {
    let mut changes = Changes::default();
    let mut foreign = Vec::new();
    for (path, file) in tree.files() {
        match there.get(path) {
            None => changes.write.push((path, Cow::Borrowed(&file.text))),
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
    const MONITORING: &str = "infrastructure/monitoring/kube-prometheus-stack.yaml";

    fn with_domain() -> (Tree, Lock, Folder) {
        tree(|inputs| inputs.domain = Some("prod.acme.com".parse().unwrap()))
    }

    #[test]
    fn an_empty_folder_gets_every_file() {
        let (tree, ..) = tree(|_| {});

        let changes = changes(&Folder::new(), None, &Folder::new(), &tree).unwrap();

        assert_eq!(changes.write.len(), tree.files().count());
        assert!(changes.remove.is_empty() && changes.kept_edits.is_empty());
    }

    #[test]
    fn the_same_tree_changes_nothing() {
        let (tree, lock, folder) = tree(|_| {});

        assert_eq!(changes(&folder, Some(&lock), &Folder::new(), &tree), Ok(Changes::default()));
    }

    #[test]
    fn new_inputs_change_the_files_they_reach_and_no_others() {
        let (_, lock, folder) = tree(|_| {});
        let (tree, ..) = with_domain();

        let changes = changes(&folder, Some(&lock), &Folder::new(), &tree).unwrap();

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

        let changes = changes(&folder, Some(&lock), &Folder::new(), &tree).unwrap();

        assert_eq!(changes.kept_edits, [ISSUERS]);
        assert!(changes.write.iter().all(|(path, _)| *path != ISSUERS));
        assert!(changes.write.iter().any(|(path, _)| *path == "apps/kubeopera/kubeopera.yaml"));
    }

    /// The folder with the generated file as `edit` leaves it, and what was generated.
    fn edited(folder: &mut Folder, path: &str, edit: impl FnOnce(&str) -> String) -> Folder {
        let base = folder[path].clone();
        folder.insert(path.into(), edit(&base));
        Folder::from([(path.into(), base)])
    }

    #[test]
    fn an_edit_and_a_change_elsewhere_in_the_file_are_both_there_afterwards() {
        let (_, lock, mut folder) = tree(|_| {});
        let bases = edited(&mut folder, MONITORING, |text| text.replace("retention: 7d", "retention: 30d"));
        assert_ne!(folder[MONITORING], bases[MONITORING], "the edit is one");
        let (tree, ..) = with_domain();

        assert_eq!(to_merge(&folder, &lock, &tree), [MONITORING]);
        let changes = changes(&folder, Some(&lock), &bases, &tree).unwrap();

        let (_, text) = changes.write.iter().find(|(path, _)| *path == MONITORING).unwrap();
        assert!(text.contains("retention: 30d") && text.contains("prod.acme.com"), "{text}");
        assert_eq!((changes.kept_edits.as_slice(), changes.conflicts.len()), ([MONITORING.to_owned()].as_slice(), 0));
    }

    #[test]
    fn an_edit_of_the_very_lines_that_change_stays_and_is_reported() {
        let (_, lock, mut folder) = with_domain();
        let mine = |text: &str| text.replace("prod.acme.com", "mine.acme.com");
        let bases = edited(&mut folder, MONITORING, mine);
        let (tree, ..) = tree(|inputs| inputs.domain = Some("other.acme.com".parse().unwrap()));

        let changes = changes(&folder, Some(&lock), &bases, &tree).unwrap();

        assert!(changes.write.iter().all(|(path, _)| *path != MONITORING));
        assert_eq!((changes.kept_edits, changes.conflicts), (vec![MONITORING.into()], vec![MONITORING.into()]));
    }

    #[test]
    fn a_merged_file_that_makes_no_sense_any_more_stays_as_it_was_edited() {
        let (tree, _, folder) = tree(|_| {});
        let of = |text: &'static str| Changes {
            write: vec![(MONITORING, Cow::Owned(text.to_owned()))],
            ..Changes::default()
        };
        let (mut senseless, mut fine) = (of("kind: ["), of("# only a remark\n"));

        leave_out_unsound(&mut senseless, &folder, &tree);
        assert_eq!(senseless, Changes { conflicts: vec![MONITORING.into()], ..Changes::default() });

        let edited = Folder::from([(MONITORING.into(), "# another\n".into())]);
        leave_out_unsound(&mut fine, &edited, &tree);
        assert_eq!(fine, of("# only a remark\n"));
    }

    #[test]
    fn an_edit_stays_as_it_is_where_nothing_is_known_of_what_was_generated() {
        let (_, lock, mut folder) = tree(|_| {});
        edited(&mut folder, MONITORING, |text| text.replace("retention: 7d", "retention: 30d"));
        let (tree, ..) = with_domain();

        let changes = changes(&folder, Some(&lock), &Folder::new(), &tree).unwrap();

        assert!(changes.write.iter().all(|(path, _)| *path != MONITORING));
        assert_eq!(changes.conflicts, [MONITORING]);
    }

    #[test]
    fn a_file_somebody_removed_stays_removed_and_is_reported() {
        let (tree, lock, mut folder) = tree(|_| {});
        folder.remove(TRAEFIK);

        assert_eq!(changes(&folder, Some(&lock), &Folder::new(), &tree).unwrap().kept_edits, [TRAEFIK]);
    }

    #[test]
    fn overrides_are_never_touched_again() {
        let (_, lock, mut folder) = tree(|_| {});
        folder.insert("overrides/values.yaml".into(), "mine\n".into());
        folder.remove("overrides/kustomization.yaml");
        folder.insert("overrides/extra.yaml".into(), "mine too\n".into());
        let (tree, ..) = with_domain();

        let changes = changes(&folder, Some(&lock), &Folder::new(), &tree).unwrap();

        let touched = changes.write.iter().map(|(path, _)| (*path).to_owned()).chain(changes.remove);
        assert!(touched.chain(changes.kept_edits).all(|path| !path.starts_with("overrides/")));
    }

    #[test]
    fn a_component_that_goes_takes_its_file_along_unless_it_was_edited() {
        let (_, lock, mut folder) = tree(|_| {});
        let (tree, ..) = tree(|inputs| inputs.present.ingress_class = true);
        assert_eq!(changes(&folder, Some(&lock), &Folder::new(), &tree).unwrap().remove, [TRAEFIK]);

        folder.insert(TRAEFIK.into(), "mine\n".into());
        let changes = changes(&folder, Some(&lock), &Folder::new(), &tree).unwrap();

        assert!(changes.remove.is_empty());
        assert_eq!(changes.kept_edits, [TRAEFIK]);
    }

    #[test]
    fn somebody_elses_files_are_not_overwritten() {
        let (tree, ..) = tree(|_| {});
        let folder =
            Folder::from([("kustomization.yaml".into(), "theirs\n".into()), ("other.yaml".into(), "x\n".into())]);

        assert_eq!(changes(&folder, None, &Folder::new(), &tree), Err(Foreign(vec!["kustomization.yaml".into()])));
    }
}
