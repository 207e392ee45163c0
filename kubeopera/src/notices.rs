//! Where `kubeopera up` sends notices of clusters whose colour changes.

use anyhow::bail;
use clap::{Args, ValueEnum};
use kubeopera_api::{NoticeFormat, Notices};
use url::Url;
use vocabulary::Secret;

/// Environment variable with the address of a web hook. It is no option: whoever knows it may post there, and the command
/// line of a process is for everybody to see.
const HOOK_VARIABLE: &str = "KUBEOPERA_NOTICE_HOOK";

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct NoticeOptions {
    /// What the web hook of KUBEOPERA_NOTICE_HOOK reads; it is told of clusters whose colour changes for more than a minute
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Generic, env = "KUBEOPERA_NOTICE_FORMAT")]
    notice_format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// An object with cluster, was, is, score, reasons, at and link
    Generic,
    /// A message for Slack
    Slack,
}

impl NoticeOptions {
    /// Where notices go, if somebody said so.
    pub(crate) fn notices(&self, dashboard: &str) -> anyhow::Result<Option<Notices>> {
        let hook = std::env::var(HOOK_VARIABLE).ok().filter(|hook| !hook.trim().is_empty());
        hook.map(|hook| self.to(hook.trim(), dashboard)).transpose()
    }

    fn to(&self, hook: &str, dashboard: &str) -> anyhow::Result<Notices> {
        let url = Url::parse(hook).ok();
        let is_local =
            |url: &Url| url.scheme() == "http" && matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if !url.is_some_and(|url| url.scheme() == "https" || is_local(&url)) {
            bail!("the variable {HOOK_VARIABLE} holds no address that begins with https://");
        }
        let format = match self.notice_format {
            Format::Generic => NoticeFormat::Generic,
            Format::Slack => NoticeFormat::Slack,
        };
        Ok(Notices { hook: Secret::new(hook), format, dashboard: Url::parse(dashboard).ok() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_go_over_https_only_and_a_refusal_does_not_tell_the_address() {
        let options = NoticeOptions { notice_format: Format::Slack };
        let to = |hook: &str| options.to(hook, "https://kubeopera.acme.com");
        assert!(to("https://hooks.acme.com/CANARY").is_ok() && to("http://127.0.0.1:9/CANARY").is_ok());
        for bad in ["http://hooks.acme.com/CANARY", "CANARY", "file:///CANARY"] {
            let refusal = format!("{:#}", to(bad).unwrap_err());
            assert!(!refusal.contains("CANARY"), "{refusal}");
        }
    }
}
