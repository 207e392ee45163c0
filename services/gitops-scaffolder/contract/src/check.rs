//! What is found when a repository is tried without writing to it.

use vocabulary::Trouble;

/// One thing that has to be so before a tree can be written, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// Does a server answer at the address, and not send us elsewhere?
    Reach,
    /// Is it the server it should be: a trusted certificate, a known host key?
    Identity,
    /// Does it accept the credential, and is there a repository for it to see?
    Repository,
    /// Is there the branch, or is the repository empty and gets it with the first commit?
    Branch,
    /// May the credential write? Rules for single branches show at the first commit only.
    Push,
}

impl Question {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [Self::Reach, Self::Identity, Self::Repository, Self::Branch, Self::Push];
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No: why, and what to do.
    No(Trouble),
    /// Not asked, because an earlier answer was no.
    NotAsked,
}

/// What a repository is found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryCheck {
    /// Each question with its answer, in the order of [`Question::ALL`].
    pub answers: Vec<(Question, Answer)>,
    /// The branch that trees would go to, once it is known.
    pub branch: Option<String>,
    /// Whether the repository has no commit yet, once it is known.
    pub is_empty: Option<bool>,
    /// The host keys that an SSH server offers, if none of them is among the known ones; otherwise empty.
    pub offered_host_keys: Vec<HostKey>,
}

impl RepositoryCheck {
    /// Whether every answer is yes.
    pub fn is_usable(&self) -> bool {
        self.answers.iter().all(|(_, answer)| *answer == Answer::Yes)
    }
}

/// A host key of an SSH server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostKey {
    /// Kind of key, such as `ssh-ed25519`.
    pub algorithm: String,
    /// As people compare it: `SHA256:` and the digest in base64.
    pub fingerprint: String,
    /// The line that makes it known, in `known_hosts` form.
    pub known_hosts: String,
}
