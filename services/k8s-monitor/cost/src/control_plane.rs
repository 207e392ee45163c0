//! What a control plane costs that a cloud runs.

use cluster_provisioner_catalogue::{Catalogue, Support, TopologyName};
use k8s_monitor_contract::CostKind;
use prices::Table;
use vocabulary::Money;

use crate::{Judged, Seen, UPDATE};

/// Who runs a cluster's control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlPlane<'a> {
    /// Its nodes do, and are paid for as nodes; or nobody knows.
    OnNodes,
    /// Amazon EKS, with the minor version of Kubernetes, such as `1.31`.
    Eks(&'a str),
    /// Google GKE.
    Gke,
}

/// Who runs the control plane, by the version that the API server (or else a kubelet) says it has: `v1.31.2-eks-7f9249a`,
/// `v1.33.4-gke.1172000`.
pub fn control_plane(version: &str) -> ControlPlane<'_> {
    let Some((upstream, of)) = version.trim_start_matches('v').split_once('-') else { return ControlPlane::OnNodes };
    match upstream.match_indices('.').nth(1).and_then(|(patch, _)| upstream.get(..patch)) {
        Some(minor) if of.starts_with("eks-") => ControlPlane::Eks(minor),
        Some(_) if of.starts_with("gke.") => ControlPlane::Gke,
        _ => ControlPlane::OnNodes,
    }
}

pub(crate) fn judge<'a>(seen: &Seen<'_>, table: &'a Table) -> Vec<(CostKind, String, Judged<'a>)> {
    let (service, name) = match seen.control_plane {
        ControlPlane::OnNodes => return Vec::new(),
        ControlPlane::Eks(_) => ("eks", "Amazon EKS"),
        ControlPlane::Gke => ("gke", "Google Kubernetes Engine"),
    };
    let fee = table.control_plane(seen.provider, seen.region, service);
    let no_price = || format!("The price table has no {name} for {}. {UPDATE}", seen.region);
    let mut lines = Vec::new();
    let mut standard = Judged::hourly(fee, "list price", no_price);
    if let (ControlPlane::Gke, Judged::Priced { each, basis, .. }) = (seen.control_plane, &mut standard)
        && table.own_rates(seen.cluster).is_some_and(|rates| rates.has_credit)
        && let Some(credit) = table.control_plane_credit(seen.provider, service)
    {
        *each = Money::nanos(each.in_nanos().saturating_sub(credit.amount.in_nanos()));
        "list price less the billing account's free tier, as set for this cluster".clone_into(basis);
    }
    lines.push((CostKind::ControlPlane, format!("{name} control plane"), standard));
    if let ControlPlane::Eks(minor) = seen.control_plane
        && is_past_standard_support(minor, seen)
    {
        let all = table.control_plane_past_support(seen.provider, seen.region, service);
        let more = all.zip(fee).map(|(all, fee)| prices::Price {
            amount: Money::nanos(all.amount.in_nanos().saturating_sub(fee.amount.in_nanos())),
            source: all.source,
        });
        let what = format!("{name} extended support of Kubernetes {minor}");
        lines.push((CostKind::ExtendedSupport, what, Judged::hourly(more, "list price", no_price)));
    }
    lines
}

/// Whether AWS charges for extended support of a version. One that is older than all that are known is past it, too.
fn is_past_standard_support(minor: &str, seen: &Seen<'_>) -> bool {
    let Ok(catalogue) = Catalogue::built_in() else { return false };
    let releases: Vec<_> = catalogue.releases(TopologyName::ManagedEks).collect();
    if let Some(release) = releases.iter().find(|release| release.minor == minor) {
        return !matches!(release.support(seen.today), Support::Standard { .. });
    }
    let number = |minor: &str| minor.split_once('.').and_then(|(_, minor)| minor.parse::<u32>().ok());
    let oldest = releases.iter().filter_map(|release| number(release.minor)).min();
    number(minor).zip(oldest).is_some_and(|(minor, oldest)| minor < oldest)
}
