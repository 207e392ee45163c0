//! Asking servers of others over HTTP: a limit to everything.

use std::time::Duration;

use reqwest::{Client, Response, redirect, retry};

/// Making the connection, TLS included.
const CONNECT: Duration = Duration::from_secs(5);

/// A client that sends a request once: no redirects, no repetition; a whole call takes at most `whole`.
pub fn client(whole: Duration) -> reqwest::Result<Client> {
    Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .connect_timeout(CONNECT)
        .timeout(whole)
        .build()
}

/// Why a body was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than was allowed.
    #[error("the answer is too large")]
    TooLarge,
    /// The connection was lost, or it took too long.
    #[error("the answer broke off")]
    BrokeOff(#[source] reqwest::Error),
}

/// The body of an answer, of at most `largest` bytes.
pub async fn body(mut answer: Response, largest: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(BodyError::BrokeOff)? {
        if body.len() + chunk.len() > largest {
            return Err(BodyError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
