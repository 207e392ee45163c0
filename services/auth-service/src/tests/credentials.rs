//! Cloud credentials.

use auth_service_contract::{
    AwsAccessKey, CloudAccess, CredentialError, CredentialId, CredentialKind, Credentials, NewSecret,
};
use jiff::SignedDuration;
use sea_orm::DbBackend;
use vocabulary::{ClusterId, Label, Secret};

use super::{BY, World, on_both_databases};
use crate::credentials::gcp_key::tests::{key_file, private_key};

on_both_databases! {
    a_credential_leaves_as_its_label_and_how_its_identifier_ends
    a_secret_is_opened_only_for_a_cluster_it_is_bound_to_and_never_without_a_trace
    a_role_is_opened_with_the_key_that_assumes_it
    a_google_key_is_opened_without_anything_that_did_not_belong_in_it
    a_credential_in_use_is_not_deleted_and_says_by_what
    a_credential_gets_another_label_or_another_secret_of_its_kind
    a_credential_that_breaks_a_rule_is_not_saved
    a_bound_credential_cannot_be_deleted_at_the_same_time
    two_secrets_that_were_swapped_do_not_open
    a_secret_that_was_altered_does_not_open_and_is_told_as_unreadable
    an_older_secret_under_a_newer_version_does_not_open
    no_secret_is_in_the_database
}

const ID: &str = "AKIACANARY0KEY0ID0WX";
const OTHER_ID: &str = "AKIACANARY0OTHER0IYZ";
const SECRET: &str = "CANARYsecret/access+key0123456789ABCDEFG";
const OTHER_SECRET: &str = "CANARYother/secret+key0123456789ABCDEFGH";
const ROLE: &str = "arn:aws:iam::123456789012:role/kubeopera";

fn label(text: &str) -> Label {
    text.parse().unwrap()
}

fn access_key(id: &str, secret: &str) -> NewSecret {
    NewSecret::AwsAccessKey { access_key_id: Secret::new(id), secret_access_key: Secret::new(secret) }
}

fn opened(id: &str, secret: &str) -> AwsAccessKey {
    AwsAccessKey { access_key_id: Secret::new(id), secret_access_key: Secret::new(secret) }
}

fn role(source: Option<CredentialId>) -> NewSecret {
    NewSecret::AwsAssumeRole { role_arn: ROLE.to_owned(), source }
}

fn google() -> NewSecret {
    NewSecret::GcpServiceAccountKey { key: Secret::new(key_file().to_string()) }
}

impl World {
    async fn save(&self, text: &str, secret: NewSecret) -> CredentialId {
        self.auth.add_credential(&BY, &label(text), secret).await.unwrap().credential.id
    }

    async fn bound(&self, credential: CredentialId) -> ClusterId {
        let cluster = ClusterId::random();
        self.auth.bind(&BY, credential, cluster).await.unwrap();
        cluster
    }
}

async fn a_credential_leaves_as_its_label_and_how_its_identifier_ends(world: World) {
    world.save("Zurich", access_key(ID, SECRET)).await;
    let role = world.auth.add_credential(&BY, &label("Role"), role(None)).await.unwrap();
    world.save("Google", google()).await;

    let all = world.auth.credentials().await.unwrap();

    let shown: Vec<_> = all.iter().map(|one| (one.label.as_str(), one.kind, one.last_four.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("Google", CredentialKind::GcpServiceAccountKey, "beef"),
            ("Role", CredentialKind::AwsAssumeRole, "9012"),
            ("Zurich", CredentialKind::AwsAccessKey, "D0WX"),
        ]
    );
    assert!(role.external_id.unwrap().starts_with("kubeopera-"));
    assert!(!format!("{all:?}").contains("CANARY"));
}

async fn a_secret_is_opened_only_for_a_cluster_it_is_bound_to_and_never_without_a_trace(world: World) {
    let credential = world.save("One", access_key(ID, SECRET)).await;
    let other = world.save("Other", access_key(OTHER_ID, OTHER_SECRET)).await;
    let cluster = world.bound(credential).await;

    let access = world.auth.open(credential, cluster).await.unwrap();

    assert_eq!(access, CloudAccess::AwsAccessKey(opened(ID, SECRET)));
    let unknown = CredentialId(uuid::Uuid::from_u128(7));
    for (credential, cluster) in [(credential, ClusterId::random()), (other, cluster), (unknown, cluster)] {
        assert_eq!(world.auth.open(credential, cluster).await, Err(CredentialError::NotBound));
    }
    world.auth.release(&BY, cluster).await.unwrap();
    assert_eq!(world.auth.open(credential, cluster).await, Err(CredentialError::NotBound));
    assert_eq!(world.openings().await, ["done", "denied", "denied", "denied", "denied"]);
    assert_eq!(world.auth.bind(&BY, unknown, cluster).await, Err(CredentialError::NoSuchCredential));
}

