//! Asking somebody else's server over HTTP.

use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode};
use service_kit::outbound::{self, BodyError};

/// A whole call.
const LONGEST: Duration = Duration::from_secs(15);

/// There is no answer that means anything.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("the request could not be made")]
    NotMade(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("there was no answer")]
    Unreachable(#[source] reqwest::Error),
    #[error("the answer was {0} and not one that we know")]
    Unknown(StatusCode),
}

/// Sends a request once: no redirects, no repetition, a limit to everything. No answer is longer than `largest` bytes.
pub(crate) async fn send(
    largest: usize,
    request: impl FnOnce(&reqwest::Client) -> RequestBuilder,
) -> Result<(StatusCode, String), NoAnswer> {
    let client = outbound::client(LONGEST).map_err(NoAnswer::Unreachable)?;
    let answer = request(&client).send().await.map_err(|error| NoAnswer::Unreachable(error.without_url()))?;
    let status = answer.status();
    let body = outbound::body(answer, largest).await.map_err(|error| match error {
        BodyError::TooLarge => NoAnswer::Unknown(status),
        BodyError::BrokeOff(error) => NoAnswer::Unreachable(error.without_url()),
    })?;
    String::from_utf8(body).map(|text| (status, text)).map_err(|_| NoAnswer::Unknown(status))
}
