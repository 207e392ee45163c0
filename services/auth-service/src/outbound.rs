//! Asking somebody else's server over HTTP.

use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode};

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
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(15))
        .build()
        .map_err(NoAnswer::Unreachable)?;
    let mut answer = request(&client).send().await.map_err(|error| NoAnswer::Unreachable(error.without_url()))?;
    let status = answer.status();
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| NoAnswer::Unreachable(error.without_url()))? {
        if body.len() + chunk.len() > largest {
            return Err(NoAnswer::Unknown(status));
        }
        body.extend_from_slice(&chunk);
    }
    String::from_utf8(body).map(|text| (status, text)).map_err(|_| NoAnswer::Unknown(status))
}
