//! Which clusters are asked for.

use std::str::FromStr;

use host_cluster_controller_crd::{Mode, Phase};
use serde::{Deserialize, Deserializer, de::Error};
use vocabulary::{LabelKey, LabelValue, NotAcceptable};

use super::Row;

/// What a cluster has to be. An empty list asks for nothing; of one that is not empty, one has to fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) phases: Vec<Phase>,
    pub(crate) modes: Vec<Mode>,
    pub(crate) providers: Vec<String>,
    pub(crate) regions: Vec<String>,
    /// All of them have to fit.
    pub(crate) labels: Vec<Selector>,
    /// Part of the name, in lower case.
    pub(crate) part_of_name: Option<String>,
}

/// A label that a cluster has to have: with this value, or with whatever value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    key: LabelKey,
    value: Option<LabelValue>,
}

impl FromStr for Selector {
    type Err = NotAcceptable;
    /// `key` or `key=value`, as in kubectl's `-l`.
    fn from_str(text: &str) -> Result<Self, NotAcceptable> {
        match text.split_once('=') {
            None => Ok(Self { key: text.parse()?, value: None }),
            Some((key, value)) => Ok(Self { key: key.parse()?, value: Some(value.parse()?) }),
        }
    }
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Filter {
    pub(super) fn lets_pass(&self, row: &Row) -> bool {
        fn fits<T: PartialEq>(wanted: &[T], is: &T) -> bool {
            wanted.is_empty() || wanted.contains(is)
        }
        fits(&self.phases, &row.phase)
            && fits(&self.modes, &row.mode)
            && fits(&self.providers, &row.provider)
            && fits(&self.regions, &row.region)
            && self.labels.iter().all(|label| label.is_on(row))
            && self.part_of_name.as_ref().is_none_or(|part| row.name.contains(part.as_str()))
    }
}

impl Selector {
    fn is_on(&self, row: &Row) -> bool {
        let has = row.labels.get(&self.key);
        has.is_some_and(|has| self.value.as_ref().is_none_or(|wanted| wanted == has))
    }
}
