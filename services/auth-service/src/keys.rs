//! Root keys against the database: whether they are the right ones, which are needed, and putting what is sealed under
//! another.

use audit_log::{Action, Entry, Outcome};
use jiff::Timestamp;
use sea_orm::{DatabaseConnection, DbErr};
use service_kit::database::begin_write;
use uuid::Uuid;
use vocabulary::Actor;

use crate::{
    credentials::place_of,
    sealing::{Place, RootKeys, SealError},
    store::{self, credentials, root_keys},
};

/// What every root key seals once; opening it proves the key.
const CHECK: &[u8] = b"This is sealed with the right key.";

/// The root keys do not fit the database. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The key is another one than that which sealed what is there.
    #[error(
        "the encryption key is not the one this database was sealed with. Given was {given}, needed is {}. Give the \
         right one; without it the cloud credentials in this database cannot be read. If it is lost for good: kubeopera keys \
         forget {}",
        needed.join(" or "),
        needed.join(" ")
    )]
    WrongKey {
        /// Names of the keys given.
        given: String,
        /// Names of keys that would do.
        needed: Vec<String>,
    },
    /// One of several keys is missing.
    #[error(
        "{credentials} cloud credentials are sealed with the encryption key {id}, which was not given. Add it as another \
         line after the key in use, then run kubeopera keys rotate. If it is lost for good: kubeopera keys forget {id}"
    )]
    Missing {
        /// Name of the key.
        id: String,
        /// How many need it.
        credentials: usize,
    },
    /// What proves a key was altered.
    #[error("the value that proves the encryption key {id} was altered in the database")]
    CheckAltered {
        /// Name of the key.
        id: String,
    },
    /// A credential that was altered cannot be put under another key.
    #[error("the cloud credential {label} was altered in the database and cannot be read. Delete it and save it again")]
    CredentialAltered {
        /// What it is called.
        label: String,
    },
    /// The tables could not be brought up to date.
    #[error(transparent)]
    Open(#[from] service_kit::database::OpenError),
    /// The keys could not be looked up.
    #[error("the encryption keys cannot be compared with the database")]
    Database(#[from] DbErr),
}

/// A root key that was given or is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyStatus {
    /// Names the key.
    pub id: String,
    /// Whether it was given.
    pub is_given: bool,
    /// Whether it seals what is saved from now on.
    pub is_in_use: bool,
    /// Cloud credentials that only it opens.
    pub credentials: usize,
    /// When it was first given, if it ever was.
    pub first_used_at: Option<Timestamp>,
    /// Whether it is lost and done without.
    pub is_forgotten: bool,
}

/// Names of the keys that something was sealed with in this database. As long as there are any, a new key cannot be the
/// right one.
pub async fn needed(db: &DatabaseConnection) -> Result<Vec<String>, KeysError> {
    store::migrate(db).await?;
    let known = root_keys::all(db).await?.into_iter();
    Ok(known.filter(|key| key.forgotten_at.is_none()).map(|key| key.id).collect())
}

/// Labels of the cloud credentials that only a key opens; `None` if no such key was ever used here, or it is forgotten.
pub async fn sealed_with(db: &DatabaseConnection, id: &str) -> Result<Option<Vec<String>>, KeysError> {
    if !needed(db).await?.iter().any(|known| known == id) {
        return Ok(None);
    }
    let sealed = credentials::all(db).await?.into_iter().filter(|row| row.root_key_id == id);
    Ok(Some(sealed.map(|row| row.label).collect()))
}

/// Does without a key that is lost: KubeOpera starts without it, and the cloud credentials that only it opens stay on the
/// list, unreadable, until they are saved again. Should the key turn up and be given, they are readable again.
pub async fn forget(db: &DatabaseConnection, id: &str) -> Result<(), KeysError> {
    store::migrate(db).await?;
    let tx = begin_write(db).await?;
    root_keys::hold(&tx).await?;
    root_keys::set_forgotten(&tx, id, Some(Timestamp::now())).await?;
    let entry = Entry::new(&Actor::KubeOpera, Action::ForgetEncryptionKey, Outcome::Done).on(id);
    audit_log::append(&tx, entry).await?;
    Ok(tx.commit().await?)
}

