//! Who still mends a Kubernetes version.

use jiff::civil::Date;

use crate::things::Release;

/// How well a version is supported on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It gets fixes.
    Standard {
        /// Last day; `None` where it is not announced yet.
        until: Option<Date>,
    },
    /// It gets fixes of security faults, and the control plane costs more.
    Extended {
        /// Last day.
        until: Date,
    },
    /// Nobody mends it any more, and no new cluster gets it.
    Ended {
        /// The last day there was any.
        on: Date,
    },
}

impl Release {
    /// Its support on a day.
    pub fn support(&self, today: Date) -> Support {
        match (self.supported_until, self.extended_until) {
            (None, _) => Support::Standard { until: None },
            (Some(until), _) if today <= until => Support::Standard { until: Some(until) },
            (Some(_), Some(until)) if today <= until => Support::Extended { until },
            (Some(on), extended) => Support::Ended { on: extended.unwrap_or(on) },
        }
    }

    /// Whether a new cluster can have it on a day.
    pub fn is_offered(&self, today: Date) -> bool {
        !matches!(self.support(today), Support::Ended { .. })
    }
}
