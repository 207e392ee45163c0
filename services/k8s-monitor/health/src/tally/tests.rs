#![allow(clippy::float_cmp, reason = "points and cents in steps that floating point keeps exactly, or prints the same")]

use std::num::NonZeroU32;

use k8s_monitor_contract::Colour;
use proptest::prelude::*;

use super::*;
use crate::PodProblems;

fn node(number: u32) -> NodeRef {
    NodeRef(NonZeroU32::new(number + 1).unwrap())
}

fn pod(name: &str) -> PodName<'_> {
    PodName { namespace: "shop", name }
}

const READY: NodeFacts = NodeFacts {
    ready: true,
    memory_pressure: false,
    disk_pressure: false,
    pid_pressure: false,
    network_unavailable: false,
    allocatable: Resources { cpu_millicores: 1000, memory_bytes: 1000 },
};

fn well() -> ControlPlane {
    ControlPlane {
        api_server: ComponentState::Healthy,
        scheduler: ComponentState::Healthy,
        controller_manager: ComponentState::Healthy,
        etcd: ComponentState::Healthy,
    }
}

fn ill() -> ComponentState {
    ComponentState::Unhealthy("It does not answer.".to_owned())
}

/// One measured, ready node and a control plane that works.
fn healthy() -> Tally {
    let mut tally = Tally::default();
    tally.set_control_plane(well());
    tally.set_node(node(0), "n0", READY);
    tally.set_used(node(0), Some(Resources { cpu_millicores: 100, memory_bytes: 100 }));
    tally
}

fn score(tally: &Tally) -> f64 {
    let health = tally.health();
    assert_eq!((health.score, health.colour), (tally.score().score, tally.score().colour));
    health.score.into()
}

fn with_pods(count: usize, problems: PodProblems) -> Tally {
    let mut tally = healthy();
    for number in 0..count {
        tally.add_pod(pod(&number.to_string()), &PodFacts { problems, ..PodFacts::default() });
    }
    tally
}

#[test]
fn a_healthy_cluster_has_100_points_and_everything_is_assessed() {
    let health = healthy().health();
    assert_eq!((f64::from(health.score), health.colour), (100.0, Colour::Green));
    assert_eq!((health.deductions.len(), health.not_assessed.len()), (0, 0));
}

#[test]
fn each_row_of_the_table_costs_what_it_says() {
    let with_node = |facts| {
        let mut tally = healthy();
        tally.set_node(node(1), "n1", facts);
        score(&tally)
    };
    assert_eq!(with_node(NodeFacts { ready: false, ..READY }), 95.0);
    assert_eq!(with_node(NodeFacts { memory_pressure: true, ..READY }), 97.0);
    assert_eq!(with_node(NodeFacts { disk_pressure: true, ..READY }), 96.0);
    assert_eq!(with_node(NodeFacts { pid_pressure: true, ..READY }), 98.0);
    assert_eq!(with_node(NodeFacts { network_unavailable: true, ..READY }), 94.0);
    let all = NodeFacts {
        ready: false,
        memory_pressure: true,
        disk_pressure: true,
        pid_pressure: true,
        network_unavailable: true,
        ..READY
    };
    assert_eq!(with_node(all), 80.0);

    let failed = PodProblems { failed: true, ..PodProblems::default() };
    let looping = PodProblems { crash_looping: true, ..PodProblems::default() };
    let restarting = PodProblems { restarting: true, ..PodProblems::default() };
    assert_eq!(score(&with_pods(1, failed)), 98.0);
    assert_eq!(score(&with_pods(1, looping)), 97.5);
    assert_eq!(score(&with_pods(10, restarting)), 100.0);
    assert_eq!(score(&with_pods(11, restarting)), 95.0);
    assert_eq!(score(&with_pods(500, restarting)), 95.0);

    let with_control_plane = |control_plane| {
        let mut tally = healthy();
        tally.set_control_plane(control_plane);
        score(&tally)
    };
    assert_eq!(with_control_plane(ControlPlane { api_server: ill(), ..well() }), 100.0 - 15.0 - 8.0);
    assert_eq!(with_control_plane(ControlPlane { scheduler: ill(), ..well() }), 100.0 - 30.0 - 8.0);
    let two = ControlPlane { scheduler: ill(), controller_manager: ill(), ..well() };
    assert_eq!(with_control_plane(two), 100.0 - 30.0 - 16.0);
    let with_api_server = ControlPlane { api_server: ill(), etcd: ill(), ..well() };
    assert_eq!(with_control_plane(with_api_server), 100.0 - 30.0 - 16.0);
}

