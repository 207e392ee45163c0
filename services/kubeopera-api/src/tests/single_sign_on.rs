//! Logging in at an identity provider, as a browser sees it.

use auth_service::{GroupRoles, Provider, ProviderSettings};
use auth_service_contract::Role;
use axum::body::Body;
use http::{HeaderMap, Method, Request, StatusCode, header};
use jiff::Timestamp;
use serde_json::json;
use testkit_oidc::{CLIENT_ID, CLIENT_SECRET, Liar, RealProvider, Signature};
use vocabulary::Secret;

use super::{
    World, on_both_databases,
    world::{Answer, PASSWORD},
};

on_both_databases! {
    without_a_provider_people_log_in_with_passwords_only
    whoever_the_provider_logs_in_is_back_where_they_wanted_with_a_new_session
    a_certified_provider_sends_people_back_logged_in
    whoever_comes_back_twice_or_from_elsewhere_is_rejected
    a_token_that_lies_logs_nobody_in
    nobody_is_sent_to_another_site
    a_browser_learns_on_the_login_page_what_a_program_learns_from_the_problem
    people_of_the_provider_are_shown_as_such_and_kept_apart
}

const CALLBACK: &str = "/api/v1/session/oidc/callback";

impl World {
    async fn refused_log_ins(&self) -> usize {
        let rows = self.dump("audit_entries").await;
        rows.iter().filter(|row| row.contains("log_in") && row.contains("denied")).count()
    }

    async fn with_provider(self, liar: &Liar) -> Self {
        self.with_issuer(&liar.issuer, None).await
    }

    async fn with_issuer(self, issuer: &str, client_secret: Option<Secret>) -> Self {
        let settings = ProviderSettings {
            name: "Acme".to_owned(),
            issuer: issuer.parse().unwrap(),
            client_id: CLIENT_ID.to_owned(),
            client_secret,
            redirect_uri: format!("https://kubeopera.acme.com{CALLBACK}").parse().unwrap(),
            scopes: ["profile", "email", "groups"].map(str::to_owned).to_vec(),
            groups_claim: "groups".to_owned(),
            roles: GroupRoles { groups: vec![("staff".to_owned(), Role::Viewer)], without_group: None },
        };
        self.at_provider(Provider::new(settings)).await
    }

    /// Follows a link as a browser does, with cookies.
    async fn follow(&self, path: &str, cookies: &str) -> Answer {
        let request = Request::get(path).header(header::COOKIE, cookies).header(header::ACCEPT, "text/html,*/*;q=0.8");
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Departs: the cookie of the browser, and the way back from a provider that knows an honest token for it.
    async fn depart(&self, liar: &Liar, return_to: &str, claims: serde_json::Value) -> (String, String) {
        let answer = self.follow(&format!("/api/v1/session/oidc?return_to={return_to}"), "").await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{answer:?}");
        let to = location(&answer);
        assert!(to.starts_with(&liar.issuer), "{to}");
        let parameter = |name: &str| {
            let (_, rest) = to.split_once(&format!("{name}=")).unwrap();
            rest.split('&').next().unwrap().to_owned()
        };
        let now = Timestamp::now().as_second();
        let mut honest = json!({
            "iss": liar.issuer, "aud": CLIENT_ID, "sub": "1", "nonce": parameter("nonce"), "iat": now, "exp": now + 300,
            "preferred_username": "viewer", "groups": ["staff"],
        });
        honest.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
        liar.give_token(&json!({"alg": "RS256", "kid": "one"}), &honest, Signature::Own).unwrap();
        let cookie = cookies(&answer.headers).remove(0);
        assert!(cookie.starts_with("__Host-kubeopera-departed="), "{cookie}");
        (cookie, format!("{CALLBACK}?code=CANARY-code&state={}&session_state=whatever", parameter("state")))
    }
}

fn location(answer: &Answer) -> String {
    answer.headers[header::LOCATION].to_str().unwrap().to_owned()
}

/// Cookies as a browser sends them back; those that are to go are empty.
fn cookies(headers: &HeaderMap) -> Vec<String> {
    let set = headers.get_all(header::SET_COOKIE).iter().map(|cookie| cookie.to_str().unwrap());
    set.map(|cookie| cookie.split(';').next().unwrap().to_owned()).collect()
}

async fn without_a_provider_people_log_in_with_passwords_only(world: World) {
    let ways = world.call(Method::GET, "/api/v1/session/ways", None).await.json();
    assert_eq!(ways, json!({"password": true, "oidc": null}));
    for path in ["/api/v1/session/oidc", CALLBACK] {
        let answer = world.call(Method::GET, path, None).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::NOT_FOUND, "oidc_not_configured"));
    }
}

