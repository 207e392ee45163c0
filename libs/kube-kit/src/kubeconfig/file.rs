//! The file as it is written: the fields that are used, and those that are looked for only to be refused.

use serde::Deserialize;
use vocabulary::Secret;

use super::log_in::LogIn;

/// Whether a field is there, whatever it holds. A field that is null or empty has no effect on kubectl either.
#[derive(Default)]
pub(super) struct Presence(bool);

impl Presence {
    pub(super) const fn is_present(&self) -> bool {
        self.0
    }
}

impl<'de> Deserialize<'de> for Presence {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Self(match value {
            serde_json::Value::Null => false,
            serde_json::Value::String(text) => !text.is_empty(),
            serde_json::Value::Array(items) => !items.is_empty(),
            _ => true,
        }))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) current_context: Option<String>,
    #[serde(default)]
    pub(super) contexts: Vec<NamedContext>,
    #[serde(default)]
    pub(super) clusters: Vec<NamedCluster>,
    #[serde(default)]
    pub(super) users: Vec<NamedUser>,
}

#[derive(Deserialize)]
pub(super) struct NamedContext {
    pub(super) name: String,
    pub(super) context: ContextEntry,
}

#[derive(Deserialize)]
pub(super) struct ContextEntry {
    pub(super) cluster: String,
    pub(super) user: Option<String>,
    pub(super) namespace: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct NamedCluster {
    pub(super) name: String,
    pub(super) cluster: Cluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Cluster {
    pub(super) server: Option<String>,
    pub(super) certificate_authority_data: Option<String>,
    pub(super) tls_server_name: Option<String>,
    pub(super) insecure_skip_tls_verify: Option<bool>,
    #[serde(default)]
    pub(super) certificate_authority: Presence,
    #[serde(default)]
    pub(super) proxy_url: Presence,
}

#[derive(Deserialize)]
pub(super) struct NamedUser {
    pub(super) name: String,
    #[serde(default)]
    pub(super) user: User,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct User {
    pub(super) token: Option<Secret>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key_data: Option<Secret>,
    pub(super) exec: LogIn,
    pub(super) auth_provider: LogIn,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Presence,
    pub(super) client_certificate: Presence,
    pub(super) client_key: Presence,
    #[serde(rename = "as")]
    pub(super) impersonate: Presence,
    #[serde(rename = "as-uid")]
    pub(super) impersonate_uid: Presence,
    #[serde(rename = "as-groups")]
    pub(super) impersonate_groups: Presence,
    #[serde(rename = "as-user-extra")]
    pub(super) impersonate_user_extra: Presence,
    pub(super) username: Presence,
    pub(super) password: Presence,
}
