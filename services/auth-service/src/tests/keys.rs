//! Root keys against the database.

use auth_service_contract::{CredentialError, Credentials, NewSecret};
use vocabulary::{ClusterId, Secret};

use super::{BY, World, on_both_databases, root_keys};
use crate::{
    AuthService, RootKeys, SetUpError,
    keys::{self, KeysError},
    store,
};

on_both_databases! {
    a_wrong_key_is_told_at_the_start_and_nothing_is_changed
    a_key_that_something_is_still_sealed_with_must_be_given
    rotating_puts_everything_under_the_new_key_alone
    a_check_value_that_was_altered_is_told
    without_a_forgotten_key_what_it_sealed_is_listed_replaced_and_deleted_but_not_read
    a_forgotten_key_that_turns_up_opens_as_before
    of_two_that_start_with_different_keys_at_once_one_is_refused
}

fn line() -> String {
    RootKeys::new_line().reveal().to_owned()
}

fn parsed(text: &str) -> RootKeys {
    RootKeys::parse(text.as_bytes()).unwrap()
}

impl World {
    /// Starts another auth-service on the same database.
    async fn start(&self, keys: RootKeys) -> Result<AuthService, KeysError> {
        match AuthService::open(self.auth.db.clone(), keys).await {
            Ok(auth) => Ok(auth),
            Err(SetUpError::Keys(error)) => Err(error),
            Err(other) => panic!("{other}"),
        }
    }

    async fn save_key(&self, auth: &AuthService) -> ClusterId {
        let secret = NewSecret::AwsAccessKey {
            access_key_id: Secret::new("AKIACANARY0KEY0ID0WX"),
            secret_access_key: Secret::new("CANARYsecret/access+key0123456789ABCDEFG"),
        };
        let saved = auth.add_credential(&BY, &"Key".parse().unwrap(), secret).await.unwrap();
        let cluster = ClusterId::random();
        auth.bind(&BY, saved.credential.id, cluster).await.unwrap();
        cluster
    }

    async fn opens(&self, auth: &AuthService, cluster: ClusterId) -> bool {
        let credential = auth.credentials().await.unwrap()[0].id;
        auth.open(credential, cluster).await.is_ok()
    }
}

async fn a_wrong_key_is_told_at_the_start_and_nothing_is_changed(world: World) {
    let cluster = world.save_key(&world.auth).await;
    let before = world.dump(&["root_keys", "credentials"]).await;

    let wrong = parsed(&line());
    let given = wrong.in_use().to_string();
    let Err(error) = world.start(wrong).await else { panic!("started") };

    let text = error.to_string();
    assert!(matches!(error, KeysError::WrongKey { .. }), "{error:?}");
    assert!(text.contains(&given) && text.contains(&root_keys().in_use().to_string()), "{text}");
    assert_eq!(world.dump(&["root_keys", "credentials"]).await, before);
    assert!(matches!(keys::rewrap(&world.auth.db, &parsed(&line())).await, Err(KeysError::WrongKey { .. })));
    assert_eq!(world.dump(&["root_keys", "credentials"]).await, before);
    let right = world.start(root_keys()).await.unwrap();
    assert!(world.opens(&right, cluster).await);
}

async fn a_key_that_something_is_still_sealed_with_must_be_given(world: World) {
    let (old, new) = (line(), line());
    world.run("DELETE FROM root_keys").await;
    let before = world.start(parsed(&old)).await.unwrap();
    let cluster = world.save_key(&before).await;

    let both = world.start(parsed(&format!("{new}{old}"))).await.unwrap();
    assert!(world.opens(&both, cluster).await, "what the old key sealed opens while both are there");

    let Err(error) = world.start(parsed(&new)).await else { panic!("started") };
    assert!(matches!(error, KeysError::Missing { credentials: 1, .. }), "{error:?}");
    assert!(error.to_string().contains(&parsed(&old).in_use().to_string()), "{error}");
}

