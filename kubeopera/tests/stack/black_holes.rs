//! Clusters that do not answer cost the others nothing.

use std::{net::SocketAddr, time::Duration};

use host_cluster_controller_crd::{HostCluster, NAMESPACE};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::PostParams};
use serde_json::{Value, json};
use stack::{LocalCluster, Program};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinHandle,
    time::Instant,
};

use crate::{
    World,
    kubeconfigs::{field, kubeconfig},
    options,
};

const HOLES: usize = 30;
/// From the click to a cluster that is being prepared, whoever else does not answer: seconds, unless the machine is busy. To
/// wait for the others, one after the other, would take minutes, as each takes 5 s to connect to or 30 s to answer.
const NORMAL: Duration = Duration::from_mins(1);
/// Until the list is there: sooner than one that does not answer is given up.
const LISTED: Duration = Duration::from_secs(10);
/// How long everything is watched, twice: what leaks is more the second time.
const WATCHED: Duration = Duration::from_mins(1);
/// What may be more by chance: attempts come at random and last longer on a busy machine, and an allocator keeps what it likes.
const SOCKETS: usize = 10;
const MEBIBYTES: usize = 16;

#[tokio::test]
#[ignore = "starts two clusters"]
async fn thirty_clusters_that_do_not_answer_hold_up_no_other_and_take_no_more_and_more() {
    let there = LocalCluster::up("stack-holes-there", &["--control-plane-only"]).await.unwrap();
    let here = LocalCluster::up("stack-holes-here", &["--control-plane-only"]).await.unwrap();
    let world = World::on(here, options()).await;
    let pasted = tokio::fs::read_to_string(there.kubeconfig()).await.unwrap();
    let silent = Silent::on(&world.cluster).await;
    let deaf = Deaf::on(&world.cluster).await;
    for number in 0..HOLES {
        let address = if number % 2 == 0 { silent.address } else { deaf.address };
        black_hole(&world, number, address, &pasted).await;
    }
    let resources = Api::<HostCluster>::namespaced(world.client.clone(), NAMESPACE);
    let all = || async {
        let listed = resources.list(&kube::api::ListParams::default()).await?;
        Ok::<_, anyhow::Error>(listed.items)
    };
    stack::until("thirty that are known not to answer", Duration::from_mins(3), || async {
        let troubled = all().await?.into_iter().filter(|one| one.status.as_ref().is_some_and(|is| is.retry.is_some()));
        anyhow::ensure!(troubled.count() == HOLES, "not all are");
        let listed = world.dashboard.clusters().await?.len();
        anyhow::ensure!(listed == HOLES, "{listed} are on record");
        Ok(())
    })
    .await
    .unwrap();

    let before = Taken::by(&world.program).await;
    let began = Instant::now();
    let wanted = json!({ "name": "good", "provider": "on-premises", "region": "berlin", "kubeconfig": pasted });
    let (status, card) = world.dashboard.post("connect", &wanted).await.unwrap();
    assert_eq!(status, 201, "{card}");
    let path = format!("/api/v1/clusters/{}", card["id"].as_str().unwrap());
    stack::until("the next phase of the good one", NORMAL, || async {
        let card = world.dashboard.get(&path).await?;
        anyhow::ensure!(card["phase"] == "BootstrappingFlux", "{card}");
        Ok(())
    })
    .await
    .unwrap();
    say(&format!("the good one was prepared {:.1} s after the click", began.elapsed().as_secs_f64()));
    stack::until("its health", Duration::from_mins(1), || async {
        let card = world.dashboard.get(&path).await?;
        anyhow::ensure!(card["health"]["score"].is_number(), "{card}");
        Ok(())
    })
    .await
    .unwrap();

    // The list is there at once, whoever does not answer, and what is taken stays as it is.
    let (early, late) = (watched(&world).await, watched(&world).await);
    say(&format!("before: {before:?}; at most in one minute: {early:?}; in the next: {late:?}"));
    assert!(late.sockets <= early.sockets + SOCKETS, "{early:?}, then {late:?}");
    assert!(late.mebibytes <= early.mebibytes + MEBIBYTES, "{early:?}, then {late:?}");
}

