//! Envelope encryption of what must be kept and must not be read.
//!
//! Each secret has a data key of its own, used once; the data key is wrapped by a root key, which never is in the
//! database. Both are bound to their place (table, column, row, version): a ciphertext that was moved, or is older than
//! its row, does not open. What this cannot see is a whole row put back to an earlier state.

mod root_keys;

use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use uuid::Uuid;
use zeroize::Zeroizing;

pub use root_keys::{KeyId, NotRootKeys, RootKeys};

/// What every sealed value begins with: that it is one, and how it is laid out.
///
/// `magic 4 | root key id 8 | nonce 12 | data key 32 + tag 16 | nonce 12 | ciphertext + tag 16`
const MAGIC: [u8; 4] = *b"KOE1";
const DATA_KEY: usize = 32;
const NONCE: usize = 12;
const TAG: usize = 16;

/// Where a sealed value belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) table: &'a str,
    pub(crate) column: &'a str,
    pub(crate) row: Uuid,
    /// What kind of secret the row says it is.
    pub(crate) kind: &'a str,
    /// Which of the row's secrets: each new one counts one up.
    pub(crate) version: i64,
}

/// A sealed value, and which root key opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) root_key: KeyId,
}

/// A value cannot be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealError {
    #[error("it is not a sealed value")]
    NotSealed,
    #[error("it is sealed with root key {0}, which was not given")]
    KeyMissing(KeyId),
    #[error("it was altered, or belongs to another place or version")]
    Altered,
    #[error("the cipher refused")]
    Refused,
}

/// Something of a backup cannot be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct NotForBackup(SealError);

fn in_backup(name: &str) -> Place<'_> {
    Place { table: "backup", column: "secret", row: Uuid::nil(), kind: name, version: 1 }
}

/// What a sealed value is made of.
struct Parts<'a> {
    root_key: KeyId,
    wrap_nonce: [u8; NONCE],
    wrapped: [u8; DATA_KEY + TAG],
    nonce: [u8; NONCE],
    ciphertext: &'a [u8],
}

impl RootKeys {
    /// Seals with a new data key under the root key in use.
    pub(crate) fn seal(&self, place: Place<'_>, plaintext: &[u8]) -> Result<Sealed, SealError> {
        let data_key = Zeroizing::new(rand::random::<[u8; DATA_KEY]>());
        let mut ciphertext = Vec::with_capacity(plaintext.len() + TAG);
        ciphertext.extend_from_slice(plaintext);
        let nonce = cipher(data_key.as_slice())?
            .seal_in_place_append_tag(aad("secret", place), &mut ciphertext)
            .map_err(|_| SealError::Refused)?;
        let (wrap_nonce, wrapped) = self.wrap(place, data_key.as_slice())?;
        let parts =
            Parts { root_key: self.in_use(), wrap_nonce, wrapped, nonce: *nonce.as_ref(), ciphertext: &ciphertext };
        Ok(parts.joined())
    }

    /// Opens what was sealed for this very place.
    pub(crate) fn open(&self, place: Place<'_>, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let parts = Parts::of(sealed)?;
        let data_key = self.unwrap(place, &parts)?;
        let mut text = Zeroizing::new(parts.ciphertext.to_vec());
        let length = cipher(data_key.as_slice())?
            .open_in_place(Nonce::assume_unique_for_key(parts.nonce), aad("secret", place), &mut text)
            .map_err(|_| SealError::Altered)?
            .len();
        text.truncate(length);
        Ok(text)
    }

    /// Seals something for a backup under a name, which only this name opens.
    pub fn seal_for_backup(&self, name: &str, plaintext: &[u8]) -> Result<Vec<u8>, NotForBackup> {
        self.seal(in_backup(name), plaintext).map(|sealed| sealed.bytes).map_err(NotForBackup)
    }