async fn rotating_puts_everything_under_the_new_key_alone(world: World) {
    let (old, new) = (line(), line());
    world.run("DELETE FROM root_keys").await;
    let cluster = world.save_key(&world.start(parsed(&old)).await.unwrap()).await;
    let both = parsed(&format!("{new}{old}"));

    assert_eq!(keys::rewrap(&world.auth.db, &both).await.unwrap(), 1);
    assert_eq!(keys::rewrap(&world.auth.db, &both).await.unwrap(), 0, "again there is nothing to do");

    let statuses = keys::status(&world.auth.db, &both).await.unwrap();
    let shown: Vec<_> = statuses.iter().map(|key| (key.is_given, key.is_in_use, key.credentials)).collect();
    assert_eq!(shown, [(true, true, 1), (true, false, 0)]);
    let after = world.start(parsed(&new)).await.unwrap();
    assert!(world.opens(&after, cluster).await);
    let old_alone = world.start(parsed(&old)).await;
    assert!(matches!(old_alone, Err(KeysError::Missing { .. })), "{:?}", old_alone.err());
}

async fn a_check_value_that_was_altered_is_told(world: World) {
    world.run("UPDATE root_keys SET check_value = (SELECT check_value FROM root_keys) || check_value").await;

    let Err(error) = world.start(root_keys()).await else { panic!("started") };

    assert!(matches!(error, KeysError::CheckAltered { .. }), "{error:?}");
}

async fn without_a_forgotten_key_what_it_sealed_is_listed_replaced_and_deleted_but_not_read(world: World) {
    let lost = root_keys().in_use().to_string();
    let cluster = world.save_key(&world.auth).await;
    let new = line();
    assert_eq!(keys::sealed_with(&world.auth.db, &lost).await.unwrap(), Some(vec!["Key".to_owned()]));
    assert_eq!(keys::sealed_with(&world.auth.db, "0123456789abcdef").await.unwrap(), None);

    keys::forget(&world.auth.db, &lost).await.unwrap();

    assert_eq!(keys::needed(&world.auth.db).await.unwrap(), Vec::<String>::new());
    let after = world.start(parsed(&new)).await.unwrap();
    assert!(!world.opens(&after, cluster).await);
    let listed = after.credentials().await.unwrap().remove(0);
    assert_eq!((listed.label.as_str(), listed.clusters.as_slice()), ("Key", [cluster].as_slice()));
    assert_eq!(after.open(listed.id, cluster).await, Err(CredentialError::Unreadable));
    assert_eq!(keys::rewrap(&world.auth.db, &parsed(&new)).await.unwrap(), 0, "it stays as it is");
    let statuses = keys::status(&world.auth.db, &parsed(&new)).await.unwrap();
    let shown: Vec<_> = statuses.iter().map(|key| (key.is_in_use, key.is_forgotten, key.credentials)).collect();
    assert_eq!(shown, [(true, false, 0), (false, true, 1)]);

    let again = NewSecret::AwsAccessKey {
        access_key_id: Secret::new("AKIACANARY0KEY0ID0WX"),
        secret_access_key: Secret::new("CANARYsecret/access+key0123456789ABCDEFG"),
    };
    after.change_credential(&BY, listed.id, None, Some(again)).await.unwrap();
    assert!(world.opens(&after, cluster).await, "saved anew it is readable for the same cluster");
    let other = world.start(parsed(&line())).await;
    assert!(matches!(other, Err(KeysError::WrongKey { .. })), "the new key is as needed as any: {:?}", other.err());
}

async fn a_forgotten_key_that_turns_up_opens_as_before(world: World) {
    let cluster = world.save_key(&world.auth).await;
    keys::forget(&world.auth.db, &root_keys().in_use().to_string()).await.unwrap();
    let new = line();
    drop(world.start(parsed(&new)).await.unwrap());

    let found = world.start(parsed(&format!("{new}a2V5IG9mIHRoZSB0ZXN0cyBvZiBhdXRoLXNlcnZpY2U="))).await.unwrap();

    assert!(world.opens(&found, cluster).await);
    let alone = world.start(parsed(&new)).await;
    assert!(matches!(alone, Err(KeysError::Missing { .. })), "needed again: {:?}", alone.err());
}

async fn of_two_that_start_with_different_keys_at_once_one_is_refused(world: World) {
    world.run("DELETE FROM root_keys").await;

    let (one, other) = tokio::join!(world.start(parsed(&line())), world.start(parsed(&line())));

    assert!(one.is_ok() != other.is_ok());
    assert_eq!(store::root_keys::all(&world.auth.db).await.unwrap().len(), 1);
}
