//! What clusters are sorted by, and where one stands.

use std::{
    borrow::{Borrow, Cow},
    cmp::Ordering,
    collections::BTreeSet,
    ops::Bound,
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vocabulary::ClusterId;

use super::Row;

/// What to sort by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Sort {
    #[default]
    Name,
    CreatedAt,
    Phase,
    Provider,
    Region,
    KubernetesVersion,
    Nodes,
}

/// Which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Direction {
    #[default]
    Asc,
    Desc,
}

/// Where a cluster stands in an order: by its key, among equals by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place<'a>(Key<'a>, Cow<'a, str>, ClusterId);

/// What a cluster is sorted by. Numbers are compared as numbers, and what is not known comes after everything that is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Key<'a> {
    Number(i64),
    Text(Cow<'a, str>),
    /// Major, minor, patch and what comes behind, such as `-eks-1552ad0`.
    Version([u32; 3], Cow<'a, str>),
    Unknown,
}

/// All clusters in one order.
pub(super) struct Order {
    sort: Sort,
    entries: BTreeSet<Entry>,
}

/// A cluster in an order. Its place is made from its row whenever it is compared: places that are kept would take several
/// times the memory of all rows.
struct Entry(Sort, Arc<Row>);

/// What an order is searched by.
trait Placed {
    fn place(&self) -> Place<'_>;
}

impl Sort {
    pub(super) const ALL: [Self; 7] =
        [Self::Name, Self::CreatedAt, Self::Phase, Self::Provider, Self::Region, Self::KubernetesVersion, Self::Nodes];

    /// Its place in [`Sort::ALL`].
    pub(super) const fn position(self) -> usize {
        self as usize
    }

    fn key(self, row: &Row) -> Key<'_> {
        match self {
            Self::Name => Key::Text(Cow::Borrowed(&row.name)),
            Self::CreatedAt => Key::Number(row.created_at.as_microsecond()),
            // In the order in which a cluster goes through them.
            Self::Phase => Key::Number(row.phase as i64),
            Self::Provider => place(&row.provider),
            Self::Region => place(&row.region),
            Self::KubernetesVersion => row.kubernetes_version.as_deref().map_or(Key::Unknown, version),
            Self::Nodes => {
                let told = || row.nodes.map(|nodes| i64::from(nodes.total));
                let counted = row.counted.and_then(|total| i64::try_from(total).ok());
                counted.or_else(told).map_or(Key::Unknown, Key::Number)
            }
        }
    }
}

impl<'a> Place<'a> {
    pub(super) fn of(sort: Sort, row: &'a Row) -> Self {
        Self(sort.key(row), Cow::Borrowed(&row.name), row.id)
    }

    /// Before every cluster whose key is not known, after every other.
    fn first_unknown() -> Self {
        Self(Key::Unknown, Cow::Borrowed(""), uuid::Uuid::nil().into())
    }

    pub(super) fn into_owned(self) -> Place<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let key = match self.0 {
            Key::Number(number) => Key::Number(number),
            Key::Text(text) => Key::Text(owned(text)),
            Key::Version(numbers, behind) => Key::Version(numbers, owned(behind)),
            Key::Unknown => Key::Unknown,
        };
        Place(key, owned(self.1), self.2)
    }
}

impl Order {
    pub(super) const fn by(sort: Sort) -> Self {
        Self { sort, entries: BTreeSet::new() }
    }

    pub(super) fn insert(&mut self, row: &Arc<Row>) {
        self.entries.insert(Entry(self.sort, Arc::clone(row)));
    }

    pub(super) fn remove(&mut self, row: &Row) {
        self.entries.remove(&Place::of(self.sort, row) as &dyn Placed);
    }

    /// All clusters after a place. What is not known comes last in both directions.
    pub(super) fn walk(
        &self,
        direction: Direction,
        after: Option<&Place<'_>>,
    ) -> Box<dyn Iterator<Item = &Arc<Row>> + '_> {
        let between = |from: Bound<&dyn Placed>, to: Bound<&dyn Placed>| {
            self.entries.range::<dyn Placed, _>((from, to)).map(|Entry(_, row)| row)
        };
        let unknown = Place::first_unknown();
        match (direction, after) {
            (Direction::Asc, None) => Box::new(between(Bound::Unbounded, Bound::Unbounded)),
            (Direction::Asc, Some(place)) => Box::new(between(Bound::Excluded(place), Bound::Unbounded)),
            (Direction::Desc, Some(place)) if *place >= unknown => {
                Box::new(between(Bound::Included(&unknown), Bound::Excluded(place)).rev())
            }
            (Direction::Desc, known) => {
                let known = between(Bound::Unbounded, Bound::Excluded(known.unwrap_or(&unknown)));
                Box::new(known.rev().chain(between(Bound::Included(&unknown), Bound::Unbounded).rev()))
            }
        }
    }
}

impl Placed for Entry {
    fn place(&self) -> Place<'_> {
        Place::of(self.0, &self.1)
    }
}

impl Placed for Place<'_> {
    fn place(&self) -> Place<'_> {
        self.clone()
    }
}

impl<'a> Borrow<dyn Placed + 'a> for Entry {
    fn borrow(&self) -> &(dyn Placed + 'a) {
        self
    }
}

impl Ord for dyn Placed + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for dyn Placed + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for dyn Placed + '_ {}

impl PartialEq for dyn Placed + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Entry {}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

/// A cluster without a cloud integration has the provider and region `unknown`.
fn place(text: &str) -> Key<'_> {
    if text == "unknown" { Key::Unknown } else { Key::Text(Cow::Borrowed(text)) }
}

fn version(text: &str) -> Key<'_> {
    let (numbers, behind) = text.find(['-', '+']).map_or((text, ""), |at| text.split_at(at));
    let mut parts = numbers.split('.').map(|number| number.parse().unwrap_or(0));
    Key::Version([0; 3].map(|none: u32| parts.next().unwrap_or(none)), Cow::Borrowed(behind))
}
