//! Waiting for a condition with a deadline.

use std::{future::Future, time::Duration};

use anyhow::bail;
use tokio::time::{Instant, sleep};

/// How long between two looks at something that cannot be watched.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// Looks until `look` gives a value; the error of a look that ran out of time says what was seen last.
pub async fn until<T, F, L>(what: &str, limit: Duration, mut look: L) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
    L: FnMut() -> F,
{
    let deadline = Instant::now() + limit;
    loop {
        let seen = match look().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if Instant::now() >= deadline {
            bail!("{what} did not come about within {} s; last seen: {seen:#}", limit.as_secs());
        }
        sleep(BETWEEN_LOOKS).await;
    }
}

/// [`until`] for a yes-or-no question.
pub async fn eventually<F, L>(what: &str, limit: Duration, mut look: L) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<bool>>,
    L: FnMut() -> F,
{
    until(what, limit, || {
        let answer = look();
        async move { if answer.await? { Ok(()) } else { bail!("not yet") } }
    })
    .await
}
