//! Who did what.

use http::Method;
use sea_orm::ConnectionTrait;

use super::{World, on_both_databases, world::PASSWORD};

on_both_databases! {
    every_change_and_every_refusal_is_written_down_with_who_and_what_came_of_it
    what_is_written_down_is_never_changed_or_removed
}

async fn every_change_and_every_refusal_is_written_down_with_who_and_what_came_of_it(world: World) {
    world.try_log_in("operator", "CANARY-wrong").await;
    let viewer = world.log_in("viewer").await;
    let operator = world.log_in("operator").await;
    let denied = world.register(&viewer).await;
    let first = world.register(&operator).await;
    world.register(&operator).await;
    world.call(Method::DELETE, "/api/v1/session", Some(&operator)).await;
    world.try_log_in("operator", PASSWORD).await;

    let rows = world.dump("audit_log").await;

    let row = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(row(&["log_in", "denied"]), 1);
    assert_eq!(row(&["log_in", "done", "|viewer|"]), 1);
    assert_eq!(row(&["log_in", "done", "|operator|"]), 2);
    assert_eq!(row(&["log_out", "done", "|operator|"]), 1);
    let request_id = denied.headers["x-request-id"].to_str().unwrap();
    assert_eq!(row(&["register_cluster", "denied", "|viewer|", request_id]), 1);
    let id = first.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(row(&["register_cluster", "done", "|operator|", &id]), 1);
    assert_eq!(row(&["register_cluster", "unchanged", "|operator|", &id]), 1);
    assert_eq!(rows.len(), 8, "{rows:#?}");
    assert!(!rows.concat().contains("CANARY"));
}

async fn what_is_written_down_is_never_changed_or_removed(world: World) {
    world.log_in("viewer").await;
    let before = world.dump("audit_log").await;

    for attempt in ["UPDATE audit_log SET outcome = 'denied'", "DELETE FROM audit_log"] {
        assert!(world.platform.db.execute_unprepared(attempt).await.is_err(), "{attempt}");
    }

    assert_eq!(world.dump("audit_log").await, before);
}
