//! On a real SQLite file and on a real PostgreSQL server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use futures::{TryStreamExt, future::join_all};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend};
use service_kit::database::begin_write;
use uuid::Uuid;
use vocabulary::{Actor, ClusterId, Role};

use super::*;

/// Makes each test run on SQLite and on PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident)*) => {
        mod on_sqlite { $(#[tokio::test] async fn $name() { super::$name(super::World::on_sqlite().await).await; })* }
        mod on_postgres { $(#[tokio::test] async fn $name() { super::$name(super::World::on_postgres().await).await; })* }
    };
}

on_both_databases! {
    a_row_tells_who_did_what_and_what_came_of_it
    rows_of_many_at_once_in_two_processes_make_one_chain
    a_row_stands_or_falls_with_the_transaction
    no_row_is_changed_removed_replaced_or_put_in_between
    the_first_row_that_is_not_as_it_was_written_is_named
    a_log_that_was_written_anew_is_found_out_by_an_end_noted_elsewhere
    rows_are_found_by_what_people_ask_for_and_page_after_page
    whoever_is_refused_without_end_fills_no_log_and_nobody_elses_refusals_are_lost
}

struct World {
    db: DatabaseConnection,
    url: String,
    _folder: tempfile::TempDir,
}

impl World {
    async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("audit.db").display());
        Self::on(url, folder).await
    }

    async fn on_postgres() -> Self {
        let url = tokio::task::spawn_blocking(testkit_postgres::database).await.unwrap().unwrap();
        Self::on(url, tempfile::tempdir().unwrap()).await
    }

    async fn on(url: String, folder: tempfile::TempDir) -> Self {
        let db = service_kit::database::open(&url).await.unwrap();
        service_kit::database::migrate::<Migrator>(&db).await.unwrap();
        Self { db, url, _folder: folder }
    }

    async fn all(&self) -> Vec<Row> {
        rows(self.db.clone(), Filter::default()).try_collect().await.unwrap()
    }

    async fn note(&self, outcome: Outcome) {
        note(&self.db, Entry::new(&Actor::KubeOpera, Action::RetryCluster, outcome)).await.unwrap();
    }

    /// What only the database's owner can do: the rows' guard is gone.
    async fn unguard(&self) {
        let triggers: &[(&str, &[&str])] = &[
            ("", &["audit_entries_no_update", "audit_entries_no_delete", "audit_entries_at_the_end"]),
            (
                " ON audit_entries",
                &["audit_entries_append_only", "audit_entries_no_truncate", "audit_entries_at_the_end"],
            ),
        ];
        let (on, names) = triggers[usize::from(self.db.get_database_backend() == DbBackend::Postgres)];
        for name in names {
            self.db.execute_unprepared(&format!("DROP TRIGGER {name}{on}")).await.unwrap();
        }
    }

    async fn run(&self, sql: &str) {
        self.db.execute_unprepared(sql).await.unwrap();
    }
}

fn ada() -> Actor {
    let id = Uuid::from_u128(7);
    Actor::Person { id, username: "ada".to_owned(), role: Role::Operator, address: "10.0.0.7".to_owned() }
}

async fn a_row_tells_who_did_what_and_what_came_of_it(world: World) {
    let (cluster, ada) = (ClusterId::random(), ada());
    let entry = Entry::new(&ada, Action::ChangeCredential, Outcome::Done).on("c-1").named("Production");
    note(&world.db, entry.changing(&["label", "secret"])).await.unwrap();
    note(&world.db, Entry::new(&Actor::Cluster(cluster), Action::OpenCredential, Outcome::Failed)).await.unwrap();
    let stranger = Actor::Stranger { address: "10.0.0.9".to_owned() };
    note(&world.db, Entry::new(&stranger, Action::LogIn, Outcome::Denied)).await.unwrap();

    let all = world.all().await;

    let [change, opening, log_in] = &all[..] else { panic!("{all:#?}") };
    assert_eq!((change.position, opening.position, log_in.position), (1, 2, 3));
    assert_eq!((change.actor_kind.as_str(), change.actor_name.as_deref()), ("person", Some("ada")));
    assert_eq!((change.actor_role.as_deref(), change.address.as_str()), (Some("operator"), "10.0.0.7"));
    assert_eq!((change.action.as_str(), change.outcome.as_str()), ("change_credential", "done"));
    assert_eq!((change.object.as_deref(), change.object_name.as_deref()), (Some("c-1"), Some("Production")));
    assert_eq!(change.changed, ["label", "secret"]);
    assert_eq!((opening.actor_kind.as_str(), opening.actor_id), ("cluster", Some(cluster.uuid())));
    assert_eq!((log_in.actor_kind.as_str(), log_in.actor_id, log_in.address.as_str()), ("stranger", None, "10.0.0.9"));
    assert_eq!(change.hash.len(), 64);
    assert_ne!(change.hash, opening.hash);
}

