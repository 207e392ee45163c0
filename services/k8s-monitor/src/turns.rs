//! Turns of those who try again.
//!
//! An outage that many clusters have in common, such as one of this machine's network or of a proxy, is over for all of them
//! at once. Each tries again in its own time, and all together no more often than this, so that neither the proxy nor this
//! machine meets all of them in one second. One cluster alone does not notice.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// Who tries again.
pub(crate) struct Again {
    /// Watches that broke off. Four for each of 500 clusters are back in 22 seconds.
    pub(crate) watches: Turns,
    /// Rounds of questions to API servers that did not answer the last one, each of up to five requests. All of 500
    /// clusters have been asked in 13 seconds.
    pub(crate) questions: Turns,
}

impl Default for Again {
    fn default() -> Self {
        Self { watches: Turns::of(Duration::from_millis(11)), questions: Turns::of(Duration::from_millis(25)) }
    }
}

/// One after the other, in the order of asking.
pub(crate) struct Turns {
    apart: Duration,
    next: Mutex<Option<Instant>>,
}

impl Turns {
    const fn of(apart: Duration) -> Self {
        Self { apart, next: Mutex::new(None) }
    }

    /// Waits for a turn. Whoever gives up waiting leaves it unused.
    pub(crate) async fn take(&self) {
        sleep_until(self.turn(Instant::now())).await;
    }

    fn turn(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = next.map_or(now, |next| next.max(now));
        *next = Some(turn + self.apart);
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_who_try_again_at_once_no_more_than_a_hundred_do_in_any_second() {
        let (again, now) = (Again::default(), Instant::now());
        let turns: Vec<_> = (0..2000).map(|_| again.watches.turn(now)).collect();
        for (first, one_hundred_later) in turns.iter().zip(turns.iter().skip(100)) {
            assert!(one_hundred_later.duration_since(*first) > Duration::from_secs(1));
        }
        let last = turns.last().map(|last| last.duration_since(now));
        assert!(last < Some(Duration::from_secs(25)), "{last:?}");
    }

    #[test]
    fn who_tries_again_alone_does_not_wait() {
        let (again, now) = (Again::default(), Instant::now());
        assert_eq!(again.questions.turn(now), now);
        let later = now + Duration::from_secs(4);
        assert_eq!(again.questions.turn(later), later);
    }
}
