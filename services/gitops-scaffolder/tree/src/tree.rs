//! A tree: files by their path, with whose they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use vocabulary::hex;

/// The files of a cluster's environment by their path relative to its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<String, File>,
}

/// A file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Whose it is.
    pub class: Class,
    /// What is in it.
    pub text: String,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// KubeOpera's: rewritten when it should change, unless somebody else changed it.
    Owned,
    /// The user's: written once, as a start.
    Seed,
}

impl Tree {
    /// Adds a file; a path is given once.
    pub fn insert(&mut self, path: impl Into<String>, class: Class, text: String) {
        self.files.insert(path.into(), File { class, text });
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Every file, ordered by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// SHA-256 over the paths and contents of all files, in hex.
    pub fn hash(&self) -> String {
        let mut sum = Sha256::new();
        for (path, file) in self.files() {
            for part in [path, file.text.as_str()] {
                // The length first, so that no two trees run together to the same bytes.
                sum.update(part.len().to_be_bytes());
                sum.update(part);
            }
        }
        hex(&sum.finalize())
    }
}

/// SHA-256 of a text, in hex.
pub(crate) fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// Id of a text as a blob of a Git repository with SHA-1 ids, in hex. Nothing rests on its strength: a text that is found by
/// it is believed only if its SHA-256 is right.
pub(crate) fn git_blob(text: &str) -> String {
    let mut sum = Sha1::new();
    sum.update(format!("blob {}\0", text.len()));
    sum.update(text);
    hex(&sum.finalize())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_blob_has_the_id_that_git_gives_it() {
        // `printf 'hello\n' | git hash-object --stdin`
        assert_eq!(super::git_blob("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
