//! Whether the API server answers for the resources. A watch alone does not tell: a silent one may be a dead one.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use kube::api::ListParams;
use kube_kit::{Attempt, trouble};
use tokio_util::sync::CancellationToken;

use super::resources;
use crate::app::Platform;

/// How often to ask.
const EVERY: Duration = Duration::from_secs(5);
/// No answer by then is no.
const WITHIN: Duration = Duration::from_secs(4);

/// Asks every few seconds, and at once when somebody doubts.
pub(crate) async fn keep_asking(platform: Arc<Platform>, shutdown: CancellationToken) {
    loop {
        let is_news = match ask(&platform).await {
            Ok(()) => platform.observed.readable(),
            Err(why) => {
                let is_news = platform.observed.unreadable(Timestamp::now(), why.clone());
                if is_news {
                    tracing::warn!("the HostCluster resources cannot be read: {why}");
                }
                is_news
            }
        };
        if is_news {
            platform.events.reset();
            platform.repair_wanted.notify_one();
        }
        // Not more often than each second, however much the watch stumbles.
        tokio::select! { () = tokio::time::sleep(Duration::from_secs(1)) => {}, () = shutdown.cancelled() => return }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = platform.access_doubted.notified() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

async fn ask(platform: &Platform) -> Result<(), String> {
    let one = ListParams::default().limit(1);
    match tokio::time::timeout(WITHIN, resources(&platform.client).list(&one)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(trouble(Attempt("read the HostCluster resources"), &error).message),
        Err(_) => Err("Could not read the HostCluster resources: the API server did not answer in time.".to_owned()),
    }
}
