//! `/api/v1/settings/git`: the Git repository for the trees of new clusters. A credential goes in and never comes out.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use gitops_scaffolder_contract as contract;
use http::HeaderMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::{NotAcceptable, Secret};

use super::etag;
use crate::{
    app::{
        Caller, Platform,
        git_setting::{GitSetting as Setting, GivenCredential, GivenRepository},
    },
    error::AppError,
    settings::{Refusal, git_credential::CredentialSeen},
    store::audit::Action,
};

/// The Git repository for the trees of new clusters.
#[derive(Serialize, ToSchema)]
pub(crate) struct GitSetting {
    /// Its URL.
    url: String,
    /// The branch that trees are on. Null if it is the repository's default branch.
    #[schema(required)]
    branch: Option<String>,
    /// Whether KubeOpera serves the repository itself.
    is_built_in: bool,
    /// Whether somebody chose it here; otherwise it is the repository KubeOpera was started with.
    is_chosen: bool,
    /// When somebody chose it. Null if nobody did.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    changed_at: Option<Timestamp>,
    /// The credential, without what is secret. Null if its Secret is missing or cannot be used.
    #[schema(required)]
    credential: Option<GitCredential>,
    /// Name of the Secret in kubeopera-system with the credential, for a HostCluster that is written by hand.
    credentials_secret: String,
}

/// A Git credential, as much as ever leaves of it.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum GitCredential {
    /// A user name with a password or token, over HTTPS.
    Basic {
        /// User name.
        username: String,
        /// Last four characters of the password or token. Null if it is shorter than 16 characters.
        #[schema(required)]
        last_four: Option<String>,
        /// Whether an authority is kept with it that the server's certificate is checked against.
        has_certificate_authority: bool,
    },
    /// A private key, over SSH.
    Ssh {
        /// Fingerprint of its public key, such as `SHA256:…`. Null if it is in a form that only OpenSSH reads.
        #[schema(required)]
        key_fingerprint: Option<String>,
        /// Host keys by which the server is known.
        host_keys: Vec<GitHostKey>,
    },
}

/// A host key of an SSH server.
#[derive(Serialize, ToSchema)]
pub(crate) struct GitHostKey {
    /// Kind of key, such as `ssh-ed25519`.
    algorithm: String,
    /// Its fingerprint, such as `SHA256:…`, to be compared with the one that the server's operator publishes.
    fingerprint: String,
    /// The line for `known_hosts`.
    known_hosts: String,
}

/// A Git repository to use for the trees of new clusters.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitRepository {
    /// Its URL: https:// or ssh://, or user@host:path, without credentials.
    #[schema(max_length = 2048)]
    url: String,
    /// The branch for trees; without it the repository's default branch.
    #[schema(max_length = 200)]
    branch: Option<String>,
    /// How to write to it. Without it the one that is stored is used, which has to be for the same server.
    credential: Option<GitCredentialSecret>,
}

/// A Git repository to try.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitRepositoryToCheck {
    /// The repository; without it the present one.
    repository: Option<GitRepository>,
}

/// How a Git repository is written to.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum GitCredentialSecret {
    /// A user name with a password or token, for https://.
    Basic {
        /// User name; without it git, which does with a token.
        username: Option<String>,
        /// Password or token that may push.
        #[schema(value_type = String, format = Password)]
        password: Secret,
        /// Certificates in PEM of the authority that signed the server's certificate, if it is not a public one.
        certificate_authority: Option<String>,
    },
    /// A private key, for ssh://.
    Ssh {
        /// Private key in OpenSSH's form, without a passphrase.
        #[schema(value_type = String, format = Password)]
        private_key: Secret,
        /// Host keys of the server, as `ssh-keyscan` prints them. To have a repository checked they may be left out: the
        /// answer has those that the server offers.
        #[serde(default)]
        known_hosts: String,
    },
}

/// What has to be so before a tree can be written, in the order in which it is asked.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
enum GitQuestion {
    Reach,
    Identity,
    Repository,
    Branch,
    Push,
}

/// What was found.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
enum GitAnswer {
    Yes,
    No,
    NotAsked,
}

/// One question about a repository with its answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct GitFinding {
    /// `reach`: a server answers at the address and does not send us elsewhere. `identity`: its certificate is trusted, or
    /// its host key known. `repository`: it accepts the credential, and there is a repository for it to see. `branch`: the
    /// branch is there, or the repository is empty. `push`: the credential may write; rules for single branches show at
    /// the first commit only.
    question: GitQuestion,
    /// Whether it is so. `not_asked` if an earlier answer was no.
    answer: GitAnswer,
    /// One word for why it is not so, such as `GitAuthenticationFailed`. Null unless it is not.
    #[schema(required)]
    reason: Option<String>,
    /// Why it is not so, and what to do. Null unless it is not.
    #[schema(required)]
    message: Option<String>,
}

/// Whether trees can be written to a repository.
#[derive(Serialize, ToSchema)]
pub(crate) struct GitCheck {
    /// Whether every answer is yes.
    is_usable: bool,
    /// Every question with its answer, in the order in which they are asked.
    findings: Vec<GitFinding>,
    /// The branch that trees would go to. Null while it is not known.
    #[schema(required)]
    branch: Option<String>,
    /// Whether the repository has no commit yet. Null while it is not known.
    #[schema(required)]
    is_empty: Option<bool>,
    /// The host keys that an SSH server offers, if none of them is known; otherwise empty.
    offered_host_keys: Vec<GitHostKey>,
}

impl From<contract::HostKey> for GitHostKey {
    fn from(contract::HostKey { algorithm, fingerprint, known_hosts }: contract::HostKey) -> Self {
        Self { algorithm, fingerprint, known_hosts }
    }
}