#[test]
fn cpu_and_memory_cost_from_80_and_from_95_percent_exactly() {
    let used = |cpu_millicores, memory_bytes| {
        let mut tally = healthy();
        tally.set_used(node(0), Some(Resources { cpu_millicores, memory_bytes }));
        score(&tally)
    };
    assert_eq!(used(799, 0), 100.0);
    assert_eq!(used(800, 0), 95.0);
    assert_eq!(used(949, 0), 95.0);
    assert_eq!(used(950, 0), 90.0);
    assert_eq!(used(0, 950), 90.0);
    assert_eq!(used(5000, 800), 85.0);
}

#[test]
fn usage_is_a_part_of_the_measured_nodes() {
    let mut tally = healthy();
    tally.set_node(node(1), "n1", READY);
    tally.set_used(node(0), Some(Resources { cpu_millicores: 950, memory_bytes: 10 }));

    let usage = tally.usage().unwrap();

    assert_eq!((usage.measured_nodes, usage.nodes), (1, 2));
    assert_eq!(usage.not_measured.as_deref(), Some("1 of 2 nodes are measured."));
    assert_eq!(usage.cpu.percent_used(), Some(95.0));
    assert_eq!(usage.cpu.allocatable, 2000);
    assert_eq!(score(&tally), 90.0);
}

#[test]
fn what_is_not_measured_is_neither_zero_nor_punished_and_says_why() {
    let mut tally = healthy();
    tally.set_used(node(0), None);
    tally.set_unreadable(Source::Metrics, Some("The cluster has no metrics API.".to_owned()));

    let (health, usage) = (tally.health(), tally.usage().unwrap());

    assert_eq!(f64::from(health.score), 100.0);
    let reasons: Vec<_> = health.not_assessed.iter().map(|not| (not.what, not.reason.as_str())).collect();
    let reason = "The cluster has no metrics API.";
    assert_eq!(reasons, [(Assessed::Cpu, reason), (Assessed::Memory, reason)]);
    assert_eq!((usage.cpu.used, usage.cpu.percent_used(), usage.memory.used), (None, None, None));
    assert_eq!(usage.not_measured.as_deref(), Some(reason));
}

#[test]
fn a_cluster_without_nodes_or_capacity_has_no_percentage() {
    let mut tally = Tally::default();
    tally.set_control_plane(well());
    assert_eq!(tally.health().not_assessed.len(), 2);
    assert_eq!(tally.usage().unwrap().cpu.percent_used(), None);

    tally.set_node(node(0), "n0", NodeFacts { allocatable: Resources::default(), ..READY });
    tally.set_used(node(0), Some(Resources { cpu_millicores: 5, memory_bytes: 5 }));
    assert_eq!(score(&tally), 100.0);
    assert_eq!(tally.health().not_assessed.len(), 2);
    assert_eq!(tally.usage().unwrap().cpu.percent_used(), None);
}

#[test]
fn a_hidden_control_plane_is_not_assessed_and_costs_nothing() {
    let mut tally = healthy();
    let hidden = || ComponentState::Unknown("Amazon EKS does not show it.".to_owned());
    tally.set_control_plane(ControlPlane {
        scheduler: hidden(),
        controller_manager: hidden(),
        etcd: hidden(),
        ..well()
    });

    let health = tally.health();

    assert_eq!(f64::from(health.score), 100.0);
    let what: Vec<_> = health.not_assessed.iter().map(|not| not.what).collect();
    assert_eq!(what, [Assessed::Scheduler, Assessed::ControllerManager, Assessed::Etcd]);
}

