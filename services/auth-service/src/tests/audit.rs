//! What auth-service writes into the audit log.

use audit_log::{Action, Filter, Row};
use auth_service_contract::{Credentials, NewSecret, PersonChange, Whose};
use futures::TryStreamExt;
use vocabulary::{ClusterId, Label};

use super::*;

on_both_databases! {
    every_change_is_written_down_with_who_did_it_and_which_fields_never_what_is_in_them
    a_change_that_cannot_be_written_down_does_not_happen
    refused_and_wrong_passwords_are_written_down_without_what_was_typed
    openings_of_before_are_taken_over
}

impl World {
    pub(super) async fn audit(&self) -> Vec<Row> {
        audit_log::rows(self.auth.db.clone(), Filter::default()).try_collect().await.unwrap()
    }

    /// What came of each asking for a secret.
    pub(super) async fn openings(&self) -> Vec<String> {
        let filter = Filter { action: Some(Action::OpenCredential), ..Filter::default() };
        let rows: Vec<_> = audit_log::rows(self.auth.db.clone(), filter).try_collect().await.unwrap();
        rows.into_iter().map(|row| row.outcome).collect()
    }

    async fn told(&self) -> Vec<String> {
        self.audit()
            .await
            .iter()
            .map(|row| format!("{} {} {}", row.action, row.outcome, row.changed.join("+")))
            .collect()
    }
}

fn key() -> NewSecret {
    NewSecret::AwsAccessKey {
        access_key_id: Secret::new("AKIACANARY0KEY0ID0WX"),
        secret_access_key: Secret::new("CANARYsecret/access+key0123456789ABCDEFG"),
    }
}

async fn every_change_is_written_down_with_who_did_it_and_which_fields_never_what_is_in_them(world: World) {
    let (auth, secret) = (&world.auth, Secret::new("CANARY-another-horse"));
    let ada = world.person("ada").await.user.id;
    let by = Actor::Person { id: ada, username: "ada".into(), role: Role::Operator, address: "10.0.0.7".into() };
    let session = world.log_in("ada", PASSWORD, "10.0.0.7").await.unwrap();
    auth.log_out(&session.token, "10.0.0.7").await.unwrap();
    auth.log_out(&session.token, "10.0.0.7").await.unwrap();
    let bob = auth.add_user(&by, &name("bob"), Role::Viewer, &secret).await.unwrap().user.id;
    let change = PersonChange { role: Some(Role::Operator), is_disabled: Some(true) };
    auth.change_user(&by, bob, change).await.unwrap();
    auth.change_user(&by, bob, change).await.unwrap();
    auth.reset_password(&by, bob, &Secret::new("CANARY-third-horse")).await.unwrap();
    let session = auth.change_password(&by, ada, &Secret::new(PASSWORD), &secret).await.unwrap();
    let session = auth.session(&session.session.token).await.unwrap().id;
    auth.end_session(&by, session, Whose::Anybodys).await.unwrap();
    let label: Label = "CI".parse().unwrap();
    let expires_at = *world.now.lock().unwrap() + SignedDuration::from_hours(1);
    let token = auth.make_token(&by, ada, &label, expires_at).await.unwrap().token.id;
    auth.revoke_token(&by, token, Whose::Only(ada)).await.unwrap();
    let credential = auth.add_credential(&by, &label, key()).await.unwrap().credential.id;
    auth.change_credential(&by, credential, Some(&label), Some(key())).await.unwrap();
    let cluster = ClusterId::random();
    auth.bind(&by, credential, cluster).await.unwrap();
    auth.delete_credential(&by, credential).await.unwrap_err();
    auth.release(&by, cluster).await.unwrap();
    auth.release(&by, cluster).await.unwrap();
    auth.delete_credential(&by, credential).await.unwrap();
    let email = "root@acme.com".parse().unwrap();
    for _ in 0..2 {
        auth.ensure_administrator(cluster, &email, &name("root"), &secret).await.unwrap();
    }

    assert_eq!(
        world.told().await,
        [
            "add_user done ",
            "log_in done ",
            "log_out done ",
            "add_user done ",
            "change_user done role+is_disabled",
            "reset_password done password",
            "change_own_password done password",
            "end_session done ",
            "make_token done ",
            "revoke_token done ",
            "add_credential done ",
            "change_credential done label+secret",
            "bind_credential done ",
            "delete_credential denied ",
            "release_credential done ",
            "delete_credential done ",
            "add_environment_administrator done ",
        ]
    );
    let rows = world.audit().await;
    assert_eq!((rows[1].actor_name.as_deref(), rows[1].address.as_str()), (Some("ada"), "10.0.0.7"));
    assert_eq!((rows[3].object.as_deref(), rows[3].object_name.as_deref()), (Some(&*bob.to_string()), Some("bob")));
    assert_eq!((rows[4].actor_id, rows[4].actor_role.as_deref()), (Some(ada), Some("operator")));
    assert!(!format!("{rows:?}").contains("CANARY"));
    audit_log::verify(auth.db.clone(), None).await.unwrap();
}

