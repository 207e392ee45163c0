//! Connect Existing: a cluster from elsewhere, by its kubeconfig.

use std::time::Duration;

use host_cluster_controller_crd::{HostCluster, NAMESPACE, Phase};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use serde_json::json;
use stack::{LocalCluster, PhaseLog};

use crate::{
    TO_READY, World,
    disconnecting::workloads,
    flux::{git_repositories, kustomizations},
    host_clusters,
    kubeconfigs::{field, kubeconfig, token},
    names, options,
};

/// How long letting go of a cluster that answers may take.
const TO_GONE: Duration = Duration::from_mins(1);

#[tokio::test]
#[ignore = "starts two clusters"]
async fn a_second_real_cluster_is_connected_by_certificate_let_go_of_with_its_workloads_and_connected_again_by_token() {
    stack::start_mirror().await.unwrap();
    let there = LocalCluster::up("stack-there", &[]).await.unwrap();
    let here = LocalCluster::up("stack-here", &["--control-plane-only"]).await.unwrap();
    let world = World::on(here, options()).await;
    let pasted = tokio::fs::read_to_string(there.kubeconfig()).await.unwrap();
    let phases = PhaseLog::follow(world.client.clone());

    // The doctor knows both: one is usable, the other is where KubeOpera runs.
    let own = tokio::fs::read_to_string(world.cluster.kubeconfig()).await.unwrap();
    let (_, check) = world.dashboard.post("kubeconfig-check", &json!({ "kubeconfig": own })).await.unwrap();
    assert_eq!(check["contexts"][0]["refusal"]["code"], "is_host_cluster", "{check}");
    let (_, check) = world.dashboard.post("kubeconfig-check", &json!({ "kubeconfig": pasted })).await.unwrap();
    let verdict = &check["contexts"][0];
    assert_eq!(verdict["verdict"], "usable", "{check}");
    assert!(verdict["expires_at"].is_string(), "it is a client certificate");
    assert_eq!(verdict["cluster"]["kubernetes_version"], "1.34.4");
    assert_eq!(verdict["cluster"]["nodes"], json!({ "total": 1, "ready": 1 }));

    doctor_judges_each_way_to_a_real_cluster(&world, &there, &pasted, &own).await;

    let wanted = json!({
        "name": "there", "provider": "on-premises", "region": "berlin", "kubeconfig": pasted,
        "admin_email": "first@acme.com", "admin_username": "first",
    });
    let (status, card) = world.dashboard.post("connect", &wanted).await.unwrap();
    assert_eq!(status, 201, "{card}");
    let ready = ready(&world).await;
    nothing_of_it_is_seen(&world, &pasted).await;

    assert_eq!(card["id"], ready.spec.cluster_id);
    assert_eq!(
        phases.phases(),
        [
            Phase::Pending,
            Phase::ValidatingAccess,
            Phase::BootstrappingFlux,
            Phase::GeneratingGitOpsTree,
            Phase::InstallingKubeOpera,
            Phase::Ready
        ]
    );
    let name = ready.spec.connect_kubeconfig_secret_ref.clone().unwrap();
    let secrets = Api::<Secret>::namespaced(world.client.clone(), NAMESPACE);
    let kept = secrets.get(&name).await.unwrap().data.unwrap();
    assert_eq!(kept["kubeconfig"].0, pasted.as_bytes(), "not the very bytes that were supplied");
    let status = ready.status.clone().unwrap();
    assert_eq!(
        status.message.as_deref(),
        Some("Flux healthy and reconciling fluxcd/clusters/there. Administrator first@acme.com created.")
    );
    let password = secrets.get(&status.admin_password_secret_ref.unwrap()).await.unwrap().data.unwrap();
    let password = String::from_utf8(password["password"].0.clone()).unwrap();
    assert!(password.len() >= 16, "a first administrator's password is long");
    assert!(!world.program.logged().await.unwrap().contains(&password), "the password is seen in the log");
    let (status, again) = world
        .dashboard
        .post(
            "connect",
            &json!({ "name": "elsewhere", "provider": "aws", "region": "eu-north-1", "kubeconfig": pasted }),
        )
        .await
        .unwrap();
    assert_eq!((status.as_u16(), again["code"].as_str()), (409, Some("cluster_already_known")), "{again}");

    let client = there.client().await.unwrap();
    let running = workloads(&client).await;
    assert!(running.len() > 10, "an environment is more than {running:?}");
    let (status, leaving) =
        world.dashboard.post(&format!("{}/disconnect", ready.spec.cluster_id), &json!({})).await.unwrap();
    assert_eq!(status, 202, "{leaving}");
    stack::until("an end of the HostCluster and of its card", TO_GONE, || async {
        let left = host_clusters(&world.client).await?;
        anyhow::ensure!(left.is_empty(), "{:?}", left[0].status.as_ref().map(|status| &status.message));
        let cards = world.dashboard.clusters().await?;
        anyhow::ensure!(cards.is_empty(), "{cards:?}");
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(names(kustomizations(&client)).await, [""; 0]);
    assert_eq!(names(git_repositories(&client)).await, [""; 0]);
    assert_eq!(secrets.get_opt(&name).await.unwrap(), None, "the kubeconfig is still kept");
    assert_eq!(workloads(&client).await, running);

    let by_token = kubeconfig(&[(
        "admin@there",
        json!({ "server": field(&pasted, "server"), "certificate-authority-data": field(&pasted, "certificate-authority-data") }),
        json!({ "token": token(&client, "kubeopera", true).await }),
    )]);
    let wanted = json!({ "name": "by-token", "provider": "on-premises", "region": "berlin", "kubeconfig": by_token });
    let (status, card) = world.dashboard.post("connect", &wanted).await.unwrap();
    assert_eq!(status, 201, "{card}");
    let again = self::ready(&world).await;
    assert_ne!(again.spec.cluster_id, ready.spec.cluster_id, "an entry of its own");
    assert_eq!(workloads(&client).await, running);
}

/// Waits for the one HostCluster to be Ready.
pub(crate) async fn ready(world: &World) -> HostCluster {
    stack::until("Ready", TO_READY, || async {
        let resource = world.host_cluster().await?;
        let status = resource.status.clone().unwrap_or_default();
        anyhow::ensure!(status.phase == Some(Phase::Ready), "{:?}: {:?}", status.phase, status.message);
        Ok(resource)
    })
    .await
    .unwrap()
}

/// One file with a context for each way that people find to a real cluster.
async fn doctor_judges_each_way_to_a_real_cluster(world: &World, there: &LocalCluster, pasted: &str, own: &str) {
    let client = there.client().await.unwrap();
    let server = field(pasted, "server");
    let cluster = |authority: &str| json!({ "server": server, "certificate-authority-data": field(authority, "certificate-authority-data") });
    let mut misnamed = cluster(pasted);
    misnamed["tls-server-name"] = "api.acme.com".into();
    let mut own_certificate = cluster(pasted);
    own_certificate["certificate-authority-data"] = field(pasted, "client-certificate-data").into();
    let admin = json!({ "token": token(&client, "doctor-admin", true).await });
    let contexts = [
        ("token", cluster(pasted), admin.clone()),
        ("reader", cluster(pasted), json!({ "token": token(&client, "doctor-reader", false).await })),
        ("wrong token", cluster(pasted), json!({ "token": "wrong" })),
        ("another's authority", cluster(own), admin.clone()),
        ("no authority", json!({ "server": server }), admin.clone()),
        ("no authority's certificate", own_certificate, admin.clone()),
        ("another name", misnamed, admin),
    ];
    let (_, check) =
        world.dashboard.post("kubeconfig-check", &json!({ "kubeconfig": kubeconfig(&contexts) })).await.unwrap();

    for (at, (context, code, words)) in [
        ("token", "", ""),
        ("reader", "insufficient_permissions", "is not cluster-admin"),
        ("wrong token", "unauthorized", "does not accept the credential"),
        ("another's authority", "tls_verification_failed", "not signed by the certificate authority"),
        ("no authority", "tls_verification_failed", "has no certificate-authority-data"),
        ("no authority's certificate", "tls_verification_failed", "is a server's own certificate"),
        ("another name", "tls_verification_failed", "does not name this address, but "),
    ]
    .into_iter()
    .enumerate()
    {
        let verdict = &check["contexts"][at];
        assert_eq!(verdict["name"], context, "{check}");
        assert_eq!(verdict["refusal"]["code"].as_str().unwrap_or_default(), code, "{verdict}");
        assert!(verdict["refusal"]["message"].as_str().unwrap_or_default().contains(words), "{verdict}");
    }
}

/// Neither the key nor the certificate of a kubeconfig is anywhere but in its Secrets.
async fn nothing_of_it_is_seen(world: &World, pasted: &str) {
    let key = pasted.lines().find_map(|line| line.trim().strip_prefix("client-key-data: ")).unwrap();
    let database = tokio::fs::read(world.program.data().join("kubeopera.db")).await.unwrap();
    let places = [
        ("HostClusters", serde_json::to_string(&host_clusters(&world.client).await.unwrap()).unwrap()),
        ("API answers", world.dashboard.list().await.unwrap().to_string()),
        ("the log", world.program.logged().await.unwrap()),
        ("the database", String::from_utf8_lossy(&database).into_owned()),
    ];
    for (place, text) in places {
        assert!(!text.contains(key), "a key is seen in {place}");
    }
}
