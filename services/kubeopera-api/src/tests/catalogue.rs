//! What can be created where.

use http::{Request, StatusCode, header};

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
