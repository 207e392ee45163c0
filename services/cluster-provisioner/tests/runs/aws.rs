//! EKS: the real provider of AWS, in front of emulators of AWS.

use cluster_provisioner::book::RunResult;
use cluster_provisioner_contract::Topology;
use cluster_provisioner_terraform::Access;
use testkit_terraform::Aws;

use super::world::World;

const CREDENTIALS: &str = "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = CANARY\n";

#[tokio::test]
async fn an_eks_cluster_is_created_by_the_real_provider_and_deleted_again() {
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

    assert_eq!(world.destroy(1).await, RunResult::Succeeded);
    assert_eq!(world.known(), 0);
}