async fn whoever_the_provider_logs_in_is_back_where_they_wanted_with_a_new_session(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with_provider(&liar).await;
    let ways = world.call(Method::GET, "/api/v1/session/ways", None).await.json();
    assert_eq!(ways, json!({"password": true, "oidc": {"name": "Acme"}}));
    let before = world.log_in("operator").await;

    let (departed, back) = world.depart(&liar, "/clusters/new%3Fway%3Dconnect", json!({})).await;
    let answer = world.follow(&back, &format!("{before}; {departed}")).await;

    assert_eq!((answer.status, location(&answer).as_str()), (StatusCode::SEE_OTHER, "/clusters/new?way=connect"));
    let [session, gone] = cookies(&answer.headers).try_into().unwrap();
    assert_eq!(gone, "__Host-kubeopera-departed=");
    for cookie in answer.headers.get_all(header::SET_COOKIE) {
        let cookie = cookie.to_str().unwrap();
        assert!(["HttpOnly", "Secure", "SameSite=Lax", "Path=/"].iter().all(|word| cookie.contains(word)), "{cookie}");
    }
    assert_ne!(session, before);
    assert_eq!(world.get("/api/v1/session", &before).await.code(), "session_expired");
    let me = world.get("/api/v1/session", &session).await.json();
    assert_eq!(
        (me["user"]["username"].as_str(), me["user"]["role"].as_str()),
        (Some("viewer@127.0.0.1"), Some("viewer"))
    );
    assert_eq!(me["must_change_password"], false);
    let rows = world.dump("audit_entries").await;
    let row = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(row(&["log_in", "done", "viewer@127.0.0.1"]), 1);
    assert!(!rows.concat().contains("CANARY"));
}

async fn a_certified_provider_sends_people_back_logged_in(world: World) {
    let real = RealProvider::start(&format!("https://kubeopera.acme.com{CALLBACK}")).await.unwrap();
    let world = world.with_issuer(&real.issuer, Some(Secret::new(CLIENT_SECRET))).await;
    real.log_in_as("1", json!({"email": "viewer@acme.com", "groups": ["staff"]})).await.unwrap();

    let departing = world.follow("/api/v1/session/oidc?return_to=/clusters", "").await;
    let back = real.visit(&location(&departing).parse().unwrap()).await.unwrap();
    let back = back.as_str().strip_prefix("https://kubeopera.acme.com").unwrap();
    let arrived = world.follow(back, &cookies(&departing.headers).remove(0)).await;

    assert_eq!((arrived.status, location(&arrived).as_str()), (StatusCode::SEE_OTHER, "/clusters"));
    let session = cookies(&arrived.headers).remove(0);
    assert_eq!(world.get("/api/v1/session", &session).await.json()["user"]["username"], "viewer@acme.com");

    real.refuse().await.unwrap();
    let departing = world.follow("/api/v1/session/oidc", "").await;
    let back = real.visit(&location(&departing).parse().unwrap()).await.unwrap();
    let back = back.as_str().strip_prefix("https://kubeopera.acme.com").unwrap();
    let arrived = world.follow(back, &cookies(&departing.headers).remove(0)).await;
    assert_eq!(location(&arrived), "/login?refused=oidc_not_logged_in");
}

async fn whoever_comes_back_twice_or_from_elsewhere_is_rejected(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with_provider(&liar).await;
    let (departed, back) = world.depart(&liar, "/", json!({})).await;

    for (path, cookie) in [
        (back.as_str(), ""),
        (&back, "__Host-kubeopera-departed=forged"),
        (&format!("{back}&state=twice"), &departed),
        (CALLBACK, &departed),
    ] {
        let answer = world.get(path, cookie).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::UNAUTHORIZED, "oidc_rejected"), "{path}");
        assert!(!answer.headers.contains_key(header::SET_COOKIE), "{path}");
    }
    assert_eq!(world.get(&back, &departed).await.status, StatusCode::SEE_OTHER, "none of that spoiled it");
    assert_eq!(world.get(&back, &departed).await.code(), "oidc_rejected");

    assert_eq!(world.refused_log_ins().await, 0, "strangers, whose number nothing limits, could fill the audit log");
}

