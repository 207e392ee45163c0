//! The audit log: who did what, when, from where, to which object, and what came of it. Never a value, let alone a secret:
//! of a change it tells the names of the fields.
//!
//! There is one for all services on a database. Rows are added and never touched again; the database itself refuses to
//! change or remove one. Each row has the hash of the one before it, so that whoever gets around that is found out by
//! [`verify`], unless they compute all later hashes anew: against the database's owner only a hash helps that is kept
//! elsewhere.
//!
//! - What changes only the database is written down by [`append`] in the transaction of the change: both are there, or
//!   neither.
//! - What changes something elsewhere is written down by [`note`] before, as [`Outcome::Asked`], and after, with what came
//!   of it. If the first cannot be written, nothing is done.
//! - What a person is refused is written down up to 60 times a minute, by either. What is beyond that is left out without an
//!   error: [`observed`] tells, for whoever counts it.

mod action;
mod allowance;
mod chain;
mod entry;
mod migration;
mod read;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use action::{Action, Outcome};
pub use entry::{Entry, FromBefore, Noted, append, append_from_before, note, observed};
pub use migration::Migrator;
pub use read::{Filter, Row, Who, nth_latest, page, rows};
pub use verify::{Broken, Head, Verified, VerifyError, verify};