async fn a_role_is_opened_with_the_key_that_assumes_it(world: World) {
    let key = world.save("Key", access_key(ID, SECRET)).await;
    let assumed = world.auth.add_credential(&BY, &label("Role"), role(Some(key))).await.unwrap();
    let cluster = world.bound(assumed.credential.id).await;

    let access = world.auth.open(assumed.credential.id, cluster).await.unwrap();

    let external_id = assumed.external_id.unwrap();
    let expected =
        CloudAccess::AwsAssumeRole { role_arn: ROLE.to_owned(), external_id, source: Some(opened(ID, SECRET)) };
    assert_eq!(access, expected);
    let google = world.save("Google", google()).await;
    for no_key in [assumed.credential.id, google, CredentialId(uuid::Uuid::from_u128(7))] {
        let refused = world.auth.add_credential(&BY, &label("Another"), role(Some(no_key))).await.unwrap_err();
        assert!(matches!(refused, CredentialError::NotAcceptable { field: "source", .. }), "{refused:?}");
    }
}

async fn a_google_key_is_opened_without_anything_that_did_not_belong_in_it(world: World) {
    let credential = world.save("Google", google()).await;
    let cluster = world.bound(credential).await;

    let access = world.auth.open(credential, cluster).await.unwrap();

    let CloudAccess::GcpServiceAccountKey { project_id, key } = access else { panic!("{access:?}") };
    let document: serde_json::Value = serde_json::from_str(key.reveal()).unwrap();
    assert_eq!(project_id, "acme-platform");
    assert_eq!(document["private_key"], private_key());
    assert_eq!(document["client_x509_cert_url"], serde_json::Value::Null);
}

async fn a_credential_in_use_is_not_deleted_and_says_by_what(world: World) {
    let key = world.save("Key", access_key(ID, SECRET)).await;
    let assumed = world.save("Role", role(Some(key))).await;
    let mut clusters = vec![world.bound(key).await, world.bound(key).await];
    clusters.sort();

    let refused = world.auth.delete_credential(&BY, key).await.unwrap_err();
    assert_eq!(refused, CredentialError::InUse { clusters: clusters.clone(), credentials: vec![label("Role")] });
    let listed = world.auth.credentials().await.unwrap();
    assert_eq!(listed[0].clusters, clusters);

    world.auth.delete_credential(&BY, assumed).await.unwrap();
    world.auth.release(&BY, clusters[0]).await.unwrap();
    world.auth.release(&BY, clusters[0]).await.unwrap();
    let refused = world.auth.delete_credential(&BY, key).await.unwrap_err();
    assert_eq!(refused, CredentialError::InUse { clusters: vec![clusters[1]], credentials: vec![] });
    world.auth.release(&BY, clusters[1]).await.unwrap();
    world.auth.delete_credential(&BY, key).await.unwrap();
    assert_eq!(world.auth.delete_credential(&BY, key).await, Err(CredentialError::NoSuchCredential));
    assert_eq!(world.auth.credentials().await.unwrap(), []);
}

async fn a_credential_gets_another_label_or_another_secret_of_its_kind(world: World) {
    let key = world.save("Key", access_key(ID, SECRET)).await;
    let other = world.save("Other", access_key(OTHER_ID, OTHER_SECRET)).await;
    let cluster = world.bound(key).await;
    world.pass(SignedDuration::from_mins(1));

    let renamed = world.auth.change_credential(&BY, key, Some(&label("New")), None).await.unwrap();
    assert_eq!(
        (renamed.label.as_str(), renamed.last_four.as_str(), &renamed.clusters[..]),
        ("New", "D0WX", &[cluster][..])
    );
    assert_eq!(renamed.changed_at, renamed.created_at);
    assert_eq!(world.auth.open(key, cluster).await.unwrap(), CloudAccess::AwsAccessKey(opened(ID, SECRET)));

    let replaced =
        world.auth.change_credential(&BY, key, None, Some(access_key(OTHER_ID, OTHER_SECRET))).await.unwrap();
    assert_eq!((replaced.label.as_str(), replaced.last_four.as_str()), ("New", "0IYZ"));
    assert_eq!(replaced.changed_at, *world.now.lock().unwrap());
    assert_eq!(world.auth.open(key, cluster).await.unwrap(), CloudAccess::AwsAccessKey(opened(OTHER_ID, OTHER_SECRET)));

    let taken = world.auth.change_credential(&BY, key, Some(&label("Other")), None).await;
    assert_eq!(taken.unwrap_err(), CredentialError::LabelTaken);
    let refused = world.auth.change_credential(&BY, key, None, Some(role(Some(other)))).await.unwrap_err();
    assert!(matches!(refused, CredentialError::NotAcceptable { field: "kind", .. }), "{refused:?}");
    let nothing = world.auth.change_credential(&BY, CredentialId(uuid::Uuid::from_u128(7)), None, None).await;
    assert_eq!(nothing.unwrap_err(), CredentialError::NoSuchCredential);

    let assumed = world.auth.add_credential(&BY, &label("Role"), role(None)).await.unwrap();
    let of_role = world.bound(assumed.credential.id).await;
    world.auth.change_credential(&BY, assumed.credential.id, None, Some(role(Some(other)))).await.unwrap();
    let access = world.auth.open(assumed.credential.id, of_role).await.unwrap();
    let CloudAccess::AwsAssumeRole { external_id, source, .. } = access else { panic!("{access:?}") };
    assert_eq!(Some(external_id), assumed.external_id, "the trust policy that asks for it still fits");
    assert_eq!(source, Some(opened(OTHER_ID, OTHER_SECRET)));
}

