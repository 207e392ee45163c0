//! Personal access tokens.

use auth_service_contract::{AccessTokens, Auth, AuthError, MadeToken, People, PeopleError, PersonChange, Role, Whose};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;
use vocabulary::Secret;

use super::{BY, PASSWORD, World, name, on_both_databases};
use crate::access_tokens;

on_both_databases! {
    a_token_acts_for_its_owner_until_it_ends
    a_token_does_what_its_owner_may_do_at_this_moment
    a_token_and_a_session_are_not_taken_for_each_other
    a_token_ends_within_a_year_and_not_in_the_past
    tokens_are_listed_and_ended_by_whose_they_are
    nobody_has_endless_tokens
}

impl World {
    fn in_hours(&self, hours: i64) -> Timestamp {
        *self.now.lock().unwrap() + SignedDuration::from_hours(hours)
    }

    async fn token_for(&self, user: Uuid, label: &str, hours: i64) -> Result<MadeToken, PeopleError> {
        self.auth.make_token(&BY, user, &label.parse().unwrap(), self.in_hours(hours)).await
    }
}

async fn a_token_acts_for_its_owner_until_it_ends(world: World) {
    let ada = world.person("ada").await.user;

    let made = world.token_for(ada.id, "CI of the shop", 24).await.unwrap();

    assert!(made.secret.reveal().starts_with("ko_pat_"));
    assert_eq!(made.secret.reveal().len(), "ko_pat_".len() + 43, "256 bits in base64");
    assert!(!format!("{made:?}").contains(made.secret.reveal()));
    let found = world.auth.token(&made.secret).await.unwrap();
    assert_eq!((found.id, &found.user, found.expires_at), (made.token.id, &ada, world.in_hours(24)));
    let listed = world.auth.tokens(Whose::Only(ada.id)).await.unwrap();
    assert_eq!(listed[0].label.as_str(), "CI of the shop");
    assert_eq!(listed[0].last_used_at, Some(world.in_hours(0)));

    world.pass(SignedDuration::from_hours(24) - SignedDuration::from_secs(1));
    assert!(world.auth.token(&made.secret).await.is_ok(), "unlike a session it need not be used");
    world.pass(SignedDuration::from_secs(1));
    assert_eq!(world.auth.token(&made.secret).await, Err(AuthError::NoSession));
    assert_eq!(world.auth.tokens(Whose::Anybodys).await.unwrap(), []);
}

async fn a_token_does_what_its_owner_may_do_at_this_moment(world: World) {
    let ada = world.person("ada").await.user.id;
    let made = world.token_for(ada, "CI", 24).await.unwrap();

    world.auth.change_user(&BY, ada, PersonChange { role: Some(Role::Viewer), is_disabled: None }).await.unwrap();

    assert_eq!(world.auth.token(&made.secret).await.unwrap().user.role, Role::Viewer);
}

async fn a_token_and_a_session_are_not_taken_for_each_other(world: World) {
    let session = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    let token = world.token_for(session.user.id, "CI", 24).await.unwrap().secret;

    assert_eq!(world.auth.session(&token).await, Err(AuthError::NoSession));
    for no_token in
        [session.token.reveal(), "", "ko_pat_", "ko_pat_forged", &token.reveal()[7..], &format!("{} ", token.reveal())]
    {
        assert_eq!(world.auth.token(&Secret::new(no_token)).await, Err(AuthError::NoSession));
    }
}

async fn a_token_ends_within_a_year_and_not_in_the_past(world: World) {
    let ada = world.person("ada").await.user.id;

    for hours in [-1, 0, 366 * 24 + 1] {
        assert_eq!(world.token_for(ada, "CI", hours).await.unwrap_err(), PeopleError::ExpiryNotAcceptable, "{hours}");
    }
    assert!(world.token_for(ada, "CI", 366 * 24).await.is_ok());
}

async fn tokens_are_listed_and_ended_by_whose_they_are(world: World) {
    let ada = world.person("ada").await.user.id;
    let bob = world.auth.add_user(&BY, &name("bob"), Role::Viewer, &Secret::new(PASSWORD)).await.unwrap().user.id;
    let of_ada = world.token_for(ada, "CI", 24).await.unwrap();
    let of_bob = world.token_for(bob, "CI", 24).await.unwrap();

    assert_eq!(world.auth.tokens(Whose::Anybodys).await.unwrap(), [of_bob.token.clone(), of_ada.token.clone()]);
    assert_eq!(world.auth.tokens(Whose::Only(ada)).await.unwrap(), std::slice::from_ref(&of_ada.token));
    let foreign = world.auth.revoke_token(&BY, of_ada.token.id, Whose::Only(bob)).await;
    assert_eq!(foreign.unwrap_err(), PeopleError::NoSuchToken);
    assert!(world.auth.token(&of_ada.secret).await.is_ok());
    world.auth.revoke_token(&BY, of_ada.token.id, Whose::Only(ada)).await.unwrap();
    world.auth.revoke_token(&BY, of_bob.token.id, Whose::Anybodys).await.unwrap();
    for ended in [of_ada, of_bob] {
        assert_eq!(world.auth.token(&ended.secret).await, Err(AuthError::NoSession));
    }
}

async fn nobody_has_endless_tokens(world: World) {
    let ada = world.person("ada").await.user.id;
    for _ in 0..access_tokens::MOST {
        world.token_for(ada, "CI", 24).await.unwrap();
    }

    let refused = world.token_for(ada, "CI", 24).await.unwrap_err();
    assert_eq!(refused, PeopleError::TooManyTokens { most: access_tokens::MOST });

    world.pass(SignedDuration::from_hours(24));
    assert!(world.token_for(ada, "CI", 24).await.is_ok(), "those that ended do not count");
}
