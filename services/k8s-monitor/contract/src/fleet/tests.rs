use super::*;
use crate::{Freshness, Points, Unreachable, Usage};

fn listed(setup: Setup) -> Listed {
    Listed {
        id: ClusterId::random(),
        name: "shop".to_owned(),
        provider: "aws".to_owned(),
        region: "eu-north-1".to_owned(),
        is_host: false,
        kubernetes_version: None,
        phase: "Ready".to_owned(),
        setup,
    }
}

/// A cluster of ten cores and one node that answers.
fn glance(points: f64, used: Option<u64>) -> Glance {
    let cpu = Resource { used, measured_allocatable: used.map(|_| 10_000), requested: None, allocatable: 10_000 };
    Glance {
        cluster: ClusterId::random(),
        revision: 1,
        freshness: Freshness::default(),
        health: Some(Points::from(points).into()),
        nodes: Some(NodeCount { total: 2, ready: 1 }),
        usage: Some(Usage { cpu, memory: cpu, ..Usage::default() }),
        cost: Some(CostTotal { monthly: Some(Money::nanos(1_234_560_000_000)), priced: 2, not_priced: 0 }),
    }
}

fn silent(glance: Glance) -> Glance {
    let unreachable = Unreachable { since: Timestamp::UNIX_EPOCH, reason: "It does not answer.".to_owned() };
    Glance { freshness: Freshness { as_of: Some(Timestamp::UNIX_EPOCH), unreachable: Some(unreachable) }, ..glance }
}

fn summary(clusters: &[(Setup, Option<Glance>)]) -> Summary {
    let rows: Vec<_> = clusters
        .iter()
        .map(|(setup, glance)| (Row::of(listed(*setup), glance.as_ref()), glance.clone().map(Arc::new)))
        .collect();
    Summary::of(rows.iter().map(|(row, glance)| (row, glance.as_ref())))
}

#[test]
fn every_cluster_stands_in_exactly_one_way() {
    let mut clusters = Vec::new();
    for setup in [Setup::Underway, Setup::Done, Setup::Failed] {
        let blank = Glance { health: None, nodes: None, usage: None, cost: None, ..glance(0.0, None) };
        clusters.extend([None, Some(blank.clone()), Some(silent(blank))].map(|glance| (setup, glance)));
        for points in [100.0, 70.0, 10.0] {
            clusters.extend([glance(points, None), silent(glance(points, None))].map(|glance| (setup, Some(glance))));
        }
    }

    let sum = summary(&clusters);

    assert_eq!(sum.total, 27);
    assert_eq!(sum.healthy + sum.degraded + sum.unreachable + sum.setting_up, sum.total);
    assert_eq!((sum.healthy, sum.degraded), (1, 2 + 3));
    // Nine underway; two that are Ready and were never read.
    assert_eq!(sum.setting_up, 9 + 2);
    assert_eq!(sum.priced + sum.not_priced, sum.total);
}

#[test]
fn ready_is_not_healthy_when_the_cluster_does_not_answer() {
    let row = Row::of(listed(Setup::Done), Some(&silent(glance(100.0, Some(1)))));
    assert_eq!(row.standing, Standing::Unreachable);
    // The last good value stays, with its age.
    assert_eq!(row.health, Some(Points::FULL.into()));
    assert_eq!(row.stale.and_then(|stale| stale.as_of), Some(Timestamp::UNIX_EPOCH));
}

#[test]
fn the_average_is_weighted_by_capacity_and_skips_who_is_not_measured_or_does_not_answer() {
    let mut large = glance(100.0, Some(9_000));
    if let Some(usage) = &mut large.usage {
        usage.cpu = Resource { used: Some(81_000), measured_allocatable: Some(90_000), ..usage.cpu };
    }
    let small = glance(100.0, Some(1_000));
    let clusters = [large, small, glance(100.0, None), silent(glance(100.0, Some(10_000)))];

    let sum = summary(&clusters.map(|glance| (Setup::Done, Some(glance))));

    assert_eq!((sum.cpu_percent, sum.cpu_of), (Some(82.0), 2));
    assert_eq!((sum.nodes, sum.nodes_of), (NodeCount { total: 6, ready: 3 }, 3));
}

#[test]
fn a_sum_over_nothing_is_unknown_and_not_zero() {
    let sum = summary(&[(Setup::Done, None), (Setup::Underway, None)]);
    assert_eq!((sum.cpu_percent, sum.memory_percent, sum.monthly_cost), (None, None, None));
    assert_eq!((sum.priced, sum.not_priced), (0, 2));
}

#[test]
fn what_is_priced_of_a_cluster_is_in_the_sum_and_the_cluster_is_named_as_not_priced() {
    let partly = Glance {
        cost: Some(CostTotal { monthly: Some(Money::nanos(5)), priced: 1, not_priced: 1 }),
        ..glance(100.0, None)
    };
    let sum = summary(&[(Setup::Done, Some(glance(100.0, None))), (Setup::Done, Some(silent(partly)))]);
    assert_eq!((sum.monthly_cost, sum.priced, sum.not_priced), (Some(Money::nanos(1_234_560_000_005)), 1, 1));
}

#[test]
fn a_row_stays_small_enough_for_five_hundred_in_250_kilobytes() {
    let mut glance = glance(97.5, Some(5_000));
    if let Some(usage) = &mut glance.usage {
        usage.memory = Resource {
            used: Some(123_456_789_012),
            measured_allocatable: Some(234_567_890_123),
            requested: Some(111_111_111_111),
            allocatable: 234_567_890_123,
        };
    }
    let row = Row::of(
        Listed {
            kubernetes_version: Some("v1.34.1".to_owned()),
            name: "a-name-of-a-usual-length".to_owned(),
            ..listed(Setup::Done)
        },
        Some(&glance),
    );
    let json = serde_json::to_string(&row).unwrap();
    assert!(json.len() <= 500, "{} bytes: {json}", json.len());
}
