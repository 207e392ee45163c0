//! Keeping cloud credentials: sealed at rest, opened only for a cluster they are bound to, and never without a trace.

pub(crate) mod gcp_key;
mod material;

use async_trait::async_trait;
use audit_log::{Action, Entry, Outcome};
use auth_service_contract::{
    AwsAccessKey, CheckOutcome, CloudAccess, Credential, CredentialError, CredentialId, CredentialKind, Credentials,
    NewSecret, SavedCredential,
};
use sea_orm::{ConnectionTrait, DbErr};
use service_kit::database::{begin_write, is_unique_violation};
use uuid::Uuid;
use vocabulary::{Actor, ClusterId, Label};

use crate::{
    AuthService,
    sealing::{Place, SealError},
    store::{
        credential_uses,
        credentials::{self, Model, StoredKind},
    },
    unavailable,
};
use material::{Accepted, Material};

#[async_trait]
impl Credentials for AuthService {
    async fn credentials(&self) -> Result<Vec<Credential>, CredentialError> {
        let rows = credentials::all(&self.db).await.map_err(failed)?;
        let uses = credential_uses::all(&self.db).await.map_err(failed)?;
        let clusters = |id: Uuid| {
            let of_it = uses.iter().filter(move |one| one.credential_id == id);
            of_it.map(|one| ClusterId::from(one.cluster_id)).collect()
        };
        rows.iter().map(|row| described(row, clusters(row.id))).collect()
    }

    async fn add_credential(
        &self,
        by: &Actor,
        label: &Label,
        secret: NewSecret,
    ) -> Result<SavedCredential, CredentialError> {
        let now = (self.clock)();
        let Accepted { material, kind, last_four, source } = material::accept(secret, None)?;
        let external_id = material.external_id().map(str::to_owned);
        let tx = begin_write(&self.db).await.map_err(failed)?;
        access_key_exists(&tx, source).await?;
        let mut row = Model {
            id: Uuid::now_v7(),
            label: label.to_string(),
            kind: StoredKind(kind),
            last_four,
            source_id: source.map(|source| source.0),
            version: 1,
            root_key_id: String::new(),
            secret: Vec::new(),
            created_at: now.into(),
            changed_at: now.into(),
        };
        self.seal(&mut row, &material)?;
        credentials::insert(&tx, row.clone()).await.map_err(taken_or_failed)?;
        let entry = Entry::new(by, Action::AddCredential, Outcome::Done).on(row.id).named(label);
        audit_log::append(&tx, entry).await.map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        Ok(SavedCredential { credential: described(&row, Vec::new())?, external_id })
    }

