//! What can go wrong with an effect, in the four kinds that decide what happens next.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who has to act before trying again makes sense. The kind alone decides the clock (see `decide::retry`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// Nothing is wrong: somebody else is still working.
    Waiting,
    /// A network fault, time-out, conflict or overload: trying again may well succeed.
    Transient,
    /// Somebody must change something first: a credential, a quota, a permission, the resource itself.
    Rejected,
    /// An invariant of ours broke.
    Bug,
}

/// A failed attempt: its kind, a word for programs and a sentence for people.
///
/// Neither word nor sentence may hold a secret or unescaped text of a remote server: both end in a resource's status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// Who has to act.
    pub kind: TroubleKind,
    /// One CamelCase word, stable over versions: the `reason` of a condition.
    pub reason: String,
    /// Whole sentences: what happened, to which object, what to do.
    pub message: String,
}

impl Trouble {
    /// Somebody else is still working.
    pub fn waiting(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: TroubleKind::Waiting, reason: reason.into(), message: message.into() }
    }

    /// Worth trying again as it is.
    pub fn transient(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: TroubleKind::Transient, reason: reason.into(), message: message.into() }
    }

    /// Pointless to try again before somebody changes something.
    pub fn rejected(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: TroubleKind::Rejected, reason: reason.into(), message: message.into() }
    }

    /// A fault of KubeOpera itself.
    pub fn bug(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: TroubleKind::Bug, reason: reason.into(), message: message.into() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Trouble {}
