//! Administering people and their sessions.

use auth_service_contract::{AccessTokens, Auth, AuthError, People, PeopleError, PersonChange, Role, Whose};
use jiff::SignedDuration;
use uuid::Uuid;
use vocabulary::{Actor, Secret};

use super::{BY, PASSWORD, World, from_there, name, on_both_databases};
use crate::{session, throttle};

on_both_databases! {
    people_are_added_once_and_listed_by_name
    a_new_password_keeps_the_rules_whoever_sets_it
    another_role_ends_the_sessions_of_who_gets_it
    a_disabled_user_loses_sessions_at_once_and_tokens_for_good
    nothing_changes_when_nothing_is_different
    the_last_administrator_who_can_log_in_stays_one
    two_administrators_who_demote_each_other_at_once_leave_one
    changing_ones_password_ends_every_token_and_every_session_but_the_new_one
    ones_password_cannot_be_guessed_by_changing_it
    a_password_reset_by_an_administrator_ends_sessions_and_tokens_and_is_for_choosing_another
    a_person_who_is_added_by_another_chooses_a_password_of_their_own
    sessions_are_listed_and_ended_by_name_by_whose_they_are
    nobody_and_nothing_unknown_is_changed
}

const OTHER_PASSWORD: &str = "CANARY-other-horse-staple";

const TO_VIEWER: PersonChange = PersonChange { role: Some(Role::Viewer), is_disabled: None };
const DISABLE: PersonChange = PersonChange { role: None, is_disabled: Some(true) };
const ENABLE: PersonChange = PersonChange { role: None, is_disabled: Some(false) };

impl World {
    async fn add(&self, username: &str, role: Role) -> Uuid {
        self.auth.add_user(&BY, &name(username), role, &Secret::new(PASSWORD)).await.unwrap().user.id
    }
}

async fn people_are_added_once_and_listed_by_name(world: World) {
    world.add("zoe", Role::Viewer).await;
    let bob = world.add("bob", Role::PlatformAdministrator).await;

    let again = world.auth.add_user(&BY, &name("bob"), Role::Viewer, &Secret::new(PASSWORD)).await;

    assert_eq!(again.unwrap_err(), PeopleError::NameTaken);
    let everybody = world.auth.people().await.unwrap();
    let names: Vec<_> = everybody.iter().map(|person| person.user.username.as_str()).collect();
    assert_eq!(names, ["ada", "bob", "zoe"]);
    assert_eq!((everybody[1].user.id, everybody[1].user.role), (bob, Role::PlatformAdministrator));
    assert_eq!((everybody[1].created_at, everybody[1].disabled_at), (*world.now.lock().unwrap(), None));
    assert_eq!(world.log_in("bob", PASSWORD, "10.0.0.1").await.unwrap().user.role, Role::PlatformAdministrator);
}

async fn a_new_password_keeps_the_rules_whoever_sets_it(world: World) {
    let ada = world.person("ada").await.user.id;
    let (current, short) = (Secret::new(PASSWORD), Secret::new("CANARY-shor"));

    for refused in [
        world.auth.add_user(&BY, &name("bob"), Role::Viewer, &short).await.map(|_| ()),
        world.auth.change_password(&from_there(), ada, &current, &short).await.map(|_| ()),
        world.auth.reset_password(&BY, ada, &short).await,
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, PeopleError::PasswordNotAcceptable(_)), "{error:?}");
        assert!(!error.to_string().contains("CANARY"));
    }

    assert_eq!(world.auth.people().await.unwrap().len(), 1);
    assert!(world.log_in("ada", PASSWORD, "10.0.0.1").await.is_ok());
}

async fn another_role_ends_the_sessions_of_who_gets_it(world: World) {
    let bob = world.add("bob", Role::PlatformAdministrator).await;
    world.add("eve", Role::PlatformAdministrator).await;
    let of_bob = world.log_in("bob", PASSWORD, "10.0.0.1").await.unwrap();
    let of_eve = world.log_in("eve", PASSWORD, "10.0.0.1").await.unwrap();

    let changed = world.auth.change_user(&BY, bob, TO_VIEWER).await.unwrap();

    assert_eq!(changed.user.role, Role::Viewer);
    assert_eq!(world.auth.session(&of_bob.token).await, Err(AuthError::NoSession));
    assert!(world.auth.session(&of_eve.token).await.is_ok(), "somebody else's");
    assert_eq!(world.log_in("bob", PASSWORD, "10.0.0.1").await.unwrap().user.role, Role::Viewer);
}

