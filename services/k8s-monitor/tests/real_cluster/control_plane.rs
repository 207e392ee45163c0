//! Scheduler, controller manager and API server that are stopped.

use std::time::{Duration, Instant};

use k8s_monitor_contract::{Monitor, Penalty, Points};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;

use crate::{A_SECOND, PATIENCE, Real};

/// Two renewals of a Lease that do not come.
const TWO_RENEWALS: Duration = Duration::from_secs(4);
/// A successor that does not come.
const HAND_OVER: Duration = Duration::from_secs(5);

/// Waits until the Lease of a program is held and renewed, which is when the cluster shows that somebody acts.
async fn acts(leases: &Api<Lease>, program: &str) {
    let before = leases.get(program).await.unwrap().spec.unwrap().renew_time;
    stack::until("a renewal", PATIENCE, || async {
        let spec = leases.get(program).await?.spec.unwrap_or_default();
        let is_held = spec.holder_identity.is_some_and(|holder| !holder.is_empty());
        anyhow::ensure!(is_held && spec.renew_time != before, "not renewed");
        Ok(())
    })
    .await
    .unwrap();
}

/// Waits until the cluster shows that nobody acts: two renewals are missing, or nobody took a Lease that was given up.
async fn does_not_act(leases: &Api<Lease>, program: &str) {
    let (mut shown, mut since) = (None, Instant::now());
    loop {
        let spec = leases.get(program).await.unwrap().spec.unwrap();
        let is_held = spec.holder_identity.is_some_and(|holder| !holder.is_empty());
        let now = Some((is_held, spec.renew_time));
        if now != shown {
            (shown, since) = (now, Instant::now());
        }
        if since.elapsed() >= if is_held { TWO_RENEWALS } else { HAND_OVER } {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub(crate) async fn components_that_end_in_order_and_are_killed(real: &Real) {
    let degraded = (Penalty::ControlPlaneDegraded, "");
    let leases: Api<Lease> = Api::namespaced(real.client.clone(), "kube-system");
    for program in ["kube-scheduler", "kube-controller-manager"] {
        for is_killed in [false, true] {
            // How fast renewals come is known after some of them.
            for _ in 0..6 {
                acts(&leases, program).await;
            }
            let began = Instant::now();
            if is_killed {
                real.cluster.kill(program).await.unwrap();
            } else {
                real.cluster.stop(program).await.unwrap();
            }
            does_not_act(&leases, program).await;
            println!("{program}, killed: {is_killed}: shown by the cluster after {:?}", began.elapsed());
            real.expect(A_SECOND, &[degraded, (Penalty::ComponentUnhealthy, program)]).await;
            println!("{program}, killed: {is_killed}: in the score after {:?}", began.elapsed());
            real.cluster.start(program).await.unwrap();
            acts(&leases, program).await;
            real.expect(A_SECOND, &[]).await;
        }
    }
}

pub(crate) async fn an_api_server_that_is_gone(real: &Real) {
    let before = stack::until("a glance at a cluster without trouble", PATIENCE, || async {
        let glance = real.engine.glance(real.id).unwrap();
        anyhow::ensure!(glance.health.is_some_and(|health| health.score == Points::FULL), "{:?}", glance.health);
        Ok(glance)
    })
    .await
    .unwrap();
    real.cluster.stop("kube-apiserver").await.unwrap();
    let began = Instant::now();
    let lost = stack::until("unreachable", Duration::from_mins(1), || async {
        let glance = real.engine.glance(real.id).unwrap();
        anyhow::ensure!(glance.freshness.unreachable.is_some(), "{:?}", glance.freshness);
        Ok(glance)
    })
    .await
    .unwrap();
    println!("unreachable after {:?}", began.elapsed());
    assert_eq!((lost.health, lost.nodes), (before.health, before.nodes));
    let late = real.engine.refresh(Duration::from_secs(2)).await;
    assert_eq!(late.len(), 1);

    real.cluster.start("kube-apiserver").await.unwrap();
    stack::until("an answer", PATIENCE, || async {
        let freshness = real.engine.glance(real.id).unwrap().freshness.clone();
        anyhow::ensure!(freshness.unreachable.is_none(), "{freshness:?}");
        Ok(())
    })
    .await
    .unwrap();
    real.expect(PATIENCE, &[]).await;
}