    async fn change_credential(
        &self,
        by: &Actor,
        credential: CredentialId,
        label: Option<&Label>,
        secret: Option<NewSecret>,
    ) -> Result<Credential, CredentialError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        let held = credentials::held(&tx, credential.0).await.map_err(failed)?;
        let mut row = held.ok_or(CredentialError::NoSuchCredential)?;
        let mut changed = Vec::new();
        if let Some(label) = label {
            changed.push("label");
            row.label = label.to_string();
        }
        if let Some(secret) = secret {
            // A role keeps its external ID: the trust policy that asks for it is not ours to change.
            let external_id = match row.kind.0 {
                CredentialKind::AwsAssumeRole => self.opened(&row)?.external_id().map(str::to_owned),
                CredentialKind::AwsAccessKey | CredentialKind::GcpServiceAccountKey => None,
            };
            let Accepted { material, kind, last_four, source } = material::accept(secret, external_id)?;
            if kind != row.kind.0 {
                let rule = "A credential stays what it is. Save a new one for another kind.";
                return Err(CredentialError::NotAcceptable { field: "kind", rule });
            }
            access_key_exists(&tx, source).await?;
            changed.push("secret");
            row.last_four = last_four;
            row.source_id = source.map(|source| source.0);
            row.version += 1;
            row.changed_at = (self.clock)().into();
            self.seal(&mut row, &material)?;
        }
        credentials::update(&tx, row.clone()).await.map_err(taken_or_failed)?;
        let clusters = credential_uses::of(&tx, row.id).await.map_err(failed)?;
        let entry = Entry::new(by, Action::ChangeCredential, Outcome::Done).on(row.id).named(&row.label);
        audit_log::append(&tx, entry.changing(&changed)).await.map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        described(&row, clusters.into_iter().map(ClusterId::from).collect())
    }

    async fn delete_credential(&self, by: &Actor, credential: CredentialId) -> Result<(), CredentialError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        // Held: whoever binds it or names it as a source at the same time waits, and then finds it gone.
        let held = credentials::held(&tx, credential.0).await.map_err(failed)?;
        let label = held.ok_or(CredentialError::NoSuchCredential)?.label;
        let entry = |outcome| Entry::new(by, Action::DeleteCredential, outcome).on(credential).named(&label);
        let clusters = credential_uses::of(&tx, credential.0).await.map_err(failed)?;
        let roles = credentials::assumed_with(&tx, credential.0).await.map_err(failed)?;
        if !clusters.is_empty() || !roles.is_empty() {
            let clusters = clusters.into_iter().map(ClusterId::from).collect();
            let credentials = roles.iter().map(label_of).collect::<Result<_, _>>()?;
            audit_log::append(&tx, entry(Outcome::Denied)).await.map_err(failed)?;
            tx.commit().await.map_err(failed)?;
            return Err(CredentialError::InUse { clusters, credentials });
        }
        credentials::delete(&tx, credential.0).await.map_err(failed)?;
        audit_log::append(&tx, entry(Outcome::Done)).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    async fn check_credential(&self, by: &Actor, credential: CredentialId) -> Result<CheckOutcome, CredentialError> {
        if credentials::by_id(&self.db, credential.0).await.map_err(failed)?.is_none() {
            return Err(CredentialError::NoSuchCredential);
        }
        // Before the secret is opened and the cloud is asked: without a trace neither happens.
        self.write_down(by, Action::CheckCredential, credential, Outcome::Asked).await?;
        let checked = match self.access(credential).await {
            Ok(access) => self.clouds.check(&access, (self.clock)()).await,
            Err(error) => Err(error),
        };
        let outcome = if checked.is_ok() { Outcome::Done } else { Outcome::Failed };
        self.write_down(by, Action::CheckCredential, credential, outcome).await?;
        checked
    }

    async fn bind(&self, by: &Actor, credential: CredentialId, cluster: ClusterId) -> Result<(), CredentialError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        if credentials::held(&tx, credential.0).await.map_err(failed)?.is_none() {
            return Err(CredentialError::NoSuchCredential);
        }
        credential_uses::set(&tx, credential.0, cluster.uuid()).await.map_err(failed)?;
        let entry = Entry::new(by, Action::BindCredential, Outcome::Done).on(credential).named(cluster);
        audit_log::append(&tx, entry).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    async fn release(&self, by: &Actor, cluster: ClusterId) -> Result<(), CredentialError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        if !credential_uses::delete(&tx, cluster.uuid()).await.map_err(failed)? {
            return Ok(());
        }
        audit_log::append(&tx, Entry::new(by, Action::ReleaseCredential, Outcome::Done).on(cluster))
            .await
            .map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    async fn open(&self, credential: CredentialId, cluster: ClusterId) -> Result<CloudAccess, CredentialError> {
        let by = Actor::Cluster(cluster);
        if !credential_uses::exists(&self.db, credential.0, cluster.uuid()).await.map_err(failed)? {
            self.write_down(&by, Action::OpenCredential, credential, Outcome::Denied).await?;
            return Err(CredentialError::NotBound);
        }
        let access = self.access(credential).await;
        let outcome = if access.is_ok() { Outcome::Done } else { Outcome::Failed };
        self.write_down(&by, Action::OpenCredential, credential, outcome).await?;
        access
    }
}