    /// Opens what was sealed for a backup under a name.
    pub fn open_from_backup(&self, name: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, NotForBackup> {
        self.open(in_backup(name), sealed).map_err(NotForBackup)
    }

    /// Puts the data key of a sealed value under the root key in use. The secret itself is not opened.
    pub(crate) fn rewrap(&self, place: Place<'_>, sealed: &[u8]) -> Result<Sealed, SealError> {
        let parts = Parts::of(sealed)?;
        let data_key = self.unwrap(place, &parts)?;
        let (wrap_nonce, wrapped) = self.wrap(place, data_key.as_slice())?;
        Ok(Parts { root_key: self.in_use(), wrap_nonce, wrapped, ..parts }.joined())
    }

    fn wrap(&self, place: Place<'_>, data_key: &[u8]) -> Result<([u8; NONCE], [u8; DATA_KEY + TAG]), SealError> {
        let mut wrapped = Vec::with_capacity(DATA_KEY + TAG);
        wrapped.extend_from_slice(data_key);
        let nonce = self
            .key(self.in_use())?
            .seal_in_place_append_tag(aad("data key", place), &mut wrapped)
            .map_err(|_| SealError::Refused)?;
        Ok((*nonce.as_ref(), wrapped.try_into().map_err(|_| SealError::Refused)?))
    }

    fn unwrap(&self, place: Place<'_>, parts: &Parts<'_>) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let mut data_key = Zeroizing::new(parts.wrapped.to_vec());
        let nonce = Nonce::assume_unique_for_key(parts.wrap_nonce);
        self.key(parts.root_key)?
            .open_in_place(nonce, aad("data key", place), &mut data_key)
            .map_err(|_| SealError::Altered)?;
        data_key.truncate(DATA_KEY);
        Ok(data_key)
    }
}

impl<'a> Parts<'a> {
    fn of(sealed: &'a [u8]) -> Result<Self, SealError> {
        let split = || {
            let (magic, rest) = sealed.split_first_chunk()?;
            let (root_key, rest) = rest.split_first_chunk()?;
            let (wrap_nonce, rest) = rest.split_first_chunk()?;
            let (wrapped, rest) = rest.split_first_chunk()?;
            let (nonce, ciphertext) = rest.split_first_chunk()?;
            let parts = Self {
                root_key: KeyId::from(*root_key),
                wrap_nonce: *wrap_nonce,
                wrapped: *wrapped,
                nonce: *nonce,
                ciphertext,
            };
            (*magic == MAGIC).then_some(parts)
        };
        split().ok_or(SealError::NotSealed)
    }

    fn joined(&self) -> Sealed {
        let Self { root_key, wrap_nonce, wrapped, nonce, ciphertext } = self;
        let bytes = [MAGIC.as_slice(), root_key.bytes(), wrap_nonce, wrapped, nonce, ciphertext].concat();
        Sealed { bytes, root_key: *root_key }
    }
}

fn cipher(key: &[u8]) -> Result<RandomizedNonceKey, SealError> {
    RandomizedNonceKey::new(&AES_256_GCM, key).map_err(|_| SealError::Refused)
}

