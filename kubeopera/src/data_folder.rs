//! What KubeOpera keeps on this machine: its database, its Git repository and the credentials for it.

use std::{
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::Write,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use vocabulary::Secret;

/// A folder that belongs to one running KubeOpera: the lock ends with the process, whatever ends it.
pub(crate) struct DataFolder {
    path: PathBuf,
    lock: Option<File>,
}

/// Where a command finds the data of a KubeOpera.
#[derive(Args)]
pub(crate) struct DataPath {
    /// Where KubeOpera keeps its data [default: ~/.local/share/kubeopera]
    #[arg(long, value_name = "FOLDER", env = "KUBEOPERA_DATA")]
    pub(crate) data: Option<PathBuf>,
}

impl DataPath {
    pub(crate) fn path(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(DataFolder::usual_path)
    }
}

/// The two credentials of the built-in Git repository.
pub(crate) struct GitPasswords {
    /// May push.
    pub(crate) write: Secret,
    /// May only fetch; this is what clusters get.
    pub(crate) read: Secret,
}

#[derive(Serialize, Deserialize)]
struct StoredGitPasswords {
    write: String,
    read: String,
}

impl DataFolder {
    /// The folder of who names none.
    pub(crate) fn usual_path() -> PathBuf {
        let folder = |variable| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self::default_path(folder("XDG_DATA_HOME"), folder("HOME"))
    }

    /// `$XDG_DATA_HOME/kubeopera`, by default `~/.local/share/kubeopera`; who has no home has `/var/lib/kubeopera-data`
    /// (`/var/lib/kubeopera` belongs to local clusters and is deleted with them).
    fn default_path(data_home: Option<PathBuf>, home: Option<PathBuf>) -> PathBuf {
        data_home
            .or_else(|| home.map(|home| home.join(".local/share")))
            .map_or_else(|| PathBuf::from("/var/lib/kubeopera-data"), |folder| folder.join("kubeopera"))
    }

    /// Makes the folder and takes it for this process. Only its owner can read what is in it, also where others may
    /// list a folder that was there before, such as a mounted volume.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        make_for_owner(path)?;
        let lock_path = path.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .with_context(|| format!("opening {}", lock_path.display()))?;
        match lock.try_lock() {
            Ok(()) => {
                let data = Self { path: path.to_owned(), lock: Some(lock) };
                make_for_owner(&data.repository())?;
                make_for_owner(&data.clones())?;
                Ok(data)
            }
            Err(TryLockError::WouldBlock) => bail!(
                "another KubeOpera is running with the data folder {}. Stop it first, or choose another folder with --data.",
                path.display()
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("locking {}", lock_path.display())),
        }
    }

    /// A folder that is there, which may belong to a running KubeOpera: for reading what does not need it to stop.
    pub(crate) fn beside_running(path: &Path) -> anyhow::Result<Self> {
        if !path.is_dir() {
            bail!("there is no data folder {}. Name KubeOpera's with --data.", path.display());
        }
        Ok(Self { path: path.to_owned(), lock: None })
    }

    /// Names the lock among all that are held on the kernel that runs.
    pub(crate) fn lock_id(&self) -> anyhow::Result<String> {
        let lock = self.lock.as_ref().context("the data folder is not this process's")?;
        let file = lock.metadata().context("looking at the lock of the data folder")?;
        Ok(format!("{:x}-{:x}", file.dev(), file.ino()))
    }

    /// URL of the database kept here, in a file that only its owner can read: there are hashes of passwords in it.
    /// SQLite gives the files beside it the same rights.
    pub(crate) fn database_url(&self) -> anyhow::Result<String> {
        let path = self.path.join("kubeopera.db");
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .and_then(|file| file.set_permissions(Permissions::from_mode(0o600)))
            .with_context(|| format!("making {}", path.display()))?;
        Ok(format!("sqlite://{}?mode=rwc", path.display()))
    }

    /// Keys that secrets in the database are sealed with. They are beside it, not in it: whoever gets hold of the
    /// database or of a backup of it alone cannot read them.
    pub(crate) fn encryption_key_file(&self) -> PathBuf {
        self.path.join("encryption-keys")
    }

    /// Folder of the built-in Git repository.
    pub(crate) fn repository(&self) -> PathBuf {
        self.path.join("git")
    }

    /// Folder for clones of other repositories; may be deleted at any time.
    pub(crate) fn clones(&self) -> PathBuf {
        self.path.join("clones")
    }

    /// The built-in repository's passwords, made at the first start.
    pub(crate) fn git_passwords(&self) -> anyhow::Result<GitPasswords> {
        let path = self.path.join("git-passwords.json");
        let stored = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| format!("reading {}", path.display()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = StoredGitPasswords { write: random_password(), read: random_password() };
                write_for_owner(&path, &serde_json::to_vec(&made)?)?;
                made
            }
            Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
        };
        Ok(GitPasswords { write: Secret::new(stored.write), read: Secret::new(stored.read) })
    }
}

