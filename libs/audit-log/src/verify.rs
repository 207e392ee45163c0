//! Whether every row is as it was written.

use futures::TryStreamExt;
use sea_orm::{DatabaseConnection, DbErr};
use std::{fmt, pin::pin, str::FromStr};
use vocabulary::hex;

use crate::{Filter, chain, read::models};

/// The end of the log at some time. Written `<position>:<hash>`; kept elsewhere it proves later that nothing up to there
/// was changed since, not even by the database's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Of the last row.
    pub position: i64,
    /// Of the last row, in hexadecimal.
    pub hash: String,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.position, self.hash)
    }
}

impl FromStr for Head {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let parts = text.split_once(':').and_then(|(position, hash)| Some((position.parse().ok()?, hash)));
        match parts {
            Some((position, hash)) if position > 0 && hash.len() == 64 => {
                Ok(Self { position, hash: hash.to_ascii_lowercase() })
            }
            _ => Err("this is not the end of an audit log as kubeopera audit verify tells it: <position>:<hash>"),
        }
    }
}

/// All rows are as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many there are.
    pub rows: u64,
    /// The end, if there is a row.
    pub head: Option<Head>,
}

/// The first row that is not as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// It is gone.
    #[error("row {position} of the audit log is gone")]
    Missing {
        /// Its position.
        position: i64,
    },
    /// It, or its hash, is another.
    #[error("row {position} of the audit log is not as it was written")]
    Altered {
        /// Its position.
        position: i64,
    },
    /// It fits to the rows before it, but is another one than it was when its hash was noted: everything before it may be
    /// another as well.
    #[error("the audit log was written anew: row {position} has another hash than was noted")]
    WrittenAnew {
        /// Its position.
        position: i64,
    },
}

/// Nobody can vouch for the log.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It was altered.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It could not be read.
    #[error("the audit log cannot be read")]
    Database(#[from] DbErr),
}

/// Computes every hash anew. `noted` is an end from earlier, kept where nobody who can write the database can write.
pub async fn verify(db: DatabaseConnection, noted: Option<&Head>) -> Result<Verified, VerifyError> {
    let mut before = chain::BEFORE_THE_FIRST.to_vec();
    let mut position = 0;
    let mut rows = pin!(models(db, Filter::default()));
    while let Some(row) = rows.try_next().await? {
        position += 1;
        if row.position != position {
            return Err(Broken::Missing { position }.into());
        }
        if chain::hash(&before, &row).as_slice() != row.hash {
            return Err(Broken::Altered { position }.into());
        }
        if noted.is_some_and(|noted| noted.position == position && noted.hash != hex(&row.hash)) {
            return Err(Broken::WrittenAnew { position }.into());
        }
        before = row.hash;
    }
    if noted.is_some_and(|noted| noted.position > position) {
        return Err(Broken::Missing { position: position + 1 }.into());
    }
    let head = (position > 0).then(|| Head { position, hash: hex(&before) });
    Ok(Verified { rows: u64::try_from(position).unwrap_or(0), head })
}
