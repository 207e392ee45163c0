//! kubeopera-api's tables. SQL is here and nowhere else.
//!
//! Phases and messages are not: they are read from the resource, each time somebody looks.

pub(crate) mod audit;
pub(crate) mod budget;
pub(crate) mod clusters;
pub(crate) mod installation;
mod migration;
pub(crate) mod outbox;
pub(crate) mod revisions;
pub(crate) mod turns;

pub(crate) use migration::Migrator;
