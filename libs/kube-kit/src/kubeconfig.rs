//! A kubeconfig from outside, by an allow-list: only what is named here is ever read out of it.
//!
//! kube's own reader would run programs, open files and follow proxies that a kubeconfig names. So the file is read into
//! types that have no such fields; the dangerous fields are looked for only to say which one to remove. The text itself
//! is never quoted: a token may stand anywhere in it.

mod address;
mod authority;
mod encoding;
mod file;
mod log_in;
mod refusals;
mod secret;
mod validity;

use base64::Engine;
use ipnet::IpNet;
use jiff::Timestamp;
use kube::{Client, Config};
use url::{Host, Url};
use vocabulary::{Secret, Trouble};

pub(crate) use self::address::{Judged, NoAddress, Refused};
pub use self::{
    address::{is_forbidden_address, is_forbidden_host},
    log_in::HOW_TO_MAKE_A_TOKEN,
    validity::Validity,
};
use self::{
    address::{is_forbidden_name, judge},
    file::{Cluster, File, NamedCluster, NamedUser, User},
    refusals::{refuse_in_cluster, refuse_in_user},
};
use crate::{
    OwnRanges,
    client::{Limits, guarded_by},
};

/// The largest kubeconfig that is read, in bytes. None with one cluster's certificates comes near this. The data of a Secret is 1 MiB at most (`MaxSecretSize` of
/// Kubernetes), and beside the file the name of the chosen context is kept there.
pub const LARGEST_KUBECONFIG: usize = 1023 << 10;

/// Makes one file out of a kubeconfig that refers to others.
const FLATTEN: &str = "Run `kubectl config view --raw --minify --flatten` and supply what it prints.";

/// Why a kubeconfig is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct KubeconfigProblem {
    /// One word for programs, stable over versions: `kubeconfig_exec_forbidden`.
    pub code: &'static str,
    /// The field at fault: `kubeconfig.users[0].exec`.
    pub field: String,
    /// What is wrong and how to mend it, as sentences for people.
    pub message: String,
}

/// Where a kubeconfig may lead.
#[derive(Debug, Clone, Copy, Default)]
pub struct KubeconfigOptions {
    /// To an API server on this very machine: for a local start and for tests.
    pub allow_loopback: bool,
    /// Only into these ranges; if there is none, anywhere. They open nothing that is refused anyway. Whoever runs KubeOpera
    /// sets them once for as long as it runs.
    pub allowed_targets: &'static [IpNet],
    /// Not to these: the cluster this process is a Pod of. None for a process elsewhere: many clusters have the same ranges,
    /// and elsewhere they lead to another one.
    pub own_ranges: Option<&'static OwnRanges>,
}

/// A kubeconfig that names a server and a credential and nothing else.
#[derive(Debug, Clone)]
pub struct ValidKubeconfig {
    server: Url,
    namespace: Option<String>,
    certificate_authority: Option<Vec<u8>>,
    tls_server_name: Option<String>,
    credential: Credential,
    options: KubeconfigOptions,
}

#[derive(Debug, Clone)]
enum Credential {
    Token(Secret),
    Certificate {
        /// PEM in base64, as the file has it.
        certificate: String,
        /// PEM in base64, as the file has it.
        key: Secret,
    },
}

/// A kubeconfig that was read and not judged yet: which contexts it has, and whether each could be used.
pub struct Kubeconfig(File);

/// A context as the file names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context<'a> {
    /// Its name, any text.
    pub name: &'a str,
    /// Whether it is the file's current context.
    pub is_current: bool,
}

impl Kubeconfig {
    /// Reads a kubeconfig as it came: YAML or JSON, in UTF-8 or UTF-16, with or without a byte order mark, at most 1023 KiB.
    pub fn read(bytes: &[u8]) -> Result<Self, KubeconfigProblem> {
        if bytes.len() > LARGEST_KUBECONFIG {
            return Err(problem(
                "kubeconfig_too_large",
                "kubeconfig",
                format!("The file is larger than 1023 KiB, which is what a Kubernetes Secret has room for. {FLATTEN}"),
            ));
        }
        let malformed = |place: &str| {
            problem("kubeconfig_malformed", "kubeconfig", format!("This is not a kubeconfig.{place} {FLATTEN}"))
        };
        let text = encoding::text(bytes).ok_or_else(|| malformed(" It is not text."))?;
        let file: File = serde_saphyr::from_str(text.reveal()).map_err(|error| {
            let look = |at: serde_saphyr::Location| format!(" Look at line {}, column {}.", at.line(), at.column());
            malformed(&error.location().map_or_else(String::new, look))
        })?;
        Ok(Self(file))
    }

