//! Who did what.

use audit_log::{Filter, Row};
use futures::TryStreamExt;
use http::{Method, StatusCode};
use sea_orm::{ConnectionTrait, DbBackend};
use serde_json::{Value, json};

use super::{
    World, on_both_databases,
    world::{Answer, PASSWORD},
};

on_both_databases! {
    every_change_and_every_refusal_is_written_down_with_who_and_what_came_of_it
    what_a_rule_refuses_is_one_row_denied_and_what_fails_one_row_failed
    what_changes_something_elsewhere_is_written_down_before
    what_cannot_be_written_down_is_not_done
    administrators_read_it_page_after_page_and_find_what_they_look_for
    a_query_that_is_not_understood_is_refused_by_its_key
    it_is_exported_as_json_lines_however_long_it_is
    a_credential_that_was_altered_is_told_as_such_and_written_down
    a_log_of_before_is_taken_over
}

const AUDIT: &str = "/api/v1/audit";

impl World {
    pub(super) async fn audit(&self) -> Vec<Row> {
        audit_log::rows(self.platform.db.clone(), Filter::default()).try_collect().await.unwrap()
    }

    /// The rows as text: time, who, from where, what, to which object, what came of it, in which request.
    pub(super) async fn told(&self) -> Vec<String> {
        let text = |row: Row| {
            let (id, name) = (row.actor_id.map(|id| id.to_string()), row.actor_name);
            let (id, name, object) = (id.unwrap_or_default(), name.unwrap_or_default(), row.object.unwrap_or_default());
            let Row { position, happened_at, address, action, outcome, request_id, .. } = row;
            format!("{position}|{happened_at}|{id}|{name}|{address}|{action}|{object}|{outcome}|{request_id}")
        };
        self.audit().await.into_iter().map(text).collect()
    }

    async fn run(&self, sql: &str) {
        self.platform.db.execute_unprepared(sql).await.unwrap();
    }
}

/// What a page says was done, the newest first.
fn told(page: &Answer) -> Vec<String> {
    assert_eq!(page.status, StatusCode::OK, "{page:?}");
    let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let rows = page.json();
    let rows = rows["items"].as_array().unwrap().iter();
    rows.map(|row| format!("{} {} {}", word(&row["actor"], "name"), word(row, "action"), word(row, "outcome")))
        .collect()
}

async fn every_change_and_every_refusal_is_written_down_with_who_and_what_came_of_it(world: World) {
    let before = world.audit().await.len();
    world.try_log_in("operator", "CANARY-wrong").await;
    let viewer = world.log_in("viewer").await;
    let operator = world.log_in("operator").await;
    let denied = world.register(&viewer).await;
    let first = world.register(&operator).await;
    world.register(&operator).await;
    world.call(Method::DELETE, "/api/v1/session", Some(&operator)).await;
    world.try_log_in("operator", PASSWORD).await;

    let rows = world.audit().await.split_off(before);

    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.actor_name.as_deref().unwrap_or("-"), row.action.as_str(), row.outcome.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("-", "log_in", "denied"),
            ("viewer", "log_in", "done"),
            ("operator", "log_in", "done"),
            ("viewer", "register_cluster", "denied"),
            ("operator", "register_cluster", "done"),
            ("operator", "register_cluster", "unchanged"),
            ("operator", "log_out", "done"),
            ("operator", "log_in", "done"),
        ]
    );
    assert_eq!(rows[3].request_id, denied.headers["x-request-id"].to_str().unwrap());
    assert_eq!(rows[3].actor_role.as_deref(), Some("viewer"));
    let id = first.json()["id"].as_str().unwrap().to_owned();
    assert_eq!((rows[4].object.as_ref(), rows[5].object.as_ref()), (Some(&id), Some(&id)));
    assert!(!format!("{rows:?}").contains("CANARY"));
    audit_log::verify(world.platform.db.clone(), None).await.unwrap();
}

