//! The driver with its ports in memory: what it asks for, what it publishes, and how often.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod api;
mod memory;

use host_cluster_controller_crd::{HostClusterStatus, Phase};
use host_cluster_controller_decide::Requeue;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use vocabulary::Trouble;

use self::memory::{CANARY, ID, Memory, PULL_SECRET, host_cluster};
use crate::{
    reconcile::{now, reconcile},
    watch::until_shutdown,
};

async fn pass(memory: &Memory) -> Requeue {
    reconcile(ID, &memory.world()).await.unwrap()
}

/// Passes, one after the other, until the phase is reached. Nothing in this world takes time.
async fn until(memory: &Memory, phase: Phase) {
    for _ in 0..50 {
        if memory.phase() == Some(phase) {
            return;
        }
        pass(memory).await;
    }
    panic!("never {phase:?}, but {:?}: {}", memory.phase(), memory.message());
}

fn with_administrator() -> serde_json::Value {
    let mut resource = host_cluster();
    resource["spec"]["adminEmail"] = json!("admin@acme.com");
    resource["spec"]["adminUsername"] = json!("captain");
    resource
}

#[tokio::test]
async fn a_registered_cluster_goes_to_ready_one_effect_and_one_status_at_a_time() {
    let memory = Memory::with(with_administrator());
    let mut calls_of_each_pass = Vec::new();
    while memory.phase() != Some(Phase::Ready) {
        pass(&memory).await;
        calls_of_each_pass.push(memory.calls());
    }

    let effects =
        ["add_finalizer", "install flux", "write git secret", "ensure tree", "point flux", "ensure administrator"];
    for calls in &calls_of_each_pass {
        assert_eq!(calls.iter().filter(|call| *call == "write_status").count(), 1, "{calls:?}");
        assert!(calls.iter().filter(|call| effects.contains(&call.as_str())).count() <= 1, "{calls:?}");
    }
    let done: Vec<_> = calls_of_each_pass.iter().flatten().filter(|call| effects.contains(&call.as_str())).collect();
    assert_eq!(done, effects.iter().collect::<Vec<_>>(), "each effect once and in this order");

    let mut phases: Vec<_> = memory.state().statuses.iter().map(|status| status.phase.unwrap().as_str()).collect();
    phases.dedup();
    assert_eq!(phases, ["Pending", "BootstrappingFlux", "GeneratingGitOpsTree", "InstallingKubeOpera", "Ready"]);
    assert_eq!(
        memory.message(),
        "Flux healthy and reconciling fluxcd/clusters/harbour. Administrator admin@acme.com created."
    );
}

#[tokio::test]
async fn a_phase_is_published_before_its_work_begins() {
    let memory = Memory::with(host_cluster());
    for (phase, effect) in [
        (Phase::BootstrappingFlux, "install flux"),
        (Phase::GeneratingGitOpsTree, "ensure tree"),
        (Phase::InstallingKubeOpera, "point flux"),
    ] {
        until(&memory, phase).await;
        assert!(!memory.calls().contains(&effect.to_owned()), "{effect} came before {phase:?} was published");
    }
}

#[tokio::test]
async fn a_healthy_cluster_is_looked_at_and_nothing_is_written() {
    let memory = Memory::with(host_cluster());
    until(&memory, Phase::Ready).await;
    pass(&memory).await;
    let told = memory.state().events.len();
    memory.calls();

    let requeue = pass(&memory).await;

    assert_eq!(
        memory.calls(),
        ["get", "look at secret", "look at cluster", "look at flux", "look at sync", "look at git secret"]
    );
    assert!(matches!(requeue, Requeue::After(after) if (60..=66).contains(&after.as_secs())), "{requeue:?}");
    assert_eq!(memory.state().events.len(), told);
}

#[tokio::test]
async fn a_status_that_somebody_else_wrote_is_put_right_and_told_and_conditions_of_others_stay() {
    let memory = Memory::with(host_cluster());
    until(&memory, Phase::Ready).await;
    let world = memory.world();
    reconcile(ID, &world).await.unwrap();
    let published = memory.state().resource.as_ref().unwrap().status.clone().unwrap();
    let change = |change: &dyn Fn(&mut HostClusterStatus)| {
        change(memory.state().resource.as_mut().unwrap().status.as_mut().unwrap());
    };
    let told =
        |memory: &Memory| memory.state().events.iter().filter(|event| event.contains("StatusOverwritten")).count();

    change(&|status| {
        status.conditions.push(Condition { type_: "acme.com/Audited".into(), ..published.conditions[0].clone() });
    });
    reconcile(ID, &world).await.unwrap();
    assert_eq!(told(&memory), 0);

    change(&|status| (status.phase, status.kubeconfig_secret) = (Some(Phase::Failed), Some("forged".into())));
    reconcile(ID, &world).await.unwrap();

    assert_eq!(told(&memory), 1);
    let now = memory.state().resource.as_ref().unwrap().status.clone().unwrap();
    assert_eq!((now.phase, now.kubeconfig_secret), (published.phase, published.kubeconfig_secret));
}

