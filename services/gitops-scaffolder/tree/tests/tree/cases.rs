//! Each folder of `tests/cases` is a cluster (`inputs.yaml`) and its whole tree (`tree/`), as it would stand in Git.
//! Run with `RECORD=1` to write the trees anew, and review the difference like code.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use gitops_scaffolder_contract::TreeInputs;
use gitops_scaffolder_tree::{Mirror, Tree, TreeConfig, lint, render};
use serde::Deserialize;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) tree: Tree,
}

#[derive(Deserialize)]
struct Inputs {
    cluster: TreeInputs,
    #[serde(default)]
    mirror: Option<Mirror>,
}

pub(crate) fn all() -> Vec<Case> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut folders: Vec<PathBuf> = fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
        .into_iter()
        .map(|folder| {
            let text = fs::read_to_string(folder.join("inputs.yaml")).unwrap();
            let Inputs { cluster, mirror } = serde_saphyr::from_str(&text).unwrap();
            let tree = render(&cluster, &TreeConfig { mirror });
            Case { name: folder.file_name().unwrap().to_str().unwrap().to_owned(), folder: folder.join("tree"), tree }
        })
        .collect()
}

#[test]
fn every_case_renders_to_the_folder_beside_it() {
    let mut differing = Vec::new();
    for Case { name, folder, tree } in all() {
        if std::env::var_os("RECORD").is_some() {
            let _ = fs::remove_dir_all(&folder);
            write(&tree, &folder);
        }
        let expected = read(&folder, &folder);
        let rendered: BTreeMap<String, String> =
            tree.files().map(|(path, file)| (path.to_owned(), file.text.clone())).collect();
        let paths = expected.keys().chain(rendered.keys());
        differing.extend(
            paths.filter(|path| expected.get(*path) != rendered.get(*path)).map(|path| format!("{name}/{path}")),
        );
    }
    differing.dedup();
    assert!(differing.is_empty(), "these files differ; run with RECORD=1 and look at the difference: {differing:#?}");
}

#[test]
fn every_case_is_sound() {
    for case in all() {
        assert_eq!(lint(&case.tree), [], "{}", case.name);
    }
}

pub(crate) fn write(tree: &Tree, folder: &Path) {
    for (path, file) in tree.files() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.text).unwrap();
    }
}

fn read(root: &Path, folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(read(root, &path));
        } else {
            files.insert(
                path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(),
                fs::read_to_string(&path).unwrap(),
            );
        }
    }
    files
}
