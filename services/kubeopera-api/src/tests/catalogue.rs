//! What can be created where.

use http::{Method, Request, StatusCode, header};
use serde_json::{Value, json};

use super::{World, world::Answer};

const CATALOGUE: &str = "/api/v1/catalogue";

impl World {
    async fn get_unless(&self, path: &str, cookie: &str, tag: &str) -> Answer {
        let request = Request::get(path).header(header::COOKIE, cookie).header(header::IF_NONE_MATCH, tag);
        self.send(request.body(axum::body::Body::empty()).unwrap()).await
    }
}

#[tokio::test]
async fn the_wizard_finds_all_it_asks_for() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("viewer").await;

    let catalogue = world.get(CATALOGUE, &cookie).await.json();

    let [aws, gcp] = &catalogue["providers"].as_array().unwrap()[..] else { panic!("{catalogue}") };
    let ids = |of: &serde_json::Value| -> Vec<String> {
        of.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&aws["topologies"]), ["vanilla_kubeadm", "managed_eks"]);
    assert_eq!(ids(&gcp["topologies"]), ["managed_gke"]);
    assert!(ids(&aws["regions"]).contains(&"eu-north-1".to_owned()));
    let versions = aws["topologies"][1]["kubernetes_versions"].as_array().unwrap();
    assert!(!versions.is_empty() && versions[0]["support"] == "standard", "{versions:?}");
    let types = world.get(&format!("{CATALOGUE}/aws/eu-north-1/instance-types"), &cookie).await.json();
    let medium = types["items"].as_array().unwrap().iter().find(|one| one["name"] == "t3.medium").unwrap();
    assert_eq!(
        (&medium["cpus"], &medium["memory_mib"], &medium["architecture"]),
        (&2.into(), &4096.into(), &"amd64".into())
    );
    for region in ["aws/europe-west4", "gcp/eu-north-1", "azure/eu-north-1", "aws/x"] {
        let path = format!("{CATALOGUE}/{region}/instance-types");
        assert_eq!(world.get(&path, &cookie).await.code(), "no_such_region", "{region}");
    }
}

#[tokio::test]
async fn who_has_the_catalogue_is_not_sent_it_again() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("viewer").await;
    for path in [CATALOGUE, "/api/v1/catalogue/gcp/europe-west4/instance-types"] {
        let first = world.get(path, &cookie).await;
        let tag = first.headers[header::ETAG].to_str().unwrap().to_owned();
        assert_eq!(first.headers[header::CACHE_CONTROL], "private, no-cache");

        let again = world.get_unless(path, &cookie, &tag).await;
        let other = world.get_unless(path, &cookie, "W/\"0\"").await;

        assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
        assert_eq!((other.status, &other.text), (StatusCode::OK, &first.text));
    }
}

impl World {
    async fn estimate(&self, cookie: &str, change: &Value) -> Answer {
        let mut body = json!({"provider": "aws", "topology": "managed_eks", "region": "eu-north-1",
            "kubernetes_version": "1.35", "node_count": 2, "instance_type": "t3.medium"});
        for (field, value) in change.as_object().unwrap() {
            body[field] = value.clone();
        }
        self.change(Method::POST, "/api/v1/clusters/estimate", cookie, &body).await
    }
}

#[tokio::test]
async fn an_estimate_says_what_is_in_it_and_what_is_not() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("viewer").await;

    let made = world.estimate(&cookie, &json!({})).await.json();

    let items = made["items"].as_array().unwrap();
    let item = |what: &str| items.iter().find(|item| item["what"] == what).unwrap_or_else(|| panic!("{made}"));
    let (nodes, control_plane) = (item("Nodes"), item("Control plane"));
    assert_eq!((nodes["count"].as_u64(), control_plane["monthly"].as_f64()), (Some(2), Some(73.0)));
    assert!(nodes["basis"].as_str().unwrap().starts_with("t3.medium at $0.0"), "{made}");
    let sum: f64 = items.iter().map(|item| item["monthly"].as_f64().unwrap()).sum();
    assert!((made["monthly"].as_f64().unwrap() - sum).abs() < 0.001, "{made}");
    assert!(made["not_priced"].to_string().contains("NAT gateway"), "{made}");

    let twice = world.estimate(&cookie, &json!({"node_count": 4})).await.json();
    let more = twice["monthly"].as_f64().unwrap() - made["monthly"].as_f64().unwrap();
    assert!(more >= nodes["monthly"].as_f64().unwrap(), "{more}");
    let past = world.estimate(&cookie, &json!({"kubernetes_version": "1.33"})).await.json();
    assert!(past["items"].to_string().contains("438"), "support that costs extra: {past}");
}

#[tokio::test]
async fn what_has_no_price_is_named_and_what_cannot_be_created_is_refused() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("viewer").await;
    let vanilla = json!({"topology": "vanilla_kubeadm", "kubernetes_version": "1.36.4", "control_plane_count": 3});
    let gke = json!({"provider": "gcp", "topology": "managed_gke", "region": "europe-west4",
        "instance_type": "n4-standard-4"});

    for change in [vanilla, gke] {
        let made = world.estimate(&cookie, &change).await.json();
        let named = made["items"].to_string() + &made["not_priced"].to_string();
        for what in ["Nodes", "Disks"] {
            assert!(named.contains(what), "{what}: {made}");
        }
        assert!(made["items"].as_array().unwrap().iter().all(|item| item["monthly"].as_f64() > Some(0.0)), "{made}");
    }
    let refused = world.estimate(&cookie, &json!({"node_count": 0})).await;
    assert_eq!((refused.code().as_str(), &refused.json()["field"]), ("node_count_out_of_range", &json!("node_count")));
}
