//! The whole machine as a table that a reviewer can read: for each place and each kind of facts, what comes next and
//! what is published. A change of behaviour is a changed line.

use std::fmt::Write as _;

use cluster_provisioner_contract::RunStatus;
use host_cluster_controller_decide::{
    FluxFitness, FluxInstallation, FluxSeen, GitSecretSeen, Milestone, Next, Observations, Outcome, Requeue, Step,
    SyncSeen, Thing, Way,
};
use vocabulary::Trouble;

use crate::scene::{
    COMMIT, OTHER_INSTALLATION, Scene, TREE_HASH, UID, a_cluster, flux, neighbour, ready, sync, towards, written,
};

#[test]
fn the_decision_matrix_is_as_reviewed() {
    let mut table = String::new();
    for (title, rows) in chapters() {
        writeln!(table, "{title}").unwrap();
        for (facts, scene) in rows {
            line(&mut table, facts, scene);
        }
        table.push('\n');
    }
    insta::assert_snapshot!("decision_matrix", table);
}

fn line(table: &mut String, facts: &str, mut scene: Scene) {
    match scene.next() {
        Next::Look(thing) => writeln!(table, "  {facts:<58} look  {}", looked(&thing)).unwrap(),
        Next::Do(step) => {
            let outcome = if matches!(step, Step::EnsureTree { .. }) { written(COMMIT) } else { Outcome::Done };
            let report = scene.publish(&step, &outcome);
            writeln!(table, "  {facts:<58} do    {}", told(&step)).unwrap();
            let requeue = match report.requeue {
                Requeue::AtOnce => "at once".to_owned(),
                Requeue::After(after) => format!("in {} s", after.as_secs()),
                Requeue::AwaitChange => "on change".to_owned(),
            };
            if report.status.is_some() {
                writeln!(table, "  {:<58}       {:<21} {:<9}  {}", "", scene.phase(), requeue, scene.message())
                    .unwrap();
            }
        }
    }
}

fn looked(thing: &Thing) -> String {
    let (name, target) = match thing {
        Thing::Secrets => ("the Secrets it names", None),
        Thing::Neighbours => ("the other HostClusters", None),
        Thing::Run => ("the provisioning run", None),
        Thing::Tree => ("the tree in Git", None),
        Thing::Cluster(at) => ("the cluster", Some(at)),
        Thing::Flux(at) => ("Flux", Some(at)),
        Thing::GitSecret(at) => ("the Git credentials on the cluster", Some(at)),
        Thing::PullSecret { at, .. } => ("the registry credential on the cluster", Some(at)),
        Thing::Present(at) => ("what already runs", Some(at)),
        Thing::Sync(at) => ("KubeOpera's Flux objects", Some(at)),
    };
    let way = target.map(|at| match &at.reach {
        host_cluster_controller_decide::Reach::OwnServiceAccount => " (own service account)".to_owned(),
        host_cluster_controller_decide::Reach::Kubeconfig(secret) => format!(" ({secret})"),
    });
    format!("{name}{}", way.unwrap_or_default())
}

fn told(step: &Step) -> String {
    match step {
        Step::Hold { at, trouble } => format!("Hold {at:?}: {:?} {}", trouble.kind, trouble.reason),
        Step::Begin(milestone) => format!("Begin {milestone:?}"),
        Step::Settle(milestone) => format!("Settle {milestone:?}"),
        Step::EnsureRun { attempt, .. } => format!("EnsureRun, attempt {attempt}"),
        Step::WriteGitSecret { version, .. } => format!("WriteGitSecret, version {version}"),
        Step::WritePullSecret { version, .. } => format!("WritePullSecret, version {version}"),
        Step::PointFlux { wanted, .. } => format!("PointFlux at {} of {}", wanted.path, wanted.branch),
        Step::KeepKubeconfig { from, to, .. } => format!("KeepKubeconfig {from} as {to}"),
        Step::StoreKubeconfig { to, .. } => format!("StoreKubeconfig as {to}"),
        Step::EnsureAdministrator { administrator, .. } => format!("EnsureAdministrator {}", administrator.username),
        other => format!("{other:?}").split([' ', '{']).next().unwrap_or_default().to_owned(),
    }
}

type Chapter = (&'static str, Vec<(&'static str, Scene)>);

