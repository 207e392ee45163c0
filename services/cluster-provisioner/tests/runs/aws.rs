//! EKS and kubeadm: the real provider of AWS, in front of emulators of AWS.

use cluster_provisioner::book::RunResult;
use cluster_provisioner_contract::Topology;
use cluster_provisioner_terraform::{Access, Purpose};
use testkit_terraform::Aws;
use tokio_util::sync::CancellationToken;

use super::world::World;

const CREDENTIALS: &str = "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = CANARY\n";

#[tokio::test]
async fn an_eks_cluster_is_created_by_the_real_provider_and_deleted_again() {
    if !Aws::has_provider().unwrap() {
        return;
    }
    let aws = Aws::start().unwrap();
    let credential = ("aws-credentials", CREDENTIALS);
    let environment = aws.environment();
    let world = World::new(Topology::ManagedEks, ("eu-north-1", "m7g.large"), Access::Aws, credential, environment);

    let created = world.create(1).await;

    assert_eq!(created, RunResult::Succeeded);
    assert!(world.known() > 40, "{}", world.known());
    let kubeconfig = world.kubeconfig();
    assert!(kubeconfig.starts_with("https://") && kubeconfig.contains("|k8s-aws-v1."), "{kubeconfig}");
    let told = world.page().told.join("\n");
    assert!(told.contains("resources done"), "{told}");

    let volume = aws.make_volume(&format!("kubernetes.io/cluster/north-{}", world.request.cluster.short())).unwrap();
    let RunResult::Failed(trouble) = world.destroy(1).await else { panic!("a disk is left") };
    assert_eq!((world.known(), trouble.reason.as_str()), (0, "LeftInCloud"));
    assert!(trouble.message.contains(&volume) && trouble.message.contains("1 more"), "{}", trouble.message);
    let left = world.left();
    assert!(left.len() == 1 && left[0].ends_with(&volume), "{left:?}");

    aws.delete_volume(&volume).unwrap();
    assert_eq!(world.destroy(2).await, RunResult::Succeeded);
    assert_eq!(world.left(), [""; 0]);
    // Its state is lost, and the cloud says that there is nothing.
    world.page.lock().unwrap().state = None;
    assert_eq!(world.destroy(3).await, RunResult::Succeeded);
}

#[tokio::test]
async fn a_vanilla_cluster_is_reached_once_its_control_plane_has_published_its_kubeconfig() {
    if !Aws::has_provider().unwrap() {
        return;
    }
    let aws = Aws::start().unwrap();
    let topology = Topology::VanillaKubeadm { control_planes: 3 };
    let credential = ("aws-credentials", CREDENTIALS);
    let world = World::new(topology, ("eu-north-1", "m7g.large"), Access::Aws, credential, aws.environment());
    let parameter = |name: &str| format!("/kubeopera/{}/{name}", world.request.cluster);

    // What the machines would do, of which there are none.
    let running = world.run("create-1", Purpose::Create, CancellationToken::new());
    let booting = async {
        super::google::until(|| world.page().told.iter().any(|told| told == "Waiting for the control plane to boot."))
            .await;
        aws.put_parameter(&parameter("status/control-plane-0"), "installing packages").unwrap();
        super::google::until(|| world.page().told.iter().any(|told| told.contains("installing packages"))).await;
        aws.put_parameter(&parameter("kubeconfig"), "apiVersion: v1").unwrap();
    };
    let (created, ()) = tokio::join!(running, booting);

    assert_eq!(created.unwrap(), RunResult::Succeeded);
    assert_eq!(world.kubeconfig(), "apiVersion: v1");
    let state = world.state().to_string();
    for kind in ["aws_lb_target_group_attachment", "aws_autoscaling_group", "aws_launch_template"] {
        assert!(state.contains(kind), "{kind}");
    }
    for resource in world.state()["resources"].as_array().unwrap() {
        assert_ne!(resource["type"], "aws_iam_role_policy_attachment", "nobody's own policies are given to machines");
        for instance in resource["instances"].as_array().unwrap() {
            if resource["type"] == "aws_iam_role_policy" {
                only_its_own_parameters(instance, &parameter(""));
            }
        }
    }
    let machines = world.state()["resources"].as_array().unwrap().clone();
    let control_plane = machines.iter().find(|one| one["type"] == "aws_instance").unwrap();
    let user_data = control_plane["instances"][0]["attributes"]["user_data_base64"].as_str().unwrap();
    assert!(user_data.len() < 14 * 1024, "EC2 takes 16 KiB: {}", user_data.len());
    assert_eq!(control_plane["instances"].as_array().unwrap().len(), 3);

    assert_eq!(world.destroy(1).await, RunResult::Succeeded);
    assert_eq!(world.known(), 0);
}

/// A worker gets at what it joins with, and no machine at what is another cluster's.
fn only_its_own_parameters(policy: &serde_json::Value, own: &str) {
    let role = policy["index_key"].as_str().unwrap();
    let document: serde_json::Value = serde_json::from_str(policy["attributes"]["policy"].as_str().unwrap()).unwrap();
    let all = |value: &serde_json::Value| -> Vec<String> {
        let several = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        several.iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    let readable: Vec<_> = document["Statement"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| {
            all(&one["Action"])
                .iter()
                .any(|action| action.contains('*') && !action.starts_with("elastic") || action.contains("Parameter"))
        })
        .flat_map(|one| all(&one["Resource"]))
        .collect();
    let expected = if role == "worker" { "join/worker" } else { "*" };
    let [parameters] = &readable[..] else { panic!("{role}: {readable:?}") };
    assert!(parameters.ends_with(&format!(":parameter{own}{expected}")), "{role}: {parameters}");
}
