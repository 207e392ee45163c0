//! AWS's Security Token Service, asked with a signed request.

use std::time::SystemTime;

use auth_service_contract::{AwsAccessKey, CheckOutcome};
use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4,
};
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use tracing::subscriber::NoSubscriber;
use url::{Url, form_urlencoded};

use super::{NoAnswer, refused, send};

/// The region of the address that serves all of them.
const GLOBAL: &str = "us-east-1";
const VERSION: (&str, &str) = ("Version", "2011-06-15");

/// Who an access key is. Every key may ask that, whatever else it may not do.
pub(super) async fn caller_identity(sts: &Url, key: &AwsAccessKey, now: Timestamp) -> Result<CheckOutcome, NoAnswer> {
    ask(sts, key, &[("Action", "GetCallerIdentity"), VERSION], now).await
}

/// Whether a key may assume a role. What it would get is not looked at, and ends after the shortest time there is.
pub(super) async fn assume_role(
    sts: &Url,
    key: &AwsAccessKey,
    role_arn: &str,
    external_id: &str,
    now: Timestamp,
) -> Result<CheckOutcome, NoAnswer> {
    let fields = [
        ("Action", "AssumeRole"),
        VERSION,
        ("RoleArn", role_arn),
        ("RoleSessionName", "kubeopera-check"),
        ("ExternalId", external_id),
        ("DurationSeconds", "900"),
    ];
    ask(sts, key, &fields, now).await
}

async fn ask(sts: &Url, key: &AwsAccessKey, fields: &[(&str, &str)], now: Timestamp) -> Result<CheckOutcome, NoAnswer> {
    const FORM: &str = "application/x-www-form-urlencoded";
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let signed = signature(sts, key, (CONTENT_TYPE.as_str(), FORM), &body, now).map_err(NoAnswer::NotMade)?;
    let (status, text) = send(|client| {
        let mut request = client.post(sts.clone()).header(CONTENT_TYPE, FORM).body(body);
        for (name, mut value) in signed {
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        request
    })
    .await?;
    let element = |name: &str| first(&text, name);
    if status.is_success() {
        let arn = element("Arn").filter(|arn| is_arn(arn)).ok_or(NoAnswer::Unknown(status))?;
        let account = arn.split(':').nth(4).unwrap_or_default().to_owned();
        return Ok(CheckOutcome::Accepted { account, identity: arn });
    }
    Ok(refused(match element("Code").as_deref() {
        Some("InvalidClientTokenId" | "UnrecognizedClientException") => {
            "AWS does not know this access key ID, or the key was made inactive."
        }
        Some("SignatureDoesNotMatch") => "The secret access key is not the one that belongs to the access key ID.",
        Some("AccessDenied") => {
            "AWS does not let this be done. For a role: its trust policy has to name who assumes it and to ask for the \
             external ID that KubeOpera showed, and who assumes it needs the right to sts:AssumeRole."
        }
        Some("RequestExpired" | "RequestTimeTooSkewed") => "AWS finds that the clock of this machine is wrong.",
        _ => return Err(NoAnswer::Unknown(status)),
    }))
}

type Signed = Vec<(String, HeaderValue)>;

fn signature(
    sts: &Url,
    key: &AwsAccessKey,
    header: (&str, &str),
    body: &str,
    now: Timestamp,
) -> Result<Signed, Box<dyn std::error::Error + Send + Sync>> {
    let (id, secret) = (key.access_key_id.reveal(), key.secret_access_key.reveal());
    let identity = Credentials::new(id, secret, None, None, "kubeopera").into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region_of(sts))
        .name("sts")
        .time(SystemTime::from(now))
        .settings(SigningSettings::default())
        .build()?
        .into();
    let request =
        SignableRequest::new("POST", sts.as_str(), std::iter::once(header), SignableBody::Bytes(body.as_bytes()))?;
    // At trace level the library logs the access key ID, which is nobody's business.
    let signed = tracing::subscriber::with_default(NoSubscriber::default(), || sign(request, &parameters));
    let (instructions, _) = signed?.into_parts();
    let headers = instructions.headers();
    headers.map(|(name, value)| Ok((name.to_owned(), HeaderValue::from_str(value)?))).collect()
}

/// The region that an address of STS is in, which a signature has to name: `sts.<region>.amazonaws.com`, with `.cn` in
/// China, `sts-fips` in front, or `vpce-….sts.<region>.vpce.amazonaws.com`. Any other address is taken for the global one.
fn region_of(sts: &Url) -> &str {
    let mut labels =
        sts.host_str().unwrap_or_default().split('.').skip_while(|label| !matches!(*label, "sts" | "sts-fips"));
    let region = labels.nth(1).unwrap_or_default();
    let is_aws = labels.any(|label| label == "amazonaws");
    if is_aws && region.contains('-') { region } else { GLOBAL }
}

/// The text of the first element of a name.
fn first(xml: &str, name: &str) -> Option<String> {
    let document = roxmltree::Document::parse(xml).ok()?;
    let element = document.descendants().find(|node| node.tag_name().name() == name)?;
    element.text().map(str::to_owned)
}

fn is_arn(text: &str) -> bool {
    text.starts_with("arn:")
        && text.len() <= 2048
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b":+=,.@_/-".contains(&c))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn a_signature_names_the_region_that_the_address_is_in() {
        for (address, region) in [
            ("https://sts.amazonaws.com/", "us-east-1"),
            ("https://sts.eu-north-1.amazonaws.com/", "eu-north-1"),
            ("https://sts-fips.us-gov-west-1.amazonaws.com/", "us-gov-west-1"),
            ("https://sts.cn-north-1.amazonaws.com.cn/", "cn-north-1"),
            ("https://vpce-0a1b-2c3d.sts.eu-west-1.vpce.amazonaws.com/", "eu-west-1"),
            ("http://127.0.0.1:5000/", "us-east-1"),
            ("https://sts.eu-north-1.evil.example/", "us-east-1"),
        ] {
            assert_eq!(region_of(&address.parse().unwrap()), region, "{address}");
        }
    }
}
