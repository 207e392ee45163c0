//! The health score: 100 less what each problem costs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Points of the score in steps of a half, kept exact. A number such as 97.5 in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Points(u64);

impl Points {
    /// What every score starts at.
    pub const FULL: Self = Self::halves(200);

    /// This many half points.
    pub const fn halves(halves: u64) -> Self {
        Self(halves)
    }

    /// That many times over.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// What is left of these after `deducted`, at least nothing.
    pub const fn less(self, deducted: Self) -> Self {
        Self(self.0.saturating_sub(deducted.0))
    }
}

impl std::iter::Sum for Points {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        Self(points.map(|points| points.0).fold(0, u64::saturating_add))
    }
}

impl From<Points> for f64 {
    #[allow(clippy::cast_precision_loss, reason = "exact up to 2^52 points")]
    fn from(points: Points) -> Self {
        points.0 as Self / 2.0
    }
}

impl From<f64> for Points {
    /// The nearest half point; nothing for what is below zero or no number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    fn from(points: f64) -> Self {
        Self((points * 2.0).round() as u64)
    }
}

impl std::fmt::Display for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f64::from(*self).fmt(f)
    }
}

/// How a score is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the API document's plain enum into a oneOf")]
#[schema(as = HealthColour)]
pub enum Colour {
    Red,
    Amber,
    Green,
}

/// A score and its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthScore {
    /// From 0 to 100, in steps of a half.
    #[schema(value_type = f64, minimum = 0, maximum = 100)]
    pub score: Points,
    /// Green from 80, amber from 60, red below.
    pub colour: Colour,
}

impl From<Points> for HealthScore {
    fn from(score: Points) -> Self {
        const GREEN: Points = Points::halves(160);
        const AMBER: Points = Points::halves(120);
        let colour = match score {
            score if score >= GREEN => Colour::Green,
            score if score >= AMBER => Colour::Amber,
            _ => Colour::Red,
        };
        Self { score, colour }
    }
}

/// How healthy a cluster is, with every point accounted for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ClusterHealth)]
pub struct Health {
    /// 100 less `deducted`, at least 0.
    #[schema(value_type = f64, minimum = 0, maximum = 100)]
    pub score: Points,
    /// Green from 80, amber from 60, red below.
    pub colour: Colour,
    /// The sum over `deductions`. May exceed 100.
    #[schema(value_type = f64, minimum = 0)]
    pub deducted: Points,
    /// What cost points, in the order of the table of penalties, then by name of the object.
    pub deductions: Vec<Deduction>,
    /// What could not be looked at. It costs no points.
    pub not_assessed: Vec<NotAssessed>,
}

/// A row of the table of penalties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the API document's plain enum into a oneOf")]
pub enum Penalty {
    NodeNotReady,
    NodeMemoryPressure,
    NodeDiskPressure,
    NodePidPressure,
    NodeNetworkUnavailable,
    PodFailed,
    PodCrashLooping,
    PodsRestarting,
    ControlPlaneDegraded,
    ComponentUnhealthy,
    CpuHigh,
    MemoryHigh,
}

/// Points lost, and to what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deduction {
    /// Which row of the table.
    pub penalty: Penalty,
    /// The node, pod or component. Null for what concerns the cluster as a whole, and for the one line that stands for all
    /// objects beyond the number that is listed.
    #[schema(required)]
    pub object: Option<ObjectName>,
    /// How many objects this line stands for; 1 but for the line of all that are not listed.
    pub count: u64,
    /// Points lost.
    #[schema(value_type = f64, minimum = 0)]
    pub points: Points,
    /// The problem as a sentence.
    pub message: String,
}

/// An object of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct ObjectName {
    /// `Node`, `Pod`, `Component`, or the kind an event is about.
    pub kind: String,
    /// Null for what is in no namespace.
    #[schema(required)]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl ObjectName {
    /// A node.
    pub fn node(name: &str) -> Self {
        Self { kind: "Node".to_owned(), namespace: None, name: name.to_owned() }
    }

    /// A pod.
    pub fn pod(namespace: &str, name: &str) -> Self {
        Self { kind: "Pod".to_owned(), namespace: Some(namespace.to_owned()), name: name.to_owned() }
    }

    /// A component of the control plane.
    pub fn component(name: &str) -> Self {
        Self { kind: "Component".to_owned(), namespace: None, name: name.to_owned() }
    }
}

/// What a score is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the API document's plain enum into a oneOf")]
pub enum Assessed {
    Nodes,
    Pods,
    ApiServer,
    Scheduler,
    ControllerManager,
    Etcd,
    Cpu,
    Memory,
}

/// Something that could not be looked at, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotAssessed {
    /// What.
    pub what: Assessed,
    /// Why, as whole sentences.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_changes_exactly_at_80_and_60() {
        let colour = |points: f64| HealthScore::from(Points::from(points)).colour;
        assert_eq!([100.0, 80.0].map(colour), [Colour::Green; 2]);
        assert_eq!([79.5, 60.0].map(colour), [Colour::Amber; 2]);
        assert_eq!([59.5, 0.0].map(colour), [Colour::Red; 2]);
    }

    #[test]
    fn half_points_are_kept_in_json() {
        assert_eq!(serde_json::to_string(&Points::halves(195)).unwrap(), "97.5");
        assert_eq!(serde_json::from_str::<Points>("97.5").unwrap(), Points::halves(195));
        assert_eq!([f64::NAN, -1.0].map(Points::from), [Points::default(); 2]);
    }
}