async fn a_change_that_cannot_be_written_down_does_not_happen(world: World) {
    let auth = &world.auth;
    let label: Label = "CI".parse().unwrap();
    let ada = world.person("ada").await.user.id;
    let credential = auth.add_credential(&BY, &label, key()).await.unwrap().credential.id;
    let cluster = ClusterId::random();
    auth.bind(&BY, credential, cluster).await.unwrap();
    let session = world.log_in("ada", PASSWORD, "10.0.0.7").await.unwrap();
    let tables = ["users", "sessions", "credentials", "credential_uses"];
    let before = world.dump(&tables).await;
    world.run("ALTER TABLE audit_entries RENAME TO elsewhere").await;

    let expires_at = *world.now.lock().unwrap() + SignedDuration::from_hours(1);
    let secret = Secret::new("CANARY-another-horse");
    let other: Label = "other".parse().unwrap();
    let change = PersonChange { role: Some(Role::Viewer), is_disabled: None };
    assert!(world.log_in("ada", PASSWORD, "10.0.0.7").await.is_err());
    assert!(auth.log_out(&session.token, "10.0.0.7").await.is_err());
    assert!(auth.add_user(&BY, &name("bob"), Role::Viewer, &secret).await.is_err());
    assert!(auth.change_user(&BY, ada, change).await.is_err());
    assert!(auth.reset_password(&BY, ada, &secret).await.is_err());
    assert!(auth.change_password(&from_there(), ada, &Secret::new(PASSWORD), &secret).await.is_err());
    assert!(auth.make_token(&BY, ada, &label, expires_at).await.is_err());
    assert!(auth.add_credential(&BY, &other, key()).await.is_err());
    assert!(auth.change_credential(&BY, credential, Some(&other), Some(key())).await.is_err());
    assert!(auth.release(&BY, cluster).await.is_err());
    assert!(auth.check_credential(&BY, credential).await.is_err());
    assert!(auth.open(credential, cluster).await.is_err(), "no secret without a trace");

    assert_eq!(world.dump(&tables).await, before);
    assert!(auth.tokens(Whose::Anybodys).await.unwrap().is_empty());
}

async fn refused_and_wrong_passwords_are_written_down_without_what_was_typed(world: World) {
    let ada = world.person("ada").await.user.id;
    let wrong = Secret::new("CANARY-guess");
    world.log_in("ada", "CANARY-guess", "10.0.0.9").await.unwrap_err();
    world.log_in("CANARY-a-password-in-the-wrong-box", "x", "10.0.0.9").await.unwrap_err();
    world.auth.change_password(&from_there(), ada, &wrong, &Secret::new("CANARY-another-horse")).await.unwrap_err();

    let rows = world.audit().await;
    let [_, known, unknown, change] = &rows[..] else { panic!("{rows:#?}") };
    assert_eq!((known.action.as_str(), known.outcome.as_str()), ("log_in", "denied"));
    assert_eq!((known.object.as_deref(), known.address.as_str()), (Some(&*ada.to_string()), "10.0.0.9"));
    assert_eq!((unknown.outcome.as_str(), unknown.object.as_deref()), ("denied", None));
    assert_eq!((change.action.as_str(), change.outcome.as_str()), ("change_own_password", "denied"));
    assert!(!format!("{rows:?}").contains("CANARY"));
}

async fn openings_of_before_are_taken_over(world: World) {
    // As it was before there was one log for all.
    let db = &world.auth.db;
    let (uuid, id) = match db.get_database_backend() {
        sea_orm::DbBackend::Postgres => ("uuid", "'00000000-0000-0000-0000-00000000000"),
        _ => ("uuid_text", "x'0000000000000000000000000000000"),
    };
    for statement in [
        format!(
            "CREATE TABLE credential_openings (id {uuid} PRIMARY KEY, happened_at bigint NOT NULL, \
             credential_id {uuid} NOT NULL, cluster_id {uuid} NOT NULL, outcome varchar NOT NULL)"
        ),
        format!("INSERT INTO credential_openings VALUES ({id}2', 2000000, {id}8', {id}9', 'unreadable')"),
        format!("INSERT INTO credential_openings VALUES ({id}1', 1000000, {id}8', {id}9', 'opened')"),
        "DELETE FROM auth_migrations WHERE version = '0005_one_audit_log'".to_owned(),
    ] {
        world.run(&statement).await;
    }
    if db.get_database_backend() == sea_orm::DbBackend::Postgres {
        world.run("CREATE FUNCTION credential_openings_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$").await;
    }

    store::migrate(db).await.unwrap();

    assert_eq!(world.openings().await, ["done", "failed"]);
    let rows = world.audit().await;
    let opening = rows.iter().find(|row| row.action == "open_credential").unwrap();
    assert_eq!(
        (opening.actor_id, opening.happened_at),
        (Some(uuid::Uuid::from_u128(9)), Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1))
    );
    assert!(db.execute_unprepared("SELECT 1 FROM credential_openings").await.is_err());
}