async fn a_disabled_user_loses_sessions_at_once_and_tokens_for_good(world: World) {
    let ada = world.person("ada").await.user.id;
    let session = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    let tomorrow = *world.now.lock().unwrap() + SignedDuration::from_hours(24);
    let token = world.auth.make_token(&BY, ada, &"CI".parse().unwrap(), tomorrow).await.unwrap().secret;
    assert!(world.auth.token(&token).await.is_ok());

    let disabled = world.auth.change_user(&BY, ada, DISABLE).await.unwrap();

    assert_eq!(disabled.disabled_at, Some(*world.now.lock().unwrap()));
    assert_eq!(world.auth.session(&session.token).await, Err(AuthError::NoSession));
    assert_eq!(world.auth.token(&token).await, Err(AuthError::NoSession));
    assert_eq!(world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);

    let enabled = world.auth.change_user(&BY, ada, ENABLE).await.unwrap();
    assert_eq!(enabled.disabled_at, None);
    assert!(world.log_in("ada", PASSWORD, "10.0.0.1").await.is_ok());
    assert_eq!(world.auth.session(&session.token).await, Err(AuthError::NoSession));
    assert_eq!(world.auth.token(&token).await, Err(AuthError::NoSession), "a token does not rise from the dead");
}

async fn nothing_changes_when_nothing_is_different(world: World) {
    let ada = world.person("ada").await.user.id;
    let session = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();

    let same = PersonChange { role: Some(Role::Operator), is_disabled: Some(false) };
    for change in [PersonChange::default(), same] {
        assert_eq!(world.auth.change_user(&BY, ada, change).await.unwrap(), world.person("ada").await);
    }

    assert!(world.auth.session(&session.token).await.is_ok(), "a change that is none ends no session");
}

async fn the_last_administrator_who_can_log_in_stays_one(world: World) {
    let bob = world.add("bob", Role::PlatformAdministrator).await;
    let eve = world.add("eve", Role::PlatformAdministrator).await;
    world.auth.change_user(&BY, eve, DISABLE).await.unwrap();
    let session = world.log_in("bob", PASSWORD, "10.0.0.1").await.unwrap();

    for change in [TO_VIEWER, DISABLE, PersonChange { role: Some(Role::Operator), is_disabled: Some(true) }] {
        assert_eq!(world.auth.change_user(&BY, bob, change).await.unwrap_err(), PeopleError::LastAdministrator);
    }
    assert!(world.auth.session(&session.token).await.is_ok(), "a refused change ends no session");

    world.auth.change_user(&BY, eve, ENABLE).await.unwrap();
    world.auth.change_user(&BY, bob, TO_VIEWER).await.unwrap();
    assert_eq!(world.auth.change_user(&BY, eve, TO_VIEWER).await.unwrap_err(), PeopleError::LastAdministrator);
}

async fn two_administrators_who_demote_each_other_at_once_leave_one(world: World) {
    for round in 0..5 {
        let bob = world.add(&format!("bob{round}"), Role::PlatformAdministrator).await;
        let eve = world.add(&format!("eve{round}"), Role::PlatformAdministrator).await;

        let (one, other) =
            tokio::join!(world.auth.change_user(&BY, bob, TO_VIEWER), world.auth.change_user(&BY, eve, DISABLE));

        let refused = [one, other].into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert_eq!(refused, [PeopleError::LastAdministrator], "round {round}");
        // The next round begins without administrators.
        world.run("UPDATE users SET role = 'viewer'").await;
    }
}

async fn changing_ones_password_ends_every_token_and_every_session_but_the_new_one(world: World) {
    let elsewhere = world.log_in("ada", PASSWORD, "10.0.0.2").await.unwrap();
    let here = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    let (old, new) = (Secret::new(PASSWORD), Secret::new(OTHER_PASSWORD));

    let label = "CI".parse().unwrap();
    let tomorrow = *world.now.lock().unwrap() + SignedDuration::from_hours(24);
    let token = world.auth.make_token(&BY, here.user.id, &label, tomorrow).await.unwrap().secret;
    let soon = *world.now.lock().unwrap() + SignedDuration::from_mins(1);
    world.auth.make_token(&BY, here.user.id, &"ended before".parse().unwrap(), soon).await.unwrap();
    *world.now.lock().unwrap() = soon;
    let bob = world.auth.add_user(&BY, &name("bob"), Role::Viewer, &old).await.unwrap().user.id;
    let of_bob = world.auth.make_token(&BY, bob, &label, tomorrow).await.unwrap().secret;

    let changed = world.auth.change_password(&from_there(), here.user.id, &old, &new).await.unwrap();

    let session = changed.session;
    assert_eq!(changed.ended_tokens, [label], "those that had not ended anyway");
    assert_eq!(world.auth.token(&token).await, Err(AuthError::NoSession));
    assert!(world.auth.token(&of_bob).await.is_ok());

    assert_eq!(world.auth.session(&session.token).await.unwrap().user.username, "ada");
    for ended in [&elsewhere, &here] {
        assert_eq!(world.auth.session(&ended.token).await, Err(AuthError::NoSession));
    }
    assert_eq!(world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);
    assert!(world.log_in("ada", OTHER_PASSWORD, "10.0.0.1").await.is_ok());
}

