//! The identity provider people may log in at, as the command line names it.

use std::path::PathBuf;

use anyhow::Context;
use auth_service::{GroupRoles, Issuer, Provider, ProviderSettings};
use clap::Args;
use vocabulary::{Role, Secret};

/// Environment variable with the client secret itself. It is no option: the command line of a process is for everybody to
/// see.
const SECRET_VARIABLE: &str = "KUBEOPERA_OIDC_CLIENT_SECRET";

/// Where the provider sends people back to, below the address of the dashboard.
const CALLBACK: &str = "/api/v1/session/oidc/callback";

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
#[allow(clippy::struct_field_names, reason = "these names are the flags")]
pub(crate) struct IdentityProvider {
    /// Let people log in at this OpenID Connect provider too; its issuer, exactly as it writes it
    #[arg(long, value_name = "URL", requires = "oidc_client_id", env = "KUBEOPERA_OIDC_ISSUER")]
    oidc_issuer: Option<Issuer>,
    /// Client that KubeOpera is registered as there, with the redirect URI <external URL>/api/v1/session/oidc/callback
    #[arg(long, value_name = "ID", requires = "oidc_issuer", env = "KUBEOPERA_OIDC_CLIENT_ID")]
    oidc_client_id: Option<String>,
    /// File with the client's secret [default: KUBEOPERA_OIDC_CLIENT_SECRET, or a public client]
    #[arg(long, value_name = "FILE", requires = "oidc_issuer")]
    oidc_client_secret_file: Option<PathBuf>,
    /// What the login page calls the provider [default: the issuer's host]
    #[arg(long, value_name = "NAME", requires = "oidc_issuer")]
    oidc_name: Option<String>,
    /// What is asked for beside openid; may be given several times
    #[arg(long, value_name = "SCOPE", requires = "oidc_issuer", default_values = ["profile", "email"])]
    oidc_scope: Vec<String>,
    /// Claim of the ID token with the groups of a person
    #[arg(long, value_name = "CLAIM", requires = "oidc_issuer", default_value = "groups")]
    oidc_groups_claim: String,
    /// A group and its role, such as platform-team=platform_administrator; may be given several times, and the role that
    /// may do most counts
    #[arg(long, value_name = "GROUP=ROLE", requires = "oidc_issuer", value_parser = group_role)]
    oidc_group: Vec<(String, Role)>,
    /// Role of people without such a group [default: they are not let in]
    #[arg(long, value_name = "ROLE", requires = "oidc_issuer", value_parser = role)]
    oidc_default_role: Option<Role>,
}

impl IdentityProvider {
    /// The provider, if one was named. `external_url` is where people open the dashboard.
    pub(crate) fn provider(&self, external_url: &str) -> anyhow::Result<Option<Provider>> {
        let (Some(issuer), Some(client_id)) = (&self.oidc_issuer, &self.oidc_client_id) else { return Ok(None) };
        anyhow::ensure!(
            !self.oidc_group.is_empty() || self.oidc_default_role.is_some(),
            "nobody could log in at {issuer}: name groups with --oidc-group GROUP=ROLE, or a role for everybody with \
             --oidc-default-role"
        );
        let redirect_uri = format!("{external_url}{CALLBACK}").parse().context("--external-url")?;
        Ok(Some(Provider::new(ProviderSettings {
            name: self.oidc_name.clone().unwrap_or_else(|| issuer.host().to_owned()),
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret: self.client_secret()?,
            redirect_uri,
            scopes: self.oidc_scope.clone(),
            groups_claim: self.oidc_groups_claim.clone(),
            roles: GroupRoles { groups: self.oidc_group.clone(), without_group: self.oidc_default_role },
        })))
    }

    /// A file that was named goes before the environment. Editors end files with a line feed, which is not part of it.
    fn client_secret(&self) -> anyhow::Result<Option<Secret>> {
        let secret = match &self.oidc_client_secret_file {
            Some(path) => {
                let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
                let secret = Secret::new(text.trim_end_matches(['\r', '\n']));
                anyhow::ensure!(!secret.reveal().is_empty(), "{} is empty", path.display());
                Some(secret)
            }
            None => std::env::var(SECRET_VARIABLE).ok().filter(|text| !text.is_empty()).map(Secret::new),
        };
        Ok(secret)
    }
}

fn group_role(text: &str) -> Result<(String, Role), String> {
    let (group, name) = text.rsplit_once('=').ok_or("this is not GROUP=ROLE")?;
    if group.trim().is_empty() {
        return Err("the group has no name".to_owned());
    }
    Ok((group.to_owned(), role(name)?))
}

fn role(text: &str) -> Result<Role, String> {
    let roles = [Role::PlatformAdministrator, Role::Operator, Role::Viewer];
    let found = roles.into_iter().find(|role| role.as_str() == text);
    found.ok_or_else(|| "a role is platform_administrator, operator or viewer".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: IdentityProvider,
    }

    fn parsed(arguments: &[&str]) -> Result<IdentityProvider, clap::Error> {
        Line::try_parse_from(std::iter::once(&"kubeopera").chain(arguments)).map(|line| line.options)
    }

    const ISSUER: [&str; 4] = ["--oidc-issuer", "https://id.acme.com", "--oidc-client-id", "kubeopera"];

    #[test]
    fn without_an_issuer_there_is_no_provider_and_no_setting_of_one() {
        assert!(parsed(&[]).unwrap().provider("http://127.0.0.1:7070").unwrap().is_none());
        for alone in [
            ["--oidc-client-id", "kubeopera"],
            ["--oidc-group", "staff=viewer"],
            ["--oidc-default-role", "viewer"],
            ["--oidc-issuer", "https://id.acme.com"],
            ["--oidc-issuer", "http://id.acme.com"],
        ] {
            assert!(parsed(&alone).is_err(), "{alone:?}");
        }
    }

    #[test]
    fn a_provider_that_lets_nobody_in_is_told_at_the_start() {
        let refusal = parsed(&ISSUER).unwrap().provider("http://127.0.0.1:7070").unwrap_err().to_string();
        assert!(refusal.contains("--oidc-group"), "{refusal}");
        let everybody = [ISSUER.as_slice(), &["--oidc-default-role", "viewer"]].concat();
        assert!(parsed(&everybody).unwrap().provider("http://127.0.0.1:7070").unwrap().is_some());
    }

    #[test]
    fn a_group_may_have_an_equals_sign_and_a_role_is_one_of_three() {
        assert_eq!(group_role("cn=ops,dc=acme=operator"), Ok(("cn=ops,dc=acme".to_owned(), Role::Operator)));
        for bad in ["staff", "staff=", "=viewer", " =viewer", "staff=admin"] {
            assert!(group_role(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_clients_secret_is_read_from_a_file_without_its_last_line_feed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let from_file = [ISSUER.as_slice(), &["--oidc-client-secret-file", file.to_str().unwrap()]].concat();
        let options = parsed(&from_file).unwrap();

        assert!(options.client_secret().unwrap_err().to_string().contains("secret"));
        std::fs::write(&file, "\n").unwrap();
        assert!(options.client_secret().is_err());
        std::fs::write(&file, "CANARY secret\r\n").unwrap();
        assert_eq!(options.client_secret().unwrap().unwrap().reveal(), "CANARY secret");
    }
}