    /// The contexts in the order of the file.
    pub fn contexts(&self) -> impl Iterator<Item = Context<'_>> {
        let current = self.0.current_context.as_deref();
        self.0
            .contexts
            .iter()
            .map(move |context| Context { name: &context.name, is_current: current == Some(context.name.as_str()) })
    }

    /// The context to use unless somebody says otherwise: the current one, or the only one there is.
    pub fn preferred_context(&self) -> Option<&str> {
        let named = self.0.current_context.as_deref().filter(|name| !name.is_empty());
        named.or(match self.0.contexts.as_slice() {
            [only] => Some(&only.name),
            _ => None,
        })
    }

    /// What a context names, if nothing in the file would act on this machine or weaken a connection: the file is kept as
    /// a whole, so that all of its entries count and not only those the context uses.
    pub fn usable(&self, context: &str, options: KubeconfigOptions) -> Result<ValidKubeconfig, KubeconfigProblem> {
        self.judge(self.0.entries_of(context, "kubeconfig.contexts")?, options)
    }

    /// What the current context names, under the same conditions.
    pub fn current(&self, options: KubeconfigOptions) -> Result<ValidKubeconfig, KubeconfigProblem> {
        let current = self.0.current_context.as_deref().filter(|name| !name.is_empty()).ok_or_else(|| {
            problem(
                "kubeconfig_no_current_context",
                "kubeconfig.current-context",
                format!("The kubeconfig has no current context. {FLATTEN}"),
            )
        });
        let resolved = current.and_then(|current| self.0.entries_of(current, "kubeconfig.current-context"));
        // What acts is said before what is missing.
        if resolved.is_err() {
            self.0.refuse_what_acts()?;
        }
        self.judge(resolved?, options)
    }

    fn judge(&self, entries: Entries<'_>, options: KubeconfigOptions) -> Result<ValidKubeconfig, KubeconfigProblem> {
        refuse_in_cluster(&entries.cluster.field("clusters"), &entries.cluster.entry.cluster)?;
        refuse_in_user(&entries.user.field("users"), &entries.user.entry.user)?;
        self.0.refuse_what_acts().map_err(|mut other| {
            other.message = format!("{} If this entry is not needed, leave it out. {FLATTEN}", other.message);
            other
        })?;
        valid(entries, options)
    }
}

/// What a context names.
struct Entries<'a> {
    cluster: At<'a, NamedCluster>,
    user: At<'a, NamedUser>,
    namespace: Option<&'a str>,
}

/// An entry of a list, and where in it.
struct At<'a, T> {
    index: usize,
    entry: &'a T,
}

impl<T> At<'_, T> {
    fn field(&self, list: &str) -> String {
        format!("kubeconfig.{list}[{}]", self.index)
    }
}

impl ValidKubeconfig {
    /// Reads a kubeconfig and takes what its current context names, see [`Kubeconfig`].
    pub fn parse(text: &Secret, options: KubeconfigOptions) -> Result<Self, KubeconfigProblem> {
        Kubeconfig::read(text.reveal().as_bytes())?.current(options)
    }

    /// How long the credential counts, as far as it tells: a client certificate always does, a token does if it is a JWT.
    pub fn validity(&self) -> Option<Validity> {
        match &self.credential {
            Credential::Token(token) => validity::of_token(token),
            Credential::Certificate { certificate, .. } => validity::of_certificate(&decode(certificate)?),
        }
    }

