//! What is created in a cloud, as it is shown, and how it is given up.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cluster_provisioner_contract::{
    ClusterProvisioner, LogPart, Price, Provisioning, Resource, RunRequest, RunState, RunStatus,
};
use http::{Method, StatusCode};
use serde_json::json;
use vocabulary::{ClusterId, Secret, Trouble};

use super::{World, on_both_databases};

on_both_databases! {
    what_there_is_is_shown_with_its_price_to_those_who_look_after_it
    the_log_goes_on_where_it_was
    infrastructure_is_given_up_by_name_while_the_cluster_is_being_deleted_and_only_then
}

/// Has made something for one cluster, and is told to give it up.
#[derive(Clone)]
pub(super) struct Runs {
    cluster: ClusterId,
    given_up: Arc<Mutex<u32>>,
}

impl Runs {
    fn of(id: &str) -> Self {
        Self { cluster: id.parse().unwrap(), given_up: Arc::default() }
    }
}

fn unused() -> Trouble {
    Trouble::bug("Unused", "The API has no business with this.")
}

#[async_trait]
impl ClusterProvisioner for Runs {
    async fn ensure_run(&self, _: &RunRequest, _: u32) -> Result<(), Trouble> {
        Err(unused())
    }
    async fn run_status(&self, _: ClusterId) -> Result<RunStatus, Trouble> {
        Err(unused())
    }
    async fn kubeconfig(&self, _: ClusterId) -> Result<Secret, Trouble> {
        Err(unused())
    }
    async fn ensure_destroyed(&self, _: ClusterId) -> Result<RunStatus, Trouble> {
        Err(unused())
    }
    async fn give_up(&self, cluster: ClusterId) -> Result<(), Trouble> {
        assert_eq!(cluster, self.cluster);
        *self.given_up.lock().unwrap() += 1;
        Ok(())
    }
    async fn provisioning(&self, cluster: ClusterId) -> Result<Option<Provisioning>, Trouble> {
        let resource = |address: &str, gone_at: Option<&str>, price| Resource {
            address: address.to_owned(),
            what: "the network".to_owned(),
            id: "arn:aws:x".to_owned(),
            gone_at: gone_at.map(|at| at.parse().unwrap()),
            price,
        };
        let machine = Price::Monthly("30.40".parse().unwrap());
        let shown = Provisioning {
            run: "destroy-1".to_owned(),
            state: RunState::Running,
            message: "Deleting the nodes (1 of 4 resources done).".to_owned(),
            resources: vec![
                resource("aws_instance.this[0]", None, machine),
                resource("aws_instance.this[1]", Some("2026-11-30T15:00:00Z"), machine),
                resource("aws_nat_gateway.this", None, Price::Unknown),
                resource("aws_vpc.this", None, Price::Free),
            ],
            ended_at: None,
        };
        Ok(Some(shown).filter(|_| cluster == self.cluster))
    }
    async fn log(&self, cluster: ClusterId, from: u64) -> Result<Option<LogPart>, Trouble> {
        let text =
            if from == 0 { "2026-11-30T15:00:00Z aws_vpc.this: Creating... <b>\n".to_owned() } else { String::new() };
        Ok(Some(LogPart { from, next: 49, text, is_live: from == 0 }).filter(|_| cluster == self.cluster))
    }
}

async fn what_there_is_is_shown_with_its_price_to_those_who_look_after_it(world: World) {
    let id = ClusterId::random().to_string();
    let world = world.with_provisioner(Arc::new(Runs::of(&id)));
    let operator = world.log_in("operator").await;

    let shown = world.get(&format!("/api/v1/clusters/{id}/provisioning"), &operator).await;

    assert_eq!(shown.status, StatusCode::OK, "{shown:?}");
    let shown = shown.json();
    assert_eq!(
        (&shown["run"], &shown["state"], &shown["ended_at"]),
        (&json!("destroy-1"), &json!("running"), &json!(null))
    );
    assert_eq!(
        (&shown["left"], &shown["left_monthly"], &shown["left_not_priced"]),
        (&json!(3), &json!(30.4), &json!(1))
    );
    let monthly: Vec<_> = shown["resources"].as_array().unwrap().iter().map(|one| one["monthly"].clone()).collect();
    assert_eq!(monthly, [json!(30.4), json!(30.4), json!(null), json!(0.0)]);
    assert_eq!(shown["resources"][1]["gone_at"], "2026-11-30T15:00:00Z");
    let viewer = world.log_in("viewer").await;
    assert_eq!(world.get(&format!("/api/v1/clusters/{id}/provisioning"), &viewer).await.code(), "forbidden");
    for id in [ClusterId::random().to_string(), "x".to_owned()] {
        for path in ["provisioning", "provisioning/log"] {
            let answer = world.get(&format!("/api/v1/clusters/{id}/{path}"), &operator).await;
            assert_eq!((answer.status, answer.code().as_str()), (StatusCode::NOT_FOUND, "nothing_provisioned"));
        }
    }
}

async fn the_log_goes_on_where_it_was(world: World) {
    let id = ClusterId::random().to_string();
    let world = world.with_provisioner(Arc::new(Runs::of(&id)));
    let cookie = world.log_in("operator").await;
    let path = format!("/api/v1/clusters/{id}/provisioning/log");

    let first = world.get(&path, &cookie).await.json();
    let second = world.get(&format!("{path}?from={}", first["next"]), &cookie).await.json();

    let line = json!({ "at": "2026-11-30T15:00:00Z", "text": "aws_vpc.this: Creating... <b>" });
    assert_eq!(first, json!({ "from": 0, "next": 49, "is_live": true, "lines": [line] }));
    assert_eq!(second, json!({ "from": 49, "next": 49, "is_live": false, "lines": [] }));
    for query in ["from=-1", "from=x", "from=99999999999999999999", "form=1", "from=1&from=2"] {
        let answer = world.get(&format!("{path}?{query}"), &cookie).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}: {answer:?}");
    }
}

async fn infrastructure_is_given_up_by_name_while_the_cluster_is_being_deleted_and_only_then(world: World) {
    let id = world.provisioned().await;
    let runs = Runs::of(&id);
    let world = world.with_provisioner(Arc::new(runs.clone()));
    let cookie = world.log_in("administrator").await;
    let path = format!("/api/v1/clusters/{id}/provisioning/give-up");
    let give_up = async |name: &str| world.change(Method::POST, &path, &cookie, &json!({ "name": name })).await;

    assert_eq!(give_up("cloud").await.code(), "not_being_deleted");
    let (cluster, name) = (format!("/api/v1/clusters/{id}"), json!({ "name": "cloud" }));
    assert_eq!(world.change(Method::DELETE, &cluster, &cookie, &name).await.status, StatusCode::ACCEPTED);
    assert_eq!(give_up("clouds").await.code(), "confirmation_mismatch");
    assert_eq!(*runs.given_up.lock().unwrap(), 0);
    let operator = world.log_in("operator").await;
    let refused = world.change(Method::POST, &path, &operator, &json!({ "name": "cloud" })).await;
    assert_eq!(refused.code(), "forbidden");

    let answer = give_up("cloud").await;

    assert_eq!(answer.status, StatusCode::ACCEPTED, "{answer:?}");
    assert_eq!(*runs.given_up.lock().unwrap(), 1);
    let rows = world.told().await;
    let row = |outcome: &str| {
        let of = |row: &&String| row.contains("|give_up_infrastructure|") && row.contains(&format!("|{outcome}|"));
        rows.iter().filter(of).count()
    };
    assert_eq!((row("denied"), row("done")), (3, 1), "{rows:#?}");
}