fn chapters() -> Vec<Chapter> {
    use Milestone::{AccessValidated, FluxBootstrapped, InfrastructureReady, PlatformInstalled, TreeGenerated};
    let validating = || towards(Way::Connect, AccessValidated);
    let provisioning = || towards(Way::Provision, InfrastructureReady);
    let bootstrapping = || towards(Way::Host, FluxBootstrapped).answering().unclaimed();
    let generating = || towards(Way::Host, TreeGenerated);
    let installing = || towards(Way::Host, PlatformInstalled).answering().flux_ready().git_secret();
    let watching = || ready(Way::Host);
    let healthy = || watching().answering().flux_ready().synced().git_secret();
    let going = || ready(Way::Connect).going().answering();
    let destroying = || ready(Way::Provision).meant_to_be_destroyed().going().answering();
    let gone = || going().sync(SyncSeen::default());

    vec![
        (
            "Any cluster",
            vec![
                ("just created", a_cluster(Way::Host)),
                ("just created, annotated to be left alone", a_cluster(Way::Host).suspended()),
                ("known", a_cluster(Way::Connect).known()),
                ("known, its Secrets not looked at", {
                    let mut s = a_cluster(Way::Connect).known();
                    s.seen = Observations::default();
                    s
                }),
                (
                    "the spec breaks a rule",
                    a_cluster(Way::Host).known().edited(|r| r.spec.domain = Some("https://acme.com".into())),
                ),
                ("deleted before anything was done", a_cluster(Way::Connect).known().going()),
            ],
        ),
        (
            "ValidatingAccess",
            vec![
                ("its Secret is missing", validating().secrets_at("git-1", "absent")),
                ("nothing looked at", validating()),
                ("the API server does not answer", validating().unreachable()),
                ("it refuses the kubeconfig", {
                    let mut s = validating();
                    s.seen.cluster = host_cluster_controller_decide::Fact::CouldNotTell(Trouble::rejected(
                        "Unauthorized",
                        "The API server does not accept the kubeconfig's credentials. Supply a new kubeconfig.",
                    ));
                    s
                }),
                ("it answers, but not to a cluster-admin", {
                    let mut s = validating().answering();
                    if let host_cluster_controller_decide::Fact::Seen(c) = &mut s.seen.cluster {
                        c.may_administer = false;
                    }
                    s
                }),
                ("it answers", validating().answering()),
                ("it answers, no other HostCluster has it", validating().answering().unclaimed()),
                ("it answers, another HostCluster has it", validating().answering().claimed_by(neighbour(UID))),
                ("it answers and is identified", validating().answering().unclaimed().identified()),
                ("another cluster answers", validating().answering_as("other").unclaimed().identified()),
                ("another KubeOpera has it", validating().of_another_kubeopera().unclaimed()),
                (
                    "another KubeOpera has it, from which it is to be taken over",
                    validating().of_another_kubeopera().unclaimed().taking_over(OTHER_INSTALLATION).identified(),
                ),
                (
                    "another KubeOpera has it, and it is to be taken over from a third",
                    validating().of_another_kubeopera().unclaimed().taking_over("third"),
                ),
            ],
        ),
        (
            "Provisioning",
            vec![
                ("there is no provisioner", provisioning().without_provisioner()),
                ("nothing looked at", provisioning()),
                ("no run", provisioning().run(RunStatus::Absent)),
                (
                    "it runs",
                    provisioning().run(RunStatus::Running {
                        job: "provision-x".into(),
                        progress: "Creating the VPC: 7 of 42 resources.".into(),
                    }),
                ),
                (
                    "a run is finished that we have not noted down",
                    provisioning().run(RunStatus::Succeeded { job: "provision-x".into() }),
                ),
                ("our run is finished", {
                    let mut s = provisioning().run(RunStatus::Absent);
                    s.pass();
                    s.run(RunStatus::Succeeded { job: "provision-x".into() })
                }),
                ("our run has failed", failed_run(provisioning())),
                ("our run has failed, the pause not over", {
                    let mut s = failed_run(provisioning());
                    s.pass();
                    s.later(30)
                }),
                ("our run has failed, the pause over", {
                    let mut s = failed_run(provisioning());
                    s.pass();
                    s.later(61)
                }),
                ("our run has failed, another size is asked for", {
                    let mut s = failed_run(provisioning());
                    s.pass();
                    s.edited(|r| r.spec.provisioning.as_mut().unwrap().node_count = 9)
                }),
            ],
        ),
        (
            "BootstrappingFlux",
            vec![
                ("nothing looked at", towards(Way::Host, FluxBootstrapped)),
                ("the API server does not answer", towards(Way::Host, FluxBootstrapped).unreachable()),
                ("not identified", bootstrapping()),
                (
                    "another HostCluster has the cluster",
                    towards(Way::Host, FluxBootstrapped).answering().claimed_by(neighbour(UID)),
                ),
                ("identified", bootstrapping().identified()),
                ("no Flux", bootstrapping().identified().flux(FluxSeen::Absent)),
                (
                    "our Flux, of an older version",
                    bootstrapping().identified().flux(FluxSeen::Present(FluxInstallation {
                        fitness: FluxFitness::ToBeInstalledAgain,
                        ..flux()
                    })),
                ),
                (
                    "somebody else's Flux, too old",
                    bootstrapping().identified().flux(FluxSeen::Present(FluxInstallation {
                        managed_by_other: Some("Helm".into()),
                        fitness: FluxFitness::Unusable {
                            why: "The cluster runs Flux v2.1.0, managed by Helm. Upgrade it to v2.7.0 or newer.".into(),
                        },
                        ..flux()
                    })),
                ),
                (
                    "somebody else's Flux, good enough",
                    bootstrapping()
                        .identified()
                        .flux(FluxSeen::Present(FluxInstallation { managed_by_other: Some("Helm".into()), ..flux() })),
                ),
                ("a controller's image cannot be pulled", bootstrapping().identified().flux_starting()),
                (
                    "the controllers run, the repository's Secret is missing",
                    bootstrapping().identified().flux_ready().secrets_at("absent", "-"),
                ),
                ("the controllers run", bootstrapping().identified().flux_ready()),
                ("no Git credentials on the cluster", {
                    let mut s = bootstrapping().identified().flux_ready();
                    s.seen.git_secret = host_cluster_controller_decide::Fact::Seen(GitSecretSeen::Absent);
                    s
                }),
                (
                    "older Git credentials on the cluster",
                    bootstrapping().identified().flux_ready().git_secret_at("git-0"),
                ),
                ("the Git credentials are there", bootstrapping().identified().flux_ready().git_secret()),
            ],
        ),
        (
            "GeneratingGitOpsTree",
            vec![
                ("nothing looked at", generating()),
                ("another cluster answers", generating().answering_as("other")),
                ("the cluster answers", generating().answering()),
                ("what already runs is known", generating().answering().present()),
                ("the repository's Secret is missing", generating().answering().present().secrets_at("absent", "-")),
            ],
        ),
        (
            "InstallingKubeOpera",
            vec![
                ("nothing looked at", towards(Way::Host, PlatformInstalled)),
                ("Flux is gone", towards(Way::Host, PlatformInstalled).answering().flux(FluxSeen::Absent)),
                ("Flux runs", towards(Way::Host, PlatformInstalled).answering().flux_ready()),
                ("older Git credentials on the cluster", installing().git_secret_at("git-0")),
                ("the Git credentials are there", installing()),
                ("a registry credential is asked for and is not there", with_registry().without_pull_secret()),
                ("a registry credential is asked for", with_registry()),
                ("... and is in none of the namespaces", with_registry().pull_secret_at(&[("flux-system", None)])),
                (
                    "... and a namespace came that has it not",
                    with_registry().pull_secret_at(&[("flux-system", Some("pull-1")), ("kubeopera", None)]),
                ),
                (
                    "... and is an older one in one of them",
                    with_registry().pull_secret_at(&[("flux-system", Some("pull-0")), ("kubeopera", Some("pull-1"))]),
                ),
                ("... and is where it is needed", with_registry().pull_secret_at(&[("flux-system", Some("pull-1"))])),
                ("nothing of ours there", installing().sync(SyncSeen::default())),
                (
                    "the source follows another branch",
                    installing().sync(edited(|s| s.source.as_mut().unwrap().branch = Some("main".into()))),
                ),
                (
                    "the source has not been asked for the commit",
                    installing().sync(edited(|s| {
                        let source = s.source.as_mut().unwrap();
                        source.requested = None;
                        source.handled_request = None;
                        source.revision = None;
                    })),
                ),
                (
                    "the source cannot fetch",
                    installing().sync(edited(|s| {
                        s.source.as_mut().unwrap().readiness =
                            not_ready("GitOperationFailed", "The Git server refuses the connection.");
                    })),
                ),
                (
                    "the source has fetched an older commit",
                    installing().sync(edited(|s| {
                        let source = s.source.as_mut().unwrap();
                        source.handled_request = None;
                        source.revision = Some("trunk@sha1:00ff".into());
                    })),
                ),
                (
                    "a child is not ready",
                    installing().sync(edited(|s| {
                        s.children[0].readiness =
                            not_ready("HealthCheckFailed", "Deployment apps/web is not available.");
                    })),
                ),
                (
                    "the root has given up",
                    installing().sync(edited(|s| {
                        s.root.as_mut().unwrap().readiness = host_cluster_controller_decide::Readiness::Stalled {
                            reason: "BuildFailed".into(),
                            why: "kustomization.yaml is missing.".into(),
                        }
                    })),
                ),
                ("a child is suspended by hand", installing().sync(edited(|s| s.children[0].is_suspended = true))),
                (
                    "a child is ready for an older revision",
                    installing().sync(edited(|s| s.children[0].applied_revision = None)),
                ),
                ("all applied", installing().synced()),
                (
                    "all applied, an administrator is asked for",
                    towards_with_administrator().answering().flux_ready().git_secret().synced(),
                ),
            ],
        ),
        (
            "Ready",
            vec![
                ("nothing looked at", watching()),
                ("all as it should be", healthy()),
                ("the API server does not answer", watching().unreachable()),
                ("another cluster answers", watching().answering_as("other")),
                ("another KubeOpera has taken the cluster over", watching().of_another_kubeopera()),
                ("Flux is gone", watching().answering().flux(FluxSeen::Absent)),
                ("our objects are gone", watching().answering().flux_ready().sync(SyncSeen::default())),
                (
                    "the source was pointed elsewhere",
                    watching()
                        .answering()
                        .flux_ready()
                        .sync(edited(|s| s.source.as_mut().unwrap().url = "https://elsewhere.example/x.git".into())),
                ),
                (
                    "a child is not ready",
                    watching().answering().flux_ready().git_secret().sync(edited(|s| {
                        s.children[0].readiness =
                            not_ready("HealthCheckFailed", "Deployment apps/web is not available.");
                    })),
                ),
                ("the Git credentials were changed", healthy().secrets_at("git-2", "-")),
                ("the domain was changed", healthy().edited(|r| r.spec.domain = Some("harbour.acme.com".into()))),
                ("the kubeconfig was replaced", ready(Way::Connect).secrets_at("git-1", "kubeconfig-2")),
                ("the supplied kubeconfig was removed", ready(Way::Connect).secrets_at("git-1", "absent")),
                ("left alone on request", healthy().suspended()),
                ("ten minutes later", healthy().later(540)),
                ("ten minutes later, Git cannot be asked", {
                    let mut s = healthy().later(540);
                    s.seen.tree = host_cluster_controller_decide::Fact::CouldNotTell(Trouble::transient(
                        "GitUnreachable",
                        "The Git server does not answer.",
                    ));
                    s
                }),
                ("the tree is as it was written", healthy().later(540).tree("trunk", Some(TREE_HASH))),
                ("the tree is gone", healthy().later(540).tree("trunk", None)),
                ("this version would make another tree", healthy().later(540).tree("trunk", Some("another"))),
                ("another branch has become the default", healthy().later(540).tree("main", Some(TREE_HASH))),
                ("the source cannot fetch, for a minute", unfetched(healthy())),
                ("... and the tree is there", unfetched(healthy()).tree("trunk", Some(TREE_HASH))),
                ("... and the repository is empty", unfetched(healthy()).tree("trunk", None)),
                ("the source cannot fetch, 30 s after that", unfetched(healthy().later(30))),
            ],
        ),
        (
            "Disconnecting",
            vec![
                ("deleted", ready(Way::Connect).deleted()),
                ("begun", ready(Way::Connect).going()),
                ("the cluster does not answer", ready(Way::Connect).going().unreachable()),
                ("it has not answered for a minute", ready(Way::Connect).going().later(60).unreachable()),
                ("another cluster answers, for a minute", ready(Way::Connect).going().later(60).answering_as("other")),
                ("the cluster answers", going()),
                ("Kustomizations reconcile", going().synced()),
                ("another KubeOpera has taken the cluster over", going().of_another_kubeopera().synced().git_secret()),
                (
                    "one child is not suspended yet",
                    going().sync(edited(|s| s.root.as_mut().unwrap().is_suspended = true)),
                ),
                ("all are suspended", going().sync(edited(suspend))),
                ("all are being deleted", {
                    let s = going();
                    let at = s.now;
                    s.sync(edited(|x| {
                        suspend(x);
                        delete(x, at);
                    }))
                }),
                ("their controller does not answer", {
                    let s = going();
                    let at = s.now;
                    s.later(31).answering().sync(edited(|x| {
                        suspend(x);
                        delete(x, at);
                    }))
                }),
                ("the source is left", going().sync(SyncSeen { source: sync().source, ..SyncSeen::default() })),
                ("nothing of Flux is left", gone()),
                ("the Git credentials are left", gone().git_secret()),
                ("nothing is left on the cluster", {
                    let mut s = gone();
                    s.seen.git_secret = host_cluster_controller_decide::Fact::Seen(GitSecretSeen::Absent);
                    s
                }),
                ("given up after a minute", {
                    let mut s = ready(Way::Connect).going().later(60).unreachable();
                    s.pass();
                    s
                }),
                ("the kubeconfigs are gone", {
                    let mut s = ready(Way::Connect).going().later(60).unreachable();
                    s.pass();
                    s.pass();
                    s
                }),
                (
                    "annotated to destroy, but a connected cluster",
                    ready(Way::Connect).meant_to_be_destroyed().going().answering().synced(),
                ),
            ],
        ),
        (
            "Deleting a provisioned cluster",
            vec![
                ("without the annotation", ready(Way::Provision).going().answering().synced()),
                ("Kustomizations reconcile", destroying().synced()),
                ("all are suspended", destroying().sync(edited(suspend))),
                (
                    "the run exists",
                    destroying().sync(edited(suspend)).run(RunStatus::Succeeded { job: "provision-x".into() }),
                ),
                ("the infrastructure is gone", destroying().sync(edited(suspend)).run(RunStatus::Destroyed)),
                (
                    "the Job has vanished",
                    destroying().sync(edited(suspend)).run(RunStatus::Vanished { job: "provision-x".into() }),
                ),
                ("what was written down is lost", destroying().sync(edited(suspend)).run(RunStatus::Absent)),
                (
                    "the cluster does not answer, for a minute",
                    ready(Way::Provision)
                        .meant_to_be_destroyed()
                        .going()
                        .later(60)
                        .unreachable()
                        .run(RunStatus::Succeeded { job: "provision-x".into() }),
                ),
                ("there is no provisioner", destroying().sync(edited(suspend)).without_provisioner()),
            ],
        ),
    ]
}

