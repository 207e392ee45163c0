//! Behaviour on both databases.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod audit;
mod credentials;
mod keys;
mod people;
mod single_sign_on;
mod tokens;

use std::sync::Mutex;

use auth_service_contract::{AccessTokens, People, Person};
use jiff::SignedDuration;
use sea_orm::{ConnectionTrait, EntityTrait, PaginatorTrait, Statement};

use super::*;
use crate::{session, store, throttle};

/// auth-service with one user, `ada`, and a clock that stands still until a test moves it.
struct World {
    auth: AuthService,
    now: Arc<Mutex<Timestamp>>,
    _folder: tempfile::TempDir,
}

const PASSWORD: &str = "CANARY-correct-horse";

impl World {
    async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("auth.db").display());
        Self::on(&url, folder).await
    }

    async fn on_postgres() -> Self {
        let url = tokio::task::spawn_blocking(testkit_postgres::database).await.unwrap().unwrap();
        Self::on(&url, tempfile::tempdir().unwrap()).await
    }

    async fn on(url: &str, folder: tempfile::TempDir) -> Self {
        let db = service_kit::database::open(url).await.unwrap();
        let now = Arc::new(Mutex::new("2026-11-30T08:00:00Z".parse().unwrap()));
        let clock = {
            let now = Arc::clone(&now);
            Arc::new(move || *now.lock().unwrap())
        };
        let auth = AuthService::open_at(db, root_keys(), clock).await.unwrap();
        auth.add_user(&BY, &name("ada"), Role::Operator, &Secret::new(PASSWORD)).await.unwrap();
        Self { auth, now, _folder: folder }
    }

    fn pass(&self, time: SignedDuration) {
        let mut now = self.now.lock().unwrap();
        *now += time;
    }

    async fn log_in(&self, username: &str, password: &str, address: &str) -> Result<Session, AuthError> {
        self.auth.log_in(username, &Secret::new(password), address).await
    }

    async fn person(&self, username: &str) -> Person {
        let everybody = self.auth.people().await.unwrap();
        everybody.into_iter().find(|person| person.user.username == username).unwrap()
    }

    /// Everything in some tables, none of which is empty.
    async fn dump(&self, tables: &[&str]) -> String {
        let mut dump = String::new();
        for table in tables {
            let db = &self.auth.db;
            let everything = Statement::from_string(db.get_database_backend(), format!("SELECT * FROM {table}"));
            let rows = db.query_all_raw(everything).await.unwrap();
            assert!(!rows.is_empty(), "{table}");
            for row in rows {
                for column in row.column_names() {
                    let text = row.try_get::<String>("", &column).or_else(|_| {
                        row.try_get::<Vec<u8>>("", &column).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                    });
                    dump += &text.unwrap_or_default();
                    dump.push('|');
                }
            }
        }
        dump
    }

    async fn run(&self, sql: &str) {
        let backend = self.auth.db.get_database_backend();
        self.auth.db.execute_raw(Statement::from_string(backend, sql)).await.unwrap();
    }
}

/// Who changes things where it does not matter who.
const BY: Actor = Actor::KubeOpera;

fn from_there() -> Actor {
    Actor::Stranger { address: "10.0.0.1".to_owned() }
}

fn root_keys() -> RootKeys {
    RootKeys::parse(b"a2V5IG9mIHRoZSB0ZXN0cyBvZiBhdXRoLXNlcnZpY2U=").unwrap()
}

fn name(text: &str) -> AdminUsername {
    text.parse().unwrap()
}

