//! What both databases do, on a real file and a real server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

struct World {
    db: DatabaseConnection,
    _folder: tempfile::TempDir,
}

impl World {
    async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = open(&format!("sqlite://{}?mode=rwc", folder.path().join("test.db").display())).await.unwrap();
        Self { db, _folder: folder }.with_a_table().await
    }

    async fn on_postgres() -> Self {
        let url = tokio::task::spawn_blocking(testkit_postgres::database).await.unwrap().unwrap();
        let db = open(&url).await.unwrap();
        Self { db, _folder: tempfile::tempdir().unwrap() }.with_a_table().await
    }

    async fn with_a_table(self) -> Self {
        self.run("CREATE TABLE counters (name TEXT PRIMARY KEY, count BIGINT NOT NULL)").await.unwrap();
        self.run("INSERT INTO counters VALUES ('one', 0)").await.unwrap();
        self
    }

    async fn run(&self, sql: &str) -> Result<(), DbErr> {
        self.db.execute_unprepared(sql).await.map(|_| ())
    }

    async fn count(db: &impl ConnectionTrait) -> i64 {
        let sql = Statement::from_string(db.get_database_backend(), "SELECT count FROM counters WHERE name = 'one'");
        db.query_one_raw(sql).await.unwrap().unwrap().try_get("", "count").unwrap()
    }
}

macro_rules! on_both_databases {
    ($($name:ident)*) => {
        mod on_sqlite { $(#[tokio::test] async fn $name() { super::$name(super::World::on_sqlite().await).await; })* }
        mod on_postgres { $(#[tokio::test] async fn $name() { super::$name(super::World::on_postgres().await).await; })* }
    };
}

on_both_databases! {
    writers_that_read_first_take_turns
    a_turn_that_was_ended_is_free_at_once
    a_transaction_that_is_dropped_leaves_nothing
    a_value_that_must_be_unique_is_told_from_other_failures
}

async fn writers_that_read_first_take_turns(world: World) {
    let one_more = async || loop {
        let attempt = async {
            let tx = begin_write(&world.db).await?;
            if tx.get_database_backend() == DbBackend::Postgres {
                tx.execute_unprepared("LOCK TABLE counters").await?;
            }
            let count = World::count(&tx).await;
            tx.execute_unprepared(&format!("UPDATE counters SET count = {} WHERE name = 'one'", count + 1)).await?;
            tx.commit().await
        };
        match attempt.await {
            Ok(()) => break,
            Err(error) => assert!(is_conflict(&error), "{error}"),
        }
    };

    futures::future::join_all((0..50).map(|_| one_more())).await;

    assert_eq!(World::count(&world.db).await, 50);
}

async fn a_turn_that_was_ended_is_free_at_once(world: World) {
    for _ in 0..100 {
        let turn = try_take_turn(&world.db, "one").await.unwrap().expect("nobody has it");
        let while_it_is_had = try_take_turn(&world.db, "one").await.unwrap();
        assert_eq!(while_it_is_had.is_none(), world.db.get_database_backend() == DbBackend::Postgres);
        turn.end().await.unwrap();
    }
}

async fn a_transaction_that_is_dropped_leaves_nothing(world: World) {
    let tx = begin_write(&world.db).await.unwrap();
    tx.execute_unprepared("UPDATE counters SET count = 7 WHERE name = 'one'").await.unwrap();
    drop(tx);

    let tx = begin_write(&world.db).await.unwrap();
    assert_eq!(World::count(&tx).await, 0);
}

async fn a_value_that_must_be_unique_is_told_from_other_failures(world: World) {
    let twice = world.run("INSERT INTO counters VALUES ('one', 1)").await.unwrap_err();
    let null = world.run("INSERT INTO counters VALUES ('two', NULL)").await.unwrap_err();

    assert!(is_unique_violation(&twice) && !is_conflict(&twice), "{twice}");
    assert!(!is_unique_violation(&null) && !is_conflict(&null), "{null}");
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_says_so_without_its_password() {
    assert!(matches!(open("mysql://root:CANARY@localhost/x").await, Err(OpenError::Scheme)));
    for url in ["postgres://root:CANARY@127.0.0.1:1/x?password=CANARY", "sqlite:///no/such/folder/CANARY.db"] {
        let error = open(url).await.unwrap_err();
        let shown = error.to_string();
        assert!(!shown.contains("CANARY"), "{shown}");
        if url.starts_with("postgres") {
            assert!(!crate::chain(&error).contains("CANARY"), "{}", crate::chain(&error));
        }
    }
}

#[test]
fn instants_compare_as_they_follow_each_other() {
    let at = |text: &str| Micros::from(text.parse::<Timestamp>().unwrap());

    assert!(at("2026-11-30T08:00:00Z") < at("2026-11-30T08:00:00.001Z"));
    assert!(at("2026-11-30T09:00:00+02:00") < at("2026-11-30T08:00:00Z"));
    assert_eq!(at("2026-11-30T08:00:00.123456Z").timestamp().to_string(), "2026-11-30T08:00:00.123456Z");
}