fn failed_run(mut scene: Scene) -> Scene {
    scene = scene.run(RunStatus::Absent);
    scene.pass();
    let trouble = Trouble::rejected("QuotaExceeded", "AWS allows no more VPCs in eu-north-1. Ask for a higher quota.");
    scene.run(RunStatus::Failed { job: "provision-x".into(), trouble })
}

fn towards_with_administrator() -> Scene {
    // The e-mail address is part of the tree: it has to be there from the beginning.
    let mut scene = towards(Way::Host, Milestone::TreeGenerated).with_administrator().answering().present();
    let Next::Do(step) = scene.next() else { panic!("nothing more to look at") };
    scene.publish(&step, &written(COMMIT));
    scene.seen = Observations::default();
    scene.secrets()
}

fn with_registry() -> Scene {
    // The name of the Secret is part of the tree: it has to be there from the beginning.
    let mut scene = towards(Way::Host, Milestone::TreeGenerated).with_registry().answering().present();
    let Next::Do(step) = scene.next() else { panic!("nothing more to look at") };
    scene.publish(&step, &written(COMMIT));
    scene.seen = Observations::default();
    let mut scene = scene.secrets();
    scene.publish(&Step::Begin(Milestone::PlatformInstalled), &Outcome::Done);
    scene.answering().flux_ready().git_secret()
}

fn edited(edit: impl FnOnce(&mut SyncSeen)) -> SyncSeen {
    let mut edited = sync();
    edit(&mut edited);
    edited
}

fn unfetched(scene: Scene) -> Scene {
    scene.sync(edited(|s| {
        s.source.as_mut().unwrap().readiness =
            not_ready("GitOperationFailed", "Couldn't find remote ref refs/heads/trunk.");
    }))
}

fn suspend(sync: &mut SyncSeen) {
    sync.root.iter_mut().chain(&mut sync.children).for_each(|one| one.is_suspended = true);
}

fn delete(sync: &mut SyncSeen, at: jiff::Timestamp) {
    sync.root.iter_mut().chain(&mut sync.children).for_each(|one| one.deletion_requested_at = Some(at));
}

fn not_ready(reason: &str, why: &str) -> host_cluster_controller_decide::Readiness {
    host_cluster_controller_decide::Readiness::NotReady { reason: reason.into(), why: why.into() }
}
