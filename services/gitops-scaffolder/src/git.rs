//! Git by the git program, in a child process: see `docs/decisions/2026-11-30-git-by-the-git-program.md`.

pub(crate) mod access;
pub(crate) mod clone;
pub(crate) mod host_keys;
pub(crate) mod left_behind;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod trouble;