#[test]
fn what_may_not_be_read_is_not_assessed_though_it_was_once() {
    let mut tally = with_pods(3, PodProblems { failed: true, crash_looping: false, restarting: true });
    tally.set_node(node(1), "n1", NodeFacts { ready: false, ..READY });
    tally.set_unreadable(Source::Pods, Some("Forbidden.".to_owned()));
    assert_eq!(score(&tally), 95.0);
    assert_eq!((tally.requested_of(node(0)), tally.usage().unwrap().cpu.requested), (None, None));

    tally.set_unreadable(Source::Nodes, Some("Forbidden.".to_owned()));
    assert_eq!(score(&tally), 100.0);
    assert_eq!((tally.nodes(), tally.usage()), (None, None));
    let what: Vec<_> = tally.health().not_assessed.iter().map(|not| not.what).collect();
    assert_eq!(what, [Assessed::Nodes, Assessed::Pods, Assessed::Cpu, Assessed::Memory]);

    tally.set_unreadable(Source::Pods, None);
    tally.set_unreadable(Source::Nodes, None);
    assert_eq!(score(&tally), 89.0);
}

#[test]
fn every_deduction_names_its_object_and_the_list_ends_where_it_is_too_long() {
    let tally = with_pods(1234, PodProblems { failed: true, ..PodProblems::default() });

    let health = tally.health();

    assert_eq!(health.deductions.len(), LISTED + 1);
    let (rest, named) = health.deductions.split_last().unwrap();
    assert!(named.iter().all(|line| line.object.as_ref().is_some_and(|object| object.kind == "Pod")));
    assert_eq!((rest.count, rest.object.as_ref(), f64::from(rest.points)), (1134, None, 2268.0));
    assert_eq!((f64::from(health.deducted), f64::from(health.score)), (2468.0, 0.0));
    assert_eq!(health.deductions[0].message, "Pod 0 in namespace shop has failed.");
}

#[test]
fn requests_are_counted_by_node_and_for_pods_on_a_node_only() {
    let mut tally = healthy();
    let on = |node| PodFacts { node, requested_millicores: 250, requested_bytes: 64, ..PodFacts::default() };
    tally.add_pod(pod("waits"), &on(None));
    tally.add_pod(pod("a"), &on(Some(node(0))));
    // The node itself is heard of later.
    tally.add_pod(pod("b"), &on(Some(node(7))));

    assert_eq!(tally.requested_of(node(0)), Some(Resources { cpu_millicores: 250, memory_bytes: 64 }));
    assert_eq!(tally.requested_of(node(7)), Some(Resources { cpu_millicores: 250, memory_bytes: 64 }));
    assert_eq!(tally.usage().unwrap().memory.requested, Some(128));
}

#[test]
fn nodes_that_lie_about_their_size_do_no_lasting_harm() {
    let all = Resources { cpu_millicores: u64::MAX, memory_bytes: u64::MAX };
    let mut tally = healthy();
    let before = tally.clone();
    for number in 1..4 {
        tally.set_node(node(number), &number.to_string(), NodeFacts { allocatable: all, ..READY });
        tally.set_used(node(number), Some(all));
    }
    assert_eq!(tally.usage().unwrap().cpu.allocatable, u64::MAX);
    assert!(score(&tally) >= 80.0);
    for number in 1..4 {
        tally.remove_node(node(number));
    }
    assert_eq!(tally, before);
}

/// Something that happens to a cluster.
#[derive(Debug, Clone)]
enum Change {
    Node(u32, NodeFacts),
    Used(u32, Option<Resources>),
    Pod(u8, PodFacts),
}

fn resources() -> impl Strategy<Value = Resources> {
    (0..2000_u64, 0..2000_u64).prop_map(|(cpu_millicores, memory_bytes)| Resources { cpu_millicores, memory_bytes })
}

fn node_facts() -> impl Strategy<Value = NodeFacts> {
    (any::<[bool; 5]>(), resources()).prop_map(|(bits, allocatable)| NodeFacts {
        ready: bits[0],
        memory_pressure: bits[1],
        disk_pressure: bits[2],
        pid_pressure: bits[3],
        network_unavailable: bits[4],
        allocatable,
    })
}

fn pod_facts() -> impl Strategy<Value = PodFacts> {
    (any::<[bool; 3]>(), proptest::option::of(0..6_u32), resources()).prop_map(|(bits, on, requests)| PodFacts {
        node: on.map(node),
        requested_millicores: u32::try_from(requests.cpu_millicores).unwrap(),
        requested_bytes: requests.memory_bytes,
        problems: PodProblems { failed: bits[0], crash_looping: bits[1], restarting: bits[2] },
    })
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        (0..6_u32, node_facts()).prop_map(|(number, facts)| Change::Node(number, facts)),
        (0..6_u32, proptest::option::of(resources())).prop_map(|(number, used)| Change::Used(number, used)),
        (0..30_u8, pod_facts()).prop_map(|(number, facts)| Change::Pod(number, facts)),
    ];
    proptest::collection::vec(change, 0..60)
}

