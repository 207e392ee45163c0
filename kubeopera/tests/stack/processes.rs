//! Two processes of one KubeOpera, with one database: both serve, one drives clusters, and the other takes over.

use std::{collections::BTreeSet, time::Duration};

use auth_service::RootKeys;
use host_cluster_controller_crd::{NAMESPACE, Phase};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use stack::{Dashboard, GitServer, LocalCluster, PhaseLog, Program, ProgramOptions, commits_of_path};
use tokio::time::Instant;

use crate::{TO_READY, host_clusters, options};

/// From a SIGKILL of the leader until another one leads: 17 s by design (12 until the Lease is over, then a look each 2 s and
/// a write), and what a busy machine takes.
const HANDED_OVER: Duration = Duration::from_secs(30);
const GIT_SECRET: &str = "acme-git";

#[tokio::test]
#[ignore = "starts a cluster"]
async fn of_two_processes_one_acts_and_the_other_takes_over_when_it_is_killed_stopped_or_asleep() {
    let cluster = LocalCluster::up("stack-processes", &[]).await.unwrap();
    let git = GitServer::prepare(&cluster).await.unwrap();
    git.store_credentials(&cluster, GIT_SECRET).await.unwrap();
    git.accept().await.unwrap();
    stack::start_mirror().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, RootKeys::new_line().reveal()).unwrap();
    let database = testkit_postgres::database().unwrap();
    let arguments = [
        "--database-url",
        &database,
        "--encryption-key-file",
        key.to_str().unwrap(),
        "--git-url",
        &git.url(),
        "--git-credentials-secret",
        GIT_SECRET,
    ];
    let of_two = ProgramOptions { arguments: arguments.map(str::to_owned).to_vec(), ..options() };
    let client = cluster.client().await.unwrap();
    let lead = Lead(Api::namespaced(client.clone(), NAMESPACE));

    // A start ends when the process says that it is ready, whether it leads or not.
    let mut first = Program::start(&cluster, of_two.clone()).await.unwrap();
    let of_first = lead.other_than("").await;
    let second = Program::start(&cluster, of_two).await.unwrap();
    let dashboard = Dashboard::log_in(&first).await.unwrap();
    let phases = PhaseLog::follow(client.clone());
    dashboard.at(&second).register().await.unwrap();
    phases.reached(Phase::GeneratingGitOpsTree, TO_READY).await.unwrap();
    assert_eq!(lead.holder().await.as_deref(), Some(&*of_first));

    first.kill().await.unwrap();
    let killed = Instant::now();
    let of_second = lead.other_than(&of_first).await;
    let taken = killed.elapsed();
    say(&format!("another process led {:.1} s after the kill", taken.as_secs_f64()));
    assert!(taken <= HANDED_OVER, "{taken:?}");
    phases.reached(Phase::Ready, TO_READY).await.unwrap();

    let resources = host_clusters(&client).await.unwrap();
    assert_eq!(resources.len(), 1);
    let path = resources[0].spec.git_ops_path.clone();
    let commits = commits_of_path(git.repository(), "main", &path).await.unwrap();
    let subjects: Vec<_> = commits.iter().filter_map(|commit| commit.split_once(' ').map(|(_, is)| is)).collect();
    assert_eq!(subjects.iter().collect::<BTreeSet<_>>().len(), subjects.len(), "a step was done twice: {subjects:?}");
    let seen = phases.phases();
    assert!(seen.is_sorted(), "the way went back: {seen:?}");

    // The one that led comes back and stands by.
    first.start_again().await.unwrap();
    for process in [&first, &second] {
        // One that has only just started has yet to read the resources, and says so.
        stack::until("its card", Duration::from_secs(30), || async {
            let cards = dashboard.at(process).clusters().await?;
            anyhow::ensure!(cards.len() == 1 && cards[0]["phase"] == "Ready", "{cards:?}");
            Ok(())
        })
        .await
        .unwrap();
    }
    assert_eq!(lead.holder().await.as_deref(), Some(&*of_second));

    // Asleep for so long that the other has taken over, it wakes up and leaves it at that.
    second.signal("STOP").await.unwrap();
    let of_first = lead.other_than(&of_second).await;
    second.signal("CONT").await.unwrap();
    stack::eventually("it has noticed", Duration::from_secs(30), || async {
        Ok(second.logged().await?.contains("leads no more"))
    })
    .await
    .unwrap();
    assert_eq!(lead.holder().await.as_deref(), Some(&*of_first));
    assert_eq!(commits_of_path(git.repository(), "main", &path).await.unwrap(), commits);

    // One that is told to stop leaves the lead to the other: once it has ended, nobody waits for its Lease to be over.
    let told = Instant::now();
    first.stop().await.unwrap();
    assert_ne!(lead.holder().await.as_deref(), Some(&*of_first));
    lead.other_than(&of_first).await;
    say(&format!("another process led {:.1} s after a stop", told.elapsed().as_secs_f64()));
    assert_eq!(host_clusters(&client).await.unwrap()[0].status.as_ref().unwrap().phase, Some(Phase::Ready));
}

#[allow(clippy::print_stderr, reason = "a figure for whoever runs this with --nocapture")]
fn say(figure: &str) {
    eprintln!("{figure}");
}

struct Lead(Api<Lease>);

impl Lead {
    async fn holder(&self) -> Option<String> {
        self.0.get_opt("kubeopera-leader").await.unwrap()?.spec?.holder_identity
    }

    /// Waits until somebody else than `before` leads.
    async fn other_than(&self, before: &str) -> String {
        stack::until("another leader", Duration::from_mins(1), || async {
            let holder = self.holder().await.filter(|holder| holder != before);
            holder.ok_or_else(|| anyhow::anyhow!("{before} leads still, or nobody"))
        })
        .await
        .unwrap()
    }
}
