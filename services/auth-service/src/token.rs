//! Tokens of 256 random bits, of which only the SHA-256 is kept. So many bits cannot be guessed, so that a fast hash is
//! enough.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use vocabulary::Secret;

/// A new token: what it begins with, then 43 letters, digits, hyphens and underscores.
pub(crate) fn random(prefix: &str) -> Secret {
    Secret::new(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())))
}

/// What is kept of a token.
pub(crate) fn hash_of(token: &Secret) -> Vec<u8> {
    Sha256::digest(token.reveal().as_bytes()).to_vec()
}