    /// When the credential ends, as far as it tells.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.validity().map(|validity| validity.until)
    }

    /// Why the credential ends soon although it does not tell when, with the commands that make one that lasts.
    pub fn ends_untold(&self) -> Option<KubeconfigProblem> {
        let sentence = self.token().filter(|_| self.validity().is_none()).and_then(log_in::soon_over)?;
        let message = format!("{sentence} KubeOpera loses the cluster with it. {HOW_TO_MAKE_A_TOKEN}");
        Some(problem("credential_may_end_soon", "kubeconfig.token", message))
    }

    /// What is wrong with the certificate authority, whether or not a connection fails because of it.
    pub fn authority_flaws(&self) -> Vec<KubeconfigProblem> {
        let flaws = self.certificate_authority.as_deref().map(authority::flaws).unwrap_or_default();
        let field =
            |message: &str| problem("certificate_authority_flawed", "kubeconfig.certificate-authority-data", message);
        flaws.into_iter().map(field).collect()
    }

    /// Whether the file names a certificate authority; without one only those count that this machine trusts anyway.
    pub const fn has_authority(&self) -> bool {
        self.certificate_authority.is_some()
    }

    /// The token that is shown to the API server, if it is not a certificate.
    pub const fn token(&self) -> Option<&Secret> {
        match &self.credential {
            Credential::Token(token) => Some(token),
            Credential::Certificate { .. } => None,
        }
    }

    /// The same cluster by another token.
    #[must_use]
    pub fn with_token(self, token: Secret) -> Self {
        Self { credential: Credential::Token(token), ..self }
    }

    /// The API server's address in its one spelling.
    pub const fn server(&self) -> &Url {
        &self.server
    }

    /// The cluster, user and context that are used, as a kubeconfig of its own.
    pub fn minified(&self) -> Secret {
        let base64 = |pem: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(pem);
        let user = match &self.credential {
            Credential::Token(token) => serde_json::json!({"token": token.reveal()}),
            Credential::Certificate { certificate, key } => {
                serde_json::json!({"client-certificate-data": certificate, "client-key-data": key.reveal()})
            }
        };
        // A field that is null is one that is not there, for us as for kubectl.
        let cluster = serde_json::json!({
            "server": self.server.as_str(),
            "certificate-authority-data": self.certificate_authority.as_ref().map(base64),
            "tls-server-name": self.tls_server_name,
        });
        let context = serde_json::json!({"cluster": "cluster", "user": "user", "namespace": self.namespace});
        let file = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "context",
            "contexts": [{"name": "context", "context": context}],
            "clusters": [{"name": "cluster", "cluster": cluster}],
            "users": [{"name": "user", "user": user}],
        });
        Secret::new(file.to_string())
    }

    /// A guarded client. With each of its connections the server's name is looked up and judged, so that it cannot lead to
    /// an address that would have been refused.
    pub fn client(&self, limits: Limits) -> Result<Client, Trouble> {
        guarded_by(Judged(self.options), &self.config()?, limits)
    }

    fn config(&self) -> Result<Config, Trouble> {
        let unusable = || {
            Trouble::rejected(
                "CertificateUnusable",
                "A certificate of the kubeconfig cannot be read. Copy the file again.",
            )
        };
        let mut config = Config::new(self.server.as_str().parse().map_err(|_| unusable())?);
        if let Some(namespace) = &self.namespace {
            config.default_namespace.clone_from(namespace);
        }
        config.tls_server_name.clone_from(&self.tls_server_name);
        if let Some(pem) = &self.certificate_authority {
            use rustls::pki_types::{CertificateDer, pem::PemObject};
            let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
            let certificates = certificates.map_err(|_| unusable())?;
            if certificates.is_empty() {
                return Err(unusable());
            }
            config.root_cert = Some(certificates.iter().map(|der| der.to_vec()).collect());
        }
        match &self.credential {
            Credential::Token(token) => config.auth_info.token = Some(token.reveal().to_owned().into()),
            Credential::Certificate { certificate, key } => {
                config.auth_info.client_certificate_data = Some(certificate.clone());
                config.auth_info.client_key_data = Some(key.reveal().to_owned().into());
            }
        }
        Ok(config)
    }
}

impl File {
    /// The cluster and the user that a context names. `named_in` is the field to blame if there is no such context.
    fn entries_of(&self, context: &str, named_in: &str) -> Result<Entries<'_>, KubeconfigProblem> {
        let named = one(&self.contexts, "contexts", |known| known.name == context)?;
        let At { index: at, entry } = named.ok_or_else(|| unresolved(named_in, "context"))?;
        let context = &entry.context;
        let lost = |what: &str| unresolved(&format!("kubeconfig.contexts[{at}].context.{what}"), what);
        let cluster = one(&self.clusters, "clusters", |cluster| cluster.name == context.cluster)?;
        let user = one(&self.users, "users", |user| context.user.as_ref() == Some(&user.name))?;
        let (cluster, user) = (cluster.ok_or_else(|| lost("cluster"))?, user.ok_or_else(|| lost("user"))?);
        Ok(Entries { cluster, user, namespace: context.namespace.as_deref() })
    }
}

fn valid(
    Entries { cluster, user, namespace }: Entries<'_>,
    options: KubeconfigOptions,
) -> Result<ValidKubeconfig, KubeconfigProblem> {
    let wanted = &cluster.entry.cluster;
    let server = server(&format!("{}.cluster.server", cluster.field("clusters")), wanted, options)?;
    let certificate_authority = wanted.certificate_authority_data.as_ref().map(|data| {
        let field = || format!("{}.cluster.certificate-authority-data", cluster.field("clusters"));
        decode(data).ok_or_else(|| not_base64(field()))
    });
    Ok(ValidKubeconfig {
        server,
        namespace: namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned),
        certificate_authority: certificate_authority.transpose()?,
        tls_server_name: wanted.tls_server_name.clone().filter(|name| !name.is_empty()),
        credential: credential(&format!("{}.user", user.field("users")), &user.entry.user)?,
        options,
    })
}