/// What the program took at most while a person looked at the list.
async fn watched(world: &World) -> Taken {
    let began = Instant::now();
    let mut most = Taken::by(&world.program).await;
    while began.elapsed() < WATCHED {
        let asked = Instant::now();
        let listed = world.dashboard.get("/api/v1/clusters?limit=100").await.unwrap();
        assert!(asked.elapsed() < LISTED, "{:?}", asked.elapsed());
        assert_eq!(listed["items"].as_array().unwrap().len(), HOLES + 1);
        most = most.or(Taken::by(&world.program).await);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    most
}

/// A cluster of somebody's whose API server is at this address.
async fn black_hole(world: &World, number: usize, address: SocketAddr, pasted: &str) {
    let id = format!("{:08x}-5c1f-4e0a-9b63-0d2f6f1f7a11", 0x4ac0_0000 + number);
    let secret = format!("hostcluster-{}-input-kubeconfig", &id[..8]);
    let user = json!({ "token": "of-nobody" });
    let authority = field(pasted, "certificate-authority-data");
    let cluster = json!({ "server": format!("https://{address}"), "certificate-authority-data": authority });
    create::<Secret>(
        world,
        json!({ "metadata": { "name": secret },
        "stringData": { "kubeconfig": kubeconfig(&[("hole", cluster, user)]) } }),
    )
    .await;
    create::<HostCluster>(world, json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
        "metadata": { "name": id, "labels": {
            "kubeopera.io/cluster-name": format!("hole-{number}"), "app.kubernetes.io/managed-by": "kubeopera" } },
        "spec": {
            "clusterID": id, "mode": "connect_existing", "provider": "on-premises", "region": "nowhere",
            "connectKubeconfigSecretRef": secret, "gitOpsRepoURL": "https://git.acme.com/gitops-iac.git",
            "gitOpsPath": format!("fluxcd/clusters/hole-{number}"), "gitCredentialsSecretRef": "kubeopera-git-credentials",
        },
    })).await;
}

async fn create<K>(world: &World, object: Value)
where
    K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + serde::Serialize
        + serde::de::DeserializeOwned
        + std::fmt::Debug,
{
    let api = Api::<K>::namespaced(world.client.clone(), NAMESPACE);
    api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
}

/// Takes connections and never says a word.
struct Silent {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Silent {
    async fn on(cluster: &LocalCluster) -> Self {
        let listener = TcpListener::bind((cluster.host_address().await.unwrap(), 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            let mut taken = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                taken.push(connection);
            }
        });
        Self { address, task }
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Drops every packet: nobody takes a connection, and those who wait fill the queue.
struct Deaf {
    address: SocketAddr,
    _listener: TcpListener,
    _queue: Vec<TcpStream>,
}

impl Deaf {
    async fn on(cluster: &LocalCluster) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(cluster.host_address().await.unwrap(), 0)).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(Ok(waiting)) = tokio::time::timeout(Duration::from_secs(1), TcpStream::connect(address)).await {
            queue.push(waiting);
        }
        Self { address, _listener: listener, _queue: queue }
    }
}

/// What the program takes of the machine.
#[derive(Debug, Clone, Copy)]
struct Taken {
    sockets: usize,
    mebibytes: usize,
}

impl Taken {
    async fn by(program: &Program) -> Self {
        let process = format!("/proc/{}", program.process().unwrap());
        let mut sockets = 0;
        for descriptor in std::fs::read_dir(format!("{process}/fd")).unwrap() {
            let leads_to = std::fs::read_link(descriptor.unwrap().path()).unwrap_or_default();
            sockets += usize::from(leads_to.to_string_lossy().starts_with("socket:"));
        }
        let status = tokio::fs::read_to_string(format!("{process}/status")).await.unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kibibytes: usize = resident.trim().trim_end_matches(" kB").parse().unwrap();
        Self { sockets, mebibytes: kibibytes / 1024 }
    }

    fn or(self, other: Self) -> Self {
        Self { sockets: self.sockets.max(other.sockets), mebibytes: self.mebibytes.max(other.mebibytes) }
    }
}

#[allow(clippy::print_stderr, reason = "a figure for whoever runs this with --nocapture")]
fn say(figure: &str) {
    eprintln!("{figure}");
}
