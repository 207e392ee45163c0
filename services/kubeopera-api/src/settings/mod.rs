//! What a platform administrator sets for the whole platform, read and judged. Nothing in here talks to anything.

pub(crate) mod git_credential;
pub(crate) mod git_url;
pub(crate) mod registry;

use std::borrow::Cow;

/// Why a setting is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// One word for programs.
    pub(crate) code: &'static str,
    /// The field at fault, as the request has it.
    pub(crate) field: &'static str,
    /// What is wrong and what to do, in whole sentences without anything that was given.
    pub(crate) message: Cow<'static, str>,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, field: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, field, message: message.into() }
    }
}