async fn what_a_rule_refuses_is_one_row_denied_and_what_fails_one_row_failed(world: World) {
    let cookie = world.log_in("administrator").await;
    let own = format!("/api/v1/users/{}", world.user("administrator").await);
    let viewer = format!("/api/v1/users/{}", world.user("viewer").await);
    let cluster = format!("/api/v1/clusters/{}", world.register(&cookie).await.json()["id"].as_str().unwrap());
    let key = json!({"type": "aws_access_key", "access_key_id": "AKIACANARY0KEY0ID0WX",
        "secret_access_key": "CANARYsecret/access+key0123456789ABCDEFG"});
    let credential = json!({"label": "AWS", "secret": key});
    world.change(Method::POST, "/api/v1/credentials", &cookie, &credential).await;
    let name = world.get(&cluster, &cookie).await.json()["name"].clone();
    let repository = json!({"url": "http://git.acme.com/x.git", "credential": {"type": "basic", "password": "CANARY"}});
    let user = json!({"username": "viewer", "role": "viewer", "password": PASSWORD});
    let (retry, disconnect) = (format!("{cluster}/retry"), format!("{cluster}/disconnect"));
    let before = world.audit().await.len();

    for (method, path, body, code) in [
        (Method::POST, "/api/v1/users", user, "name_taken"),
        (Method::PATCH, &*own, json!({"role": "viewer"}), "last_administrator"),
        (Method::PUT, &*format!("{viewer}/password"), json!({"password": "CANARY-shor"}), "password_not_acceptable"),
        (
            Method::POST,
            "/api/v1/tokens",
            json!({"label": "CI", "expires_at": "2020-01-01T00:00:00Z"}),
            "expiry_not_acceptable",
        ),
        (Method::POST, "/api/v1/credentials", credential, "label_taken"),
        (Method::PUT, "/api/v1/settings/git", repository.clone(), "git_url_invalid"),
        (Method::POST, "/api/v1/settings/git/check", json!({"repository": repository}), "git_url_invalid"),
        (Method::DELETE, &*cluster, json!({"name": name}), "host_cluster_protected"),
    ] {
        assert_eq!(world.change_seen("*", method, path, &cookie, &body).await.code(), code, "{path}");
    }
    world.api_server.be_down(true);
    assert_eq!(world.register(&cookie).await.status, StatusCode::SERVICE_UNAVAILABLE);
    world.api_server.be_down(false);
    world.call(Method::POST, &disconnect, Some(&cookie)).await;
    assert_eq!(world.register(&cookie).await.code(), "being_removed");
    assert_eq!(world.call(Method::POST, &retry, Some(&cookie)).await.code(), "being_removed");
    let nobody = "/api/v1/clusters/7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11/retry";
    assert_eq!(world.call(Method::POST, nobody, Some(&cookie)).await.code(), "no_such_cluster");

    let rows = world.audit().await.split_off(before);
    let seen: Vec<_> = rows.iter().map(|row| (row.action.as_str(), row.outcome.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("add_user", "denied"),
            ("change_user", "denied"),
            ("reset_password", "denied"),
            ("make_token", "denied"),
            ("add_credential", "denied"),
            ("change_git_setting", "denied"),
            ("check_git_setting", "denied"),
            ("delete_cluster", "denied"),
            ("register_cluster", "failed"),
            ("disconnect_cluster", "done"),
            ("register_cluster", "denied"),
            ("retry_cluster", "denied"),
            ("retry_cluster", "denied"),
        ]
    );
    assert!(!format!("{rows:?}").contains("CANARY"));
}

async fn what_changes_something_elsewhere_is_written_down_before(world: World) {
    let operator = world.log_in("operator").await;
    let id = world.register(&operator).await.json()["id"].as_str().unwrap().to_owned();
    let before = world.audit().await.len();

    let path = format!("/api/v1/clusters/{id}/retry");
    world.call(Method::POST, &path, Some(&operator)).await;
    world.api_server.be_down(true);
    let failed = world.call(Method::POST, &path, Some(&operator)).await;

    assert_eq!(failed.status, StatusCode::SERVICE_UNAVAILABLE, "{failed:?}");
    let rows = world.audit().await.split_off(before);
    let outcomes: Vec<_> = rows.iter().map(|row| row.outcome.as_str()).collect();
    assert_eq!(outcomes, ["asked", "done", "asked", "failed"]);
    assert!(rows.iter().all(|row| row.action == "retry_cluster" && row.object.as_ref() == Some(&id)));
}

