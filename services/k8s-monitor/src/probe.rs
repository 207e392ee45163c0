//! Asking an API server how it and the rest of the control plane are.

use std::time::Duration;

use http_body_util::{BodyExt, Collected, Limited};
use jiff::{SignedDuration, Timestamp};
use k8s_monitor_health::{ComponentState, ControlPlane, judge_lease, judge_readyz};
use kube::Client;
use kube_kit::Attempt;
use serde::Deserialize;
use vocabulary::Trouble;

use crate::{
    call::{Refusal, not_kubernetes, read, refused, send},
    leases::{Component, Lease, Standing},
};

/// `/readyz?verbose` has a line of some thirty bytes for each of its checks.
const LARGEST: usize = 64 << 10;
const ATTEMPT: Attempt<'static> = Attempt("ask the API server how it is");
/// A Lease is renewed every two seconds; one that is older than this may soon be over.
const RENEWED_OF_LATE: SignedDuration = SignedDuration::from_secs(6);
/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the control plane is, and whether it is worth looking again soon.
pub(crate) struct Found {
    pub(crate) control_plane: ControlPlane,
    pub(crate) is_uneasy: bool,
}

/// Asks everything that is not known already: `standing` is how a component stands by its renewals. An error is a server
/// that does not answer, or is no Kubernetes API server.
pub(crate) async fn look(client: &Client, standing: impl Fn(Component) -> Standing) -> Result<Found, Refusal> {
    let (status, text) = in_time(ask(client, "/livez")).await?;
    let (alive, _) = judge_readyz(status, &text);
    let (status, text) = in_time(ask(client, "/readyz?verbose")).await?;
    let (ready, etcd) = judge_readyz(status, &text);
    let api_server = if matches!(alive, ComponentState::Unhealthy(_)) { alive } else { ready };
    let (scheduler, is_scheduler_late) = in_time(component(client, Component::Scheduler, &standing)).await?;
    let (controller_manager, is_manager_late) =
        in_time(component(client, Component::ControllerManager, &standing)).await?;
    let all = [&api_server, &etcd, &scheduler, &controller_manager];
    let is_unhealthy = all.into_iter().any(|state| matches!(state, ComponentState::Unhealthy(_)));
    Ok(Found {
        control_plane: ControlPlane { api_server, scheduler, controller_manager, etcd },
        is_uneasy: is_unhealthy || is_scheduler_late || is_manager_late,
    })
}

/// The API server's version, as it says it: `v1.31.2-eks-7f9249a`.
pub(crate) async fn version(client: &Client) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        git_version: String,
    }
    let answer = in_time(read(client, Attempt("read the version of the API server"), "/version")).await.ok()?;
    let version: Version = serde_json::from_slice(&answer.body).ok()?;
    Some(kube_kit::word(&version.git_version.replace('+', "-")))
}

async fn in_time<T>(question: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    tokio::time::timeout(PATIENCE, question).await.unwrap_or_else(|_| {
        let message = "Could not ask the API server how it is: it did not answer in time. It may be overloaded.";
        Err(Refusal { trouble: Trouble::transient("Timeout", message), code: None, retry_after: None })
    })
}

/// What an endpoint of the API server's own health answers.
async fn ask(client: &Client, path: &str) -> Result<(u16, String), Refusal> {
    let answer = send(client, ATTEMPT, path).await?;
    let code = answer.status().as_u16();
    // Whoever may not ask, or asks too often, was answered by somebody. Everything but the two answers of these endpoints
    // is from a proxy before a server that is gone, or from no Kubernetes at all.
    if !matches!(code, 200 | 403 | 404 | 429 | 500) {
        return Err(refused(ATTEMPT, answer).await);
    }
    let body = Limited::new(answer.into_body(), LARGEST).collect().await.map(Collected::to_bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&body).into_owned();
    let is_kubernetes = match code {
        200 | 500 => text.trim() == "ok" || text.starts_with("[+]") || text.starts_with("[-]"),
        _ => serde_json::from_str::<Status>(&text).is_ok_and(|status| status.kind == "Status") || code == 429,
    };
    if is_kubernetes {
        return Ok((code, text));
    }
    let message = "Could not ask the API server how it is: the server answered, but not as a Kubernetes API. Check the \
                   address.";
    Err(Refusal { trouble: Trouble::rejected("NotKubernetes", message), code: Some(code), retry_after: None })
}

#[derive(Deserialize)]
struct Status {
    kind: String,
}

/// How a component is by its Lease, and whether that was not renewed of late.
async fn component(
    client: &Client,
    component: Component,
    standing: impl Fn(Component) -> Standing,
) -> Result<(ComponentState, bool), Refusal> {
    if standing(component) == Standing::Acting {
        return Ok((ComponentState::Healthy, false));
    }
    let name = component.name();
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{name}");
    let attempt = format!("read the Lease {name}");
    let answer = match read(client, Attempt(&attempt), &path).await {
        Ok(answer) => answer,
        Err(refusal) if refusal.code == Some(404) => {
            let reason = format!("The cluster shows no Lease of {name}, so that it cannot be told.");
            return Ok((ComponentState::Unknown(reason), false));
        }
        Err(refusal) if refusal.code.is_some_and(|code| code != 401) => {
            return Ok((ComponentState::Unknown(refusal.trouble.message), false));
        }
        Err(refusal) => return Err(refusal),
    };
    let lease: Lease<'_> = match serde_json::from_slice(&answer.body) {
        Ok(lease) => lease,
        Err(error) => {
            let refusal = not_kubernetes(Attempt(&attempt), error);
            return Ok((ComponentState::Unknown(refusal.trouble.message), false));
        }
    };
    // Whoever is silent is judged by this machine's clock alone, all others by the cluster's, so that it does not matter
    // whether the two agree.
    let now = answer.server_time.unwrap_or_else(Timestamp::now);
    let state = match standing(component) {
        Standing::Silent { renewed, ago } if lease.renewed() == Some(renewed) => {
            judge_lease(name, lease.is_held(), Some(renewed), SignedDuration::ZERO, renewed + ago)
        }
        _ => judge_lease(name, lease.is_held(), lease.renewed(), lease.duration(), now),
    };
    let is_old = |renewed| now.duration_since(renewed) > RENEWED_OF_LATE;
    let is_worth_another_look = !lease.is_held() || lease.renewed().is_some_and(is_old);
    Ok((state, is_worth_another_look))
}
