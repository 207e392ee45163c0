//! Where KubeOpera keeps what it must not forget, and the key that its secrets are sealed with.

use std::{
    fs,
    io::{BufRead, ErrorKind},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use auth_service::{RootKeys, keys};
use clap::{Args, Subcommand};
use sea_orm::DatabaseConnection;
use vocabulary::Secret;

use crate::{
    data_folder::{self, DataFolder},
    welcome,
};

/// Environment variable with the keys themselves. It is no option: the command line of a process is for everybody to see.
const KEYS_VARIABLE: &str = "KUBEOPERA_ENCRYPTION_KEYS";

#[derive(Args)]
pub(crate) struct Storage {
    /// Where KubeOpera keeps its data [default: ~/.local/share/kubeopera]
    #[arg(long, value_name = "FOLDER", env = "KUBEOPERA_DATA")]
    data: Option<PathBuf>,
    /// Database URL, sqlite:// or postgres:// [default: a file in the data folder]
    #[arg(long, value_name = "URL", env = "KUBEOPERA_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// File with the keys that cloud credentials are sealed with, the one in use first [default: made once in the data
    /// folder]
    #[arg(long, value_name = "FILE", env = "KUBEOPERA_ENCRYPTION_KEY_FILE")]
    encryption_key_file: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// List the encryption keys, which one is in use and what is sealed with each.
    Status {
        #[command(flatten)]
        storage: Storage,
    },
    /// Put a new key first in the file and put everything that is sealed under it.
    Rotate {
        #[command(flatten)]
        storage: Storage,
        /// The new key is there already, as the first line
        #[arg(long)]
        key_is_there: bool,
    },
    /// Do without keys that are lost for good. What only they open can never be read again; it stays on the list of
    /// cloud credentials until it is saved anew.
    Forget {
        #[command(flatten)]
        storage: Storage,
        /// Names of the keys, as the refused start tells them
        #[arg(value_name = "KEY", required = true)]
        lost: Vec<String>,
    },
}

impl Storage {
    pub(crate) fn data_path(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(DataFolder::usual_path)
    }

    pub(crate) async fn database(&self, data: &DataFolder) -> anyhow::Result<DatabaseConnection> {
        let url = self.database_url.clone().map_or_else(|| data.database_url(), Ok)?;
        Ok(service_kit::database::open(&url).await?)
    }

    /// The keys that secrets in the database are sealed with. Only where nobody said where they are, and nothing is
    /// sealed yet, one is made.
    pub(crate) async fn encryption_keys(
        &self,
        data: &DataFolder,
        database: &DatabaseConnection,
    ) -> anyhow::Result<RootKeys> {
        if let Some(text) = self.keys_in_environment() {
            return RootKeys::parse(text.reveal().as_bytes()).with_context(|| format!("reading {KEYS_VARIABLE}"));
        }
        let path = self.key_file(data);
        match fs::read(&path) {
            Ok(bytes) => RootKeys::parse(&bytes).with_context(|| format!("reading {}", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound && self.encryption_key_file.is_none() => {
                let needed = keys::needed(database).await?;
                if !needed.is_empty() {
                    bail!(
                        "the encryption key file {} is gone, but the cloud credentials in the database are sealed with it. \
                         Restore the file, or say where it is with --encryption-key-file. If the key is lost for good: \
                         kubeopera keys forget {}",
                        path.display(),
                        needed.join(" ")
                    );
                }
                let line = RootKeys::new_line();
                data_folder::write_for_owner(&path, line.reveal().as_bytes())?;
                Ok(RootKeys::parse(line.reveal().as_bytes())?)
            }
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// The keys that were given. None is made.
    pub(crate) fn given_keys(&self, data: &DataFolder) -> anyhow::Result<RootKeys> {
        if let Some(text) = self.keys_in_environment() {
            return RootKeys::parse(text.reveal().as_bytes()).with_context(|| format!("reading {KEYS_VARIABLE}"));
        }
        let path = self.key_file(data);
        let bytes = fs::read(&path).with_context(|| {
            format!(
                "reading the encryption keys {}. Put the file there, or name it with --encryption-key-file",
                path.display()
            )
        })?;
        RootKeys::parse(&bytes).with_context(|| format!("reading {}", path.display()))
    }

    fn key_file(&self, data: &DataFolder) -> PathBuf {
        self.encryption_key_file.clone().unwrap_or_else(|| data.encryption_key_file())
    }

    /// A file that was named goes before the environment.
    fn keys_in_environment(&self) -> Option<Secret> {
        let text = std::env::var(KEYS_VARIABLE).ok().filter(|text| !text.trim().is_empty()).map(Secret::new);
        text.filter(|_| self.encryption_key_file.is_none())
    }
}

/// `kubeopera keys …`, while KubeOpera is stopped.
pub(crate) async fn run(command: KeysCommand) -> anyhow::Result<()> {
    match command {
        KeysCommand::Status { storage } => {
            let data = DataFolder::open(&storage.data_path())?;
            let database = storage.database(&data).await?;
            let keys = storage.encryption_keys(&data, &database).await?;
            show(&database, &keys).await
        }
        KeysCommand::Rotate { storage, key_is_there } => {
            let data = DataFolder::open(&storage.data_path())?;
            let database = storage.database(&data).await?;
            let mut keys = storage.encryption_keys(&data, &database).await?;
            // First with the keys as they are: if they are not the right ones, nothing is touched.
            let mut count = keys::rewrap(&database, &keys).await?;
            if !key_is_there {
                if storage.keys_in_environment().is_some() {
                    bail!(
                        "the keys are in the variable {KEYS_VARIABLE}, which cannot be changed from here. Put a new key \
                         before the others there, then run this again with --key-is-there"
                    );
                }
                keys = with_new_key(&storage.key_file(&data))?;
                count = keys::rewrap(&database, &keys).await?;
            }
            welcome::step(&format!("Put {count} cloud credentials under the encryption key {}", keys.in_use()));
            show(&database, &keys).await?;
            welcome::step(
                "Older keys are of use only for backups of the database. When none is left, remove their lines",
            );
            Ok(())
        }
        KeysCommand::Forget { storage, lost } => {
            let data = DataFolder::open(&storage.data_path())?;
            let database = storage.database(&data).await?;
            for key in &lost {
                forget(&storage, &data, &database, key, &mut std::io::stdin().lock()).await?;
            }
            Ok(())
        }
    }
}

/// The file holds both keys before anything is sealed with the new one: whatever happens then, nothing is lost.
fn with_new_key(path: &Path) -> anyhow::Result<RootKeys> {
    let old = Secret::new(fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?);
    let text = Secret::new(format!("{}{}", RootKeys::new_line().reveal(), old.reveal()));
    let keys = RootKeys::parse(text.reveal().as_bytes()).with_context(|| format!("reading {}", path.display()))?;
    data_folder::write_for_owner(path, text.reveal().as_bytes())?;
    Ok(keys)
}

/// Forgets a key that is not there, if the person who asks types its name.
async fn forget(
    storage: &Storage,
    data: &DataFolder,
    database: &DatabaseConnection,
    key: &str,
    typed: &mut impl BufRead,
) -> anyhow::Result<()> {
    let Some(labels) = keys::sealed_with(database, key).await? else {
        bail!("nothing in this database needs an encryption key {key}. kubeopera keys status lists those there are");
    };
    // Without any key this fails, which is the usual reason to forget one.
    if let Ok(given) = storage.encryption_keys(data, database).await
        && given.ids().any(|id| id.to_string() == key)
    {
        bail!("the encryption key {key} is there, so that there is no need to forget it");
    }
    let lost = if labels.is_empty() { "no cloud credentials".to_owned() } else { labels.join(", ") };
    welcome::step(&format!("The encryption key {key} seals: {lost}. What only it opens can never be read again"));
    welcome::step("To forget it, type its name");
    let mut line = String::new();
    typed.read_line(&mut line).context("reading what was typed")?;
    if line.trim() != key {
        bail!("this is not the name of the key. Nothing was changed");
    }
    keys::forget(database, key).await?;
    welcome::step(&format!("Forgot the encryption key {key}. Save these cloud credentials again: {lost}"));
    Ok(())
}

async fn show(database: &DatabaseConnection, keys: &RootKeys) -> anyhow::Result<()> {
    for key in keys::status(database, keys).await? {
        let since = key.first_used_at.map_or_else(|| "not used yet".to_owned(), |at| format!("used since {at:.0}"));
        let standing = match (key.is_in_use, key.is_given, key.is_forgotten) {
            (true, _, _) => "in use",
            (false, true, _) => "only opens",
            (false, false, true) => "forgotten",
            (false, false, false) => "not given",
        };
        welcome::step(&format!("Key {}: {standing}, {} cloud credentials, {since}", key.id, key.credentials));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    async fn started(folder: &Path, key_file: Option<PathBuf>) -> anyhow::Result<RootKeys> {
        let data = DataFolder::open(folder)?;
        let storage = Storage { data: None, database_url: None, encryption_key_file: key_file };
        let database = storage.database(&data).await?;
        let keys = storage.encryption_keys(&data, &database).await?;
        let given = RootKeys::parse(&fs::read(storage.key_file(&data))?)?;
        auth_service::AuthService::open(database, given).await?;
        Ok(keys)
    }

    #[tokio::test]
    async fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();

        let first = started(folder.path(), None).await.unwrap();
        let again = started(folder.path(), None).await.unwrap();

        assert_eq!(first.in_use(), again.in_use());
        let file = folder.path().join("encryption-keys");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    }

    #[tokio::test]
    async fn a_key_that_is_gone_or_another_one_is_told_and_nothing_is_made_instead() {
        let folder = tempfile::tempdir().unwrap();
        started(folder.path(), None).await.unwrap();
        let file = folder.path().join("encryption-keys");
        let kept = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();

        let gone = started(folder.path(), None).await.unwrap_err().to_string();
        assert!(gone.contains("--encryption-key-file"), "{gone}");
        assert!(!file.exists());

        fs::write(&file, RootKeys::new_line().reveal()).unwrap();
        let other = started(folder.path(), None).await.unwrap_err().to_string();
        assert!(other.contains("not the one this database was sealed with"), "{other}");

        fs::write(&file, kept).unwrap();
        started(folder.path(), None).await.unwrap();
    }

    #[tokio::test]
    async fn a_key_that_is_lost_is_forgotten_only_by_who_types_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let lost = started(folder.path(), None).await.unwrap().in_use().to_string();
        let storage = Storage { data: None, database_url: None, encryption_key_file: None };
        let forget = async |key: &str, typed: &str| {
            // As long as it is open nobody else opens it.
            let data = DataFolder::open(folder.path()).unwrap();
            let database = storage.database(&data).await.unwrap();
            let answer = forget(&storage, &data, &database, key, &mut typed.as_bytes()).await;
            answer.map_err(|error| error.to_string())
        };

        assert!(forget(&lost, &lost).await.unwrap_err().contains("is there"));
        fs::remove_file(folder.path().join("encryption-keys")).unwrap();
        let gone = started(folder.path(), None).await.unwrap_err().to_string();
        assert!(gone.contains(&format!("kubeopera keys forget {lost}")), "{gone}");
        assert!(forget("0123456789abcdef", "0123456789abcdef").await.unwrap_err().contains("nothing in this database"));
        for typed in ["", "yes\n", "0123456789abcdef\n"] {
            assert!(forget(&lost, typed).await.unwrap_err().contains("Nothing was changed"), "{typed}");
        }
        assert!(started(folder.path(), None).await.is_err());

        forget(&lost, &format!("{lost}\n")).await.unwrap();

        let anew = started(folder.path(), None).await.unwrap().in_use().to_string();
        assert_ne!(anew, lost);
        assert!(forget(&lost, &lost).await.is_err(), "it is forgotten already");
        run(KeysCommand::Status { storage: Storage { data: Some(folder.path().to_owned()), ..storage } })
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn a_file_that_was_named_must_be_there() {
        let folder = tempfile::tempdir().unwrap();

        let missing = folder.path().join("missing");
        let refusal = started(folder.path(), Some(missing.clone())).await.unwrap_err();

        assert!(format!("{refusal:#}").contains("missing"), "{refusal:#}");
        assert!(!missing.exists());
    }

    #[tokio::test]
    async fn a_rotated_key_is_the_first_and_the_old_one_stays_for_backups() {
        let folder = tempfile::tempdir().unwrap();
        let before = started(folder.path(), None).await.unwrap();
        let storage =
            || Storage { data: Some(folder.path().to_owned()), database_url: None, encryption_key_file: None };

        run(KeysCommand::Rotate { storage: storage(), key_is_there: false }).await.unwrap();

        let after = started(folder.path(), None).await.unwrap();
        let ids: Vec<_> = after.ids().collect();
        assert_eq!(ids.len(), 2);
        assert_ne!(ids[0], before.in_use());
        assert_eq!(ids[1], before.in_use());
        run(KeysCommand::Status { storage: storage() }).await.unwrap();
    }
}
