//! How the repository is written to, and how that is kept in a Secret: the keys that Flux's source-controller reads.

use vocabulary::Secret;

/// Forges take any user name with a token; this is what Flux uses where none is given.
const ANY_USER: &str = "git";

/// How the repository is written to. Never part of a URL, an argument list or a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitCredential {
    /// User name and password or token, over HTTPS.
    Basic {
        /// User name; forges take any with a token.
        username: String,
        /// Password or token.
        password: Secret,
        /// Certificate authority of the server in PEM, if it is not a public one.
        certificate_authority: Option<String>,
    },
    /// A private key over SSH.
    Ssh {
        /// Private key, OpenSSH or PEM.
        private_key: Secret,
        /// Host keys that are accepted, in `known_hosts` form; nothing else is.
        known_hosts: String,
    },
}

/// The keys of a Secret do not make a credential; a sentence that says what to do and quotes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialIncomplete(pub &'static str);

impl GitCredential {
    /// The credential in a Secret's keys that begin with `prefix`: `username` and `password`, with `ca.crt` where the
    /// server's authority is not a public one, or `identity` and `known_hosts`. `ca.crt` and `known_hosts` may be without
    /// the prefix. None if there is no key of it. `key` gives what is under a key, if it is there and is text.
    pub fn read(key: impl Fn(&str) -> Option<Secret>, prefix: &str) -> Result<Option<Self>, CredentialIncomplete> {
        let own = |name: &str| key(&format!("{prefix}{name}")).filter(|text| !text.reveal().is_empty());
        let shared = |name: &str| own(name).or_else(|| key(name)).map(|text| text.reveal().to_owned());
        if let Some(password) = own("password").filter(|_| own("identity").is_none()) {
            let username = own("username").map_or_else(|| ANY_USER.to_owned(), |name| name.reveal().to_owned());
            let certificate_authority = shared("ca.crt").or_else(|| shared("caFile"));
            return Ok(Some(Self::Basic { username, password, certificate_authority }));
        }
        if let Some(private_key) = own("identity") {
            if own("password").is_some() {
                return Err(CredentialIncomplete("Private keys with a passphrase are not supported. Use one without."));
            }
            let known_hosts = shared("known_hosts").filter(|hosts| !hosts.trim().is_empty());
            let known_hosts = known_hosts.ok_or(CredentialIncomplete(
                "With identity it needs known_hosts: the output of `ssh-keyscan` for the Git server, compared with the \
                 host keys its operator publishes.",
            ))?;
            return Ok(Some(Self::Ssh { private_key, known_hosts }));
        }
        if own("bearerToken").is_some() {
            let what = "Bearer tokens cannot push. Put the token under password and any name under username.";
            return Err(CredentialIncomplete(what));
        }
        Ok(None)
    }

    /// The keys and values of a Secret that [`Self::read`] reads this from, without a prefix.
    pub fn keys(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::Basic { username, password, certificate_authority } => {
                let authority = certificate_authority.as_deref().map(|pem| ("ca.crt", pem));
                [("username", username.as_str()), ("password", password.reveal())]
                    .into_iter()
                    .chain(authority)
                    .collect()
            }
            Self::Ssh { private_key, known_hosts } => {
                vec![("identity", private_key.reveal()), ("known_hosts", known_hosts)]
            }
        }
    }
}