/// Whoever watches a cluster, in small: keeps facts of pods to be able to take them back.
fn watched(changes: &[Change]) -> (Tally, HashMap<u8, PodFacts>) {
    let (mut tally, mut pods) = (Tally::default(), HashMap::new());
    tally.set_control_plane(well());
    for change in changes {
        match change {
            Change::Node(number, facts) => tally.set_node(node(*number), &number.to_string(), *facts),
            Change::Used(number, used) => tally.set_used(node(*number), *used),
            Change::Pod(number, facts) => {
                let name = number.to_string();
                if let Some(before) = pods.insert(*number, *facts) {
                    tally.remove_pod(pod(&name), &before);
                }
                tally.add_pod(pod(&name), facts);
            }
        }
    }
    (tally, pods)
}

proptest! {
    #[test]
    fn the_items_sum_to_the_score_which_stays_between_0_and_100(changes in changes()) {
        let (tally, _) = watched(&changes);
        let health = tally.health();
        let sum: Points = health.deductions.iter().map(|line| line.points).sum();
        prop_assert_eq!(sum, health.deducted);
        prop_assert_eq!(health.score, Points::FULL.less(sum));
        prop_assert!(health.score <= Points::FULL);
        prop_assert_eq!(HealthScore { score: health.score, colour: health.colour }, tally.score());
    }

    #[test]
    fn the_order_in_which_things_are_heard_of_does_not_matter(
        nodes in proptest::collection::vec((node_facts(), proptest::option::of(resources())), 0..6),
        pods in proptest::collection::vec(pod_facts(), 0..30),
        seed in any::<prop::sample::Index>(),
    ) {
        let mut arrivals: Vec<Change> = Vec::new();
        arrivals.extend(nodes.iter().zip(0..).map(|((facts, _), number)| Change::Node(number, *facts)));
        arrivals.extend(pods.iter().zip(0..).map(|(facts, number)| Change::Pod(number, *facts)));
        // What a node uses is told after the node.
        let usage: Vec<_> = nodes.iter().zip(0..).map(|((_, used), number)| Change::Used(number, *used)).collect();
        let forward = watched(&[arrivals.clone(), usage.clone()].concat()).0;
        if !arrivals.is_empty() {
            let middle = seed.index(arrivals.len());
            arrivals.rotate_left(middle);
        }
        arrivals.reverse();
        let backward = watched(&[arrivals, usage.into_iter().rev().collect()].concat()).0;
        prop_assert_eq!(forward, backward);
    }

    #[test]
    fn what_goes_leaves_nothing_behind(changes in changes()) {
        let (mut tally, pods) = watched(&changes);
        for (number, facts) in pods {
            tally.remove_pod(pod(&number.to_string()), &facts);
        }
        for number in 0..6 {
            tally.remove_node(node(number));
        }
        let mut fresh = Tally::default();
        fresh.set_control_plane(well());
        prop_assert_eq!(tally, fresh);
    }

    #[test]
    fn one_more_problem_never_raises_the_score(changes in changes(), facts in pod_facts(), which in 0..9_usize) {
        let (mut tally, _) = watched(&changes);
        let before = tally.score().score;
        match which {
            0..=2 => tally.add_pod(pod("one more"), &facts),
            3 => tally.set_control_plane(ControlPlane { api_server: ill(), ..well() }),
            4 => tally.set_control_plane(ControlPlane { etcd: ill(), scheduler: ill(), ..well() }),
            _ => {
                // The node brings nothing that could be used, so that only its problem counts.
                let mut sick = NodeFacts { allocatable: Resources::default(), ..READY };
                match which {
                    5 => sick.ready = false,
                    6 => sick.disk_pressure = true,
                    7 => sick.memory_pressure = true,
                    _ => sick.network_unavailable = true,
                }
                tally.set_node(node(99), "one more", sick);
            }
        }
        prop_assert!(tally.score().score <= before);
    }
}