async fn what_cannot_be_written_down_is_not_done(world: World) {
    let administrator = world.log_in("administrator").await;
    let operator = world.log_in("operator").await;
    let user = world.user("viewer").await;
    let tables = ["clusters", "outbox", "users", "access_tokens", "credentials"];
    let mut before = Vec::new();
    for table in tables {
        before.push(world.dump(table).await);
    }
    world.run("ALTER TABLE audit_entries RENAME TO elsewhere").await;

    let mut answers = vec![world.register(&operator).await];
    let key = json!({"type": "aws_access_key", "access_key_id": "AKIACANARY0KEY0ID0WX",
        "secret_access_key": "CANARYsecret/access+key0123456789ABCDEFG"});
    for (method, path, body) in [
        (Method::POST, "/api/v1/users", json!({"username": "eve", "role": "viewer", "password": PASSWORD})),
        (Method::PATCH, &*format!("/api/v1/users/{user}"), json!({"disabled": true})),
        (Method::PUT, &*format!("/api/v1/users/{user}/password"), json!({"password": "CANARY-another-horse"})),
        (Method::POST, "/api/v1/tokens", json!({"label": "CI", "expires_at": super::tokens::tomorrow()})),
        (Method::POST, "/api/v1/credentials", json!({"label": "Production", "secret": key})),
    ] {
        answers.push(world.change(method, path, &administrator, &body).await);
    }
    answers.push(world.get("/api/v1/audit/export", &administrator).await);
    answers.push(world.try_log_in("viewer", PASSWORD).await);

    for answer in answers {
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (503, "not_available"), "{answer:?}");
    }
    for (table, before) in tables.into_iter().zip(before) {
        assert_eq!(world.dump(table).await, before, "{table}");
    }
    assert!(world.api_server.secrets().is_empty() && world.api_server.resources().is_empty());
}

async fn administrators_read_it_page_after_page_and_find_what_they_look_for(world: World) {
    let viewer = world.log_in("viewer").await;
    let operator = world.log_in("operator").await;
    world.register(&viewer).await;
    let cluster = world.register(&operator).await.json()["id"].as_str().unwrap().to_owned();
    world.register(&operator).await;
    let administrator = world.log_in("administrator").await;
    let get = async |query: &str| world.get(&format!("{AUDIT}?{query}"), &administrator).await;

    let first = get("limit=2").await;
    assert_eq!(told(&first), ["administrator log_in done", "operator register_cluster unchanged"]);
    let cursor = first.json()["next_cursor"].as_str().unwrap().to_owned();
    world.log_in("viewer").await;
    let second = get(&format!("limit=2&cursor={cursor}")).await;
    assert_eq!(told(&second), ["operator register_cluster done", "viewer register_cluster denied"]);
    let mut seen = 4;
    let mut page = second;
    while let Some(cursor) = page.json()["next_cursor"].as_str() {
        page = get(&format!("limit=2&cursor={cursor}")).await;
        seen += told(&page).len();
    }
    assert_eq!(seen + 1, world.audit().await.len(), "every row once, but for the one that came meanwhile");

    assert_eq!(told(&get("outcome=denied").await), ["viewer register_cluster denied"]);
    assert_eq!(told(&get("who=operator&action=log_in").await), ["operator log_in done"]);
    let user = world.user("operator").await;
    assert_eq!(
        told(&get(&format!("who={user}&object={cluster}&limit=1")).await),
        ["operator register_cluster unchanged"]
    );
    let at = first.json()["items"][1]["happened_at"].as_str().unwrap().to_owned();
    assert_eq!(told(&get(&format!("from={at}&who=operator")).await), ["operator register_cluster unchanged"]);
    assert!(!told(&get(&format!("until={at}")).await).contains(&"administrator log_in done".to_owned()));
    let row = &first.json()["items"][1];
    assert_eq!((&row["object"], &row["actor"]["role"]), (&json!(cluster), &json!("operator")));
    assert_eq!((&row["actor"]["kind"], row["hash"].as_str().unwrap().len()), (&json!("person"), 64));
}

async fn a_query_that_is_not_understood_is_refused_by_its_key(world: World) {
    let administrator = world.log_in("administrator").await;
    let filtered = world.get(&format!("{AUDIT}?limit=1&action=add_user"), &administrator).await;
    let cursor = filtered.json()["next_cursor"].as_str().unwrap().to_owned();

    for (query, field) in [
        ("limit=0", "limit"),
        ("action=conquer", "action"),
        ("outcome=", "outcome"),
        ("from=yesterday", "from"),
        ("until=2026-11-30", "until"),
        ("who=a&who=b", "who"),
        ("password=x", "password"),
        ("cursor=KioqKg", "cursor"),
        (&format!("cursor={cursor}"), "cursor"),
    ] {
        let refused = world.get(&format!("{AUDIT}?{query}"), &administrator).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (400, &json!(field)), "{query}: {refused:?}");
    }
    let refused = world.get(&format!("{AUDIT}/export?limit=1"), &administrator).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (400, &json!("limit")));
}

