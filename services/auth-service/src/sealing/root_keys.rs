//! Root keys: 32 random bytes each, from a file, the environment or a Kubernetes Secret, never from the database.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, RandomizedNonceKey};
use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};
use vocabulary::Secret;
use zeroize::Zeroizing;

use super::SealError;

/// More keys than this are not a rotation but a mistake.
const MOST: usize = 16;

/// Names a root key without giving it away: the beginning of a hash of it, in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; 8]);

/// The root keys that were given. The first seals and opens, all others only open.
pub struct RootKeys {
    in_use: RootKey,
    others: Vec<RootKey>,
}

struct RootKey {
    id: KeyId,
    key: RandomizedNonceKey,
}

/// What was given are no root keys. Nothing of it is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRootKeys {
    /// Nothing but empty lines and comments.
    #[error("there is no encryption key in it")]
    Empty,
    /// A line is no key.
    #[error("line {line} is not an encryption key, which is 32 random bytes in base64")]
    NotAKey {
        /// Counted from 1.
        line: usize,
    },
    /// A key is there twice.
    #[error("line {line} repeats an encryption key")]
    Repeated {
        /// Counted from 1.
        line: usize,
    },
    /// More than anybody needs.
    #[error("there are more than {MOST} encryption keys")]
    TooMany,
}

impl RootKeys {
    /// Reads one key a line, in base64. Empty lines and lines that begin with `#` count for nothing.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotRootKeys> {
        let mut keys: Vec<RootKey> = Vec::new();
        for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let line_number = number + 1;
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let key = RootKey::parse(line).ok_or(NotRootKeys::NotAKey { line: line_number })?;
            if keys.iter().any(|other| other.id == key.id) {
                return Err(NotRootKeys::Repeated { line: line_number });
            }
            keys.push(key);
        }
        if keys.len() > MOST {
            return Err(NotRootKeys::TooMany);
        }
        let mut keys = keys.into_iter();
        let in_use = keys.next().ok_or(NotRootKeys::Empty)?;
        Ok(Self { in_use, others: keys.collect() })
    }

    /// A new key as a line for [`RootKeys::parse`].
    pub fn new_line() -> Secret {
        let key = Zeroizing::new(rand::random::<[u8; 32]>());
        Secret::new(STANDARD.encode(key.as_slice()) + "\n")
    }

    /// The key that seals.
    pub fn in_use(&self) -> KeyId {
        self.in_use.id
    }

    /// All keys, the one in use first.
    pub fn ids(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.all().map(|key| key.id)
    }

    fn all(&self) -> impl Iterator<Item = &RootKey> {
        std::iter::once(&self.in_use).chain(&self.others)
    }

    pub(super) fn key(&self, id: KeyId) -> Result<&RandomizedNonceKey, SealError> {
        self.all().find(|key| key.id == id).map(|key| &key.key).ok_or(SealError::KeyMissing(id))
    }
}

/// Names, never keys.
impl fmt::Debug for RootKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

impl RootKey {
    fn parse(line: &[u8]) -> Option<Self> {
        let bytes = Zeroizing::new(STANDARD.decode(line).ok()?);
        let bytes: &[u8; 32] = bytes.as_slice().try_into().ok()?;
        // A constant is a placeholder that somebody forgot to replace.
        if bytes.iter().all(|byte| byte == bytes.first().unwrap_or(&0)) {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(b"kubeopera root key id\0");
        hash.update(bytes);
        let id = KeyId(*hash.finalize().first_chunk()?);
        Some(Self { id, key: RandomizedNonceKey::new(&AES_256_GCM, bytes).ok()? })
    }
}

impl From<[u8; 8]> for KeyId {
    fn from(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }
}

impl KeyId {
    pub(super) const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn the_first_key_is_the_one_in_use_and_comments_are_none() {
        let (one, other) = (RootKeys::new_line(), RootKeys::new_line());
        let text = format!("# new since Monday\r\n\n  {}\n{}", one.reveal().trim(), other.reveal());

        let keys = RootKeys::parse(text.as_bytes()).unwrap();

        assert_eq!(keys.ids().count(), 2);
        assert_eq!(keys.in_use(), RootKeys::parse(one.reveal().as_bytes()).unwrap().in_use());
        assert_ne!(keys.in_use(), RootKeys::parse(other.reveal().as_bytes()).unwrap().in_use());
    }

    #[test]
    fn whatever_is_no_key_is_refused_by_its_line_and_not_repeated() {
        let key = RootKeys::new_line();
        let placeholder = STANDARD.encode([0u8; 32]);
        for (text, refused) in [
            (String::new(), NotRootKeys::Empty),
            ("# nothing\n\n".to_owned(), NotRootKeys::Empty),
            ("CANARY".to_owned(), NotRootKeys::NotAKey { line: 1 }),
            (format!("{}CANARY!", key.reveal()), NotRootKeys::NotAKey { line: 2 }),
            (STANDARD.encode([7u8; 31]), NotRootKeys::NotAKey { line: 1 }),
            (placeholder, NotRootKeys::NotAKey { line: 1 }),
            (format!("{0}\n{0}", key.reveal()), NotRootKeys::Repeated { line: 3 }),
            ((0..17).map(|_| RootKeys::new_line().reveal().to_owned()).collect(), NotRootKeys::TooMany),
        ] {
            let error = RootKeys::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error, refused, "{text}");
            assert!(!error.to_string().contains("CANARY"));
        }
    }

    #[test]
    fn keys_print_as_their_names() {
        let line = RootKeys::new_line();
        let keys = RootKeys::parse(line.reveal().as_bytes()).unwrap();

        assert_eq!(format!("{keys:?}"), format!("[{}]", keys.in_use()));
        assert_eq!(keys.in_use().to_string().len(), 16);
    }
}
