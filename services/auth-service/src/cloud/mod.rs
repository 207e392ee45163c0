//! Asking a cloud who a credential is. Nothing is sent anywhere but to the two addresses in [`Clouds`], and nothing that
//! a cloud answers is repeated but names that pass for what they are.

mod aws;
mod google;

use auth_service_contract::{CheckOutcome, CloudAccess, CredentialError};
use jiff::Timestamp;
use reqwest::{RequestBuilder, StatusCode};
use url::Url;

use crate::{
    credentials::gcp_key::TOKEN_URI,
    outbound::{self, NoAnswer},
};

/// No answer of either is as large.
const LARGEST: usize = 64 * 1024;

/// Where the clouds answer.
#[derive(Debug, Clone)]
pub struct Clouds {
    /// AWS's Security Token Service.
    pub aws_sts: Url,
    /// Google's token endpoint.
    pub google_token: Url,
}

impl Default for Clouds {
    /// The clouds' own addresses.
    fn default() -> Self {
        Self { aws_sts: address("https://sts.amazonaws.com/"), google_token: address(TOKEN_URI) }
    }
}

#[expect(clippy::expect_used, reason = "both addresses are constants above, which every test of this file parses")]
fn address(constant: &'static str) -> Url {
    constant.parse().expect("an address in this file is one")
}

impl Clouds {
    /// Asks the cloud that a credential is for.
    pub(crate) async fn check(&self, access: &CloudAccess, now: Timestamp) -> Result<CheckOutcome, CredentialError> {
        let (cloud, answer) = match access {
            CloudAccess::AwsAccessKey(key) => ("AWS", aws::caller_identity(&self.aws_sts, key, now).await),
            CloudAccess::AwsAssumeRole { role_arn, external_id, source: Some(key) } => {
                ("AWS", aws::assume_role(&self.aws_sts, key, role_arn, external_id, now).await)
            }
            CloudAccess::AwsAssumeRole { source: None, .. } => {
                return Ok(refused(
                    "This role is assumed by whoever KubeOpera runs as, which shows only when a cluster is created. To \
                     check it here, save the access key that assumes it and choose it as the source.",
                ));
            }
            CloudAccess::GcpServiceAccountKey { project_id, key } => {
                ("Google", google::token(&self.google_token, project_id, key, now).await)
            }
        };
        answer.map_err(|error| {
            tracing::warn!("{cloud} could not be asked about a credential: {}", service_kit::chain(&error));
            CredentialError::CloudUnreachable { cloud }
        })
    }
}

fn refused(message: impl Into<String>) -> CheckOutcome {
    CheckOutcome::Refused { message: message.into() }
}

/// Sends a request and reads no more than [`LARGEST`] of the answer.
async fn send(request: impl FnOnce(&reqwest::Client) -> RequestBuilder) -> Result<(StatusCode, String), NoAnswer> {
    outbound::send(LARGEST, request).await
}

#[cfg(test)]
mod tests;
