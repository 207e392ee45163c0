//! Which cluster it is, whatever its names and addresses: the UID of its kube-system namespace.

use vocabulary::Trouble;

use crate::{
    facts::{ClusterSeen, Facts, Neighbour, Target, Thing},
    obstacle::Obstacle,
    step::Step,
};

/// The cluster that answers, if it is the one that was identified. Nothing may be written to it otherwise.
pub(crate) fn confirm<'a>(facts: &'a Facts, at: &Target) -> Result<&'a ClusterSeen, Obstacle> {
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
    match owner {
        Some(owner) => Err(duplicate(owner).into()),
        None => confirm(facts, at),
    }
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
