//! The index against the plain way: sort everything, drop what does not pass, cut out the page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::cmp::Ordering;

use proptest::{collection::vec, prelude::*, sample::select};

use super::*;

/// Something that happens between two looks.
#[derive(Debug, Clone)]
enum Happening {
    Put(Row),
    Remove(u8),
    See(u8, Phase, Option<i32>),
}

fn row() -> impl Strategy<Value = Row> {
    let phase = select(vec![Phase::Pending, Phase::Ready, Phase::Failed]);
    let version = select(vec![None, Some("1.9.0"), Some("1.10.2"), Some("1.34.4-eks-1"), Some("1.34.4")]);
    let provider = select(vec!["aws", "gcp", "unknown"]);
    (0..20_u8, phase, version, provider, proptest::option::of(0..12_i32)).prop_map(
        |(number, phase, version, provider, nodes)| Row {
            id: id(number),
            name: format!("c{number}"),
            created_at: Timestamp::from_second(i64::from(number % 5)).unwrap(),
            mode: Mode::ConnectExisting,
            provider: provider.to_owned(),
            region: "berlin".to_owned(),
            is_host: false,
            is_leaving: false,
            labels: ClusterLabels::new(),
            phase,
            kubernetes_version: version.map(str::to_owned),
            nodes: nodes.map(|total| NodeCount { total, ready: 0 }),
            counted: None,
        },
    )
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        4 => row().prop_map(Happening::Put),
        1 => (0..20_u8).prop_map(Happening::Remove),
        2 => (0..20_u8, select(vec![Phase::Ready, Phase::Failed]), proptest::option::of(0..12_i32))
            .prop_map(|(number, phase, nodes)| Happening::See(number, phase, nodes)),
    ]
}

fn id(number: u8) -> ClusterId {
    uuid::Uuid::from_u128(number.into()).into()
}

fn number_of(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
}

/// How two clusters compare by what people see of them; `None` if one of them shows nothing.
fn compare(sort: Sort, a: &Row, b: &Row) -> Result<Ordering, (bool, bool)> {
    fn known<T: Ord>(a: Option<T>, b: Option<T>) -> Result<Ordering, (bool, bool)> {
        match (a, b) {
            (Some(a), Some(b)) => Ok(a.cmp(&b)),
            (a, b) => Err((a.is_none(), b.is_none())),
        }
    }
    let place = |text: &str| (text != "unknown").then(|| text.to_owned());
    match sort {
        Sort::Name => Ok(a.name.cmp(&b.name)),
        Sort::CreatedAt => Ok(a.created_at.cmp(&b.created_at)),
        Sort::Phase => Ok(a.phase.cmp(&b.phase)),
        Sort::Provider => known(place(&a.provider), place(&b.provider)),
        Sort::Region => known(place(&a.region), place(&b.region)),
        Sort::Nodes => known(a.nodes.map(|nodes| nodes.total), b.nodes.map(|nodes| nodes.total)),
        Sort::KubernetesVersion => {
            let key = |row: &Row| row.kubernetes_version.clone().map(|text| (number_of(&text), text));
            known(key(a), key(b))
        }
    }
}

fn plainly(rows: &HashMap<ClusterId, Row>, sort: Sort, direction: Direction, filter: &Filter) -> Vec<ClusterId> {
    let mut all: Vec<_> = rows.values().filter(|row| filter.lets_pass(row)).collect();
    all.sort_by(|a, b| {
        let way = |ordering: Ordering| if direction == Direction::Asc { ordering } else { ordering.reverse() };
        match compare(sort, a, b) {
            Ok(ordering) => way(ordering.then(a.name.cmp(&b.name))),
            Err((true, true)) => way(a.name.cmp(&b.name)),
            Err((true, false)) => Ordering::Greater,
            Err(_) => Ordering::Less,
        }
    });
    all.into_iter().map(|row| row.id).collect()
}

proptest! {
    #[test]
    fn pages_of_any_length_in_any_order_are_what_sorting_everything_would_give(
        happenings in vec(happening(), 0..60),
        limit in 1..7_usize,
        phases in vec(select(vec![Phase::Ready, Phase::Failed]), 0..2),
    ) {
        let listing = Listing::new();
        let mut rows = HashMap::new();
        for happening in happenings {
            match happening {
                Happening::Put(row) => {
                    listing.write().put(row.clone());
                    rows.insert(row.id, row);
                }
                Happening::Remove(number) => {
                    listing.write().remove(id(number));
                    rows.remove(&id(number));
                }
                Happening::See(number, phase, nodes) => {
                    let status = json(phase, nodes);
                    listing.see(id(number), Some(&status));
                    if let Some(row) = rows.get_mut(&id(number)) {
                        *row = row.clone().seen(Some(&status));
                    }
                }
            }
        }
        let filter = Filter { phases, ..Filter::default() };
        for sort in Sort::ALL {
            for direction in [Direction::Asc, Direction::Desc] {
                let (mut listed, mut after) = (Vec::new(), None);
                loop {
                    let (page, next) = listing.page((sort, direction), &filter, after.as_ref(), limit);
                    prop_assert!(page.len() <= limit);
                    listed.extend(page.iter().map(|row| row.id));
                    match next {
                        Some(next) => after = Some(next),
                        None => break,
                    }
                }
                prop_assert_eq!(&listed, &plainly(&rows, sort, direction, &filter), "{:?} {:?}", sort, direction);
            }
        }
    }
}

fn json(phase: Phase, nodes: Option<i32>) -> HostCluster {
    let mut status = serde_json::json!({"phase": phase});
    if let Some(total) = nodes {
        status["nodes"] = serde_json::json!({"total": total, "ready": total});
    }
    serde_json::from_value(serde_json::json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster", "metadata": {"name": "x"}, "status": status,
        "spec": {"clusterID": "x", "mode": "connect_existing", "provider": "aws", "region": "berlin",
            "gitOpsRepoURL": "https://git.acme.com/iac.git", "gitOpsPath": "x", "gitCredentialsSecretRef": "x"},
    }))
    .unwrap()
}

/// The sorts as they stand in the index.
#[test]
fn every_sort_has_its_own_place() {
    for (position, sort) in Sort::ALL.into_iter().enumerate() {
        assert_eq!(sort.position(), position);
    }
}
