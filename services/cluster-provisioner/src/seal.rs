//! Sealing what a run leaves behind: Terraform's state, and the kubeconfig.

use std::io::{Read, Write};

use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use vocabulary::{ClusterId, Secret, hex};

/// The first byte of everything sealed: as it is, and packed with gzip before, which is how everything is sealed now.
const PLAIN: u8 = 1;
const PACKED: u8 = 2;
/// What is unpacked is smaller: Terraform's state of the largest cluster has a few megabytes.
const LARGEST_UNPACKED: u64 = 64 * 1024 * 1024;

/// A cluster's key, 256 random bits.
pub struct Key {
    key: LessSafeKey,
    cluster: ClusterId,
}

/// What was sealed cannot be opened, or nothing can be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what is sealed was altered, or the key is another")]
pub struct NotOpened;

/// What something sealed is, so that one thing cannot be put in the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Terraform's state.
    State,
    /// A kubeconfig.
    Kubeconfig,
}

impl Content {
    const fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Kubeconfig => "kubeconfig",
        }
    }
}

impl Key {
    /// A new key, as text.
    pub fn random() -> Result<Secret, NotOpened> {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).map_err(|_| NotOpened)?;
        Ok(Secret::new(hex(&bytes)))
    }

    /// The key of a cluster, from its text.
    pub fn parse(cluster: ClusterId, text: &Secret) -> Result<Self, NotOpened> {
        let text = text.reveal().trim();
        let digits = |at: usize| text.get(at * 2..at * 2 + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        let bytes: Option<Vec<u8>> = (0..32).map(digits).collect();
        let bytes = bytes.filter(|_| text.len() == 64).ok_or(NotOpened)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| NotOpened)?;
        Ok(Self { key: LessSafeKey::new(key), cluster })
    }

    /// Seals something of the cluster.
    pub fn seal(&self, content: Content, bytes: &[u8]) -> Result<Vec<u8>, NotOpened> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| NotOpened)?;
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        let mut sealed = packed.write_all(bytes).and_then(|()| packed.finish()).map_err(|_| NotOpened)?;
        let (nonce, aad) = (Nonce::assume_unique_for_key(nonce), self.aad(content));
        let written = *nonce.as_ref();
        self.key.seal_in_place_append_tag(nonce, aad, &mut sealed).map_err(|_| NotOpened)?;
        Ok([&[PACKED], written.as_slice(), sealed.as_slice()].concat())
    }

    /// Opens what was sealed with the same key, for the same cluster, as the same content.
    pub fn open(&self, content: Content, sealed: &[u8]) -> Result<Vec<u8>, NotOpened> {
        let (&version, rest) = sealed.split_first().ok_or(NotOpened)?;
        let (nonce, rest) = rest.split_at_checked(NONCE_LEN).ok_or(NotOpened)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| NotOpened)?;
        let mut bytes = rest.to_vec();
        let opened = self.key.open_in_place(nonce, self.aad(content), &mut bytes).map_err(|_| NotOpened)?;
        let mut unpacked = Vec::new();
        match version {
            PLAIN => unpacked.extend_from_slice(opened),
            PACKED => {
                let reading = GzDecoder::new(&*opened).take(LARGEST_UNPACKED).read_to_end(&mut unpacked);
                reading.map_err(|_| NotOpened)?;
            }
            _ => return Err(NotOpened),
        }
        Ok(unpacked)
    }

    fn aad(&self, content: Content) -> Aad<String> {
        Aad::from(format!("{} {}", self.cluster, content.word()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_its_key_for_its_cluster_as_what_it_is_and_not_otherwise() {
        let (cluster, text) = (ClusterId::random(), Key::random().unwrap());
        let key = Key::parse(cluster, &text).unwrap();
        let sealed = key.seal(Content::State, b"CANARY").unwrap();

        assert_eq!(key.open(Content::State, &sealed).unwrap(), b"CANARY");
        assert!(!sealed.windows(6).any(|bytes| bytes == b"CANARY"));
        assert_ne!(key.seal(Content::State, b"CANARY").unwrap(), sealed, "never twice alike");
        assert_eq!(key.open(Content::Kubeconfig, &sealed), Err(NotOpened));
        let other = Key::parse(ClusterId::random(), &text).unwrap();
        assert_eq!(other.open(Content::State, &sealed), Err(NotOpened));
        let other = Key::parse(cluster, &Key::random().unwrap()).unwrap();
        assert_eq!(other.open(Content::State, &sealed), Err(NotOpened));
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert_eq!(key.open(Content::State, &altered), Err(NotOpened), "byte {at}");
            assert_eq!(key.open(Content::State, &sealed[..at]), Err(NotOpened), "cut at {at}");
        }
    }

    #[test]
    fn what_was_sealed_before_anything_was_packed_is_still_opened() {
        let (cluster, text) = (ClusterId::random(), Key::random().unwrap());
        let key = Key::parse(cluster, &text).unwrap();
        let mut bytes = b"state".to_vec();
        let nonce = Nonce::assume_unique_for_key([7; NONCE_LEN]);
        key.key.seal_in_place_append_tag(nonce, key.aad(Content::State), &mut bytes).unwrap();
        let sealed = [&[PLAIN], [7; NONCE_LEN].as_slice(), &bytes].concat();

        assert_eq!(key.open(Content::State, &sealed).unwrap(), b"state");
        let state = br#"{"instances":[{"attributes":{"arn":"x"}}]}"#.repeat(10_000);
        assert!(key.seal(Content::State, &state).unwrap().len() < state.len() / 20);
    }

    #[test]
    fn only_64_hexadecimal_digits_are_a_key() {
        for text in ["", "00", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"é".repeat(32)] {
            assert!(Key::parse(ClusterId::random(), &Secret::new(text)).is_err(), "{text}");
        }
    }
}
