//! Which cluster it is, whatever its names and addresses: the UID of its kube-system namespace.

use host_cluster_controller_crd::{ANNOTATION_TAKE_OVER, Installation, NAMESPACE};
use vocabulary::Trouble;

use crate::{
    facts::{ClusterSeen, Facts, Neighbour, Target, Thing},
    obstacle::Obstacle,
    step::Step,
};

/// The cluster that answers, if it is the one that was identified and no other KubeOpera has it. Nothing may be written to
/// it otherwise.
pub(crate) fn confirm<'a>(facts: &'a Facts, at: &Target) -> Result<&'a ClusterSeen, Obstacle> {
    let cluster = recognise(facts, at)?;
    no_other_has(facts, cluster)?;
    Ok(cluster)
}

/// The cluster that answers, if it is the one that was identified. Whose it is, is not asked.
pub(crate) fn recognise<'a>(facts: &'a Facts, at: &Target) -> Result<&'a ClusterSeen, Obstacle> {
    let cluster = facts.seen.cluster.or_look(|| Thing::Cluster(at.clone()))?;
    match &facts.previous.cluster_uid {
        Some(known) if *known == cluster.uid => Ok(cluster),
        Some(_) => Err(changed().into()),
        None => Err(Step::Identify.into()),
    }
}

/// As [`confirm`], and first makes sure that no other HostCluster speaks of the same cluster.
pub(crate) fn establish<'a>(facts: &'a Facts, at: &Target) -> Result<&'a ClusterSeen, Obstacle> {
    let cluster = facts.seen.cluster.or_look(|| Thing::Cluster(at.clone()))?;
    let neighbours = facts.seen.neighbours.or_look(|| Thing::Neighbours)?;
    let is_identified = facts.previous.cluster_uid.is_some();
    let claims_first = |other: &&Neighbour| {
        // Whoever was identified first has the cluster. If two were in the same moment, the older resource has it.
        !is_identified
            || (other.created_at, other.id) < (facts.resource.created_at, facts.resource.id.unwrap_or(other.id))
    };
    let owner = neighbours
        .iter()
        .filter(|other| !other.is_being_deleted && other.cluster_uid.as_ref() == Some(&cluster.uid))
        .find(claims_first);
    if let Some(owner) = owner {
        return Err(duplicate(owner).into());
    }
    // Before it is identified as well: whoever is refused has nothing to let go of.
    no_other_has(facts, cluster)?;
    recognise(facts, at)
}

/// That no other KubeOpera manages the cluster, unless somebody said that it is to be taken over from that one.
pub(crate) fn no_other_has(facts: &Facts, cluster: &ClusterSeen) -> Result<(), Trouble> {
    match &cluster.managed_by_other {
        Some(other) if facts.resource.take_over.as_ref() != Some(&other.id) => Err(managed_by_other(facts, other)),
        _ => Ok(()),
    }
}

fn managed_by_other(facts: &Facts, other: &Installation) -> Trouble {
    let Installation { id, url } = other;
    let name = url.as_ref().map_or_else(|| id.clone(), |url| format!("{url} ({id})"));
    let resource = facts.resource.id.map(|id| id.to_string()).unwrap_or_default();
    Trouble::rejected(
        "ManagedByAnotherKubeOpera",
        format!(
            "Another KubeOpera manages this cluster: {name}. Nothing is written to it. Disconnect it there first; or, if that \
             KubeOpera is gone for good, take the cluster over: `kubectl -n {NAMESPACE} annotate hostcluster {resource} \
             {ANNOTATION_TAKE_OVER}={id}`."
        ),
    )
}

/// Another cluster answers where the one we know used to.
pub(crate) fn changed() -> Trouble {
    Trouble::rejected(
        "IdentityChanged",
        "Another cluster answers than the one KubeOpera knows: its kube-system namespace has a different UID. Nothing is \
         written to it. If the cluster was rebuilt, disconnect it and connect it anew.",
    )
}

fn duplicate(owner: &Neighbour) -> Trouble {
    let name = owner.name.as_ref().map_or_else(|| owner.id.to_string(), ToString::to_string);
    Trouble::rejected(
        "DuplicateCluster",
        format!("KubeOpera manages this cluster already, as {name} (HostCluster {}). Remove one of the two.", owner.id),
    )
}