#[tokio::test]
async fn a_tree_that_is_not_in_git_any_more_is_written_again_once_it_was_looked_for() {
    let memory = Memory::with(host_cluster());
    until(&memory, Phase::Ready).await;
    pass(&memory).await;
    let ready_for = |minutes: i64| {
        let mut state = memory.state();
        let status = state.resource.as_mut().unwrap().status.as_mut().unwrap();
        status.phase_started_at = Some(Time(now() - jiff::SignedDuration::from_mins(minutes)));
    };
    ready_for(10);
    memory.calls();
    pass(&memory).await;
    assert_eq!(memory.calls()[5..], ["look at git secret", "read git credentials", "look at tree"]);

    memory.state().commits.clear();
    ready_for(5);
    pass(&memory).await;
    assert_eq!(memory.phase(), Some(Phase::Ready), "it is not yet time to look");
    ready_for(20);
    pass(&memory).await;

    assert_eq!(memory.phase(), Some(Phase::GeneratingGitOpsTree));
    until(&memory, Phase::Ready).await;
    assert_eq!(memory.state().commits.len(), 1);
}

#[tokio::test]
async fn another_git_credential_reaches_the_cluster_in_whatever_phase_it_is() {
    for phase in [Phase::InstallingKubeOpera, Phase::Ready] {
        let memory = Memory::with(host_cluster());
        until(&memory, phase).await;
        assert_eq!(memory.state().git_secret.as_deref(), Some("0"));

        memory.state().secret_version = 1;
        pass(&memory).await;

        assert_eq!(memory.state().git_secret.as_deref(), Some("1"), "{phase:?}");
        assert_eq!(memory.phase(), Some(phase), "the phase stays");
    }
}

#[tokio::test]
async fn a_registry_credential_is_where_it_is_pulled_with_and_follows_its_secret() {
    let mut resource = host_cluster();
    resource["spec"]["registryPullSecretRef"] = json!(PULL_SECRET);
    let memory = Memory::with(resource);
    until(&memory, Phase::InstallingKubeOpera).await;
    let written = |memory: &Memory| memory.state().pull_secrets.clone().into_iter().collect::<Vec<_>>();
    let at = |namespace: &str, version: &str| (namespace.to_owned(), version.to_owned());

    until(&memory, Phase::Ready).await;
    assert_eq!(written(&memory), [at("flux-system", "0"), at("kubeopera", "0")], "also where the tree came to later");
    let calls = memory.calls();
    let first = |call: &str| calls.iter().position(|one| one == call).unwrap();
    assert!(first("write pull secret") < first("point flux"), "before anything is pulled: {calls:?}");

    memory.state().secret_version = 1;
    pass(&memory).await;
    pass(&memory).await;

    assert_eq!(written(&memory), [at("flux-system", "1"), at("kubeopera", "1")]);
    assert_eq!(memory.phase(), Some(Phase::Ready), "the phase stays");
    let published = serde_json::to_string(&memory.state().statuses).unwrap();
    assert!(!published.contains(CANARY), "{published}");
}

#[tokio::test]
async fn no_more_is_looked_at_than_the_milestone_needs() {
    let memory = Memory::with(host_cluster());
    pass(&memory).await;
    assert_eq!(memory.calls(), ["get", "add_finalizer", "write_status"]);
    pass(&memory).await;
    assert_eq!(memory.calls(), ["get", "look at secret", "write_status"]);
    until(&memory, Phase::GeneratingGitOpsTree).await;
    memory.calls();
    pass(&memory).await;
    assert_eq!(
        memory.calls(),
        [
            "get",
            "look at secret",
            "look at cluster",
            "look at present",
            "read git credentials",
            "ensure tree",
            "write_status"
        ]
    );
}

#[tokio::test]
async fn a_status_that_could_not_be_written_costs_nothing_but_the_time() {
    let memory = Memory::with(host_cluster());
    until(&memory, Phase::GeneratingGitOpsTree).await;
    memory.state().failing = Some(("write_status", Trouble::transient("ServerError", "The API server answered 500.")));

    let failed = reconcile(ID, &memory.world()).await;

    assert_eq!(failed.unwrap_err().reason, "ServerError");
    assert_eq!(memory.phase(), Some(Phase::GeneratingGitOpsTree));
    until(&memory, Phase::Ready).await;
    assert_eq!(memory.state().commits.len(), 1);
}

#[tokio::test]
async fn a_trouble_is_published_once_and_its_time_is_awaited() {
    let memory = Memory::with(host_cluster());
    until(&memory, Phase::GeneratingGitOpsTree).await;
    memory.state().failing =
        Some(("ensure tree", Trouble::transient("GitUnreachable", "The Git server does not answer.")));
    pass(&memory).await;
    assert_eq!(memory.message(), "The Git server does not answer. Retrying (attempt 2).");
    memory.calls();

    // Something else happens to the resource before the attempt is due.
    pass(&memory).await;

    assert_eq!(memory.calls(), ["get", "look at secret"], "neither the cluster nor Git is bothered");
}

