//! What one person may do how often.

use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use super::{World, elsewhere::kubeconfig, on_both_databases, world::Answer};

on_both_databases! {
    ten_tries_in_ten_minutes_are_ten_however_many_processes_serve_them
    twenty_clusters_are_asked_for_in_an_hour
}

fn wait(answer: &Answer) -> u64 {
    answer.headers[header::RETRY_AFTER].to_str().unwrap().parse().unwrap()
}

async fn ten_tries_in_ten_minutes_are_ten_however_many_processes_serve_them(world: World) {
    let beside = world.beside().await;
    let (operator, administrator) = (world.log_in("operator").await, world.log_in("administrator").await);
    let file = kubeconfig(&[("a", "nobody.acme.com")]).to_string();
    let connect = json!({"name": "a", "provider": "aws", "region": "eu-north-1", "kubeconfig": file});
    let check = json!({"kubeconfig": file});

    for (path, body) in [("connect", &connect), ("kubeconfig-check", &check)] {
        let path = format!("/api/v1/clusters/{path}");
        let ask = async |process: &World, who: &str| process.change(Method::POST, &path, who, body).await;
        let at_once = (0..6).flat_map(|_| [ask(&world, &operator), ask(&beside, &operator)]);
        let answers = futures::future::join_all(at_once).await;

        let refused: Vec<_> = answers.iter().filter(|answer| answer.status.as_u16() == 429).collect();
        assert_eq!(refused.len(), 2, "{path}: {answers:?}");
        for answer in refused {
            assert_eq!(answer.code(), "connect_rate_limited");
            assert!((500..=600).contains(&wait(answer)), "{answer:?}");
        }
        assert_ne!(ask(&world, &administrator).await.status.as_u16(), 429, "somebody else has tries of their own");
    }
}

async fn twenty_clusters_are_asked_for_in_an_hour(world: World) {
    let administrator = world.log_in("administrator").await;
    let body = |name: &str| -> Value {
        json!({"name": name, "provider": "aws", "topology": "managed_eks", "region": "eu-north-1",
            "kubernetes_version": "1.35", "node_count": 2, "instance_type": "m7g.large",
            "credential_id": "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11"})
    };
    let ask = async |body: &Value| world.change(Method::POST, "/api/v1/clusters/create", &administrator, body).await;

    for _ in 0..20 {
        let refused = ask(&body("sky")).await;
        assert!(refused.status.is_client_error() && refused.status.as_u16() != 429, "{refused:?}");
    }
    // What is refused for its fields is not counted.
    assert_eq!(ask(&body("Sky")).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let refused = ask(&body("sky")).await;

    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (429, "create_rate_limited"));
    assert!((3500..=3600).contains(&wait(&refused)), "{refused:?}");
}
