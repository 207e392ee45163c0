//! What a run says to people: on standard output, which is the log of its Pod, and in the book, which outlives it.

use std::{
    io::Write,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use serde_json::Value;
use vocabulary::Secret;

use crate::{log::Log, order::Order};

/// Shorter words of a credential may well be words of anything else.
const SHORTEST_SECRET: usize = 20;

/// What a run says, without its secrets.
pub(super) struct Teller {
    scrub: Scrub,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    log: Log,
    /// Whether the book has all of it.
    is_kept: bool,
}

impl Teller {
    /// For the run of an order.
    pub(super) fn of(order: &Order) -> Self {
        Self {
            scrub: Scrub::of(order.credential.values().chain([&order.key]).chain(&order.kubeconfig)),
            told: Mutex::default(),
        }
    }

    /// Goes on behind what earlier runs said.
    pub(super) fn go_on(&self, packed: Option<&[u8]>) {
        if let Some(log) = packed.and_then(Log::unpack) {
            self.told().log = log;
        }
    }

    /// Says a line.
    pub(super) fn say(&self, line: &str) {
        let line = self.scrub.scrub(line);
        let printable: String = line.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect();
        // Whoever reads the Pod's log may have gone; the run goes on.
        drop(writeln!(std::io::stdout().lock(), "{printable}"));
        let mut told = self.told();
        told.log.push(&printable, Timestamp::now());
        told.is_kept = false;
    }

    /// Says what a line of Terraform's says, in its words for people.
    pub(super) fn pass_on(&self, line: &str) {
        let words = serde_json::from_str::<Value>(line).ok();
        let words = words.as_ref().and_then(|said| said.get("@message")).and_then(Value::as_str).unwrap_or(line);
        self.say(words);
    }

    /// All of it, packed, if there is something that the book does not have. What is taken counts as kept.
    pub(super) fn take_news(&self) -> Option<Vec<u8>> {
        let mut told = self.told();
        if std::mem::replace(&mut told.is_kept, true) { None } else { told.log.pack().ok() }
    }

    /// What was taken could not be kept.
    pub(super) fn was_not_kept(&self) {
        self.told().is_kept = false;
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The secrets of a run, for taking them out of what Terraform says.
struct Scrub(Vec<Secret>);

impl Scrub {
    /// Of files with a credential or a key: everything in them that is long and has letters and digits, but for addresses.
    fn of<'a>(files: impl Iterator<Item = &'a Secret>) -> Self {
        let is_secret = |word: &&str| {
            word.len() >= SHORTEST_SECRET
                && word.contains(|c: char| c.is_ascii_digit())
                && word.contains(|c: char| c.is_ascii_alphabetic())
                && !word.contains("://")
                && !word.contains('@')
        };
        let words = files.flat_map(|file| {
            let lines = file.reveal().replace("\\n", "\n");
            let words = lines.split(|c: char| c.is_whitespace() || ['"', '=', ','].contains(&c)).filter(is_secret);
            words.map(Secret::new).collect::<Vec<_>>()
        });
        Self(words.collect())
    }

    fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.reveal(), "••••"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_run_are_taken_out_of_what_terraform_says_and_nothing_else_is() {
        let files = [
            "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n",
            r#"{"client_email":"kubeopera@acme-1234.iam.gserviceaccount.com","private_key":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END PRIVATE KEY-----\n"}"#,
            "00112233445566778899aabbccddeeff",
        ]
        .map(Secret::new);
        let scrub = Scrub::of(files.iter());

        for secret in [
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "MIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU",
            "00112233445566778899aabbccddeeff",
        ] {
            let scrubbed = scrub.scrub(&format!("it said \"{secret}\"!"));
            assert!(scrubbed.starts_with("it said \"••••") && scrubbed.ends_with("••••\"!"), "{scrubbed}");
        }
        let plain =
            "aws_vpc.this: kubeopera@acme-1234.iam.gserviceaccount.com may not; see -----BEGIN PRIVATE KEY-----";
        assert_eq!(scrub.scrub(plain), plain);
    }
}
