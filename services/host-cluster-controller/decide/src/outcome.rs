//! What came of a step.

use gitops_scaffolder_contract::WrittenTree;
use vocabulary::Trouble;

/// What came of a step. Waiting is an outcome like any other, and success is never an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// The tree is in Git.
    Written(WrittenTree),
    /// It is not done, and why.
    Trouble(Trouble),
}

impl From<Result<(), Trouble>> for Outcome {
    fn from(done: Result<(), Trouble>) -> Self {
        match done {
            Ok(()) => Self::Done,
            Err(trouble) => Self::Trouble(trouble),
        }
    }
}