/// Lets these keys in, or says why not. A database that was never sealed takes the key in use as its own.
pub(crate) async fn admit(db: &DatabaseConnection, keys: &RootKeys, now: Timestamp) -> Result<(), KeysError> {
    let tx = begin_write(db).await?;
    root_keys::hold(&tx).await?;
    let known = root_keys::all(&tx).await?;
    let given: Vec<String> = keys.ids().map(|id| id.to_string()).collect();
    for key in known.iter().filter(|key| given.contains(&key.id)) {
        let value = keys.open(check_place(&key.id), &key.check_value);
        if value.map_or(true, |value| value.as_slice() != CHECK) {
            return Err(KeysError::CheckAltered { id: key.id.clone() });
        }
        if key.forgotten_at.is_some() {
            root_keys::set_forgotten(&tx, &key.id, None).await?;
        }
    }
    let missing = |key: &&root_keys::Model| key.forgotten_at.is_none() && !given.contains(&key.id);
    let needed: Vec<&str> = known.iter().filter(missing).map(|key| key.id.as_str()).collect();
    if !needed.is_empty() && !known.iter().any(|key| given.contains(&key.id)) {
        return Err(KeysError::WrongKey {
            given: given.join(", "),
            needed: needed.into_iter().map(str::to_owned).collect(),
        });
    }
    let sealed = credentials::all(&tx).await?;
    let sealed: Vec<_> = sealed.iter().filter(|row| needed.contains(&row.root_key_id.as_str())).collect();
    if let Some(row) = sealed.first() {
        let id = row.root_key_id.clone();
        let credentials = sealed.iter().filter(|row| row.root_key_id == id).count();
        return Err(KeysError::Missing { id, credentials });
    }
    let in_use = keys.in_use().to_string();
    if !known.iter().any(|key| key.id == in_use) {
        let check =
            keys.seal(check_place(&in_use), CHECK).map_err(|_| KeysError::CheckAltered { id: in_use.clone() })?;
        root_keys::insert(&tx, in_use, check.bytes, now).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// All keys that were given or are needed, the one in use first.
pub async fn status(db: &DatabaseConnection, keys: &RootKeys) -> Result<Vec<KeyStatus>, KeysError> {
    store::migrate(db).await?;
    let known = root_keys::all(db).await?;
    let sealed = credentials::all(db).await?;
    let in_use = keys.in_use().to_string();
    let mut ids: Vec<String> = keys.ids().map(|id| id.to_string()).collect();
    let given = ids.len();
    ids.extend(known.iter().map(|key| key.id.clone()));
    let mut statuses: Vec<KeyStatus> = Vec::new();
    for (position, id) in ids.into_iter().enumerate() {
        if statuses.iter().any(|status| status.id == id) {
            continue;
        }
        let known = known.iter().find(|key| key.id == id);
        statuses.push(KeyStatus {
            is_given: position < given,
            is_in_use: id == in_use,
            credentials: sealed.iter().filter(|row| row.root_key_id == id).count(),
            first_used_at: known.map(|key| key.first_used_at.timestamp()),
            is_forgotten: position >= given && known.is_some_and(|key| key.forgotten_at.is_some()),
            id,
        });
    }
    Ok(statuses)
}

/// Puts every credential under the key in use and says how many were under another. All or none, but for those whose key is
/// forgotten.
pub async fn rewrap(db: &DatabaseConnection, keys: &RootKeys) -> Result<usize, KeysError> {
    store::migrate(db).await?;
    admit(db, keys, Timestamp::now()).await?;
    let in_use = keys.in_use().to_string();
    let tx = begin_write(db).await?;
    let rows = credentials::all(&tx).await?;
    let forgotten: Vec<_> = root_keys::all(&tx).await?.into_iter().filter(|key| key.forgotten_at.is_some()).collect();
    let is_readable = |row: &&credentials::Model| !forgotten.iter().any(|key| key.id == row.root_key_id);
    let mut count = 0;
    for row in rows.iter().filter(is_readable).filter(|row| row.root_key_id != in_use) {
        let sealed = keys.rewrap(place_of(row), &row.secret).map_err(|error| match error {
            SealError::KeyMissing(id) => KeysError::Missing { id: id.to_string(), credentials: 1 },
            SealError::NotSealed | SealError::Altered | SealError::Refused => {
                KeysError::CredentialAltered { label: row.label.clone() }
            }
        })?;
        credentials::set_sealed(&tx, row, sealed).await?;
        count += 1;
    }
    let entry = Entry::new(&Actor::KubeOpera, Action::RotateEncryptionKey, Outcome::Done).on(&in_use);
    audit_log::append(&tx, entry).await?;
    tx.commit().await?;
    Ok(count)
}

fn check_place(id: &str) -> Place<'_> {
    Place { table: "root_keys", column: "check_value", row: Uuid::nil(), kind: id, version: 1 }
}