impl From<Setting> for GitSetting {
    fn from(Setting { repository, is_built_in, credential }: Setting) -> Self {
        Self {
            url: repository.url.to_string(),
            branch: repository.branch.map(String::from),
            is_built_in,
            credentials_secret: repository.credentials_secret.to_string(),
            is_chosen: repository.changed_at.is_some(),
            changed_at: repository.changed_at,
            credential: credential.map(|credential| match credential {
                CredentialSeen::Basic { username, last_four, has_certificate_authority } => {
                    GitCredential::Basic { username, last_four, has_certificate_authority }
                }
                CredentialSeen::Ssh { key_fingerprint, host_keys } => GitCredential::Ssh {
                    key_fingerprint,
                    host_keys: host_keys.into_iter().map(GitHostKey::from).collect(),
                },
            }),
        }
    }
}

fn answer(headers: &HeaderMap, setting: Setting) -> Response {
    let version = setting.repository.version();
    etag::answer(headers, Some(&version), &GitSetting::from(setting))
}

impl From<contract::RepositoryCheck> for GitCheck {
    fn from(check: contract::RepositoryCheck) -> Self {
        let is_usable = check.is_usable();
        let finding = |(question, answer)| {
            let question = match question {
                contract::Question::Reach => GitQuestion::Reach,
                contract::Question::Identity => GitQuestion::Identity,
                contract::Question::Repository => GitQuestion::Repository,
                contract::Question::Branch => GitQuestion::Branch,
                contract::Question::Push => GitQuestion::Push,
            };
            let (answer, trouble) = match answer {
                contract::Answer::Yes => (GitAnswer::Yes, None),
                contract::Answer::No(trouble) => (GitAnswer::No, Some(trouble)),
                contract::Answer::NotAsked => (GitAnswer::NotAsked, None),
            };
            let (reason, message) = trouble.map(|trouble| (trouble.reason, trouble.message)).unzip();
            GitFinding { question, answer, reason, message }
        };
        Self {
            is_usable,
            findings: check.answers.into_iter().map(finding).collect(),
            branch: check.branch,
            is_empty: check.is_empty,
            offered_host_keys: check.offered_host_keys.into_iter().map(GitHostKey::from).collect(),
        }
    }
}

impl GitRepository {
    fn given(self) -> Result<GivenRepository, AppError> {
        let branch = self.branch.filter(|name| !name.is_empty()).map(|name| {
            let why = |why: NotAcceptable| Refusal::new("git_branch_invalid", "branch", why.rule);
            name.parse().map_err(why)
        });
        let credential = self.credential.map(|credential| match credential {
            GitCredentialSecret::Basic { username, password, certificate_authority } => {
                GivenCredential::Basic { username, password, certificate_authority }
            }
            GitCredentialSecret::Ssh { private_key, known_hosts } => GivenCredential::Ssh { private_key, known_hosts },
        });
        Ok(GivenRepository { url: self.url, branch: branch.transpose()?, credential })
    }
}

/// Tells the Git repository for the trees of new clusters.
#[utoipa::path(
    get,
    path = "/api/v1/settings/git",
    tag = "settings",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The repository, and what is not secret of its credential", body = GitSetting, headers(("ETag" = String, description = "Names this answer"))),
        (status = 304, description = "It is what If-None-Match names"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_git_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
) -> Result<Response, AppError> {
    Ok(answer(&headers, platform.git_setting(&caller).await?))
}

/// Chooses the Git repository for the trees of new clusters.
///
/// Clusters that are there keep the repository they have; those whose tree is in this very one follow to its credential.
#[utoipa::path(
    put,
    path = "/api/v1/settings/git",
    tag = "settings",
    params(("If-Match" = String, Header, description = "The ETag of what was seen of the setting")),
    request_body = GitRepository,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "As it is now", body = GitSetting, headers(("ETag" = String, description = "Names this answer"))),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 412, description = "Somebody else changed it meanwhile", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 428, description = "If-Match is missing", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn put_git_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
    body: Result<Json<GitRepository>, Problem>,
) -> Result<Response, Problem> {
    platform.permit(&caller, Action::ChangeGitSetting).await?;
    let seen = etag::seen(&headers)?;
    let Json(body) = body?;
    let setting = platform.choose_git(&caller, body.given()?, seen.as_deref()).await?;
    Ok(answer(&HeaderMap::new(), setting))
}

/// Goes back to the Git repository that KubeOpera was started with.
#[utoipa::path(
    delete,
    path = "/api/v1/settings/git",
    tag = "settings",
    params(("If-Match" = String, Header, description = "The ETag of what was seen of the setting")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "As it is now", body = GitSetting, headers(("ETag" = String, description = "Names this answer"))),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 412, description = "Somebody else changed it meanwhile", body = ProblemBody, content_type = "application/problem+json"),
        (status = 428, description = "If-Match is missing", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn delete_git_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    platform.permit(&caller, Action::ChangeGitSetting).await?;
    let seen = etag::seen(&headers)?;
    Ok(answer(&HeaderMap::new(), platform.forget_git(&caller, seen.as_deref()).await?))
}

/// Tries whether trees can be written to a Git repository, the given one or else the present one. Nothing is written.
#[utoipa::path(
    post,
    path = "/api/v1/settings/git/check",
    tag = "settings",
    request_body = GitRepositoryToCheck,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "What was found", body = GitCheck),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn check_git_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    body: Result<Json<GitRepositoryToCheck>, Problem>,
) -> Result<Json<GitCheck>, Problem> {
    platform.permit(&caller, Action::CheckGitSetting).await?;
    let Json(body) = body?;
    let given = body.repository.map(GitRepository::given).transpose()?;
    Ok(Json(platform.check_git(&caller, given).await?.into()))
}