impl AuthService {
    /// The secret itself, with that of the key a role is assumed with.
    async fn access(&self, credential: CredentialId) -> Result<CloudAccess, CredentialError> {
        let row = credentials::by_id(&self.db, credential.0).await.map_err(failed)?;
        let row = row.ok_or(CredentialError::NoSuchCredential)?;
        let source = match row.source_id {
            None => None,
            Some(source) => {
                let source = credentials::by_id(&self.db, source).await.map_err(failed)?;
                match self.opened(&source.ok_or(CredentialError::Unreadable)?)? {
                    Material::AwsAccessKey { access_key_id, secret_access_key } => {
                        Some(AwsAccessKey { access_key_id, secret_access_key })
                    }
                    Material::AwsAssumeRole { .. } | Material::GcpServiceAccountKey { .. } => {
                        return Err(CredentialError::Unreadable);
                    }
                }
            }
        };
        Ok(match self.opened(&row)? {
            Material::AwsAccessKey { access_key_id, secret_access_key } => {
                CloudAccess::AwsAccessKey(AwsAccessKey { access_key_id, secret_access_key })
            }
            Material::AwsAssumeRole { role_arn, external_id } => {
                CloudAccess::AwsAssumeRole { role_arn, external_id, source }
            }
            Material::GcpServiceAccountKey { project_id, key } => CloudAccess::GcpServiceAccountKey { project_id, key },
        })
    }

    fn seal(&self, row: &mut Model, material: &Material) -> Result<(), CredentialError> {
        let text = material.to_json().map_err(unavailable_here)?;
        let sealed = self.root_keys.seal(place_of(row), &text).map_err(unavailable_here)?;
        row.root_key_id = sealed.root_key.to_string();
        row.secret = sealed.bytes;
        Ok(())
    }

    fn opened(&self, row: &Model) -> Result<Material, CredentialError> {
        let unreadable = |why: &SealError| {
            tracing::error!(credential.id = %row.id, "a credential cannot be read: {why}");
            CredentialError::Unreadable
        };
        let text = self.root_keys.open(place_of(row), &row.secret).map_err(|why| unreadable(&why))?;
        Material::of_json(&text).ok_or_else(|| unreadable(&SealError::NotSealed))
    }

    async fn write_down(
        &self,
        by: &Actor,
        action: Action,
        credential: CredentialId,
        outcome: Outcome,
    ) -> Result<(), CredentialError> {
        audit_log::note(&self.db, Entry::new(by, action, outcome).on(credential)).await.map_err(failed)
    }
}

/// Where a credential's secret belongs.
pub(crate) fn place_of(row: &Model) -> Place<'_> {
    Place { table: "credentials", column: "secret", row: row.id, kind: row.kind.as_str(), version: row.version }
}

/// Only an access key can assume a role. It stays until the transaction ends.
async fn access_key_exists(tx: &impl ConnectionTrait, source: Option<CredentialId>) -> Result<(), CredentialError> {
    let Some(source) = source else { return Ok(()) };
    let held = credentials::held(tx, source.0).await.map_err(failed)?;
    if held.is_some_and(|row| row.kind.0 == CredentialKind::AwsAccessKey) {
        return Ok(());
    }
    let rule = "Choose an AWS access key that is saved here, or none to use KubeOpera's own identity.";
    Err(CredentialError::NotAcceptable { field: "source", rule })
}

fn described(row: &Model, clusters: Vec<ClusterId>) -> Result<Credential, CredentialError> {
    Ok(Credential {
        id: CredentialId(row.id),
        label: label_of(row)?,
        kind: row.kind.0,
        last_four: row.last_four.clone(),
        created_at: row.created_at.timestamp(),
        changed_at: row.changed_at.timestamp(),
        clusters,
    })
}

fn label_of(row: &Model) -> Result<Label, CredentialError> {
    row.label.parse().map_err(unavailable_here)
}

fn failed(error: DbErr) -> CredentialError {
    unavailable_here(error)
}

fn taken_or_failed(error: DbErr) -> CredentialError {
    if is_unique_violation(&error) { CredentialError::LabelTaken } else { failed(error) }
}

fn unavailable_here(error: impl std::error::Error) -> CredentialError {
    unavailable(error);
    CredentialError::Unavailable
}
