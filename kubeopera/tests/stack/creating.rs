//! Create a new cluster: a real Job in a real Pod with the real Terraform. Google is a stand-in, and what it "creates" is
//! another local cluster.

use std::time::Duration;

use host_cluster_controller_crd::Phase;
use k8s_openapi::api::core::v1::PersistentVolume;
use kube::{Api, api::PostParams};
use serde_json::{Value, json};
use stack::{JOB_IMAGE, JobImage, LocalCluster, PhaseLog, run};
use testkit_terraform::Terraform;
use tokio::process::Command;

use crate::{
    World,
    connect_existing::ready,
    host_clusters,
    kubeconfigs::{field, token},
    options,
};

/// How long deleting may take.
const TO_GONE: Duration = Duration::from_mins(3);
/// Network, subnet, router and its NAT, account with two rights, cluster, nodes.
const RESOURCES: usize = 9;

#[tokio::test]
#[ignore = "starts two clusters"]
async fn a_cluster_is_created_by_a_job_handed_to_flux_and_deleted_again_with_a_ledger() {
    stack::start_mirror().await.unwrap();
    let created = LocalCluster::up("stack-created", &[]).await.unwrap();
    let here = LocalCluster::up("stack-creating", &[]).await.unwrap();
    load_image(&here, &created).await;
    bring_a_disk(&created).await;
    let mut options = options();
    options.arguments =
        ["--provisioner-image", JOB_IMAGE, "--provisioner-pull-policy", "Never"].map(str::to_owned).into();
    let world = World::on(here, options).await;
    let phases = PhaseLog::follow(world.client.clone());

    let wanted = json!({
        "name": "created", "provider": "gcp", "topology": "managed_gke", "region": "europe-west4",
        "kubernetes_version": "1.35", "node_count": 2, "instance_type": "n4-standard-4",
        "credential": { "label": "acme", "secret": { "type": "gcp_service_account_key", "key": key().await } },
    });
    let (status, card) = world.dashboard.post("create", &wanted).await.unwrap();
    assert_eq!(status, 201, "{card}");
    let id = card["id"].as_str().unwrap().to_owned();
    let ready = ready(&world).await;

    assert_eq!(ready.spec.cluster_id, id);
    let seen = phases.phases();
    assert_eq!(seen[..2], [Phase::Pending, Phase::Provisioning], "{seen:?}");
    assert_eq!(seen.last(), Some(&Phase::Ready));
    follow_along(&world, &id).await;
    let infrastructure = infrastructure(&world, &id).await;
    assert_eq!((&infrastructure["state"], &infrastructure["left"]), (&json!("succeeded"), &json!(RESOURCES)));
    let log = world.dashboard.get(&format!("/api/v1/clusters/{id}/provisioning/log")).await.unwrap();
    let lines: Vec<_> = log["lines"].as_array().unwrap().iter().filter_map(|line| line["text"].as_str()).collect();
    assert!(lines.iter().any(|line| line.starts_with("Apply complete!")), "{lines:#?}");
    assert_eq!(
        (lines.first(), lines.last(), &log["is_live"]),
        (Some(&"Run create-1 begins."), Some(&"Done."), &json!(false))
    );

    let delete = world.dashboard.request(reqwest::Method::DELETE, &format!("/api/v1/clusters/{id}"));
    let answer = delete.json(&json!({ "name": "created" })).send().await.unwrap();
    assert_eq!(answer.status(), 202, "{}", answer.text().await.unwrap());
    stack::until("an end of the HostCluster and of its card", TO_GONE, || async {
        let left = host_clusters(&world.client).await?;
        anyhow::ensure!(left.is_empty(), "{:?}", left[0].status.as_ref().map(|status| &status.message));
        anyhow::ensure!(world.dashboard.clusters().await?.is_empty(), "its card is still there");
        Ok(())
    })
    .await
    .unwrap();

    // Its API still answers, as nothing but the stand-in knows that it is gone.
    let within =
        run(created.kubectl().args(["get", "services,persistentvolumeclaims", "-A", "-o", "wide"])).await.unwrap();
    assert!(!within.contains("LoadBalancer") && !within.contains("persistentvolumeclaim/"), "{within}");
    let infrastructure = self::infrastructure(&world, &id).await;
    assert_eq!((&infrastructure["state"], &infrastructure["left"]), (&json!("destroyed"), &json!(0)));
    let resources = infrastructure["resources"].as_array().unwrap();
    assert_eq!(resources.len(), RESOURCES, "{resources:#?}");
    assert!(resources.iter().all(|resource| resource["gone_at"].is_string()), "{resources:#?}");
    let left = run(world.cluster.kubectl().args([
        "get",
        "jobs,pods,secrets,roles",
        "-n",
        "kubeopera-provisioning",
        "-o",
        "name",
    ]))
    .await;
    assert_eq!(left.unwrap().trim(), "", "what belonged to its runs is left");
}