async fn rows_of_many_at_once_in_two_processes_make_one_chain(world: World) {
    let other = service_kit::database::open(&world.url).await.unwrap();
    let ada = ada();

    let writes = (0..40).map(|n| {
        let db = if n % 2 == 0 { &world.db } else { &other };
        note(db, Entry::new(&ada, Action::RetryCluster, Outcome::Done).on(n))
    });
    join_all(writes).await.into_iter().for_each(Result::unwrap);

    let verified = verify(world.db.clone(), None).await.unwrap();
    assert_eq!(verified.rows, 40);
    assert_eq!(verified.head.unwrap().position, 40);
}

async fn a_row_stands_or_falls_with_the_transaction(world: World) {
    world.note(Outcome::Asked).await;
    let tx = begin_write(&world.db).await.unwrap();
    append(&tx, Entry::new(&Actor::KubeOpera, Action::RetryCluster, Outcome::Done)).await.unwrap();
    tx.rollback().await.unwrap();
    world.note(Outcome::Failed).await;

    let outcomes: Vec<_> = world.all().await.into_iter().map(|row| (row.position, row.outcome)).collect();

    assert_eq!(outcomes, [(1, "asked".to_owned()), (2, "failed".to_owned())]);
    verify(world.db.clone(), None).await.unwrap();
}

async fn no_row_is_changed_removed_replaced_or_put_in_between(world: World) {
    world.note(Outcome::Asked).await;
    world.note(Outcome::Done).await;
    let before = world.all().await;
    let columns = "position, happened_at, actor_kind, address, action, outcome, changed, request_id, hash";
    let row = |position: i32| {
        format!(
            "SELECT {position}, happened_at, actor_kind, address, action, outcome, changed, request_id, hash FROM audit_entries WHERE position = 1"
        )
    };

    let mut attempts = vec![
        "UPDATE audit_entries SET outcome = 'denied'".to_owned(),
        "DELETE FROM audit_entries WHERE position = 2".to_owned(),
        format!("INSERT INTO audit_entries ({columns}) {}", row(9)),
        format!("INSERT INTO audit_entries ({columns}) {}", row(0)),
    ];
    attempts.push(match world.db.get_database_backend() {
        DbBackend::Postgres => "TRUNCATE audit_entries".to_owned(),
        _ => format!("INSERT OR REPLACE INTO audit_entries ({columns}) {}", row(2)),
    });
    for attempt in attempts {
        let refusal = world.db.execute_unprepared(&attempt).await.expect_err(&attempt).to_string();
        assert!(refusal.contains("append-only"), "{attempt}: {refusal}");
    }

    assert_eq!(world.all().await, before);
}

async fn the_first_row_that_is_not_as_it_was_written_is_named(world: World) {
    for _ in 0..5 {
        world.note(Outcome::Done).await;
    }
    world.unguard().await;
    let broken = async || match verify(world.db.clone(), None).await.unwrap_err() {
        VerifyError::Broken(broken) => broken,
        VerifyError::Database(error) => panic!("{error}"),
    };

    world.run("UPDATE audit_entries SET outcome = 'denied' WHERE position = 4").await;
    assert_eq!(broken().await, Broken::Altered { position: 4 });
    world.run("UPDATE audit_entries SET object = '' WHERE position = 3").await;
    assert_eq!(broken().await, Broken::Altered { position: 3 }, "no object is another than an empty one");
    world.run("UPDATE audit_entries SET address = 'x', changed = '' WHERE position = 3").await;
    assert_eq!(broken().await, Broken::Altered { position: 3 });
    world.run("DELETE FROM audit_entries WHERE position = 2").await;
    assert_eq!(broken().await, Broken::Missing { position: 2 });
    world.run("DELETE FROM audit_entries WHERE position = 1").await;
    assert_eq!(broken().await, Broken::Missing { position: 1 });
}