#[tokio::test]
async fn the_administrators_password_is_kept_before_the_account_exists_and_never_changes() {
    let memory = Memory::with(with_administrator());
    until(&memory, Phase::InstallingKubeOpera).await;
    memory.state().failing = Some(("ensure administrator", Trouble::transient("-", "-")));
    while !memory.message().contains("Retrying") {
        pass(&memory).await;
    }
    let made = memory.state().password.clone().unwrap();
    assert_eq!(
        memory.message(),
        "The first administrator could not be created: auth-service is not available at the moment. Retrying (attempt 2)."
    );

    memory.state().resource.as_mut().unwrap().status.as_mut().unwrap().retry = None;
    until(&memory, Phase::Ready).await;

    assert_eq!(memory.state().administrator, Some(("captain".to_owned(), made)));
    let status = memory.state().statuses.last().unwrap().clone();
    assert_eq!(status.admin_password_secret_ref.as_deref(), Some("hostcluster-7e9d3a1b-admin-password"));
}

#[tokio::test]
async fn no_secret_is_in_any_status_or_event() {
    let memory = Memory::with(with_administrator());
    until(&memory, Phase::Ready).await;

    let state = memory.state();
    assert!(state.password.as_ref().unwrap().contains(CANARY), "the canary was planted");
    let published = serde_json::to_string(&state.statuses).unwrap() + &state.events.join("\n");
    assert!(!published.contains(CANARY), "{published}");
}

#[tokio::test]
async fn without_a_provisioner_creating_a_cluster_fails_with_a_sentence() {
    let mut resource = host_cluster();
    resource["spec"]["mode"] = json!("provision_eks");
    resource["spec"]["provider"] = json!("aws");
    resource["spec"]["provisioning"] = json!({
        "topology": "managed_eks", "nodeCount": 2, "instanceType": "t3.medium", "kubernetesVersion": "1.31.0",
        "credentialRef": "cloud-credential-5",
    });
    let memory = Memory::with(resource);

    until(&memory, Phase::Failed).await;

    assert!(memory.message().starts_with("This KubeOpera has no cluster-provisioner"), "{}", memory.message());
}

#[tokio::test]
async fn a_deleted_cluster_is_let_go_of_in_order_and_its_status_is_not_written_any_more() {
    let memory = Memory::with(host_cluster());
    until(&memory, Phase::Ready).await;
    memory.calls();
    {
        let mut state = memory.state();
        let metadata = &mut state.resource.as_mut().unwrap().metadata;
        metadata.deletion_timestamp = Some(Time(jiff::Timestamp::now()));
        metadata.generation = Some(2);
    }
    let mut last = Requeue::AtOnce;
    let mut calls = Vec::new();
    while memory.state().resource.is_some() {
        last = pass(&memory).await;
        calls = memory.calls().into_iter().chain(calls).collect();
    }

    let order =
        ["release_finalizer", "remove git secret", "remove source", "remove kustomizations", "suspend kustomizations"];
    let mut came = calls.iter().filter(|call| order.contains(&call.as_str()));
    assert!(order.iter().all(|wanted| came.next().is_some_and(|call| call == wanted)), "{calls:?}");
    assert_eq!(last, Requeue::AwaitChange);
    assert_eq!(pass(&memory).await, Requeue::AwaitChange);
    assert_eq!(memory.calls(), ["get"], "of a resource that is gone nothing is asked");
}

#[tokio::test]
async fn who_does_not_lead_any_more_finds_out_before_anything_is_done_or_written() {
    let memory = Memory::with(host_cluster());
    until(&memory, Phase::BootstrappingFlux).await;
    memory.calls();
    let stands_by = crate::World { leadership: kube_kit::Leadership::standing_by(), ..memory.world() };

    let refused = reconcile(ID, &stands_by).await.unwrap_err();

    assert_eq!(refused.reason, "LeadLost");
    let calls = memory.calls();
    assert!(calls.iter().all(|call| call == "get" || call == "neighbours" || call.starts_with("look at")), "{calls:?}");
    pass(&memory).await;
    assert!(memory.calls().contains(&"write_status".to_owned()), "who leads goes on from there");
}

#[tokio::test]
async fn passes_that_end_by_themselves_are_an_error_and_passes_that_were_asked_to_end_are_none() {
    let shutdown = CancellationToken::new();
    let by_themselves = until_shutdown(async {}, &shutdown).await;
    shutdown.cancel();
    let on_request = until_shutdown(async {}, &shutdown).await;

    assert_eq!(by_themselves.unwrap_err().reason, "ControllerEnded");
    assert_eq!(on_request, Ok(()));
}
