//! argon2id, a bounded number at a time.

use std::{sync::Arc, time::Duration};

use argon2::{
    Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version, password_hash::phc::PasswordHash as PhcString,
};
use auth_service_contract::AuthError;
use rand::RngExt;
use tokio::sync::Semaphore;
use vocabulary::Secret;
use zxcvbn::{Score, zxcvbn};

use crate::store::PasswordHash;

/// OWASP's and ASVS 5's floor is m=46 MiB t=1 or m=19 MiB t=2; this is above both.
const MEMORY_KIB: u32 = 46 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Whoever waits longer than this for a turn is told to come back.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A password could not be hashed.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// argon2 refused, which it does only for parameters or passwords that make no sense.
    #[error("a password cannot be hashed: {0}")]
    Argon2(String),
    /// The thread that did it ended.
    #[error("the hashing of a password was cut short")]
    CutShort,
}

/// Hashes and verifies, at most as many at once as there are processors (46 MiB each), however many ask.
pub(crate) struct Passwords {
    turns: Arc<Semaphore>,
    /// The hash of a password that nobody has, checked where there is no user.
    decoy: PasswordHash,
}

impl Passwords {
    pub(crate) async fn new() -> Result<Self, HashError> {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let turns = Arc::new(Semaphore::new(processors.min(8)));
        let decoy = tokio::task::spawn_blocking(|| hash_now(&random())).await.map_err(|_| HashError::CutShort)??;
        Ok(Self { turns, decoy })
    }

    pub(crate) async fn hash(&self, password: &Secret) -> Result<PasswordHash, HashError> {
        let _turn = self.turns.acquire().await.map_err(|_| HashError::CutShort)?;
        let password = password.clone();
        tokio::task::spawn_blocking(move || hash_now(&password)).await.map_err(|_| HashError::CutShort)?
    }

    /// Whether the password is the one behind the hash. Without a hash it takes as long and is false.
    pub(crate) async fn verify(&self, password: &Secret, hash: Option<PasswordHash>) -> Result<bool, AuthError> {
        let busy = AuthError::TooManyAttempts { retry_after: LONGEST_WAIT };
        let turns = Arc::clone(&self.turns).acquire_owned();
        let turn = tokio::time::timeout(LONGEST_WAIT, turns).await.map_err(|_| busy)?.map_err(crate::unavailable)?;
        let is_known = hash.is_some();
        let hash = hash.unwrap_or_else(|| self.decoy.clone());
        let password = password.clone();
        let is_right = tokio::task::spawn_blocking(move || {
            // The turn ends with the work, not with the request that may have been given up long before.
            let _turn = turn;
            PhcString::new(hash.as_str())
                .is_ok_and(|hash| Argon2::default().verify_password(password.reveal().as_bytes(), &hash).is_ok())
        });
        Ok(is_right.await.map_err(crate::unavailable)? && is_known)
    }
}

fn hash_now(password: &Secret) -> Result<PasswordHash, HashError> {
    let refused = |why: String| HashError::Argon2(why);
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|why| refused(why.to_string()))?;
    let phc = Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password(password.reveal().as_bytes())
        .map_err(|why| refused(why.to_string()))?;
    Ok(PasswordHash::new(phc.to_string()))
}

/// Fewer characters can be guessed; more are no safer and only work for us.
const SHORTEST: usize = 12;
const LONGEST: usize = 128;

/// Whether somebody may choose this password; if not, the rule it breaks. What counts is how long a guesser who knows which
/// passwords are common takes, so nothing is asked of its characters.
pub(crate) fn acceptable(password: &Secret, username: &str) -> Result<(), &'static str> {
    let text = password.reveal();
    if !(SHORTEST..=LONGEST).contains(&text.chars().count()) {
        return Err("Use 12 to 128 characters; a few words in a row make a good one.");
    }
    // What everybody knows of this place and person adds nothing. Beyond the first 64 characters there is nothing to win,
    // and rating them takes seconds.
    let rest = text.to_lowercase().replace(&username.to_lowercase(), "").replace("kubeopera", "");
    let rest: String = rest.chars().take(64).collect();
    if zxcvbn(&rest, &[]).score() < Score::Three {
        return Err(
            "Use one that is harder to guess: it is among the first that are tried, or made of few such parts.",
        );
    }
    Ok(())
}

/// 100 random bits in four groups, without characters that are taken for another when read from a screen.
pub(crate) fn random() -> Secret {
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut rng = rand::rng();
    let mut text = String::with_capacity(23);
    for position in 0..20 {
        if position > 0 && position % 5 == 0 {
            text.push('-');
        }
        let index = rng.random_range(0..ALPHABET.len());
        text.extend(ALPHABET.get(index).map(|&letter| char::from(letter)));
    }
    Secret::new(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn random_passwords_have_a_hundred_bits_and_no_look_alikes() {
        let (one, other) = (random(), random());
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), 23);
        assert!(!one.reveal().contains(['0', 'o', '1', 'l']), "{}", one.reveal());
    }

    #[test]
    fn a_password_is_acceptable_for_its_length_and_not_for_odd_characters() {
        let long = "correct horse battery staple ".repeat(4);
        for good in ["correct horse battery", "тринадцать слов", "Xk7.pQ2m-vR9t", &long, random().reveal()]
        {
            assert_eq!(acceptable(&Secret::new(good), "ada"), Ok(()), "{good}");
        }
        for bad in [
            "",
            "short",
            "elevenchars",
            &"abcdefgh1".repeat(15),
            "aaaaaaaaaaaa",
            "121212121212",
            "ADA-KubeOpera-ada",
            "Password1234",
            "password123456",
            "qwertyuiop123",
            "1q2w3e4r5t6y",
            "iloveyou1234",
            "letmein123456",
            "administrator1",
            &"abcdefgh".repeat(16),
        ] {
            assert!(acceptable(&Secret::new(bad), "ada").is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_hash_names_argon2id_with_the_parameters_we_promise() {
        let passwords = Passwords::new().await.unwrap();
        let hash = passwords.hash(&Secret::new("correct horse")).await.unwrap();

        assert!(hash.as_str().starts_with("$argon2id$v=19$m=47104,t=2,p=1$"), "{}", hash.as_str());
        assert!(passwords.verify(&Secret::new("correct horse"), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify(&Secret::new("Correct horse"), Some(hash.clone())).await.unwrap());
        assert!(!format!("{hash:?}").contains("argon2"));
    }

    #[tokio::test]
    async fn an_unknown_user_takes_as_long_as_a_wrong_password() {
        let passwords = Passwords::new().await.unwrap();
        let hash = passwords.hash(&Secret::new("correct horse")).await.unwrap();
        let guess = Secret::new("guess");
        let mut known = Duration::MAX;
        let mut unknown = Duration::MAX;

        // The fastest of several: a busy machine only ever makes a run slower.
        for _ in 0..5 {
            let start = std::time::Instant::now();
            assert!(!passwords.verify(&guess, Some(hash.clone())).await.unwrap());
            known = known.min(start.elapsed());
            let start = std::time::Instant::now();
            assert!(!passwords.verify(&guess, None).await.unwrap());
            unknown = unknown.min(start.elapsed());
        }

        let ratio = unknown.as_secs_f64() / known.as_secs_f64();
        assert!((0.5..2.0).contains(&ratio), "known {known:?}, unknown {unknown:?}");
    }
}
