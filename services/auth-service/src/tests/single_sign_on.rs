//! Logging in at an identity provider: a real one, and one that lies.

use auth_service_contract::{
    AccessTokens, Arrival, Auth, AuthError, Departure, People, PeopleError, PersonChange, ProviderAnswer, Role,
    Session, SingleSignOn, SingleSignOnError, Way,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit_oidc::{CLIENT_ID, CLIENT_SECRET, Liar, RealProvider, Signature};
use url::Url;
use vocabulary::{Actor, Secret};

use super::{PASSWORD, World, name, on_both_databases};
use crate::{GroupRoles, Provider, ProviderSettings, access_tokens, oidc, throttle};

on_both_databases! {
    a_real_provider_logs_in_who_it_knows_and_their_role_follows_their_groups
    a_real_provider_that_logs_nobody_in_is_no_fault_of_anybody
    a_log_in_ends_once_in_the_browser_it_began_in_and_within_ten_minutes
    every_lie_is_rejected_and_nobody_is_let_in
    an_honest_token_is_accepted_whatever_its_header_points_to_and_nothing_is_fetched_from_there
    a_key_nobody_knows_makes_us_ask_at_most_once_a_minute
    an_answer_has_to_say_whose_it_is_where_the_provider_promises_that
    equal_names_are_different_people
    who_has_no_group_any_more_loses_sessions_and_tokens
    tokens_rest_when_the_provider_has_not_vouched_for_their_owner_for_a_month
    a_person_of_the_provider_is_disabled_here_and_given_a_role_there
    the_last_administrator_with_a_password_stays_one_whoever_comes_by_way_of_the_provider
    what_came_by_way_of_a_provider_ends_with_it
    two_first_log_ins_at_once_are_one_person
    departures_are_slowed_down_and_a_success_is_forgiven
}

const REDIRECT: &str = "https://kubeopera.acme.com/api/v1/session/oidc/callback";

fn settings(issuer: &str) -> ProviderSettings {
    ProviderSettings {
        name: "Acme".to_owned(),
        issuer: issuer.parse().unwrap(),
        client_id: CLIENT_ID.to_owned(),
        client_secret: Some(Secret::new(CLIENT_SECRET)),
        redirect_uri: REDIRECT.parse().unwrap(),
        scopes: ["profile", "email", "groups"].map(str::to_owned).to_vec(),
        groups_claim: "groups".to_owned(),
        roles: GroupRoles {
            groups: vec![
                ("staff".to_owned(), Role::Viewer),
                ("on-call".to_owned(), Role::Operator),
                ("platform".to_owned(), Role::PlatformAdministrator),
            ],
            without_group: None,
        },
    }
}

fn nonce_of(departure: &Departure) -> String {
    parameter(&departure.address, "nonce")
}

fn parameter(address: &Url, name: &str) -> String {
    address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// What a browser brings back that was sent to an address.
fn answer_in(address: &Url) -> ProviderAnswer {
    let one = |name: &str| Some(parameter(address, name)).filter(|value| !value.is_empty());
    ProviderAnswer {
        code: one("code").map(Secret::new),
        state: one("state").map(Secret::new),
        issuer: one("iss"),
        error: one("error"),
    }
}

/// What a browser brings back from a provider that is honest about everything but perhaps the token.
fn answer_of_liar(departure: &Departure) -> ProviderAnswer {
    let state = Some(Secret::new(parameter(&departure.address, "state")));
    ProviderAnswer { code: Some(Secret::new("CANARY-code")), state, ..ProviderAnswer::default() }
}

impl World {
    fn with(self, settings: ProviderSettings) -> Self {
        Self { auth: self.auth.with_provider(Provider::new(settings)), ..self }
    }

    async fn depart(&self) -> Departure {
        self.auth.depart("/clusters", "10.0.0.9").await.unwrap()
    }

    async fn log_in_at(&self, real: &RealProvider) -> Result<Arrival, SingleSignOnError> {
        *self.now.lock().unwrap() = Timestamp::now();
        let departure = self.depart().await;
        let back = real.visit(&departure.address).await.unwrap();
        assert!(back.as_str().starts_with(REDIRECT), "{back}");
        self.auth.arrive(&departure.browser, answer_in(&back), "10.0.0.9").await
    }

    /// Claims of a token that is right in every respect.
    fn claims(&self, liar: &Liar, nonce: &str, subject: &str, groups: &[&str]) -> Value {
        let now = self.now.lock().unwrap().as_second();
        json!({
            "iss": liar.issuer, "aud": CLIENT_ID, "sub": subject, "nonce": nonce, "iat": now, "exp": now + 300,
            "preferred_username": subject, "groups": groups,
        })
    }

    /// Logs somebody in at a provider that is honest for once.
    async fn log_in_honestly(&self, liar: &Liar, subject: &str, groups: &[&str]) -> Result<Session, SingleSignOnError> {
        let departure = self.depart().await;
        let claims = self.claims(liar, &nonce_of(&departure), subject, groups);
        liar.give_token(&json!({"alg": "RS256", "kid": "one"}), &claims, Signature::Own).unwrap();
        let arrival = self.auth.arrive(&departure.browser, answer_of_liar(&departure), "10.0.0.9").await;
        arrival.map(|arrival| arrival.session)
    }
}

async fn a_real_provider_logs_in_who_it_knows_and_their_role_follows_their_groups(world: World) {
    let real = RealProvider::start(REDIRECT).await.unwrap();
    let world = world.with(settings(&real.issuer));
    assert_eq!(world.auth.provider(), Some("Acme"));
    real.log_in_as("subject-1", json!({"preferred_username": "ada", "groups": ["staff", "on-call"]})).await.unwrap();

    let first = world.log_in_at(&real).await.unwrap();

    assert_eq!((first.session.user.username.as_str(), first.session.user.role), ("ada@127.0.0.1", Role::Operator));
    assert_eq!(first.return_to, "/clusters");
    let found = world.auth.session(&first.session.token).await.unwrap();
    assert_eq!((&found.user, found.must_change_password), (&first.session.user, false));

    real.log_in_as("subject-1", json!({"preferred_username": "ada.l", "groups": ["staff"]})).await.unwrap();
    let second = world.log_in_at(&real).await.unwrap();

    assert_eq!(second.session.user.id, first.session.user.id, "the same person under another name");
    assert_eq!((second.session.user.username.as_str(), second.session.user.role), ("ada.l@127.0.0.1", Role::Viewer));
    assert_ne!(second.session.token, first.session.token);
    assert_eq!(world.auth.session(&first.session.token).await, Err(AuthError::NoSession), "another role ends it");
    assert!(world.auth.session(&second.session.token).await.is_ok());
}

async fn a_real_provider_that_logs_nobody_in_is_no_fault_of_anybody(world: World) {
    let real = RealProvider::start(REDIRECT).await.unwrap();
    let world = world.with(settings(&real.issuer));
    real.refuse().await.unwrap();
    assert_eq!(world.log_in_at(&real).await.unwrap_err(), SingleSignOnError::NotLoggedIn);

    real.log_in_as("subject-2", json!({"preferred_username": "eve"})).await.unwrap();
    assert_eq!(world.log_in_at(&real).await.unwrap_err(), SingleSignOnError::NoAccess, "in no group");
    assert_eq!(world.auth.people().await.unwrap().len(), 1, "whoever is not let in is not made known");

    let wrong = ProviderSettings { client_secret: Some(Secret::new("CANARY-wrong")), ..settings(&real.issuer) };
    let world = world.with(wrong);
    assert_eq!(world.log_in_at(&real).await.unwrap_err(), SingleSignOnError::ProviderUnavailable);

    let everybody = settings(&real.issuer);
    let roles = GroupRoles { without_group: Some(Role::Viewer), ..everybody.roles.clone() };
    let world = world.with(ProviderSettings { roles, ..everybody });
    assert_eq!(world.log_in_at(&real).await.unwrap().session.user.role, Role::Viewer);
}

async fn a_log_in_ends_once_in_the_browser_it_began_in_and_within_ten_minutes(world: World) {
    let real = RealProvider::start(REDIRECT).await.unwrap();
    let world = world.with(settings(&real.issuer));
    real.log_in_as("subject-1", json!({"groups": ["staff"]})).await.unwrap();
    *world.now.lock().unwrap() = Timestamp::now();
    let (departure, elsewhere) = (world.depart().await, world.depart().await);
    let back = real.visit(&departure.address).await.unwrap();
    let arrive = |browser: &Secret, answer| {
        let (auth, browser) = (&world.auth, browser.clone());
        async move { auth.arrive(&browser, answer, "10.0.0.9").await.map(|_| ()) }
    };
    let rejected = Err(SingleSignOnError::Rejected);

    assert_eq!(arrive(&elsewhere.browser, answer_in(&back)).await, rejected, "somebody else's browser");
    assert_eq!(arrive(&Secret::new(""), answer_in(&back)).await, rejected);
    for state in [None, Some(Secret::new("")), Some(Secret::new("forged"))] {
        let forged = ProviderAnswer { state, ..answer_in(&back) };
        assert_eq!(arrive(&departure.browser, forged).await, rejected);
    }

    // Nothing of this spoiled the log-in.
    let (one, other) =
        tokio::join!(arrive(&departure.browser, answer_in(&back)), arrive(&departure.browser, answer_in(&back)));
    assert!(one.is_ok() != other.is_ok(), "of two at once one arrives: {one:?} {other:?}");
    assert_eq!(arrive(&departure.browser, answer_in(&back)).await, rejected, "the same once more");

    // A code that was redeemed, in a log-in of its own.
    let anew = world.depart().await;
    let replayed = ProviderAnswer { state: Some(Secret::new(parameter(&anew.address, "state"))), ..answer_in(&back) };
    assert_eq!(arrive(&anew.browser, replayed).await, rejected);

    let slow = world.depart().await;
    let back = real.visit(&slow.address).await.unwrap();
    world.pass(oidc::LONGEST_WAY);
    assert_eq!(arrive(&slow.browser, answer_in(&back)).await, rejected, "too late");
}

/// What is changed about an honest token: its header, its claims and how it is signed.
type Lie = (&'static str, Value, Value, Signature);

fn lies(now: i64) -> Vec<Lie> {
    let claim = |what, claims| (what, json!({}), claims, Signature::Own);
    let twice = [CLIENT_ID, "another"];
    vec![
        ("no algorithm", json!({"alg": "none"}), json!({}), Signature::None),
        ("no algorithm, signed", json!({"alg": "none"}), json!({}), Signature::Own),
        ("no signature", json!({}), json!({}), Signature::None),
        ("HS256 with the public key", json!({"alg": "HS256"}), json!({}), Signature::PublicKeyAsSecret),
        ("HS256 with a published secret", json!({"alg": "HS256", "kid": "secret"}), json!({}), Signature::None),
        ("a public key for a secret", json!({"alg": "RS256"}), json!({}), Signature::PublicKeyAsSecret),
        ("another's key", json!({}), json!({}), Signature::Foreign),
        (
            "another's key that the token brings",
            json!({"jku": "LIAR/keys2", "kid": "two"}),
            json!({}),
            Signature::Foreign,
        ),
        ("a certificate elsewhere", json!({"x5u": "LIAR/x5u", "kid": null}), json!({}), Signature::Foreign),
        ("another algorithm of the same key", json!({"alg": "PS256"}), json!({}), Signature::Own),
        ("an elliptic curve", json!({"alg": "ES256"}), json!({}), Signature::Own),
        (
            "something critical that nobody knows",
            json!({"crit": ["kubeopera"], "kubeopera": 1}),
            json!({}),
            Signature::Own,
        ),
        claim("another issuer", json!({"iss": "https://evil.example"})),
        claim("the issuer with a slash", json!({"iss": "LIAR/"})),
        claim("no issuer", json!({"iss": null})),
        claim("another audience", json!({"aud": "another"})),
        claim("one more audience", json!({"aud": twice})),
        claim("one more audience with our azp", json!({"aud": twice, "azp": CLIENT_ID})),
        claim("no audience", json!({"aud": []})),
        claim("no audience at all", json!({"aud": null})),
        claim("another authorized party", json!({"azp": "another"})),
        claim("another nonce", json!({"nonce": "another"})),
        claim("no nonce", json!({"nonce": null})),
        claim("expired", json!({"exp": now - 61})),
        claim("no end", json!({"exp": null})),
        claim("an end that is text", json!({"exp": "tomorrow"})),
        claim("an end beyond time", json!({"exp": i64::MAX})),
        claim("issued in the future", json!({"iat": now + 120})),
        claim("not issued", json!({"iat": null})),
        claim("not valid yet", json!({"nbf": now + 120})),
        claim("no subject", json!({"sub": null})),
        claim("an empty subject", json!({"sub": ""})),
        claim("a blank subject", json!({"sub": " "})),
        claim("a subject that is a number", json!({"sub": 1})),
        claim("a subject without end", json!({"sub": "x".repeat(256)})),
        claim("an empty group", json!({"groups": [""]})),
        claim("an empty group beside a good one", json!({"groups": ["staff", " "]})),
        claim("groups that are no names", json!({"groups": {"staff": true}})),
        claim("a group that is no name", json!({"groups": ["staff", 1]})),
    ]
}

fn changed(mut object: Value, fields: &Value, issuer: &str) -> Value {
    for (field, value) in fields.as_object().unwrap() {
        match value.as_str() {
            _ if value.is_null() => drop(object.as_object_mut().unwrap().remove(field)),
            Some(text) => object[field] = text.replace("LIAR", issuer).into(),
            None => object[field] = value.clone(),
        }
    }
    object
}

async fn every_lie_is_rejected_and_nobody_is_let_in(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let now = world.now.lock().unwrap().as_second();

    for (lie, header, claims, signature) in lies(now) {
        world.pass(SignedDuration::from_secs(61));
        let departure = world.depart().await;
        let honest = world.claims(&liar, &nonce_of(&departure), "ada", &["staff"]);
        // Of the time of this departure, but for what the lie is about.
        let claims = match claims.as_object().unwrap().iter().next() {
            Some((field, value)) if ["exp", "iat", "nbf"].contains(&field.as_str()) && value.is_i64() => {
                let moved = value.as_i64().unwrap().saturating_add(world.now.lock().unwrap().as_second() - now);
                json!({field: moved})
            }
            _ => claims,
        };
        let header = changed(json!({"alg": "RS256", "kid": "one"}), &header, &liar.issuer);
        liar.give_token(&header, &changed(honest, &claims, &liar.issuer), signature).unwrap();

        let arrival = world.auth.arrive(&departure.browser, answer_of_liar(&departure), "10.0.0.9").await;

        assert_eq!(arrival.map(|_| ()), Err(SingleSignOnError::Rejected), "{lie}");
    }
    for no_token in [json!({"id_token": "no.token"}), json!({"id_token": ""}), json!({"access_token": "CANARY"})] {
        world.pass(SignedDuration::from_secs(61));
        let departure = world.depart().await;
        liar.answer_codes(200, no_token.clone());
        let arrival = world.auth.arrive(&departure.browser, answer_of_liar(&departure), "10.0.0.9").await;
        assert_eq!(arrival.map(|_| ()), Err(SingleSignOnError::Rejected), "{no_token}");
    }

    assert_eq!(world.auth.people().await.unwrap().len(), 1, "nobody was made known");
    world.pass(SignedDuration::from_secs(61));
    assert!(world.log_in_honestly(&liar, "eve", &["staff"]).await.is_ok(), "honesty is what makes the difference");
    let asked = liar.asked();
    for path in asked {
        assert!(["/.well-known/openid-configuration", "/keys", "/token"].contains(&path.as_str()), "{path}");
    }
}

async fn an_honest_token_is_accepted_whatever_its_header_points_to_and_nothing_is_fetched_from_there(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let departure = world.depart().await;
    let mut claims = world.claims(&liar, &nonce_of(&departure), "ada", &["staff"]);
    claims["aud"] = json!([CLIENT_ID]);
    claims["azp"] = json!(CLIENT_ID);
    let elsewhere = |path| format!("{}/{path}", liar.issuer);
    let header = json!({"alg": "RS256", "kid": "one", "jku": elsewhere("jku"), "x5u": elsewhere("x5u")});
    liar.give_token(&header, &claims, Signature::Own).unwrap();

    world.auth.arrive(&departure.browser, answer_of_liar(&departure), "10.0.0.9").await.unwrap();

    assert_eq!(liar.asked(), ["/.well-known/openid-configuration", "/keys", "/token"]);
    let form = &liar.forms()[0];
    assert_eq!((form["code"].as_str(), form["redirect_uri"].as_str()), ("CANARY-code", REDIRECT));
    assert_eq!(parameter(&departure.address, "code_challenge_method"), "S256");
    assert!(!departure.address.as_str().contains(&form["code_verifier"]), "the challenge is not the verifier");
    assert!(!form.contains_key("client_secret"), "it is in a header");
}

async fn a_key_nobody_knows_makes_us_ask_at_most_once_a_minute(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let times = || liar.asked().iter().filter(|path| *path == "/keys").count();
    let unknown = json!({"alg": "RS256", "kid": "two"});
    let mut answers = Vec::new();
    for _ in 0..3 {
        let departure = world.depart().await;
        let claims = world.claims(&liar, &nonce_of(&departure), "ada", &["staff"]);
        liar.give_token(&unknown, &claims, Signature::Own).unwrap();
        answers.push(world.auth.arrive(&departure.browser, answer_of_liar(&departure), "10.0.0.9").await.is_ok());
    }
    assert_eq!((answers.as_slice(), times()), ([false; 3].as_slice(), 1));

    // The provider has a new key: a minute later it is known.
    liar.rename_key("two");
    world.pass(SignedDuration::from_secs(60));
    let departure = world.depart().await;
    let claims = world.claims(&liar, &nonce_of(&departure), "ada", &["staff"]);
    liar.give_token(&unknown, &claims, Signature::Own).unwrap();
    world.auth.arrive(&departure.browser, answer_of_liar(&departure), "10.0.0.9").await.unwrap();
    assert_eq!(times(), 2);
}

async fn an_answer_has_to_say_whose_it_is_where_the_provider_promises_that(world: World) {
    let liar = Liar::start().await.unwrap();
    liar.publish(&json!({"authorization_response_iss_parameter_supported": true}));
    let world = world.with(settings(&liar.issuer));
    for issuer in [None, Some("https://evil.example".to_owned()), Some(liar.issuer.clone())] {
        let is_ours = issuer.as_ref() == Some(&liar.issuer);
        let departure = world.depart().await;
        let claims = world.claims(&liar, &nonce_of(&departure), "ada", &["staff"]);
        liar.give_token(&json!({"alg": "RS256", "kid": "one"}), &claims, Signature::Own).unwrap();
        let answer = ProviderAnswer { issuer, ..answer_of_liar(&departure) };
        assert_eq!(world.auth.arrive(&departure.browser, answer, "10.0.0.9").await.is_ok(), is_ours);
    }
}

async fn equal_names_are_different_people(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let local = world.person("ada").await.user.id;

    let of_provider = world.log_in_honestly(&liar, "ada", &["staff"]).await.unwrap().user;

    assert_ne!(of_provider.id, local);
    assert_eq!(of_provider.username, "ada@127.0.0.1");
    let ways: Vec<_> = world.auth.people().await.unwrap().into_iter().map(|one| (one.user.id, one.way)).collect();
    assert_eq!(ways, [(local, Way::Password), (of_provider.id, Way::Provider)]);
    let issuer_and_subject = format!("{} ada", liar.issuer);
    for (username, password) in
        [(of_provider.username.as_str(), PASSWORD), (&issuer_and_subject, ""), (&issuer_and_subject, PASSWORD)]
    {
        assert_eq!(world.log_in(username, password, "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);
    }
    let (by, new) = (Actor::KubeOpera, Secret::new("CANARY-other-horse-staple"));
    assert_eq!(world.auth.reset_password(&by, of_provider.id, &new).await, Err(PeopleError::NoPassword));
    assert!(world.log_in("ada", PASSWORD, "10.0.0.1").await.is_ok());
}

async fn who_has_no_group_any_more_loses_sessions_and_tokens(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let session = world.log_in_honestly(&liar, "eve", &["staff"]).await.unwrap();
    let tomorrow = *world.now.lock().unwrap() + SignedDuration::from_hours(24);
    let made =
        world.auth.make_token(&Actor::KubeOpera, session.user.id, &"CI".parse().unwrap(), tomorrow).await.unwrap();
    assert!(world.auth.token(&made.secret).await.is_ok());

    let refused = world.log_in_honestly(&liar, "eve", &["gardeners"]).await.map(|_| ());

    assert_eq!(refused, Err(SingleSignOnError::NoAccess));
    assert_eq!(world.auth.session(&session.token).await, Err(AuthError::NoSession));
    assert_eq!(world.auth.token(&made.secret).await, Err(AuthError::NoSession));
    let back = world.log_in_honestly(&liar, "eve", &["on-call"]).await.unwrap();
    assert_eq!((back.user.id, back.user.role), (session.user.id, Role::Operator));
}

async fn tokens_rest_when_the_provider_has_not_vouched_for_their_owner_for_a_month(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let eve = world.log_in_honestly(&liar, "eve", &["staff"]).await.unwrap().user.id;
    let in_a_year = *world.now.lock().unwrap() + SignedDuration::from_hours(365 * 24);
    let label = "CI".parse().unwrap();
    let made = world.auth.make_token(&Actor::KubeOpera, eve, &label, in_a_year).await.unwrap();
    let ada = world.person("ada").await.user.id;
    let of_ada = world.auth.make_token(&Actor::KubeOpera, ada, &label, in_a_year).await.unwrap();

    world.pass(access_tokens::VOUCHED_FOR - SignedDuration::from_secs(1));
    assert!(world.auth.token(&made.secret).await.is_ok());
    world.pass(SignedDuration::from_secs(1));
    assert_eq!(world.auth.token(&made.secret).await, Err(AuthError::NoSession));
    assert!(world.auth.token(&of_ada.secret).await.is_ok(), "a password is vouched for by nobody");

    world.log_in_honestly(&liar, "eve", &["staff"]).await.unwrap();
    assert!(world.auth.token(&made.secret).await.is_ok(), "to log in wakes them");
}

async fn a_person_of_the_provider_is_disabled_here_and_given_a_role_there(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let session = world.log_in_honestly(&liar, "eve", &["staff"]).await.unwrap();
    let (by, eve) = (Actor::KubeOpera, session.user.id);

    let promote = PersonChange { role: Some(Role::PlatformAdministrator), is_disabled: None };
    assert_eq!(world.auth.change_user(&by, eve, promote).await, Err(PeopleError::RoleOfProvider));
    assert!(world.auth.session(&session.token).await.is_ok(), "a refused change ends no session");
    let disable = PersonChange { role: None, is_disabled: Some(true) };
    world.auth.change_user(&by, eve, disable).await.unwrap();

    assert_eq!(world.auth.session(&session.token).await, Err(AuthError::NoSession));
    let refused = world.log_in_honestly(&liar, "eve", &["platform"]).await.map(|_| ());
    assert_eq!(refused, Err(SingleSignOnError::NoAccess));
    let everybody = world.auth.people().await.unwrap();
    let eve = everybody.iter().find(|one| one.user.id == eve).unwrap();
    assert_eq!((eve.user.role, eve.disabled_at.is_some()), (Role::Viewer, true), "to be refused changes nothing");
}

async fn the_last_administrator_with_a_password_stays_one_whoever_comes_by_way_of_the_provider(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let by = Actor::KubeOpera;
    let bob =
        world.auth.add_user(&by, &name("bob"), Role::PlatformAdministrator, &Secret::new(PASSWORD)).await.unwrap();
    world.log_in_honestly(&liar, "eve", &["platform"]).await.unwrap();

    let demote = PersonChange { role: Some(Role::Viewer), is_disabled: None };
    let refused = world.auth.change_user(&by, bob.user.id, demote).await;

    assert_eq!(refused, Err(PeopleError::LastAdministrator), "the provider may be away");
    let demoted = world.log_in_honestly(&liar, "eve", &["staff"]).await.unwrap();
    assert_eq!(demoted.user.role, Role::Viewer);
}

async fn what_came_by_way_of_a_provider_ends_with_it(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    let session = world.log_in_honestly(&liar, "eve", &["staff"]).await.unwrap();
    let tomorrow = *world.now.lock().unwrap() + SignedDuration::from_hours(24);
    let made =
        world.auth.make_token(&Actor::KubeOpera, session.user.id, &"CI".parse().unwrap(), tomorrow).await.unwrap();

    let elsewhere = Liar::start().await.unwrap();
    let world = world.with(settings(&elsewhere.issuer));

    assert_eq!(world.auth.token(&made.secret).await, Err(AuthError::NoSession));
    assert_eq!(world.auth.session(&session.token).await, Err(AuthError::NoSession));
    let same_subject = world.log_in_honestly(&elsewhere, "eve", &["platform"]).await.unwrap();
    assert_ne!(same_subject.user.id, session.user.id, "another issuer's eve is another person");
}

async fn two_first_log_ins_at_once_are_one_person(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(ProviderSettings { client_secret: None, ..settings(&liar.issuer) });
    let departures = [world.depart().await, world.depart().await];
    let arrivals = departures.iter().enumerate().map(|(number, departure)| {
        let code = format!("code-{number}");
        liar.give_token_for(&code, &world.claims(&liar, &nonce_of(departure), "eve", &["staff"])).unwrap();
        let answer = ProviderAnswer { code: Some(Secret::new(code)), ..answer_of_liar(departure) };
        world.auth.arrive(&departure.browser, answer, "10.0.0.9")
    });

    let arrivals = futures::future::join_all(arrivals).await;

    let people: Vec<_> = arrivals.into_iter().map(|arrival| arrival.unwrap().session.user.id).collect();
    assert_eq!(people[0], people[1]);
    assert_eq!(liar.forms()[0]["client_id"], CLIENT_ID, "a public client says who it is in the form");
    assert_eq!(world.auth.people().await.unwrap().len(), 2);
}

async fn departures_are_slowed_down_and_a_success_is_forgiven(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with(settings(&liar.issuer));
    for _ in 0..throttle::FROM_ADDRESS + 5 {
        world.log_in_honestly(&liar, "eve", &["staff"]).await.unwrap();
    }
    for _ in 0..throttle::FROM_ADDRESS {
        world.depart().await;
    }

    let refused = world.auth.depart("/", "10.0.0.9").await.unwrap_err();

    assert!(matches!(refused, SingleSignOnError::Auth(AuthError::TooManyAttempts { .. })), "{refused:?}");
    assert!(world.auth.depart("/", "10.0.0.8").await.is_ok(), "from elsewhere");
    assert!(world.log_in("ada", PASSWORD, "10.0.0.8").await.is_ok());
}

#[tokio::test]
async fn a_provider_that_is_not_what_it_should_be_is_not_used() {
    for (published, is_used) in [
        (json!({}), true),
        (json!({"issuer": "https://evil.example"}), false),
        (json!({"token_endpoint": "http://evil.example/token"}), false),
        (json!({"jwks_uri": "file:///etc/passwd"}), false),
        (json!({"authorization_endpoint": "javascript:alert(1)"}), false),
        (json!({"jwks_uri": null}), false),
    ] {
        let world = World::on_sqlite().await;
        let liar = Liar::start().await.unwrap();
        liar.publish(&published);
        let world = world.with(settings(&liar.issuer));
        let departed = world.auth.depart("/", "10.0.0.9").await;
        assert_eq!(departed.is_ok(), is_used, "{published}");
        if let Err(error) = departed {
            assert_eq!(error, SingleSignOnError::ProviderUnavailable, "{published}");
        }
    }
    let world = World::on_sqlite().await;
    assert_eq!(world.auth.depart("/", "10.0.0.9").await.unwrap_err(), SingleSignOnError::NoProvider);
    let world = world.with(settings("http://127.0.0.1:9"));
    assert_eq!(world.auth.depart("/", "10.0.0.9").await.unwrap_err(), SingleSignOnError::ProviderUnavailable);
    assert!(world.log_in("ada", PASSWORD, "10.0.0.1").await.is_ok(), "passwords are as good as ever");
}

#[test]
fn an_issuer_is_reached_over_tls_unless_it_is_on_this_machine() {
    for good in ["https://id.acme.com", "https://id.acme.com/realms/acme/", "http://127.0.0.1:4000", "http://localhost"]
    {
        assert!(good.parse::<crate::Issuer>().is_ok(), "{good}");
    }
    for bad in [
        "http://id.acme.com",
        "id.acme.com",
        "https://user:secret@id.acme.com",
        "https://id.acme.com?tenant=1",
        "https://id.acme.com/#a",
        " https://id.acme.com",
        "file:///etc",
    ] {
        assert!(bad.parse::<crate::Issuer>().is_err(), "{bad}");
    }
}