/// The image of the Job, with a Google whose clusters are that local cluster.
async fn load_image(here: &LocalCluster, created: &LocalCluster) {
    let kubeconfig = tokio::fs::read_to_string(created.kubeconfig()).await.unwrap();
    let server = field(&kubeconfig, "server");
    let answers = json!({
        "google_container_cluster": {
            "endpoint": server.trim_start_matches("https://"),
            "cluster_ca_certificate": field(&kubeconfig, "certificate-authority-data"),
        },
        "google_client_config": { "access_token": token(&created.client().await.unwrap(), "google", true).await },
        "google_compute_zones": { "names": ["europe-west4-a", "europe-west4-b", "europe-west4-c"] },
    });
    let terraform = Terraform::find().unwrap();
    let image = JobImage {
        executable: &options().executable,
        terraform: &terraform.program,
        providers: &terraform.providers(),
        answers: &answers,
    };
    let folder = tempfile::tempdir().unwrap();
    here.load_images(&image.build(folder.path()).await.unwrap()).await.unwrap();
}

/// GKE brings its own disks; here there is one, for Prometheus.
async fn bring_a_disk(created: &LocalCluster) {
    let disk = json!({
        "metadata": { "name": "disk" },
        "spec": {
            "capacity": { "storage": "1Ti" }, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": { "path": "/tmp/stack-created-disk", "type": "DirectoryOrCreate" },
        },
    });
    let disks = Api::<PersistentVolume>::all(created.client().await.unwrap());
    disks.create(&PostParams::default(), &serde_json::from_value(disk).unwrap()).await.unwrap();
}

/// A service-account key as Google hands it out, of an account that nobody has.
async fn key() -> String {
    let private =
        run(Command::new("openssl").args(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])).await;
    json!({
        "type": "service_account", "project_id": "acme-platform", "private_key_id": "0123456789abcdef0123456789abcdef01234567",
        "private_key": private.unwrap(), "client_email": "kubeopera@acme-platform.iam.gserviceaccount.com",
        "client_id": "123456789012345678901", "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": "https://oauth2.googleapis.com/token",
        "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
        "client_x509_cert_url":
            "https://www.googleapis.com/robot/v1/metadata/x509/kubeopera%40acme-platform.iam.gserviceaccount.com",
    })
    .to_string()
}

/// The commands of the description, as they are printed there.
async fn follow_along(world: &World, id: &str) {
    let kubectl = |words: &str| {
        let mut command = world.cluster.kubectl();
        command.args(words.split_whitespace());
        async move { run(&mut command).await.unwrap() }
    };
    let clusters = kubectl("get hostcluster -n kubeopera-system").await;
    assert!(clusters.contains(id) && clusters.contains("Ready"), "{clusters}");
    let jobs = kubectl("get jobs -n kubeopera-provisioning").await;
    assert!(jobs.contains(&format!("provision-{id}")) && jobs.contains("Complete"), "{jobs}");
    let log = kubectl(&format!("logs -n kubeopera-provisioning job/provision-{id}")).await;
    assert!(log.contains("Apply complete!") && !log.contains("PRIVATE KEY"), "{log}");
}

async fn infrastructure(world: &World, id: &str) -> Value {
    world.dashboard.get(&format!("/api/v1/clusters/{id}/provisioning")).await.unwrap()
}
