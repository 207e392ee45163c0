//! A cluster's tree in a folder on this machine, as it is in a clone of the repository: judged, and compared with what this
//! version of KubeOpera would make of it. Nothing is written and no server is asked.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use gitops_scaffolder_tree::{
    Class, Finding, LOCK_PATH, Lock, LockUnreadable, Tree, TreeConfig, lint_edited, render_again,
};

use crate::{
    bases,
    ensure::LARGEST_FILE,
    git::program::Git,
    merge::{self, Folder},
};

/// A folder with a tree in it.
#[derive(Debug)]
pub struct Checkout {
    path: PathBuf,
    files: Folder,
    lock: Lock,
}

/// A folder that cannot be taken for a tree.
#[derive(Debug, thiserror::Error)]
pub enum NoTree {
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {error}", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There is no lock file in it.
    #[error("{} holds no tree of KubeOpera's: there is no {LOCK_PATH} in it. Name the folder of one cluster", .0.display())]
    NoLock(PathBuf),
    /// The lock file is not what KubeOpera wrote.
    #[error("{LOCK_PATH} in {} was edited and cannot be read. Restore it from Git's history", .0.display())]
    LockMalformed(PathBuf),
    /// The lock file is of a newer version.
    #[error("{} was written by a newer version of KubeOpera. Use that one", .0.display())]
    Newer(PathBuf),
}

/// What this version of KubeOpera would commit.
#[derive(Debug, Default)]
pub struct Upgrade {
    /// Files that change, ordered by path; the lock file is not among them.
    pub files: Vec<FileChange>,
    /// Generated files that somebody edited; what they made of them stays.
    pub kept_edits: Vec<String>,
    /// Of these, the ones that do not get a change, as it is to the lines that were edited.
    pub conflicts: Vec<String>,
}

/// A file before and after.
#[derive(Debug)]
pub struct FileChange {
    /// Relative to the tree's folder.
    pub path: String,
    /// None where it is new.
    pub before: Option<String>,
    /// None where it goes.
    pub after: Option<String>,
}

impl FileChange {
    /// The change as a unified diff that `git apply` and `patch -p1` take.
    pub fn diff(&self) -> String {
        let name = |side: &str, text: &Option<String>| match text {
            Some(_) => format!("{side}/{}", self.path),
            None => "/dev/null".to_owned(),
        };
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut options = diffy::DiffOptions::new();
        options.set_original_filename(name("a", &self.before)).set_modified_filename(name("b", &self.after));
        options.create_patch(&text(&self.before), &text(&self.after)).to_string()
    }
}

impl Checkout {
    /// Reads a folder.
    pub fn read(path: &Path) -> Result<Self, NoTree> {
        let mut files = Folder::new();
        read_into(&mut files, path, path)?;
        let lock = files.get(LOCK_PATH).ok_or_else(|| NoTree::NoLock(path.to_owned()))?;
        let lock = Lock::parse(lock).map_err(|unreadable| match unreadable {
            LockUnreadable::Malformed => NoTree::LockMalformed(path.to_owned()),
            LockUnreadable::Newer => NoTree::Newer(path.to_owned()),
        })?;
        Ok(Self { path: path.to_owned(), files, lock })
    }

    /// Everything wrong with the folder as it is, edits of people included.
    pub fn findings(&self) -> Vec<Finding> {
        let mut tree = Tree::default();
        for (path, text) in &self.files {
            let class = self.lock.files.get(path).map_or(Class::Seed, |file| file.class);
            tree.insert(path, class, text.clone());
        }
        lint_edited(&tree)
    }

    /// What this version of KubeOpera makes of it, from the same inputs.
    pub async fn upgrade(&self) -> io::Result<Upgrade> {
        let tree = render_again(&self.lock, &TreeConfig { mirror: self.lock.inputs.mirror.clone() });
        let bases = self.bases(&merge::to_merge(&self.files, &self.lock, &tree)).await?;
        let Ok(changes) = merge::changes(&self.files, Some(&self.lock), &bases, &tree) else {
            return Ok(Upgrade::default());
        };
        let written = changes.write.iter().map(|(path, text)| ((*path).to_owned(), Some(text.clone().into_owned())));
        let removed = changes.remove.iter().map(|path| (path.clone(), None));
        let change = |(path, after)| FileChange { before: self.files.get(&path).cloned(), after, path };
        let mut files: Vec<_> = written.chain(removed).filter(|(path, _)| path != LOCK_PATH).map(change).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Upgrade { files, kept_edits: changes.kept_edits, conflicts: changes.conflicts })
    }

    /// What was last generated of these files: made again, or read in the history of the clone that the folder is in.
    async fn bases(&self, paths: &[&str]) -> io::Result<Folder> {
        let mut bases = bases::generated_again(&self.lock, paths);
        let here = fs::canonicalize(&self.path)?;
        let Some(clone) = here.ancestors().find(|above| above.join(".git").exists()) else { return Ok(bases) };
        let home = tempfile::tempdir()?;
        let git = Git::new(home.path(), Duration::from_secs(1)).await?;
        for (path, blob) in bases::blobs(&self.lock, paths, &bases) {
            let Ok(text) = git.local(clone, &["cat-file", "blob", blob], &[]).await else { continue };
            let text = String::from_utf8_lossy(&text).into_owned();
            if self.lock.wrote(path, &text) {
                bases.insert(path.to_owned(), text);
            }
        }
        Ok(bases)
    }
}

/// Symbolic links are not followed: in a tree of KubeOpera's there are none.
fn read_into(files: &mut Folder, root: &Path, folder: &Path) -> Result<(), NoTree> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error| NoTree::Unreadable { path, error }
    };
    for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        let kind = fs::symlink_metadata(&path).map_err(unreadable(&path))?;
        if kind.is_dir() {
            read_into(files, root, &path)?;
        } else if kind.is_file() && kind.len() <= LARGEST_FILE {
            let bytes = fs::read(&path).map_err(unreadable(&path))?;
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
