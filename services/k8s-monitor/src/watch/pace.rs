//! How soon a cluster is asked again, and how much it may send.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};

use crate::turns::Again;

/// After the first failure; doubles with each.
const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_mins(1);
/// An attempt that lasted this long was a good one.
const LASTING: Duration = Duration::from_secs(30);

/// The pause between attempts: none after one that lasted, otherwise longer each time and never the same for two
/// clusters, so that a network that comes back is not met by all at once.
pub(crate) struct Pace {
    pause: Duration,
    began: Option<Instant>,
    /// The last attempt ended as planned.
    ended_in_order: bool,
    again: Arc<Again>,
}

impl Pace {
    pub(crate) const fn new(again: Arc<Again>) -> Self {
        Self { pause: SHORTEST, began: None, ended_in_order: false, again }
    }

    /// The attempt ended as planned, whatever becomes of others.
    pub(crate) const fn ends_in_order(&mut self) {
        self.ended_in_order = true;
    }

    /// How long the attempt has lasted.
    pub(crate) fn lasted(&self) -> Duration {
        self.began.map_or(Duration::ZERO, |began| began.elapsed())
    }

    /// Begins an attempt; in its turn if the last one broke off.
    pub(crate) async fn begin(&mut self) {
        if self.began.is_some() && !std::mem::take(&mut self.ended_in_order) {
            self.again.watches.take().await;
        }
        self.began = Some(Instant::now());
    }

    /// Waits until the next attempt is due. `asked` is what the server wants.
    pub(crate) async fn wait(&mut self, asked: Option<Duration>) {
        if self.lasted() >= LASTING {
            self.pause = SHORTEST;
        }
        let jitter = rand::random_range(0.5..1.0);
        let pause = self.pause.mul_f64(jitter).max(asked.unwrap_or_default());
        self.pause = (self.pause * 2).min(LONGEST);
        tokio::time::sleep(pause).await;
    }
}

/// What a watch may send on average: forty times what a cluster of 5,000 nodes and 150,000 pods does.
const BYTES_A_SECOND: f64 = 16.0 * 1024.0 * 1024.0;
/// And at once: all the objects of the largest cluster.
const AT_ONCE: f64 = 2.0 * 1024.0 * 1024.0 * 1024.0;

/// Makes a server that sends without end wait, so that it takes no more than its share of the processor.
pub(crate) struct Allowance {
    left: f64,
    since: Instant,
}

impl Allowance {
    pub(crate) fn new() -> Self {
        Self { left: AT_ONCE, since: Instant::now() }
    }

    /// Waits until this many bytes may be looked at.
    #[allow(clippy::cast_precision_loss, reason = "a frame is far below 2^52 bytes")]
    pub(crate) async fn spend(&mut self, bytes: usize) {
        let now = Instant::now();
        let earned = now.duration_since(self.since).as_secs_f64() * BYTES_A_SECOND;
        self.left = (self.left + earned).min(AT_ONCE) - bytes as f64;
        self.since = now;
        if self.left < 0.0 {
            sleep_until(now + Duration::from_secs_f64(-self.left / BYTES_A_SECOND)).await;
        }
    }
}