async fn a_token_that_lies_logs_nobody_in(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with_provider(&liar).await;
    for lie in [json!({"aud": "another"}), json!({"nonce": "another"}), json!({"sub": ""}), json!({"groups": [""]})] {
        let (departed, back) = world.depart(&liar, "/", lie.clone()).await;
        let answer = world.get(&back, &departed).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::UNAUTHORIZED, "oidc_rejected"), "{lie}");
    }
    assert_eq!(world.refused_log_ins().await, 4);
}

async fn nobody_is_sent_to_another_site(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with_provider(&liar).await;
    for elsewhere in
        ["//evil.example", "https://evil.example", "/%5Cevil.example", "%2F%2Fevil.example", "/x%0d%0aa:b", ""]
    {
        let (departed, back) = world.depart(&liar, elsewhere, json!({})).await;
        let answer = world.follow(&back, &departed).await;
        assert_eq!((answer.status, location(&answer).as_str()), (StatusCode::SEE_OTHER, "/"), "{elsewhere}");
    }
}

async fn a_browser_learns_on_the_login_page_what_a_program_learns_from_the_problem(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with_provider(&liar).await;

    let (departed, back) = world.depart(&liar, "/", json!({"groups": ["gardeners"]})).await;
    let answer = world.follow(&back, &departed).await;
    assert_eq!((answer.status, location(&answer).as_str()), (StatusCode::SEE_OTHER, "/login?refused=oidc_no_access"));
    let answer = world.follow(&back, &departed).await;
    assert_eq!(location(&answer), "/login?refused=oidc_rejected");
    let (departed, back) = world.depart(&liar, "/", json!({"groups": ["gardeners"]})).await;
    let answer = world.get(&back, &departed).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::FORBIDDEN, "oidc_no_access"));

    let (departed, back) = world.depart(&liar, "/", json!({})).await;
    let not_logged_in = back.replace("code=CANARY-code", "error=access_denied");
    let answer = world.follow(&not_logged_in, &departed).await;
    assert_eq!(location(&answer), "/login?refused=oidc_not_logged_in");

    let (departed, back) = world.depart(&liar, "/", json!({})).await;
    liar.answer_codes(500, json!({"error": "CANARY"}));
    let answer = world.get(&back, &departed).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "oidc_unavailable"));
    assert!(!answer.text.contains("CANARY"));
}

async fn people_of_the_provider_are_shown_as_such_and_kept_apart(world: World) {
    let liar = Liar::start().await.unwrap();
    let world = world.with_provider(&liar).await;
    let (departed, back) = world.depart(&liar, "/", json!({})).await;
    let session = cookies(&world.follow(&back, &departed).await.headers).remove(0);
    let administrator = world.log_in("administrator").await;

    let people = world.get("/api/v1/users", &administrator).await.json();
    let people = people["items"].as_array().unwrap();
    let of = |name: &str| people.iter().find(|person| person["username"] == name).unwrap().clone();
    assert_eq!(
        (of("viewer")["way"].as_str(), of("viewer@127.0.0.1")["way"].as_str()),
        (Some("password"), Some("oidc"))
    );

    let id = of("viewer@127.0.0.1")["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/users/{id}");
    let refused = world.change(Method::PATCH, &path, &administrator, &json!({"role": "operator"})).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "role_of_provider"));
    let password = json!({"password": "CANARY-other-horse-staple"});
    let refused = world.change(Method::PUT, &format!("{path}/password"), &administrator, &password).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "no_password"));
    assert_eq!(world.get("/api/v1/session", &session).await.status, StatusCode::OK);
    let disabled = world.change(Method::PATCH, &path, &administrator, &json!({"disabled": true})).await;
    assert_eq!(disabled.status, StatusCode::OK);
    assert_eq!(world.get("/api/v1/session", &session).await.code(), "session_expired");
    let (departed, back) = world.depart(&liar, "/", json!({})).await;
    assert_eq!(world.get(&back, &departed).await.code(), "oidc_no_access");
    assert_eq!(world.try_log_in("viewer", PASSWORD).await.status, StatusCode::OK, "the other viewer");
}