/// Each part with its length, so that no two places read the same.
fn aad(purpose: &str, place: Place<'_>) -> Aad<Vec<u8>> {
    let Place { table, column, row, kind, version } = place;
    let version = version.to_be_bytes();
    let parts: [&[u8]; 8] = [
        b"kubeopera auth-service",
        &MAGIC,
        purpose.as_bytes(),
        table.as_bytes(),
        column.as_bytes(),
        row.as_bytes(),
        kind.as_bytes(),
        &version,
    ];
    let mut text = Vec::with_capacity(128);
    for part in parts {
        text.extend_from_slice(&(part.len() as u64).to_be_bytes());
        text.extend_from_slice(part);
    }
    Aad::from(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    const SECRET: &[u8] = b"CANARY-secret";

    fn place() -> Place<'static> {
        Place { table: "credentials", column: "secret", row: Uuid::from_u128(7), kind: "aws_access_key", version: 1 }
    }

    fn keys(count: usize) -> RootKeys {
        let lines: Vec<_> = (0..count).map(|_| RootKeys::new_line().reveal().to_owned()).collect();
        RootKeys::parse(lines.concat().as_bytes()).unwrap()
    }

    #[test]
    fn what_is_sealed_opens_in_its_place_and_cannot_be_seen() {
        let keys = keys(1);

        let sealed = keys.seal(place(), SECRET).unwrap();

        assert_eq!(keys.open(place(), &sealed.bytes).unwrap().as_slice(), SECRET);
        assert_eq!(keys.open(place(), &keys.seal(place(), b"").unwrap().bytes).unwrap().len(), 0);
        assert!(!sealed.bytes.windows(6).any(|window| window == b"CANARY"));
        assert_ne!(sealed.bytes, keys.seal(place(), SECRET).unwrap().bytes, "no two seals are alike");
    }

    #[test]
    fn what_is_sealed_opens_nowhere_else() {
        let keys = keys(1);
        let sealed = keys.seal(place(), SECRET).unwrap();

        for elsewhere in [
            Place { table: "outbox", ..place() },
            Place { column: "label", ..place() },
            Place { row: Uuid::from_u128(8), ..place() },
            Place { kind: "gcp_service_account_key", ..place() },
            Place { version: 2, ..place() },
            // The same letters, cut elsewhere.
            Place { table: "credentialss", column: "ecret", ..place() },
        ] {
            assert_eq!(keys.open(elsewhere, &sealed.bytes), Err(SealError::Altered), "{elsewhere:?}");
            assert_eq!(keys.rewrap(elsewhere, &sealed.bytes), Err(SealError::Altered), "{elsewhere:?}");
        }
    }

    #[test]
    fn no_flipped_bit_and_no_cut_goes_unnoticed() {
        let keys = keys(1);
        let sealed = keys.seal(place(), SECRET).unwrap().bytes;

        for bit in 0..sealed.len() * 8 {
            let mut altered = sealed.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(keys.open(place(), &altered).is_err(), "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(keys.open(place(), &sealed[..length]).is_err(), "{length} bytes");
        }
        assert!(keys.open(place(), &[sealed.as_slice(), b"x"].concat()).is_err());
    }

    #[test]
    fn halves_of_two_sealed_values_do_not_fit_together() {
        let keys = keys(1);
        let (one, other) =
            (keys.seal(place(), SECRET).unwrap().bytes, keys.seal(place(), b"CANARY-other!").unwrap().bytes);
        let end_of_data_key = 4 + 8 + NONCE + DATA_KEY + TAG;

        let mixed = [&one[..end_of_data_key], &other[end_of_data_key..]].concat();

        assert_eq!(keys.open(place(), &mixed), Err(SealError::Altered));
    }

    #[test]
    fn another_root_key_does_not_open_it_and_says_which_would() {
        let (ours, theirs) = (keys(1), keys(1));
        let sealed = ours.seal(place(), SECRET).unwrap();

        assert_eq!(theirs.open(place(), &sealed.bytes), Err(SealError::KeyMissing(ours.in_use())));
    }

    #[test]
    fn rewrapped_it_opens_with_the_new_key_alone() {
        let (old, new) = (RootKeys::new_line(), RootKeys::new_line());
        let parse = |text: String| RootKeys::parse(text.as_bytes()).unwrap();
        let (before, after) = (parse(old.reveal().to_owned()), parse(new.reveal().to_owned()));
        let both = parse(format!("{}{}", new.reveal(), old.reveal()));
        let sealed = before.seal(place(), SECRET).unwrap();

        let rewrapped = both.rewrap(place(), &sealed.bytes).unwrap();

        assert_eq!(rewrapped.root_key, after.in_use());
        assert_eq!(after.open(place(), &rewrapped.bytes).unwrap().as_slice(), SECRET);
        assert_eq!(before.open(place(), &rewrapped.bytes), Err(SealError::KeyMissing(after.in_use())));
        assert_eq!(
            both.open(place(), &sealed.bytes).unwrap().as_slice(),
            SECRET,
            "what is not rewrapped yet opens too"
        );
    }
}
