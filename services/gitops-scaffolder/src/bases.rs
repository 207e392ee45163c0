//! What was generated before of files that were edited since: the third text of a merge. It is not kept anywhere, as it can be
//! had again: this version of the generator makes it from the recorded inputs, or Git has it.

use gitops_scaffolder_tree::{Lock, TreeConfig, render_again};

use crate::{git::clone::Clone, merge::Folder};

/// The texts that can be had. One that is missing leaves its file as it was edited.
pub(crate) async fn of(clone: &Clone<'_>, lock: &Lock, paths: &[&str]) -> Folder {
    let mut bases = generated_again(lock, paths);
    for (path, blob) in blobs(lock, paths, &bases) {
        match clone.blob(blob).await {
            Ok(text) if lock.wrote(path, &text) => drop(bases.insert(path.to_owned(), text)),
            Ok(_) => tracing::warn!(path, "the lock file names another text than was generated"),
            Err(failure) => {
                tracing::warn!(path, %failure, "the text that an edited file was made from is not to be had");
            }
        }
    }
    bases
}

/// The files whose text is not among `bases`, each with the id by which Git has it.
pub(crate) fn blobs<'a>(lock: &'a Lock, paths: &[&'a str], bases: &Folder) -> Vec<(&'a str, &'a str)> {
    let missing = paths.iter().filter(|path| !bases.contains_key(**path));
    let id_of = |path: &str| lock.files.get(path)?.blob.as_deref().filter(|id| is_blob_id(id));
    missing.filter_map(|path| Some((*path, id_of(path)?))).collect()
}

/// What this version still makes as it was.
pub(crate) fn generated_again(lock: &Lock, paths: &[&str]) -> Folder {
    if paths.is_empty() {
        return Folder::new();
    }
    let tree = render_again(lock, &TreeConfig { mirror: lock.inputs.mirror.clone() });
    let texts = paths.iter().filter_map(|path| Some(((*path).to_owned(), tree.get(path)?.text.clone())));
    texts.filter(|(path, text)| lock.wrote(path, text)).collect()
}

/// Whether a text that was read in a repository is an id, and not something that Git would take for an option or a path.
fn is_blob_id(id: &str) -> bool {
    id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}
