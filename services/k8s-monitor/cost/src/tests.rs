#![allow(clippy::float_cmp, reason = "points and cents in steps that floating point keeps exactly, or prints the same")]

use jiff::civil::date;
use k8s_monitor_contract::{CapacityType, Resources};
use proptest::prelude::*;

use super::*;

fn node(instance_type: Option<&str>, region: &str) -> Node {
    Node {
        name: "n".to_owned(),
        ready: true,
        memory_pressure: false,
        disk_pressure: false,
        pid_pressure: false,
        network_unavailable: false,
        schedulable: true,
        capacity: Resources { cpu_millicores: 4000, memory_bytes: 8 << 30 },
        allocatable: Resources::default(),
        requested: None,
        used: None,
        version: String::new(),
        operating_system: Some("linux".to_owned()),
        instance_type: instance_type.map(str::to_owned),
        region: Some(region.to_owned()),
        zone: None,
        capacity_type: Some(CapacityType::OnDemand),
        price: None,
        created_at: None,
    }
}

fn seen(nodes: &[Node]) -> Seen<'_> {
    Seen {
        cluster: "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap(),
        provider: "aws",
        region: "eu-north-1",
        nodes,
        control_plane: ControlPlane::OnNodes,
        load_balancers: Ok(&[]),
        volumes: Ok(&[]),
        today: date(2026, 11, 30),
    }
}

fn dollars(money: Option<Money>) -> f64 {
    money.map(f64::from).unwrap()
}

fn cost(seen: &Seen<'_>) -> Cost {
    monthly(seen, Table::built_in())
}

#[test]
fn nodes_cost_730_times_their_list_price_and_say_on_what_basis() {
    let nodes = [node(Some("t3.medium"), "eu-north-1"), node(Some("t3.medium"), "eu-north-1")];
    let cost = cost(&seen(&nodes));
    let [item] = cost.items.as_slice() else { panic!("{cost:?}") };
    assert_eq!((item.what.as_str(), item.count, item.basis.as_str()), ("t3.medium in eu-north-1", 2, LIST_PRICE));
    assert_eq!((f64::from(item.each), f64::from(item.monthly)), (31.536, 63.072));
    assert_eq!((dollars(cost.total.monthly), cost.total.priced, cost.total.not_priced), (63.072, 2, 0));
    assert!(cost.source.contains("EC2 list prices"), "{}", cost.source);
    assert_eq!(node_price(&seen(&nodes), &nodes[0], Table::built_in()).map(|price| price.monthly), Some(item.each));
}

#[test]
fn an_unknown_type_is_named_and_left_out_of_the_sum_which_says_so() {
    let nodes = [node(Some("t3.medium"), "eu-north-1"), node(Some("m99.huge"), "eu-north-1")];
    let cost = cost(&seen(&nodes));
    assert_eq!((dollars(cost.total.monthly), cost.total.priced, cost.total.not_priced), (31.536, 1, 1));
    let [missing] = cost.not_priced.as_slice() else { panic!("{cost:?}") };
    assert_eq!(missing.what, "m99.huge in eu-north-1");
    assert!(missing.reason.contains("prices update"), "{}", missing.reason);
}

#[test]
fn a_node_without_labels_has_no_price_and_the_sum_over_nothing_is_unknown() {
    let nodes = [Node { instance_type: None, region: None, ..node(None, "") }];
    let cost = cost(&seen(&nodes));
    assert_eq!((cost.total.monthly, cost.total.priced, cost.total.not_priced), (None, 0, 1));
    assert_eq!(cost.source, "");
}

#[test]
fn spot_and_windows_are_not_priced_as_what_they_are_not_and_graviton_and_gpu_have_prices() {
    let spot = Node { capacity_type: Some(CapacityType::Spot), ..node(Some("m5.large"), "us-east-1") };
    let windows = Node { operating_system: Some("windows".to_owned()), ..node(Some("m5.large"), "us-east-1") };
    let nodes = [spot, windows, node(Some("m7g.large"), "us-east-1"), node(Some("g5.xlarge"), "us-east-1")];
    let cost = cost(&seen(&nodes));
    assert_eq!((cost.total.priced, cost.total.not_priced), (2, 2));
    assert!(cost.not_priced.iter().any(|what| what.what == "m5.large in us-east-1, spot"));
    assert!(cost.not_priced.iter().any(|what| what.reason.contains("Linux")));
}

#[test]
fn a_spot_price_that_the_table_has_is_labelled_as_one() {
    let table: Table = "source s 2026 S.\nprice s aws r linux-spot/a 0.01".parse().unwrap();
    let nodes = [Node { capacity_type: Some(CapacityType::Spot), ..node(Some("a"), "r") }];
    let cost = monthly(&seen(&nodes), &table);
    assert_eq!(cost.items[0].basis, "spot price of the table's day");
    assert_eq!(dollars(cost.total.monthly), 7.3);
}

#[test]
fn eks_costs_its_fee_and_past_standard_support_the_fee_for_that() {
    let of = |minor, today| {
        let cost = cost(&Seen { control_plane: ControlPlane::Eks(minor), today, ..seen(&[]) });
        cost.items.iter().map(|item| (item.kind, f64::from(item.monthly))).collect::<Vec<_>>()
    };
    let (fee, extended) = ((CostKind::ControlPlane, 73.0), (CostKind::ExtendedSupport, 365.0));
    assert_eq!(of("1.36", date(2026, 11, 30)), [fee]);
    assert_eq!(of("1.34", date(2026, 12, 2)), [fee]);
    assert_eq!(of("1.34", date(2026, 12, 3)), [extended, fee]);
    assert_eq!(of("1.32", date(2026, 11, 30)), [extended, fee]);
    // Older and newer than all that are known.
    assert_eq!(of("1.21", date(2026, 11, 30)), [extended, fee]);
    assert_eq!(of("1.99", date(2026, 11, 30)), [fee]);
}

