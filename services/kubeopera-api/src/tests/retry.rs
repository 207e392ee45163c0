//! Another attempt at once.

use http::{Method, StatusCode};
use serde_json::json;

use super::{
    World, on_both_databases,
    world::{Answer, until},
};
use crate::resources::relay::relay_what_is_due;

on_both_databases! {
    each_click_asks_the_controller_once_more
    what_cannot_be_tried_again_says_so
    attempts_that_failed_are_told_beside_their_phase
}

impl World {
    async fn retry(&self, cookie: &str, id: &str) -> Answer {
        self.call(Method::POST, &format!("/api/v1/clusters/{id}/retry"), Some(cookie)).await
    }

    fn asked_at(&self) -> String {
        let resource = &self.api_server.resources()[0];
        resource["metadata"]["annotations"]["kubeopera.io/retry-requested-at"].as_str().unwrap().to_owned()
    }
}

async fn each_click_asks_the_controller_once_more(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();

    // Before there is a resource, making it is what is tried again.
    assert_eq!(world.retry(&cookie, &id).await.status, StatusCode::ACCEPTED);
    relay_what_is_due(&world.platform).await.unwrap();
    assert_eq!(world.retry(&cookie, &id).await.status, StatusCode::ACCEPTED);
    let first = world.asked_at();
    assert_eq!(world.retry(&cookie, &id).await.status, StatusCode::ACCEPTED);

    assert_ne!(world.asked_at(), first);
    let rows = world.told().await;
    assert_eq!(rows.iter().filter(|row| row.contains(&format!("|retry_cluster|{id}|done|"))).count(), 3, "{rows:#?}");
}

async fn what_cannot_be_tried_again_says_so(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    relay_what_is_due(&world.platform).await.unwrap();
    world.api_server.be_down(true);
    assert_eq!(world.retry(&cookie, &id).await.status, StatusCode::SERVICE_UNAVAILABLE);
    world.api_server.be_down(false);

    world.call(Method::POST, &format!("/api/v1/clusters/{id}/disconnect"), Some(&cookie)).await;

    assert_eq!(world.retry(&cookie, &id).await.code(), "being_removed");
}

async fn attempts_that_failed_are_told_beside_their_phase(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    world.register(&cookie).await;
    until("the resource is there", async || (!world.api_server.resources().is_empty()).then_some(())).await;
    let mut resource = world.api_server.resources()[0].clone();
    resource["status"] = json!({
        "phase": "GeneratingGitOpsTree",
        "message": "Writing the tree.",
        "conditions": [{
            "type": "FluxBootstrapped", "status": "True", "reason": "Reached", "message": "Flux runs.",
            "lastTransitionTime": "2026-11-30T10:09:00Z",
        }],
        "failedAttempts": [{
            "phase": "BootstrappingFlux", "count": 3, "reason": "FluxNotReady",
            "firstAt": "2026-11-30T10:01:00Z", "lastAt": "2026-11-30T10:08:00Z",
            "message": "The image of source-controller could not be pulled.",
        }],
    });
    world.api_server.put(resource);

    let phases = until("the phase is told", async || {
        let cluster = world.get("/api/v1/clusters", &cookie).await.json()["items"][0].clone();
        (cluster["phase"] == "GeneratingGitOpsTree").then(|| cluster["phases"].clone())
    })
    .await;

    assert_eq!(
        phases,
        json!([
            {
                "phase": "BootstrappingFlux",
                "state": "done",
                "failed_attempts": {
                    "count": 3,
                    "first_at": "2026-11-30T10:01:00Z",
                    "last_at": "2026-11-30T10:08:00Z",
                    "message": "The image of source-controller could not be pulled.",
                },
            },
            { "phase": "GeneratingGitOpsTree", "state": "current" },
            { "phase": "InstallingKubeOpera", "state": "waiting" },
        ])
    );
}