/// Makes each test run on SQLite and on PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident)*) => {
        mod on_sqlite { $(#[tokio::test] async fn $name() { super::$name(crate::tests::World::on_sqlite().await).await; })* }
        mod on_postgres { $(#[tokio::test] async fn $name() { super::$name(crate::tests::World::on_postgres().await).await; })* }
    };
}
use on_both_databases;

on_both_databases! {
    the_right_password_opens_a_session_that_ends_when_it_is_told_to
    a_wrong_password_an_unknown_name_and_a_disabled_user_are_one_answer
    every_log_in_has_a_token_of_its_own
    a_session_ends_when_nobody_uses_it_and_in_any_case_after_twelve_hours
    a_changed_role_and_a_disabled_user_take_effect_on_open_sessions
    guessing_is_slowed_down_for_one_account_from_one_address_only
    guessing_many_names_from_one_address_is_slowed_down
    many_guesses_at_once_are_not_more_than_one_after_the_other
    whoever_logs_in_is_not_held_to_earlier_mistakes
    the_table_of_attempts_is_bounded
    the_first_administrator_is_made_once_and_only_after_the_password_was_told
    the_administrator_of_an_environment_is_made_once
    the_administrator_of_an_environment_is_no_user_of_this_kubeopera
    neither_passwords_nor_tokens_are_in_the_database
}

async fn the_right_password_opens_a_session_that_ends_when_it_is_told_to(world: World) {
    let opened = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();

    let found = world.auth.session(&opened.token).await.unwrap();
    assert_eq!((found.user.username.as_str(), found.user.role), ("ada", Role::Operator));
    assert_eq!(found.expires_at, opened.expires_at);

    world.auth.log_out(&opened.token, "10.0.0.1").await.unwrap();
    world.auth.log_out(&opened.token, "10.0.0.1").await.unwrap();
    assert_eq!(world.auth.session(&opened.token).await, Err(AuthError::NoSession));
}

async fn a_wrong_password_an_unknown_name_and_a_disabled_user_are_one_answer(world: World) {
    world.auth.add_user(&BY, &name("bob"), Role::Viewer, &Secret::new(PASSWORD)).await.unwrap();
    world.run("UPDATE users SET disabled_at = 1 WHERE username = 'bob'").await;
    let odd_name = "x".repeat(10_000);

    for (username, password) in [
        ("ada", "wrong"),
        ("Ada", PASSWORD),
        ("eve", PASSWORD),
        ("bob", PASSWORD),
        ("", ""),
        ("ada\0", PASSWORD),
        (&odd_name, "'; --"),
    ] {
        let refused = world.log_in(username, password, "10.0.0.1").await.unwrap_err();
        assert_eq!(refused, AuthError::WrongCredentials, "{username}");
    }
}

async fn every_log_in_has_a_token_of_its_own(world: World) {
    let one = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    let other = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();

    assert_ne!(one.token, other.token);
    assert_eq!(one.token.reveal().len(), 43, "256 bits in base64");
    world.auth.log_out(&one.token, "10.0.0.1").await.unwrap();
    assert!(world.auth.session(&other.token).await.is_ok());
    assert_eq!(world.auth.session(&Secret::new("forged")).await, Err(AuthError::NoSession));
    assert_eq!(world.auth.session(&Secret::new("")).await, Err(AuthError::NoSession));
}

async fn a_session_ends_when_nobody_uses_it_and_in_any_case_after_twelve_hours(world: World) {
    let idle = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    let used = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();

    world.pass(session::IDLE - SignedDuration::from_secs(1));
    assert!(world.auth.session(&used.token).await.is_ok());
    world.pass(SignedDuration::from_secs(1));
    assert_eq!(world.auth.session(&idle.token).await, Err(AuthError::NoSession));

    let mut passed = session::IDLE;
    while passed + SignedDuration::from_mins(20) < session::LONGEST {
        assert!(world.auth.session(&used.token).await.is_ok(), "after {passed}");
        world.pass(SignedDuration::from_mins(20));
        passed += SignedDuration::from_mins(20);
    }
    assert!(world.auth.session(&used.token).await.is_ok(), "after {passed}");
    world.pass(session::LONGEST - passed);
    assert_eq!(world.auth.session(&used.token).await, Err(AuthError::NoSession));
}

async fn a_changed_role_and_a_disabled_user_take_effect_on_open_sessions(world: World) {
    let opened = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();

    world.run("UPDATE users SET role = 'viewer' WHERE username = 'ada'").await;
    assert_eq!(world.auth.session(&opened.token).await.unwrap().user.role, Role::Viewer);

    world.run("UPDATE users SET disabled_at = 1 WHERE username = 'ada'").await;
    assert_eq!(world.auth.session(&opened.token).await, Err(AuthError::NoSession));
}

async fn guessing_is_slowed_down_for_one_account_from_one_address_only(world: World) {
    world.auth.add_user(&BY, &name("bob"), Role::Viewer, &Secret::new(PASSWORD)).await.unwrap();
    for _ in 0..throttle::FOR_ACCOUNT {
        assert_eq!(world.log_in("ada", "guess", "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);
    }
    world.pass(SignedDuration::from_secs(20));

    // Not even the right password: otherwise guesses beyond the limit would still tell when they are right.
    let refused = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap_err();
    assert_eq!(refused, AuthError::TooManyAttempts { retry_after: std::time::Duration::from_secs(40) });
    assert!(world.log_in("ADA", "guess", "10.0.0.1").await.is_err(), "another spelling is the same account");
    assert!(world.log_in("ada", PASSWORD, "10.0.0.2").await.is_ok(), "ada herself, from where she is");
    assert!(world.log_in("bob", PASSWORD, "10.0.0.1").await.is_ok(), "somebody else behind the same address");

    world.pass(SignedDuration::from_secs(40));
    assert!(world.log_in("ada", PASSWORD, "10.0.0.1").await.is_ok());
}

async fn guessing_many_names_from_one_address_is_slowed_down(world: World) {
    for guess in 0..throttle::FROM_ADDRESS {
        let address = format!("2001:db8:1:2::{guess:x}");
        let refused = world.log_in(&format!("user{guess}"), "guess", &address).await.unwrap_err();
        assert_eq!(refused, AuthError::WrongCredentials, "{guess}");
    }

    let neighbour = world.log_in("ada", PASSWORD, "2001:db8:1:2:ffff::1").await.unwrap_err();
    assert!(matches!(neighbour, AuthError::TooManyAttempts { .. }), "one /64 is one address: {neighbour}");
    assert!(world.log_in("ada", PASSWORD, "2001:db8:1:3::1").await.is_ok());
}

async fn many_guesses_at_once_are_not_more_than_one_after_the_other(world: World) {
    let guesses = (0..20).map(|_| world.log_in("ada", "guess", "10.0.0.1"));

    let answers = futures::future::join_all(guesses).await;

    let checked = answers.iter().filter(|answer| matches!(answer, Err(AuthError::WrongCredentials))).count();
    assert_eq!(i64::try_from(checked).unwrap(), throttle::FOR_ACCOUNT);
}

async fn whoever_logs_in_is_not_held_to_earlier_mistakes(world: World) {
    // Sixteen of each: more than an account gets if mistakes added up, more than an address gets if successes counted.
    for _ in 0..16 {
        assert_eq!(world.log_in("ada", "typo", "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);
        assert!(world.log_in("ada", PASSWORD, "10.0.0.1").await.is_ok());
    }
}

async fn the_table_of_attempts_is_bounded(world: World) {
    let fill = match world.auth.db.get_database_backend() {
        sea_orm::DbBackend::Postgres => {
            "INSERT INTO login_attempts SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), 1, n + 1796025600000000 \
             FROM generate_series(0, 19999) AS n"
        }
        _ => {
            "WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < 19999) \
             INSERT INTO login_attempts SELECT CAST(printf('%064d', n) AS BLOB), 1, n + 1796025600000000 FROM series"
        }
    };
    world.run(fill).await;

    assert_eq!(world.log_in("ada", "guess", "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);

    let kept = store::attempts::Entity::find().count(&world.auth.db).await.unwrap();
    assert!((17_000..19_000).contains(&kept), "{kept}");
    world.pass(throttle::WINDOW + SignedDuration::from_secs(1));
    assert!(world.log_in("ada", PASSWORD, "10.0.0.1").await.is_ok());
    let kept = store::attempts::Entity::find().count(&world.auth.db).await.unwrap();
    assert!(kept <= 2, "{kept}");
}

async fn the_first_administrator_is_made_once_and_only_after_the_password_was_told(world: World) {
    assert!(!world.auth.ensure_first_administrator(|_, _| panic!("there is a user")).await.unwrap());
    world.run("DELETE FROM users").await;

    let unheard = world.auth.ensure_first_administrator(|_, _| Err(io::Error::other("no terminal"))).await;
    assert!(matches!(unheard, Err(SetUpError::NotTold(_))));
    assert!(!users::any(&world.auth.db).await.unwrap(), "an administrator whose password nobody knows");

    let mut told = None;
    let made = world
        .auth
        .ensure_first_administrator(|username, password| {
            told = Some((username.to_owned(), password.clone()));
            Ok(())
        })
        .await
        .unwrap();
    assert!(made);
    let (username, password) = told.unwrap();
    let session = world.log_in(&username, password.reveal(), "10.0.0.1").await.unwrap();
    assert_eq!((session.user.username.as_str(), session.user.role), ("admin", Role::PlatformAdministrator));
    assert!(!world.auth.ensure_first_administrator(|_, _| panic!("there is a user")).await.unwrap());
}

async fn the_administrator_of_an_environment_is_made_once(world: World) {
    let cluster = ClusterId::random();
    let (ada, bob): (Email, Email) = ("ada@acme.com".parse().unwrap(), "bob@acme.com".parse().unwrap());
    let ensure = |email, username: &'static str, password| {
        let auth = &world.auth;
        async move { auth.ensure_administrator(cluster, email, &name(username), &Secret::new(password)).await }
    };

    let at_once = (0..8).map(|_| ensure(&ada, "ada", "first"));
    for answer in futures::future::join_all(at_once).await {
        answer.unwrap();
    }
    let before = store::environment_administrators::Entity::find().all(&world.auth.db).await.unwrap();
    ensure(&bob, "bob", "second").await.unwrap();

    let after = store::environment_administrators::Entity::find().all(&world.auth.db).await.unwrap();
    assert_eq!(after.len(), 1);
    assert_eq!(after, before);
    assert_eq!((after[0].email.as_str(), after[0].username.as_str()), ("ada@acme.com", "ada"));
}

async fn the_administrator_of_an_environment_is_no_user_of_this_kubeopera(world: World) {
    let email = "eve@acme.com".parse().unwrap();
    let (eve, password) = (name("eve"), Secret::new(PASSWORD));
    world.auth.ensure_administrator(ClusterId::random(), &email, &eve, &password).await.unwrap();

    assert_eq!(world.log_in("eve", PASSWORD, "10.0.0.1").await.unwrap_err(), AuthError::WrongCredentials);
}

async fn neither_passwords_nor_tokens_are_in_the_database(world: World) {
    let opened = world.log_in("ada", PASSWORD, "10.0.0.1").await.unwrap();
    world.log_in("CANARY-name-that-is-a-password", "CANARY-guess", "10.0.0.1").await.unwrap_err();
    let (cluster, email) = (ClusterId::random(), "ada@acme.com".parse().unwrap());
    world.auth.ensure_administrator(cluster, &email, &name("ada"), &Secret::new("CANARY-other")).await.unwrap();

    let ada = opened.user.id;
    let tomorrow = *world.now.lock().unwrap() + SignedDuration::from_hours(24);
    let token = world.auth.make_token(&BY, ada, &"CI".parse().unwrap(), tomorrow).await.unwrap().secret;

    let dump =
        world.dump(&["users", "environment_administrators", "sessions", "login_attempts", "access_tokens"]).await;

    assert!(dump.contains("$argon2id$"), "the dump is not empty");
    for secret in ["CANARY", opened.token.reveal(), token.reveal()] {
        assert!(!dump.contains(secret));
    }
}
