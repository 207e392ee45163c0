//! Logging in at an identity provider.

use auth_service_contract::{Arrival, Departure, ProviderAnswer, SingleSignOnError};
use vocabulary::Secret;

use super::Platform;
use crate::error::AppError;

impl Platform {
    /// What people call the identity provider, if there is one.
    pub(crate) fn provider(&self) -> Option<&str> {
        self.auth.provider()
    }

    /// Sends a browser to the identity provider.
    pub(crate) async fn depart(&self, return_to: &str, address: &str) -> Result<Departure, AppError> {
        Ok(self.auth.depart(return_to, address).await?)
    }

    /// Opens a session for who comes back. One that the browser still has is ended: an id from before is worth nothing
    /// after.
    pub(crate) async fn arrive(
        &self,
        browser: Option<&Secret>,
        answer: ProviderAnswer,
        address: &str,
        previous: Option<&Secret>,
    ) -> Result<Arrival, AppError> {
        let nothing = Secret::new("");
        let arrival = match self.provider() {
            Some(_) => self.auth.arrive(browser.unwrap_or(&nothing), answer, address).await?,
            None => return Err(SingleSignOnError::NoProvider.into()),
        };
        if let Some(previous) = previous {
            self.auth.log_out(previous, address).await?;
        }
        Ok(arrival)
    }
}
