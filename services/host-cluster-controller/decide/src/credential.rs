//! The end of the credential in the stored kubeconfig: said before it comes, at the moment it comes, and never a reason to
//! leave Ready.

use host_cluster_controller_crd::{ConditionType, CredentialKind, CredentialState, HostClusterStatus, ModeSpec};
use jiff::{SignedDuration, Timestamp};

use crate::{
    facts::{CredentialSeen, Facts},
    report::Event,
};

/// How long before its end a credential is said to expire soon. One that lives for less than three times as long is said to
/// for the last third of its life.
pub(crate) const WARNING: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Reason of a trouble, and of the event: the API server does not accept a credential that has ended.
pub(crate) const EXPIRED: &str = "CredentialExpired";

/// What the condition says.
pub(crate) struct Said {
    pub(crate) state: CredentialState,
    pub(crate) message: String,
}

/// What is to be said of the credential now, if it tells its end.
pub(crate) fn said(facts: &Facts) -> Option<Said> {
    let credential = facts.seen.secrets.seen()?.credential?;
    let end = credential.expires_at?;
    let kind = match credential.kind {
        CredentialKind::ClientCertificate => "client certificate",
        CredentialKind::Token => "token",
    };
    let (named, when) = (format!("The {kind} in the stored kubeconfig"), moment(end));
    let is_renewed_here = facts.resource.spec.as_ref().is_ok_and(|spec| matches!(spec.mode, ModeSpec::Provision(_)));
    let remedy = if is_renewed_here {
        "KubeOpera renews it by itself, and has not managed to so far."
    } else {
        "Replace the kubeconfig: KubeOpera cannot reach the cluster without it."
    };
    let (state, message) = if facts.now >= end {
        (CredentialState::Expired, format!("{named} expired at {when}. {remedy}"))
    } else if facts.now >= soon_from(&credential, end) {
        (CredentialState::ExpiresSoon, format!("{named} expires at {when}. {remedy}"))
    } else {
        (CredentialState::Valid, format!("{named} is valid until {when}."))
    };
    Some(Said { state, message })
}

/// The next moment at which there is something else to say.
pub(crate) fn next_change(facts: &Facts) -> Option<Timestamp> {
    let credential = facts.seen.secrets.seen()?.credential?;
    let end = credential.expires_at?;
    [soon_from(&credential, end), end].into_iter().find(|moment| *moment > facts.now)
}

/// What to tell of a change, once.
pub(crate) fn news(before: &HostClusterStatus, after: &HostClusterStatus) -> Option<Event> {
    let state = CredentialState::of(&after.conditions)?;
    let (is_warning, reason) = match (CredentialState::of(&before.conditions), state) {
        (None, CredentialState::Valid) => return None,
        (before, after) if before == Some(after) => return None,
        (_, CredentialState::Valid) => (false, "CredentialValid"),
        (_, CredentialState::ExpiresSoon) => (true, "CredentialExpiresSoon"),
        (_, CredentialState::Expired) => (true, EXPIRED),
    };
    let said = after.conditions.iter().find(|one| one.type_ == ConditionType::CredentialValid.as_str())?;
    Some(Event { is_warning, reason: reason.to_owned(), note: said.message.clone() })
}

fn soon_from(credential: &CredentialSeen, end: Timestamp) -> Timestamp {
    let third = credential.issued_at.map_or(WARNING, |issued| end.duration_since(issued) / 3);
    end.checked_sub(third.clamp(SignedDuration::ZERO, WARNING)).unwrap_or(end)
}

fn moment(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
