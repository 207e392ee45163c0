//! Where the clouds answer when they are asked about a credential, as the command line names it.

use auth_service::Clouds;
use clap::Args;
use url::Url;

use crate::browsers::is_this_machine;

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct CloudAddresses {
    /// Address of AWS's Security Token Service, such as a region's https://sts.eu-north-1.amazonaws.com/ or that of a VPC
    /// endpoint [default: https://sts.amazonaws.com/]
    #[arg(long, value_name = "URL", value_parser = address, env = "KUBEOPERA_AWS_STS_URL")]
    aws_sts_url: Option<Url>,
    /// Address of Google's token endpoint, where it is reached by another name [default:
    /// https://oauth2.googleapis.com/token]
    #[arg(long, value_name = "URL", value_parser = address, env = "KUBEOPERA_GOOGLE_TOKEN_URL")]
    google_token_url: Option<Url>,
}

impl CloudAddresses {
    pub(crate) fn clouds(&self) -> Clouds {
        let usual = Clouds::default();
        Clouds {
            aws_sts: self.aws_sts_url.clone().unwrap_or(usual.aws_sts),
            google_token: self.google_token_url.clone().unwrap_or(usual.google_token),
        }
    }
}

/// What is sent there proves who we are, so that it goes over TLS or stays on this machine.
fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| url.username().is_empty() && url.password().is_none());
    url.filter(|url| url.scheme() == "https" || url.scheme() == "http" && is_this_machine(url))
        .ok_or_else(|| "this is not an https:// URL".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clouds_are_asked_over_tls_or_on_this_machine() {
        for good in ["https://sts.eu-north-1.amazonaws.com/", "http://127.0.0.1:5000/", "http://localhost:5000"] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in
            ["http://sts.amazonaws.com/", "https://user:secret@sts.amazonaws.com/", "sts.amazonaws.com", "file:///etc"]
        {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_was_not_named_is_as_usual() {
        let named = "http://127.0.0.1:5000/".parse::<Url>().unwrap();
        let clouds = CloudAddresses { aws_sts_url: Some(named.clone()), google_token_url: None }.clouds();
        assert_eq!((clouds.aws_sts, clouds.google_token), (named, Clouds::default().google_token));
    }
}