pub(crate) fn make_for_owner(folder: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("making the folder {}", folder.display()))
}

/// Writes a file only its owner can read, as a whole or not at all. When this returns it is there, whatever happens:
/// what is sealed with a key outlives a power cut only if the key does.
pub(crate) fn write_for_owner(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let half = path.with_extension("half-written");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&half)
        .with_context(|| format!("writing {}", half.display()))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).with_context(|| format!("writing {}", half.display()))?;
    fs::rename(&half, path).with_context(|| format!("writing {}", path.display()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).with_context(|| format!("writing {}", folder.display()))
}

/// 32 letters and digits: 190 bits.
fn random_password() -> String {
    use rand::{RngExt, distr::Alphanumeric};
    rand::rng().sample_iter(Alphanumeric).take(32).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_made_once_and_only_their_owner_can_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(&folder.path().join("data")).unwrap();

        let first = data.git_passwords().unwrap();
        let again = data.git_passwords().unwrap();

        assert_eq!(first.write, again.write);
        assert_eq!(first.read, again.read);
        assert_ne!(first.write, first.read);
        let mode = fs::metadata(folder.path().join("data/git-passwords.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }

    #[tokio::test]
    async fn in_a_folder_that_others_may_list_they_can_read_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        // A database of before, as the umask had it.
        fs::write(folder.path().join("kubeopera.db"), "").unwrap();
        fs::set_permissions(folder.path().join("kubeopera.db"), Permissions::from_mode(0o644)).unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        data.git_passwords().unwrap();
        let database = service_kit::database::open(&data.database_url().unwrap()).await.unwrap();
        sea_orm::ConnectionTrait::execute_unprepared(&database, "CREATE TABLE one (id INTEGER)").await.unwrap();

        let entries: Vec<_> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();

        assert!(entries.iter().any(|entry| entry.file_name() == "kubeopera.db-wal"), "{entries:?}");
        for entry in entries.iter().filter(|entry| entry.file_name() != "lock") {
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{entry:?}");
        }
    }

    #[test]
    fn a_second_kubeopera_with_the_same_folder_is_refused_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let _first = DataFolder::open(folder.path()).unwrap();

        let refusal = DataFolder::open(folder.path()).err().unwrap().to_string();

        assert!(refusal.contains("--data"), "{refusal}");
    }

    #[test]
    fn the_folder_follows_the_desktop_convention() {
        let home = Some(PathBuf::from("/home/a"));
        assert_eq!(DataFolder::default_path(None, home.clone()), Path::new("/home/a/.local/share/kubeopera"));
        assert_eq!(DataFolder::default_path(Some("/x".into()), home), Path::new("/x/kubeopera"));
        assert_eq!(DataFolder::default_path(None, None), Path::new("/var/lib/kubeopera-data"));
    }
}