async fn it_is_exported_as_json_lines_however_long_it_is(world: World) {
    let administrator = world.log_in("administrator").await;
    let viewer = world.log_in("viewer").await;
    let actor = vocabulary::Actor::Cluster(vocabulary::ClusterId::random());
    for _ in 0..1_200 {
        let opening = audit_log::Entry::new(&actor, audit_log::Action::OpenCredential, audit_log::Outcome::Done);
        audit_log::note(&world.platform.db, opening.on("a credential")).await.unwrap();
    }

    let export = world.get(&format!("{AUDIT}/export"), &administrator).await;

    assert_eq!(export.headers["content-type"], "application/x-ndjson");
    assert!(export.headers["content-disposition"].to_str().unwrap().contains("attachment"));
    let lines: Vec<Value> = export.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows = world.audit().await;
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!((&line["position"], &line["hash"]), (&json!(row.position), &json!(row.hash)));
    }
    assert_eq!(lines.last().unwrap()["action"], "export_audit");
    let openings = world.get(&format!("{AUDIT}/export?action=open_credential"), &administrator).await;
    assert_eq!(openings.text.lines().count(), 1_200);
    assert_eq!(world.get(&format!("{AUDIT}/export"), &viewer).await.code(), "forbidden");
}

async fn a_credential_that_was_altered_is_told_as_such_and_written_down(world: World) {
    let administrator = world.log_in("administrator").await;
    let mut saved = Vec::new();
    for (label, letter) in [("One", "W"), ("Other", "X")] {
        let key = json!({"type": "aws_access_key", "access_key_id": format!("AKIACANARY0KEY0ID0{letter}X"),
            "secret_access_key": "CANARYsecret/access+key0123456789ABCDEFG"});
        let body = json!({"label": label, "secret": key});
        let answer = world.change(Method::POST, "/api/v1/credentials", &administrator, &body).await;
        saved.push(answer.json()["credential"]["id"].as_str().unwrap().to_owned());
    }
    world.run("CREATE TABLE copied AS SELECT label, secret FROM credentials").await;
    world
        .run("UPDATE credentials SET secret = (SELECT secret FROM copied WHERE copied.label <> credentials.label)")
        .await;
    let before = world.audit().await.len();

    for id in &saved {
        let path = format!("/api/v1/credentials/{id}/check");
        let refused = world.call(Method::POST, &path, Some(&administrator)).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (500, "credential_unreadable"));
        assert!(!refused.text.contains("CANARY") && !refused.text.contains("AKIA"), "{refused:?}");
    }

    let rows = world.audit().await.split_off(before);
    let told: Vec<_> =
        rows.iter().map(|row| (row.action.as_str(), row.outcome.as_str(), row.object.as_ref())).collect();
    let expected = |id| [("check_credential", "asked", Some(id)), ("check_credential", "failed", Some(id))];
    assert_eq!(told, saved.iter().flat_map(expected).collect::<Vec<_>>());
}

async fn a_log_of_before_is_taken_over(world: World) {
    // As it was before there was one log for all.
    let db = &world.platform.db;
    let (uuid, id) = match db.get_database_backend() {
        DbBackend::Postgres => ("uuid", "'00000000-0000-0000-0000-00000000000"),
        _ => ("uuid_text", "x'0000000000000000000000000000000"),
    };
    for statement in [
        format!(
            "CREATE TABLE audit_log (id {uuid} PRIMARY KEY, happened_at bigint NOT NULL, user_id {uuid}, \
             username varchar, address varchar NOT NULL, action varchar NOT NULL, object varchar, \
             outcome varchar NOT NULL, request_id varchar NOT NULL)"
        ),
        format!(
            "INSERT INTO audit_log VALUES ({id}2', 2000000, NULL, NULL, 'kubeopera-api', 'adopt_cluster', 'c', 'done', 'r2')"
        ),
        format!(
            "INSERT INTO audit_log VALUES ({id}1', 1000000, {id}9', 'ada', '10.0.0.7', 'log_in', NULL, 'done', 'r1')"
        ),
        "DELETE FROM kubeopera_api_migrations WHERE version = '0005_one_audit_log'".to_owned(),
    ] {
        world.run(&statement).await;
    }
    if db.get_database_backend() == DbBackend::Postgres {
        world.run("CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$").await;
    }

    crate::store::migrate(db).await.unwrap();

    let rows = world.audit().await;
    let [.., log_in, adoption] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((log_in.actor_kind.as_str(), log_in.actor_name.as_deref()), ("person", Some("ada")));
    assert_eq!((log_in.action.as_str(), log_in.request_id.as_str()), ("log_in", "r1"));
    assert_eq!((adoption.actor_kind.as_str(), adoption.object.as_deref()), ("kubeopera", Some("c")));
    assert!(db.execute_unprepared("SELECT 1 FROM audit_log").await.is_err());
    audit_log::verify(db.clone(), None).await.unwrap();
}
