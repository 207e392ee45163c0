//! What every service needs to be a service: logs, a database, problem answers, a listener and an orderly end.
//!
//! Nothing here knows a use case of KubeOpera.

pub mod database;
pub mod json;
pub mod outbound;
pub mod problem;
pub mod request;
pub mod serve;
pub mod shutdown;
pub mod telemetry;

pub use json::Json;
pub use problem::{Problem, ProblemBody};

/// An error with all its sources, as one line for the log.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let next = inner.to_string();
        // Some libraries print their source themselves; saying it twice helps nobody.
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        source = inner.source();
    }
    text
}
