//! Numbers for the names of nodes, so that a pod need not keep the name of the node it is on.

use std::{
    collections::{HashMap, HashSet},
    num::NonZeroU32,
};

use k8s_monitor_health::NodeRef;

/// Kubernetes takes no longer name.
const LONGEST: usize = 253;

/// The names of a cluster's nodes, each with a number that is never given again.
pub(crate) struct NodeNames {
    numbers: HashMap<Box<str>, NodeRef>,
    next: NonZeroU32,
    /// At so many names, those that nobody uses any more are forgotten.
    crowded: usize,
}

impl Default for NodeNames {
    fn default() -> Self {
        Self { numbers: HashMap::new(), next: NonZeroU32::MIN, crowded: 1024 }
    }
}

impl NodeNames {
    /// The number of a name; none for no name, and for what cannot be one.
    pub(crate) fn number(&mut self, name: &str) -> Option<NodeRef> {
        if let Some(known) = self.numbers.get(name) {
            return Some(*known);
        }
        if name.is_empty() || name.len() > LONGEST {
            return None;
        }
        let number = NodeRef(self.next);
        self.next = self.next.checked_add(1)?;
        self.numbers.insert(name.into(), number);
        Some(number)
    }

    /// The number of a name, if it has one.
    pub(crate) fn known(&self, name: &str) -> Option<NodeRef> {
        self.numbers.get(name).copied()
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether it is time to [`Self::forget_others`].
    pub(crate) fn is_crowded(&self) -> bool {
        self.numbers.len() >= self.crowded
    }

    /// Forgets names that are not used: nodes come and go, and each has a name of its own.
    pub(crate) fn forget_others(&mut self, used: &HashSet<NodeRef>) {
        self.numbers.retain(|_, number| used.contains(number));
        self.crowded = (self.numbers.len() * 2).max(1024);
    }
}