/// A token wins over a certificate, as with kubectl.
fn credential(field: &str, user: &User) -> Result<Credential, KubeconfigProblem> {
    if let Some(token) = user.token.as_ref().filter(|token| !token.reveal().trim().is_empty()) {
        if token.reveal().trim().bytes().any(|c| !c.is_ascii_graphic()) {
            return Err(problem(
                "kubeconfig_malformed",
                format!("{field}.token"),
                "The token has characters that no token has.",
            ));
        }
        return Ok(Credential::Token(Secret::new(token.reveal().trim())));
    }
    match (&user.client_certificate_data, &user.client_key_data) {
        (Some(certificate), Some(key)) => {
            for (name, data) in [("client-certificate-data", certificate.as_str()), ("client-key-data", key.reveal())] {
                decode(data).ok_or_else(|| not_base64(format!("{field}.{name}")))?;
            }
            Ok(Credential::Certificate { certificate: certificate.clone(), key: key.clone() })
        }
        _ => Err(problem(
            "kubeconfig_no_credential",
            field,
            format!(
                "The user of this context has neither a token nor a client certificate with its key. {HOW_TO_MAKE_A_TOKEN}"
            ),
        )),
    }
}

/// The one spelling of the server's address that all later code uses.
fn server(field: &str, cluster: &Cluster, options: KubeconfigOptions) -> Result<Url, KubeconfigProblem> {
    let invalid = |message: &str| problem("cluster_url_invalid", field, message);
    let text = cluster.server.as_deref().unwrap_or_default().trim();
    let url = Url::parse(text).map_err(|_| invalid("Enter an address such as https://api.prod.acme.com:6443."))?;
    if url.scheme() != "https" {
        return Err(problem(
            "kubeconfig_server_scheme",
            field,
            "The API server's address must begin with https://: over anything else the credential could be read on the way.",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("The API server's address must not hold a user name, a query or a fragment."));
    }
    if url.port() == Some(0) {
        return Err(invalid("Port 0 cannot be reached."));
    }
    let judged = match url.host() {
        Some(Host::Ipv4(address)) => judge(address.into(), options),
        Some(Host::Ipv6(address)) => judge(address.into(), options),
        Some(Host::Domain(name)) if is_forbidden_name(name, options) => Err(Refused::Inward),
        Some(Host::Domain(_)) => Ok(()),
        None => return Err(invalid("Enter an address such as https://api.prod.acme.com:6443.")),
    };
    judged.map_err(|refused| problem("cluster_address_forbidden", field, format!("This address {refused}")))?;
    Ok(url)
}

fn decode(data: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(data.trim()).ok().filter(|bytes| !bytes.is_empty())
}

fn problem(code: &'static str, field: impl Into<String>, message: impl Into<String>) -> KubeconfigProblem {
    KubeconfigProblem { code, field: field.into(), message: message.into() }
}

/// The entry that is meant. Of two with one name nobody knows which: programs that merge files differ in which they keep, and
/// the wrong one is another cluster's credential.
fn one<'a, T>(all: &'a [T], list: &str, is_meant: impl Fn(&T) -> bool) -> Result<Option<At<'a, T>>, KubeconfigProblem> {
    let mut meant = all.iter().enumerate().filter(|(_, entry)| is_meant(entry));
    let Some((index, entry)) = meant.next() else { return Ok(None) };
    match meant.next() {
        None => Ok(Some(At { index, entry })),
        Some((other, _)) => Err(problem(
            "kubeconfig_ambiguous_reference",
            format!("kubeconfig.{list}[{other}].name"),
            format!(
                "It has the name of kubeconfig.{list}[{index}], so it is not known which of them is meant. Give one of them \
                 another name, also where contexts name it."
            ),
        )),
    }
}

fn unresolved(field: &str, what: &str) -> KubeconfigProblem {
    problem(
        "kubeconfig_unresolved_reference",
        field,
        format!("It names a {what} that the kubeconfig does not have. {FLATTEN}"),
    )
}

fn not_base64(field: String) -> KubeconfigProblem {
    problem("kubeconfig_malformed", field, format!("The field is not base64. {FLATTEN}"))
}

#[cfg(test)]
mod tests;