#[test]
fn gke_costs_its_fee_whatever_its_kind_and_the_free_tier_only_where_it_is_said() {
    let gke = Seen { provider: "gcp", region: "europe-west4", control_plane: ControlPlane::Gke, ..seen(&[]) };
    assert_eq!(dollars(cost(&gke).total.monthly), 73.0);

    let mut table = Table::built_in().clone();
    table.set_own_rates(gke.cluster, prices::OwnRates { has_credit: true, ..prices::OwnRates::default() });
    let with_credit = monthly(&gke, &table);
    // The credit is more than the fee; nothing goes below nothing.
    assert_eq!(dollars(with_credit.total.monthly), 0.0);
    assert!(with_credit.items[0].basis.contains("free tier"));
}

#[test]
fn a_control_plane_is_known_by_the_version_it_says() {
    assert_eq!(control_plane("v1.31.2-eks-7f9249a"), ControlPlane::Eks("1.31"));
    assert_eq!(control_plane("v1.33.4-gke.1172000"), ControlPlane::Gke);
    for own in ["v1.34.1", "v1.34.1+k3s1", "v1.34.1-rc.0", "", "v-eks-", "eks-1"] {
        assert_eq!(control_plane(own), ControlPlane::OnNodes, "{own}");
    }
}

#[test]
fn a_cluster_on_premises_costs_what_somebody_said() {
    let nodes = [node(None, "cellar")];
    let own = Seen { provider: "on-premises", region: "cellar", ..seen(&nodes) };
    assert!(cost(&own).not_priced[0].reason.contains("prices set"));

    let mut table = Table::default();
    let rate = |text: &str| Some(text.parse().unwrap());
    let rates = prices::OwnRates { node: rate("100"), cpu: rate("5"), memory_gib: rate("0.5"), has_credit: false };
    table.set_own_rates(own.cluster, rates);
    // 4 CPUs and 8 GiB.
    assert_eq!(dollars(monthly(&own, &table).total.monthly), 124.0);
}

#[test]
fn load_balancers_and_volumes_are_priced_where_the_table_has_them() {
    let table: Table = "source s 2026 S.\nprice s aws eu-north-1 load-balancer/network 0.02\n\
                        price s aws eu-north-1 volume/gp3 0.08"
        .parse()
        .unwrap();
    let load_balancers = [(LoadBalancer::Network, 2), (LoadBalancer::Classic, 1)];
    let volumes = [("gp3", 3, 100), ("io9", 1, 10)];
    let cost = monthly(&Seen { load_balancers: Ok(&load_balancers), volumes: Ok(&volumes), ..seen(&[]) }, &table);
    assert_eq!(dollars(cost.total.monthly), 2.0 * 14.6 + 8.0);
    assert_eq!((cost.total.priced, cost.total.not_priced), (5, 2));
}

#[test]
fn up_to_five_forwarding_rules_cost_as_much_as_one_and_each_further_one_its_own() {
    let table: Table = "source s 2026 S.\nprice s gcp europe-west4 load-balancer/forwarding-rule 0.025\n\
                        price s gcp europe-west4 load-balancer/further-forwarding-rule 0.01"
        .parse()
        .unwrap();
    let of = |count, table| {
        let rules = [(LoadBalancer::ForwardingRule, count)];
        let cost =
            monthly(&Seen { provider: "gcp", region: "europe-west4", load_balancers: Ok(&rules), ..seen(&[]) }, table);
        (cost.total.monthly.map(f64::from), cost.total.priced, cost.total.not_priced)
    };
    assert_eq!(of(1, &table), (Some(18.25), 1, 0));
    assert_eq!(of(5, &table), (Some(18.25), 5, 0));
    assert_eq!(of(7, &table), (Some(18.25 + 2.0 * 7.3), 7, 0));
    assert_eq!(of(7, Table::built_in()), (None, 0, 7));
}

#[test]
fn what_cannot_be_counted_is_not_priced_and_says_why() {
    let nodes = [node(Some("t3.medium"), "eu-north-1")];
    let (load_balancers, volumes) = (Err("They may not be read."), Err("It did not answer."));
    let cost = cost(&Seen { load_balancers, volumes, ..seen(&nodes) });
    assert_eq!((cost.total.priced, cost.total.not_priced), (1, 2));
    let told: Vec<_> = cost.not_priced.iter().map(|not| (not.kind, not.what.as_str(), not.reason.as_str())).collect();
    assert_eq!(
        told,
        [
            (CostKind::LoadBalancer, "Load balancers", "They may not be read."),
            (CostKind::Volumes, "Volumes", "It did not answer."),
        ]
    );
}

proptest! {
    #[test]
    fn items_sum_to_the_total_and_everything_is_either_priced_or_not(
        types in proptest::collection::vec(proptest::option::of("(t3\\.medium|t3\\.large|m99\\.huge|[a-z.]{0,8})"), 0..20),
        provider in "(aws|gcp|azure|)",
        region in "(eu-north-1|europe-west4|)",
    ) {
        let nodes: Vec<_> = types.iter().map(|of| node(of.as_deref(), &region)).collect();
        let cost = cost(&Seen { provider: &provider, region: &region, ..seen(&nodes) });
        let sum: Money = cost.items.iter().map(|item| item.monthly).sum();
        prop_assert_eq!(cost.total.monthly.unwrap_or_default(), sum);
        prop_assert_eq!(cost.total.priced + cost.total.not_priced, nodes.len() as u64);
        prop_assert_eq!(cost.not_priced.iter().map(|not| not.count).sum::<u64>(), cost.total.not_priced);
    }
}