async fn ones_password_cannot_be_guessed_by_changing_it(world: World) {
    let ada = world.person("ada").await.user.id;
    let new = Secret::new(OTHER_PASSWORD);

    for _ in 0..throttle::FOR_ACCOUNT {
        let refused = world.auth.change_password(&from_there(), ada, &Secret::new("guess"), &new).await.unwrap_err();
        assert_eq!(refused, PeopleError::Auth(AuthError::WrongCredentials));
    }

    let refused = world.auth.change_password(&from_there(), ada, &Secret::new(PASSWORD), &new).await.unwrap_err();
    assert!(matches!(refused, PeopleError::Auth(AuthError::TooManyAttempts { .. })), "{refused:?}");
    assert!(world.log_in("ada", PASSWORD, "10.0.0.2").await.is_ok(), "the password is the old one");
}

async fn a_password_reset_by_an_administrator_ends_sessions_and_tokens_and_is_for_choosing_another(world: World) {
    let session = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    let tomorrow = *world.now.lock().unwrap() + SignedDuration::from_hours(24);
    let ada = session.user.id;
    let token = world.auth.make_token(&BY, ada, &"CI".parse().unwrap(), tomorrow).await.unwrap().secret;
    let reset = Secret::new(OTHER_PASSWORD);

    world.auth.reset_password(&BY, ada, &reset).await.unwrap();

    assert_eq!(world.auth.session(&session.token).await, Err(AuthError::NoSession));
    assert_eq!(world.auth.token(&token).await, Err(AuthError::NoSession));
    assert_eq!(world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);
    assert!(world.log_in("ada", OTHER_PASSWORD, "10.0.0.1").await.unwrap().must_change_password);
    let own = world.auth.change_password(&from_there(), ada, &reset, &Secret::new(PASSWORD)).await.unwrap();
    assert!(!own.session.must_change_password);
    assert!(!world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap().must_change_password);
}

async fn a_person_who_is_added_by_another_chooses_a_password_of_their_own(world: World) {
    let ada = world.person("ada").await.user;
    let by = Actor::Person { id: ada.id, username: ada.username, role: ada.role, address: "10.0.0.7".to_owned() };

    world.auth.add_user(&by, &name("bob"), Role::Viewer, &Secret::new(PASSWORD)).await.unwrap();

    assert!(world.log_in("bob", PASSWORD, "10.0.0.1").await.unwrap().must_change_password);
}

async fn sessions_are_listed_and_ended_by_name_by_whose_they_are(world: World) {
    let bob = world.add("bob", Role::Viewer).await;
    let of_ada = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    world.pass(SignedDuration::from_secs(1));
    let of_bob = world.log_in("bob", PASSWORD, "10.0.0.2").await.unwrap();
    let ada = of_ada.user.id;
    let id_of_ada = world.auth.session(&of_ada.token).await.unwrap().id;

    let everybodys = world.auth.sessions(Whose::Anybodys).await.unwrap();
    assert_eq!(everybodys.iter().map(|session| session.user).collect::<Vec<_>>(), [bob, ada], "the last used first");
    let adas = world.auth.sessions(Whose::Only(ada)).await.unwrap();
    assert_eq!((adas.len(), adas[0].id, adas[0].address.as_str()), (1, id_of_ada, "10.0.0.1"));
    assert_eq!(adas[0].expires_at, of_ada.expires_at);

    let foreign = world.auth.end_session(&BY, id_of_ada, Whose::Only(bob)).await;
    assert_eq!(foreign.unwrap_err(), PeopleError::NoSuchSession);
    assert!(world.auth.session(&of_ada.token).await.is_ok());
    world.auth.end_session(&BY, id_of_ada, Whose::Only(ada)).await.unwrap();
    assert_eq!(world.auth.session(&of_ada.token).await, Err(AuthError::NoSession));
    let id_of_bob = world.auth.session(&of_bob.token).await.unwrap().id;
    world.auth.end_session(&BY, id_of_bob, Whose::Anybodys).await.unwrap();
    assert_eq!(world.auth.session(&of_bob.token).await, Err(AuthError::NoSession));

    world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    world.pass(session::IDLE);
    assert_eq!(world.auth.sessions(Whose::Anybodys).await.unwrap(), [], "one that ended is not open");
}

async fn nobody_and_nothing_unknown_is_changed(world: World) {
    let nobody = Uuid::from_u128(7);
    let password = Secret::new(OTHER_PASSWORD);

    let label = "CI".parse().unwrap();
    let tomorrow = *world.now.lock().unwrap() + SignedDuration::from_hours(24);
    assert_eq!(world.auth.change_user(&BY, nobody, TO_VIEWER).await.unwrap_err(), PeopleError::NoSuchUser);
    assert_eq!(world.auth.reset_password(&BY, nobody, &password).await.unwrap_err(), PeopleError::NoSuchUser);
    let changed = world.auth.change_password(&from_there(), nobody, &password, &password).await;
    assert_eq!(changed.unwrap_err(), PeopleError::NoSuchUser);
    assert_eq!(world.auth.make_token(&BY, nobody, &label, tomorrow).await.unwrap_err(), PeopleError::NoSuchUser);
    assert_eq!(world.auth.end_session(&BY, nobody, Whose::Anybodys).await.unwrap_err(), PeopleError::NoSuchSession);
    assert_eq!(world.auth.revoke_token(&BY, nobody, Whose::Anybodys).await.unwrap_err(), PeopleError::NoSuchToken);
}