async fn a_credential_that_breaks_a_rule_is_not_saved(world: World) {
    world.save("Key", access_key(ID, SECRET)).await;

    let taken = world.auth.add_credential(&BY, &label("Key"), google()).await.unwrap_err();
    assert_eq!(taken, CredentialError::LabelTaken);
    let refused = world.auth.add_credential(&BY, &label("New"), access_key(ID, "CANARY")).await.unwrap_err();
    assert!(matches!(refused, CredentialError::NotAcceptable { field: "secret_access_key", .. }), "{refused:?}");
    assert!(!refused.to_string().contains("CANARY"));

    assert_eq!(world.auth.credentials().await.unwrap().len(), 1);
}

async fn a_bound_credential_cannot_be_deleted_at_the_same_time(world: World) {
    for round in 0..8 {
        let credential = world.save(&format!("Key {round}"), access_key(ID, SECRET)).await;
        let cluster = ClusterId::random();

        let (bound, deleted) =
            tokio::join!(world.auth.bind(&BY, credential, cluster), world.auth.delete_credential(&BY, credential));

        match (bound, deleted) {
            (Ok(()), Err(CredentialError::InUse { clusters, .. })) => assert_eq!(clusters, [cluster]),
            (Err(CredentialError::NoSuchCredential), Ok(())) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn two_secrets_that_were_swapped_do_not_open(world: World) {
    let (one, other) =
        (world.save("One", access_key(ID, SECRET)).await, world.save("Two", access_key(OTHER_ID, OTHER_SECRET)).await);
    let (of_one, of_other) = (world.bound(one).await, world.bound(other).await);

    world.run("CREATE TABLE backup AS SELECT label, secret FROM credentials").await;
    world
        .run("UPDATE credentials SET secret = (SELECT secret FROM backup WHERE backup.label <> credentials.label)")
        .await;

    for (credential, cluster) in [(one, of_one), (other, of_other)] {
        assert_eq!(world.auth.open(credential, cluster).await, Err(CredentialError::Unreadable));
    }
    assert_eq!(world.openings().await, ["failed", "failed"]);
}

async fn a_secret_that_was_altered_does_not_open_and_is_told_as_unreadable(world: World) {
    let key = world.save("Key", access_key(ID, SECRET)).await;
    let assumed = world.save("Role", role(Some(key))).await;
    let (of_key, of_role) = (world.bound(key).await, world.bound(assumed).await);

    let flip = match world.auth.db.get_database_backend() {
        DbBackend::Postgres => {
            "UPDATE credentials SET secret = set_bit(secret, 900, 1 - get_bit(secret, 900)) WHERE label = 'Key'"
        }
        _ => {
            "UPDATE credentials SET secret = CAST(substr(secret, 1, length(secret) - 1) || x'00' AS BLOB) WHERE label = 'Key'"
        }
    };
    world.run(flip).await;

    assert_eq!(world.auth.open(key, of_key).await, Err(CredentialError::Unreadable));
    assert_eq!(world.auth.open(assumed, of_role).await, Err(CredentialError::Unreadable), "nor with it what needs it");
    assert_eq!(world.auth.credentials().await.unwrap().len(), 2, "they are still listed, and can be deleted");
}

async fn an_older_secret_under_a_newer_version_does_not_open(world: World) {
    let key = world.save("Key", access_key(ID, SECRET)).await;
    let cluster = world.bound(key).await;
    world.run("CREATE TABLE backup AS SELECT secret FROM credentials").await;
    world.auth.change_credential(&BY, key, None, Some(access_key(OTHER_ID, OTHER_SECRET))).await.unwrap();

    world.run("UPDATE credentials SET secret = (SELECT secret FROM backup)").await;

    assert_eq!(world.auth.open(key, cluster).await, Err(CredentialError::Unreadable));
}

async fn no_secret_is_in_the_database(world: World) {
    let key = world.save("Key", access_key(ID, SECRET)).await;
    let assumed = world.auth.add_credential(&BY, &label("Role"), role(Some(key))).await.unwrap();
    world.save("Google", google()).await;
    let cluster = world.bound(key).await;
    world.auth.open(key, cluster).await.unwrap();

    let dump = world.dump(&["credentials", "credential_uses", "audit_entries", "root_keys"]).await;

    assert!(dump.contains("D0WX"), "the dump is not empty");
    let pem_line = private_key().lines().nth(5).unwrap();
    for secret in ["CANARY", "PRIVATE KEY", pem_line, ROLE, &assumed.external_id.unwrap()] {
        assert!(!dump.contains(secret), "{secret}");
    }
}
