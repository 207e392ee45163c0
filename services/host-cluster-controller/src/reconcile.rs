//! One pass over one cluster: observe, decide, act, report, write.

use host_cluster_controller_decide::{Event, Facts, Next, Report, Requeue, Resource, Step, next_step, report};
use jiff::Timestamp;
use vocabulary::Trouble;

use crate::{World, act::act, observe::observe, write_status::write_status};

/// Does one step for a cluster, publishes what came of it, and says when to look again.
///
/// Fails only where the resource itself cannot be read or its status not be written; every other trouble is an outcome
/// and ends in the status.
pub(crate) async fn reconcile(name: &str, world: &World) -> Result<Requeue, Trouble> {
    let Some(resource) = world.host_clusters.get(name).await? else {
        world.published.forget(name);
        return Ok(Requeue::AwaitChange);
    };
    let seen = resource.status.clone().unwrap_or_default();
    let previous = world.published.before(name, &resource);
    if seen != previous {
        world.host_clusters.tell(&resource, &overwritten()).await;
    }
    let mut facts =
        Facts::before_looking(Resource::of(&resource), previous, now(), rand::random(), world.provisioner.is_some());

    let step = decide(&mut facts, world).await;
    still_leads(world)?;
    let outcome = act(&step, &resource, world).await;
    // Git and Terraform take their time: what is published and when to look again count from the end.
    facts.now = now();
    let Report { status, requeue, events } = report(&facts, &step, &outcome);

    still_leads(world)?;
    if let Some(status) = &status {
        write_status(world, &resource, &seen, status).await?;
        world.published.remember(name, &resource, status);
        if status.phase != facts.previous.phase {
            let phase = status.phase.map_or("Pending", host_cluster_controller_crd::Phase::as_str);
            tracing::info!(cluster.id = name, phase, "cluster entered a phase");
        }
    }
    for event in events {
        world.host_clusters.tell(&resource, &event).await;
    }
    Ok(requeue)
}

/// Looking may take minutes, in which another process may have taken over: what is decided is its to do then.
fn still_leads(world: &World) -> Result<(), Trouble> {
    if world.leadership.is_held() {
        return Ok(());
    }
    Err(Trouble::transient("LeadLost", "Another process of KubeOpera may lead now, so this one does nothing more."))
}

fn overwritten() -> Event {
    let note = "Somebody else has written the status, which host-cluster-controller alone does. It is put right.";
    Event { is_warning: true, reason: "StatusOverwritten".to_owned(), note: note.to_owned() }
}

/// Now, in whole seconds: Kubernetes' times know no smaller ones, and a status must read back as it was written.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// Looks at one thing after the other, as far as the decision needs.
async fn decide(facts: &mut Facts, world: &World) -> Step {
    loop {
        match next_step(facts) {
            // Each look fills its fact, seen or not, and no fact is asked for twice.
            Next::Look(thing) => observe(facts, thing, world).await,
            Next::Do(step) => return step,
        }
    }
}
