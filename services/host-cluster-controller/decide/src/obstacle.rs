//! Why a phase has no effect to ask for now.

use vocabulary::Trouble;

use crate::{facts::Thing, step::Step};

/// Lets a phase be written as a straight line: `?` stops it at the first thing unknown or in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// This has to be looked at first.
    NotLooked(Thing),
    /// Something is in the way.
    Trouble(Trouble),
    /// This has to be done first.
    First(Box<Step>),
}

impl From<Trouble> for Obstacle {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<Step> for Obstacle {
    fn from(step: Step) -> Self {
        Self::First(Box::new(step))
    }
}
