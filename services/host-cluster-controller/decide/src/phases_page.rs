//! `docs/phases.md`, printed from the plan so that it cannot be wrong.

use std::fmt::Write as _;

use host_cluster_controller_crd::Phase;

use crate::{
    credential,
    phase::{ready, removing},
    plan::{DESTROY, DISCONNECT, Milestone, Parting, Way},
};

/// The page, in Markdown with Mermaid diagrams.
pub fn phases_page() -> String {
    let mut page = String::new();
    // Writing to a String cannot fail.
    let _ = write_page(&mut page);
    page
}

fn write_page(page: &mut String) -> std::fmt::Result {
    page.push_str(INTRODUCTION);
    page.push_str("\n## On the way to Ready\n\n```mermaid\nstateDiagram-v2\n    [*] --> Pending\n");
    let mut arrows: Vec<(Phase, Phase, &str)> = Vec::new();
    for way in Way::ALL {
        let mut from = Phase::Pending;
        for milestone in way.milestones() {
            arrows.push((from, milestone.phase(), if from == Phase::Pending { name(way) } else { "" }));
            from = milestone.phase();
        }
        arrows.push((from, Phase::Ready, ""));
    }
    let mut drawn = Vec::new();
    for (from, to, label) in arrows {
        if !drawn.contains(&(from, to)) {
            drawn.push((from, to));
            let label = if label.is_empty() { String::new() } else { format!(" : {label}") };
            writeln!(page, "    {} --> {}{label}", from.as_str(), to.as_str())?;
        }
    }
    for milestone in Milestone::ALL {
        writeln!(page, "    {} --> Failed", milestone.phase().as_str())?;
        writeln!(page, "    Failed --> {} : tried again", milestone.phase().as_str())?;
    }
    page.push_str("```\n\n| way to join | phases |\n| --- | --- |\n");
    for way in Way::ALL {
        let phases: Vec<_> = way.milestones().iter().map(|milestone| milestone.phase().as_str()).collect();
        writeln!(page, "| {} | {}, Ready |", name(way), phases.join(", "))?;
    }
    page.push_str(
        "\n| phase | condition | what is true once it is met | patience with network troubles | looks every |\n",
    );
    page.push_str("| --- | --- | --- | --- | --- |\n");
    for milestone in Milestone::ALL {
        writeln!(
            page,
            "| {} | {} | {} | {} min | {} s |",
            milestone.phase().as_str(),
            milestone.condition().as_str(),
            milestone.closing(),
            milestone.patience().as_mins(),
            milestone.poll().as_secs(),
        )?;
    }
    write!(
        page,
        "\nA Ready cluster is looked at every {} s, one that is not well every {} s. Trouble of a Ready cluster changes the \
         conditions\nReachable and FluxHealthy, `fluxHealthy` and the message; the phase stays Ready. Every {} min, and every \
         {} min while Flux cannot\nfetch or apply the tree, KubeOpera looks whether the tree is still on the repository's default \
         branch as this version would\ngenerate it. If it is not, it is generated again, and the phases say so. What people edit \
         in it is no reason.\n",
        ready::POLL.as_secs(),
        ready::POLL_WHEN_UNHEALTHY.as_secs(),
        ready::TREE_POLL.as_mins(),
        ready::TREE_POLL_WHEN_UNHEALTHY.as_mins()
    )?;
    write!(
        page,
        "\nWhere the credential of the stored kubeconfig tells its end, the condition CredentialValid and an event say so {} days \
         before (or for\nthe last third of a shorter life) and at the end itself. The phase stays Ready. Another kubeconfig for the \
         cluster is all it takes.\n",
        credential::WARNING.as_hours() / 24
    )?;
    page.push_str(TROUBLE);
    page.push_str("\n## Letting go\n\n");
    page.push_str(LETTING_GO);
    for (title, plan) in [("Disconnect", DISCONNECT), ("Delete", DESTROY)] {
        writeln!(page, "\n{title}:\n")?;
        for (at, parting) in plan.iter().enumerate() {
            writeln!(page, "{}. {}", at + 1, told(*parting))?;
        }
        writeln!(page, "{}. The finalizer is taken off, and the resource goes.", plan.len() + 1)?;
    }
    write!(
        page,
        "\nA cluster that does not answer is asked again for {} s; then KubeOpera lets go of it and says in an event and in the \
         message\nwhat stays behind. One that answers but refuses is given {} min.\n",
        removing::GRACE.as_secs(),
        removing::STUBBORN.as_mins()
    )
}

const fn name(way: Way) -> &'static str {
    match way {
        Way::Host => "Register This Cluster",
        Way::Connect => "Connect Existing",
        Way::Provision => "Create New",
    }
}

const fn told(parting: Parting) -> &'static str {
    match parting {
        Parting::KustomizationsSuspended => {
            "The cluster's Kustomizations are suspended, and seen to be: from then on deleting them removes no workload."
        }
        Parting::KustomizationsDeleted => "The Kustomizations are deleted, and seen to be gone.",
        Parting::SourceDeleted => "The GitRepository is deleted.",
        Parting::GitSecretDeleted => "The Git credentials on the cluster are deleted.",
        Parting::InfrastructureDestroyed => {
            "cluster-provisioner tears the infrastructure down, and it is seen to be gone."
        }
        Parting::KubeconfigsDeleted => "The stored kubeconfigs are deleted.",
    }
}

const INTRODUCTION: &str = "\
# The phases of a cluster

<!-- Generated from services/host-cluster-controller/decide/src/plan.rs by `make generate`. -->

A HostCluster has milestones, each of which is a condition. host-cluster-controller looks at the world, finds the first
milestone that is not met, and takes one step towards it. The phase is the name of that work: it is published for people and
never read back. Whatever interrupts the controller, it continues from what it sees.
";

const TROUBLE: &str = "
## When something goes wrong

| kind of trouble | next attempt | phase |
| --- | --- | --- |
| waiting: somebody else is still working | at the phase's interval | unchanged |
| transient: network, time-outs, overload | after 2 s, 4 s, … 5 min, at random up to that, while the patience lasts | unchanged |
| transient for longer than that | after 1 to 5 min | Failed |
| rejected: somebody must change something; or a fault of KubeOpera | after 1 min, 2 min, … 30 min | Failed |

A change of the spec, of a Secret it names, or of the annotation `kubeopera.io/retry-requested-at` asks for an attempt at once.
`status.retry` tells the attempt and when the next one is due. `status.failedAttempts` keeps of each phase how many attempts
failed and why the last of them did, until the phase begins anew. The annotation `kubeopera.io/suspended: \"true\"` makes the
controller leave a resource alone.
";

const LETTING_GO: &str = "\
Deleting the resource means *disconnect*: everything on the cluster keeps running. Only for a cluster that KubeOpera created, and
only with the annotation `kubeopera.io/removal: destroy` that kubeopera-api sets after the typed confirmation, does it mean
*delete*. The phase shows how far the cluster had come; the condition Removing and the message tell what is being done.

The dashboard and the API disconnect a cluster that KubeOpera creates only once InfrastructureReady is True, or if it failed
before anything was begun. In between it is deleted: what there is of it in the cloud would be forgotten otherwise.
";
