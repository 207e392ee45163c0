//! What clusters are sorted by, and where one stands.

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
pub(crate) struct Place(Key, String, ClusterId);

/// What a cluster is sorted by. Numbers are compared as numbers, and what is not known comes after everything that is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Key {
    Number(i64),
    Text(String),
    /// Major, minor, patch and what comes behind, such as `-eks-1552ad0`.
    Version([u32; 3], String),
    Unknown,
}

impl Sort {
    pub(super) const ALL: [Self; 7] =
        [Self::Name, Self::CreatedAt, Self::Phase, Self::Provider, Self::Region, Self::KubernetesVersion, Self::Nodes];

    /// Its place in [`Sort::ALL`].
    pub(super) const fn position(self) -> usize {
        self as usize
    }

    fn key(self, row: &Row) -> Key {
        match self {
            Self::Name => Key::Text(row.name.clone()),
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

impl Place {
    pub(super) fn of(sort: Sort, row: &Row) -> Self {
        Self(sort.key(row), row.name.clone(), row.id)
    }

    /// Before every cluster whose key is not known, after every other.
    pub(super) fn first_unknown() -> Self {
        Self(Key::Unknown, String::new(), uuid::Uuid::nil().into())
    }
}

/// A cluster without a cloud integration has the provider and region `unknown`.
fn place(text: &str) -> Key {
    if text == "unknown" { Key::Unknown } else { Key::Text(text.to_owned()) }
}

fn version(text: &str) -> Key {
    let (numbers, behind) = text.find(['-', '+']).map_or((text, ""), |at| text.split_at(at));
    let mut parts = numbers.split('.').map(|number| number.parse().unwrap_or(0));
    Key::Version([0; 3].map(|none: u32| parts.next().unwrap_or(none)), behind.to_owned())
}