async fn a_log_that_was_written_anew_is_found_out_by_an_end_noted_elsewhere(world: World) {
    world.note(Outcome::Done).await;
    world.note(Outcome::Denied).await;
    let noted: Head = verify(world.db.clone(), None).await.unwrap().head.unwrap().to_string().parse().unwrap();
    world.note(Outcome::Done).await;
    assert_eq!(verify(world.db.clone(), Some(&noted)).await.unwrap().rows, 3);

    world.unguard().await;
    world.run("DELETE FROM audit_entries WHERE position > 1").await;
    let cut = verify(world.db.clone(), Some(&noted)).await.unwrap_err();
    assert!(matches!(cut, VerifyError::Broken(Broken::Missing { position: 2 })), "{cut}");
    world.note(Outcome::Done).await;

    assert_eq!(verify(world.db.clone(), None).await.unwrap().rows, 2, "in itself it fits");
    let anew = verify(world.db.clone(), Some(&noted)).await.unwrap_err();
    assert!(matches!(anew, VerifyError::Broken(Broken::WrittenAnew { position: 2 })), "{anew}");
}

async fn rows_are_found_by_what_people_ask_for_and_page_after_page(world: World) {
    let ada = ada();
    for n in 0..1_100 {
        let (action, outcome) =
            if n % 10 == 0 { (Action::LogIn, Outcome::Failed) } else { (Action::LogOut, Outcome::Done) };
        let tx = begin_write(&world.db).await.unwrap();
        append(&tx, Entry::new(&ada, action, outcome).on(n % 7)).await.unwrap();
        tx.commit().await.unwrap();
    }
    world.note(Outcome::Done).await;
    let positions = async |filter: &Filter, before, limit| {
        let page = page(&world.db, filter, before, limit).await.unwrap();
        page.into_iter().map(|row| row.position).collect::<Vec<_>>()
    };

    assert_eq!(positions(&Filter::default(), None, 3).await, [1101, 1100, 1099]);
    assert_eq!(positions(&Filter::default(), Some(3), 3).await, [2, 1]);
    let failed = Filter { outcome: Some(Outcome::Failed), ..Filter::default() };
    assert_eq!(positions(&failed, None, 2).await, [1091, 1081]);
    let named = Filter { who: Some(Who::Name("ada".to_owned())), action: Some(Action::LogIn), ..Filter::default() };
    assert_eq!(positions(&named, None, 1).await, [1091]);
    let known = Filter { who: Some(Who::Id(Uuid::from_u128(7))), object: Some("3".to_owned()), ..Filter::default() };
    assert_eq!(positions(&known, None, 1).await, [1096]);
    let all = world.all().await;
    assert_eq!(all.len(), 1_101, "more than is read in one go");
    assert!(all.windows(2).all(|pair| pair[0].position + 1 == pair[1].position));
    let time = Filter { from: Some(all[5].happened_at), until: Some(all[10].happened_at), ..Filter::default() };
    let within = positions(&time, None, 100).await;
    assert!(within.contains(&6) && !within.contains(&11) && !within.contains(&1), "{within:?}");
}

async fn whoever_is_refused_without_end_fills_no_log_and_nobody_elses_refusals_are_lost(world: World) {
    let other = service_kit::database::open(&world.url).await.unwrap();
    let (ada, stranger) = (ada(), Actor::Stranger { address: "10.0.0.9".to_owned() });
    let grace = Actor::Person {
        id: Uuid::from_u128(8),
        username: "grace".to_owned(),
        role: Role::Viewer,
        address: "10.0.0.8".to_owned(),
    };
    let refused = |actor| Entry::new(actor, Action::AddUser, Outcome::Denied);
    let noted = async |db: &DatabaseConnection, entry: Entry<'_>| {
        let (result, noted) = observed(note(db, entry)).await;
        result.unwrap();
        noted
    };

    for n in 0..allowance::MOST {
        let db = if n % 2 == 0 { &world.db } else { &other };
        assert_eq!(noted(db, refused(&ada)).await, Noted::Written, "{n}");
    }
    for db in [&world.db, &other] {
        assert_eq!(noted(db, refused(&ada).on("c-1")).await, Noted::LeftOut);
    }
    let within_transaction = async {
        let tx = begin_write(&world.db).await.unwrap();
        append(&tx, refused(&ada)).await.unwrap();
        tx.commit().await.unwrap();
    };
    assert_eq!(observed(within_transaction).await.1, Noted::LeftOut);
    assert_eq!(world.all().await.len(), 60);
    for entry in [Entry::new(&ada, Action::AddUser, Outcome::Done), refused(&grace), refused(&stranger)] {
        assert_eq!(noted(&world.db, entry).await, Noted::Written);
    }

    // A minute later.
    world.unguard().await;
    world.run("UPDATE audit_entries SET happened_at = happened_at - 60000000").await;
    assert_eq!(noted(&world.db, refused(&ada)).await, Noted::Written);
    assert_eq!(observed(async {}).await.1, Noted::Nothing);
}
