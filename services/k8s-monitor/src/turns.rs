//! Turns of those who try again.
//!
//! An outage that many clusters have in common, such as one of this machine's network or of a proxy, is over for all of
//! them at once. Each tries again in its own time, and all together no more often than this, so that neither the proxy
//! nor this machine meets all of them in one second. One cluster alone does not notice.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    time::{Instant, sleep_until},
};

/// Who tries again.
pub(crate) struct Again {
    /// Watches that broke off. Those that ended in their time do not wait. Four for each of 500 clusters are back in 22
    /// seconds.
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

/// One after the other, in the order of asking. Whoever gives up waiting leaves no gap.
pub(crate) struct Turns {
    apart: Duration,
    /// When the next turn is, at the soonest.
    next: Mutex<Option<Instant>>,
}

impl Turns {
    const fn of(apart: Duration) -> Self {
        Self { apart, next: Mutex::const_new(None) }
    }

    /// Waits for a turn.
    pub(crate) async fn take(&self) {
        // Fair: who waits for the lock gets it in the order of asking.
        let mut next = self.next.lock().await;
        if let Some(next) = *next {
            sleep_until(next).await;
        }
        *next = Some(Instant::now() + self.apart);
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use tokio::time::timeout;

    use super::*;

    #[test]
    fn of_all_who_try_again_at_once_less_than_a_hundred_do_in_any_second() {
        let apart = Again::default().watches.apart;
        assert!(apart * 100 > Duration::from_secs(1), "{apart:?}");
        assert!(apart * 2000 < Duration::from_secs(25), "{apart:?}");
    }

    #[tokio::test]
    async fn turns_are_apart_and_who_tries_again_alone_does_not_wait() {
        let turns = Turns::of(Duration::from_millis(20));
        let began = Instant::now();
        timeout(Duration::from_millis(10), turns.take()).await.expect("nobody else is there");

        join_all((0..5).map(|_| turns.take())).await;

        assert!(began.elapsed() >= Duration::from_millis(100), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn who_gives_up_waiting_leaves_no_gap() {
        let turns = Turns::of(Duration::from_hours(1));
        turns.take().await;
        let next = *turns.next.lock().await;

        let given_up = join_all((0..5).map(|_| timeout(Duration::from_millis(10), turns.take()))).await;

        assert!(given_up.iter().all(Result::is_err));
        assert_eq!(*turns.next.lock().await, next);
    }
}
