//! The state of the control plane, from what the API server says of itself and others.

use jiff::{SignedDuration, Timestamp};
use k8s_monitor_contract::Assessed;

/// How a component is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComponentState {
    /// It works.
    Healthy,
    /// It does not, and how that shows, as a sentence.
    Unhealthy(String),
    /// It cannot be told, and why, as a sentence: hidden by the cloud, forbidden, not looked at yet.
    Unknown(String),
}

/// Every component the score knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlPlane {
    /// kube-apiserver.
    pub api_server: ComponentState,
    /// kube-scheduler.
    pub scheduler: ComponentState,
    /// kube-controller-manager.
    pub controller_manager: ComponentState,
    /// etcd, or what is in its place.
    pub etcd: ComponentState,
}

impl Default for ControlPlane {
    fn default() -> Self {
        let unknown = || ComponentState::Unknown("It was not looked at yet.".to_owned());
        Self { api_server: unknown(), scheduler: unknown(), controller_manager: unknown(), etcd: unknown() }
    }
}

impl ControlPlane {
    /// Each component: what it is, its name in Kubernetes, its state.
    pub(crate) fn components(&self) -> [(Assessed, &'static str, &ComponentState); 4] {
        [
            (Assessed::ApiServer, "kube-apiserver", &self.api_server),
            (Assessed::Scheduler, "kube-scheduler", &self.scheduler),
            (Assessed::ControllerManager, "kube-controller-manager", &self.controller_manager),
            (Assessed::Etcd, "etcd", &self.etcd),
        ]
    }
}

/// Names of failing checks that are told.
const CHECKS_TOLD: usize = 3;

/// API server and etcd, by the answer to `GET /readyz?verbose`.
///
/// A failing check of etcd is about etcd alone; any other is about the API server. No text of the server is passed on but
/// the names of checks, and of these only what a name can have.
/// <https://kubernetes.io/docs/reference/using-api/health-checks/>
pub fn judge_readyz(status: u16, body: &str) -> (ComponentState, ComponentState) {
    let unknown = |reason: &str| ComponentState::Unknown(reason.to_owned());
    match status {
        401 | 403 => {
            let reason = "The credentials of this cluster may not read /readyz.";
            return (unknown(reason), unknown(reason));
        }
        404 => {
            let reason = "This API server has no /readyz.";
            return (unknown(reason), unknown(reason));
        }
        _ => {}
    }
    let checks = || body.lines().filter_map(|line| Some((line.get(..3)?, line.get(3..)?.split(' ').next()?)));
    let failing: Vec<&str> = checks().filter(|(mark, _)| *mark == "[-]").map(|(_, name)| name).collect();
    let is_about_etcd = |name: &&str| name.starts_with("etcd");
    let etcd = if failing.iter().any(is_about_etcd) {
        ComponentState::Unhealthy("The API server cannot work with etcd: its check of /readyz fails.".to_owned())
    } else if checks().any(|(mark, name)| mark == "[+]" && is_about_etcd(&name)) {
        ComponentState::Healthy
    } else {
        unknown("This API server does not tell about etcd in /readyz.")
    };
    let others: Vec<&str> = failing.iter().copied().filter(|name| !is_about_etcd(name)).collect();
    let api_server = if !others.is_empty() {
        ComponentState::Unhealthy(failing_checks(&others))
    } else if (200..300).contains(&status) || !failing.is_empty() {
        ComponentState::Healthy
    } else {
        ComponentState::Unhealthy(format!("The API server answers {status} at /readyz."))
    };
    (api_server, etcd)
}

fn failing_checks(names: &[&str]) -> String {
    let clean = |name: &&str| {
        let allowed = |c: &char| c.is_ascii_alphanumeric() || "-_./".contains(*c);
        name.chars().filter(allowed).take(64).collect::<String>()
    };
    let told = names.iter().take(CHECKS_TOLD).map(clean).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(CHECKS_TOLD) {
        0 => format!("Of the API server's checks in /readyz fail: {told}."),
        more => format!("Of the API server's checks in /readyz fail: {told} and {more} more."),
    }
}

/// How long a Lease that was given up may be nobody's until nobody acts. Whoever waits for one tries every 2 to 4.4 seconds,
/// which is client-go's retry period with its jitter; what goes beyond that is for a try that is slow.
/// <https://pkg.go.dev/k8s.io/client-go/tools/leaderelection>
pub const HAND_OVER: SignedDuration = SignedDuration::from_secs(5);

/// A component that is led by whoever holds its Lease, by that Lease in kube-system.
///
/// One that was given up tells nothing until [`HAND_OVER`] is over: so leaders change in order.
/// `patience` is how old the last renewal may be: as long as the Lease lasts, or less where renewals are known to come more
/// often. `now` is the time of the API server (the Date of its answer), so that this machine's clock does not matter.
pub fn judge_lease(
    component: &str,
    is_held: bool,
    renewed: Option<Timestamp>,
    patience: SignedDuration,
    now: Timestamp,
) -> ComponentState {
    let Some(renewed) = renewed else {
        return ComponentState::Unknown(format!("The Lease of {component} was never renewed, so it tells nothing."));
    };
    if !is_held {
        if now.duration_since(renewed) < HAND_OVER {
            return ComponentState::Healthy;
        }
        return ComponentState::Unhealthy(format!(
            "Nobody acts as {component}: its Lease was given up at {renewed:.0}."
        ));
    }
    // Nobody holds a lease much longer; a longer one would hide that nobody does.
    let patience = patience.clamp(SignedDuration::from_secs(1), SignedDuration::from_mins(5));
    if now.duration_since(renewed) <= patience {
        return ComponentState::Healthy;
    }
    ComponentState::Unhealthy(format!("Nobody acts as {component}: its Lease was last renewed at {renewed:.0}."))
}

#[cfg(test)]
mod tests;
