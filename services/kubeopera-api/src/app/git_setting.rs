//! The Git repository for the trees of new clusters.
//!
//! The credential goes to its Secret first, whose name follows from the repository, then setting, records and audit row in
//! one transaction. Whoever is killed in between has rotated a credential, or left a Secret that nothing names; doing it
//! again does the rest. Clusters whose tree is in the repository read the Secret, so that another credential for it reaches
//! them; those in another repository stay there.

use std::time::Duration;

use gitops_scaffolder_contract::{Destination, GitCredential, RepositoryCheck};
use jiff::Timestamp;
use sea_orm::{ConnectionTrait, DbErr};
use service_kit::database::{begin_write, take_turn};
use vocabulary::{GitBranch, GitUrl, Secret, SecretName, Trouble};

use super::{Caller, Platform};
use crate::{
    error::AppError,
    resources::git_credentials,
    settings::{
        Refusal,
        git_credential::{self, CredentialSeen, Purpose},
        git_url,
    },
    store::{
        audit::{self, Action, Outcome},
        clusters,
        git_setting::{self, GitRepository},
        outbox,
    },
};

/// Whoever changes the setting holds this turn.
const TURN: &str = "git setting";

/// A repository is tried for so long, which is less than a request may take.
const CHECK_WITHIN: Duration = Duration::from_secs(25);

/// A credential as somebody gives it.
pub(crate) enum GivenCredential {
    Basic { username: Option<String>, password: Secret, certificate_authority: Option<String> },
    Ssh { private_key: Secret, known_hosts: String },
}

/// A repository as somebody gives it.
pub(crate) struct GivenRepository {
    pub(crate) url: String,
    pub(crate) branch: Option<GitBranch>,
    /// Without it, the credential of before, for a repository on the same server.
    pub(crate) credential: Option<GivenCredential>,
}

/// The setting as it is, without what is secret.
pub(crate) struct GitSetting {
    pub(crate) repository: GitRepository,
    /// Whether KubeOpera serves the repository itself.
    pub(crate) is_built_in: bool,
    /// None if its Secret is not there or cannot be used.
    pub(crate) credential: Option<CredentialSeen>,
}

impl Platform {
    /// The repository that a new cluster's tree goes to: the one that was chosen, else the one of KubeOpera's start.
    pub(crate) async fn git_repository(&self, db: &impl ConnectionTrait) -> Result<GitRepository, DbErr> {
        Ok(git_setting::chosen(db).await?.unwrap_or_else(|| self.git_repository_of_start()))
    }

    fn git_repository_of_start(&self) -> GitRepository {
        GitRepository {
            url: self.defaults.git_url.clone(),
            branch: None,
            credentials_secret: self.defaults.git_credentials_secret.clone(),
            changed_at: None,
        }
    }

    pub(crate) async fn git_setting(&self, caller: &Caller) -> Result<GitSetting, AppError> {
        self.permit(caller, Action::SeeGitSetting).await?;
        self.git_setting_now().await
    }

    async fn git_setting_now(&self) -> Result<GitSetting, AppError> {
        let repository = self.git_repository(&self.db).await?;
        let credential = git_credentials::read(&self.client, &repository.credentials_secret).await?;
        Ok(GitSetting {
            is_built_in: repository.credentials_secret.as_str()
                == host_cluster_controller_crd::BUILT_IN_GIT_CREDENTIALS,
            credential: credential.and_then(Result::ok).as_ref().map(CredentialSeen::of),
            repository,
        })
    }

    /// Chooses the repository for new clusters, and gives those that are in it already the credential.
    /// It has to be still what somebody saw of it.
    pub(crate) async fn choose_git(
        &self,
        caller: &Caller,
        given: GivenRepository,
        seen: Option<&str>,
    ) -> Result<GitSetting, AppError> {
        self.permit(caller, Action::ChangeGitSetting).await?;
        self.judged(caller, Action::ChangeGitSetting, None, self.choose_this_git(caller, given, seen)).await?;
        self.outbox_filled.notify_one();
        self.git_setting_now().await
    }

    async fn choose_this_git(
        &self,
        caller: &Caller,
        given: GivenRepository,
        seen: Option<&str>,
    ) -> Result<(), AppError> {
        let action = Action::ChangeGitSetting;
        let url = git_url::parsed(&given.url)?;
        let present = self.git_repository(&self.db).await?;
        still(&present, seen)?;
        let (credentials_secret, credential) = match given.credential {
            // The very repository of before, with another branch at most: its Secret is as it should be.
            None if present.url == url => (present.credentials_secret, None),
            None => {
                let credential = self.credential_of_before(&present, &url).await?;
                (secret_of(&url)?, Some(credential))
            }
            Some(given) => (secret_of(&url)?, Some(given.judged(&url, Purpose::Store)?)),
        };
        if let Some(credential) = credential {
            self.asked(caller, action, &url).await?;
            git_credentials::keep(&self.client, &credentials_secret, &url, &credential).await?;
        }
        let now = Timestamp::now();
        let chosen = GitRepository { url, branch: given.branch, credentials_secret, changed_at: Some(now) };
        let tx = begin_write(&self.db).await?;
        take_turn(&tx, TURN).await?;
        still(&self.git_repository(&tx).await?, seen)?;
        git_setting::choose(&tx, &chosen, now).await?;
        for record in clusters::in_repository(&tx, chosen.url.as_str()).await? {
            if record.spec.git_credentials_secret_ref != chosen.credentials_secret.as_str() {
                clusters::use_git_credentials(&tx, &record, &chosen.credentials_secret).await?;
                outbox::ask(&tx, record.id, now).await?;
            }
        }
        audit::write(&tx, caller.actor(), action, Some(chosen.url.to_string()), Outcome::Done).await?;
        Ok(tx.commit().await?)
    }

    /// Goes back to the repository of KubeOpera's start.
    /// It has to be still what somebody saw of it.
    pub(crate) async fn forget_git(&self, caller: &Caller, seen: Option<&str>) -> Result<GitSetting, AppError> {
        let action = Action::ChangeGitSetting;
        self.permit(caller, action).await?;
        self.judged(caller, action, None, self.forget_this_git(caller, seen)).await?;
        self.git_setting_now().await
    }

    async fn forget_this_git(&self, caller: &Caller, seen: Option<&str>) -> Result<(), AppError> {
        let action = Action::ChangeGitSetting;
        let tx = begin_write(&self.db).await?;
        take_turn(&tx, TURN).await?;
        still(&self.git_repository(&tx).await?, seen)?;
        let outcome = if git_setting::forget(&tx).await? { Outcome::Done } else { Outcome::Unchanged };
        let object = Some(self.defaults.git_url.to_string());
        audit::write(&tx, caller.actor(), action, object, outcome).await?;
        Ok(tx.commit().await?)
    }

    /// Tries a repository without writing to it: the given one, else the present one.
    pub(crate) async fn check_git(
        &self,
        caller: &Caller,
        given: Option<GivenRepository>,
    ) -> Result<RepositoryCheck, AppError> {
        let action = Action::CheckGitSetting;
        self.permit(caller, action).await?;
        let destination = self.judged(caller, action, None, self.destination_to_check(given)).await?;
        let url = destination.url.to_string();
        let check = async {
            let checked = tokio::time::timeout(CHECK_WITHIN, self.scaffolder.check(&destination)).await;
            Ok(checked.map_err(|_| {
                let message = format!("The Git server of {url} did not answer in time. Try again in a moment.");
                Trouble::transient("GitUnreachable", message)
            })??)
        };
        self.told(caller, action, &url, check).await
    }

    async fn destination_to_check(&self, given: Option<GivenRepository>) -> Result<Destination, AppError> {
        let present = self.git_repository(&self.db).await?;
        match given {
            None => self.destination(present).await,
            Some(GivenRepository { url, branch, credential: None }) if url.trim() == present.url.as_str() => {
                self.destination(GitRepository { branch, ..present }).await
            }
            Some(GivenRepository { url, branch, credential }) => {
                let url = git_url::parsed(&url)?;
                let credential = match credential {
                    Some(given) => given.judged(&url, Purpose::Try)?,
                    None => self.credential_of_before(&present, &url).await?,
                };
                Ok(Destination { url, branch, credential })
            }
        }
    }

    async fn destination(&self, repository: GitRepository) -> Result<Destination, AppError> {
        let credential = self.stored_credential(&repository).await?;
        Ok(Destination { url: repository.url, branch: repository.branch, credential })
    }

    /// The stored credential for another repository. Sent to another server, it would be that server's.
    async fn credential_of_before(&self, present: &GitRepository, url: &GitUrl) -> Result<GitCredential, AppError> {
        if !is_same_server(&present.url, url) {
            let why = "Enter the credential for this repository: the one that is stored is for another server.";
            return Err(Refusal::new("git_credential_required", "credential", why).into());
        }
        self.stored_credential(present).await
    }

    async fn stored_credential(&self, repository: &GitRepository) -> Result<GitCredential, AppError> {
        let secret = &repository.credentials_secret;
        let required = |why: String| Refusal::new("git_credential_required", "credential", why);
        match git_credentials::read(&self.client, secret).await? {
            Some(Ok(credential)) => Ok(credential),
            Some(Err(incomplete)) => {
                Err(required(format!("The credential in Secret {secret} cannot be used. {}", incomplete.0)).into())
            }
            None => Err(required(format!("The Secret {secret} does not exist. Enter the credential anew.")).into()),
        }
    }
}

/// Refuses what somebody wants who saw another setting than there is now.
fn still(present: &GitRepository, seen: Option<&str>) -> Result<(), AppError> {
    if seen.is_some_and(|seen| seen != present.version()) { Err(AppError::ChangedMeanwhile) } else { Ok(()) }
}

/// By hand, since two origins of a scheme that the URL standard does not know, such as `ssh`, are never alike.
fn is_same_server(one: &GitUrl, other: &GitUrl) -> bool {
    let server = |url: &GitUrl| {
        let url = url.url();
        (url.scheme().to_owned(), url.host_str().map(str::to_ascii_lowercase), url.port_or_known_default())
    };
    server(one) == server(other)
}

fn secret_of(url: &GitUrl) -> Result<SecretName, Trouble> {
    git_credentials::secret_of(url).map_err(|why| Trouble::bug("BadSecretName", why.to_string()))
}

impl GivenCredential {
    fn judged(self, url: &GitUrl, purpose: Purpose) -> Result<GitCredential, Refusal> {
        match self {
            Self::Basic { username, password, certificate_authority } => {
                git_credential::basic(url, username, &password, certificate_authority)
            }
            Self::Ssh { private_key, known_hosts } => git_credential::ssh(url, &private_key, &known_hosts, purpose),
        }
    }
}
