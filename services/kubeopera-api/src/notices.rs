//! Notices to a web hook when a cluster's colour changes for a while.
//!
//! A colour counts only when it has held for some time: what comes and goes again is no news. What was told last is in the
//! database, so neither a restart nor another process that takes the lead tells of it again. Only a process that is killed
//! between a notice and its row leaves one to be told twice: better than never.

mod damping;

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream};
use jiff::Timestamp;
use k8s_monitor_contract::{Row, Standing};
use sea_orm::DbErr;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;
use vocabulary::{ClusterId, Secret};

use self::damping::{Damped, Shown};
use crate::{app::Platform, store};

/// How often clusters are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The hook has to answer within this.
const LONGEST_CALL: Duration = Duration::from_secs(10);
/// Notices on their way at a time.
const AT_ONCE: usize = 4;
/// Reasons in a notice.
const REASONS: usize = 3;

/// Where notices go.
#[derive(Debug, Clone)]
pub struct Notices {
    /// Address of the hook. Whoever knows it may post there.
    pub hook: Secret,
    /// What the hook reads.
    pub format: NoticeFormat,
    /// Address of the dashboard, for a link to the cluster.
    pub dashboard: Option<Url>,
}

/// What a web hook reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeFormat {
    /// An object with `cluster`, `was`, `is`, `score`, `reasons`, `at`, `link`.
    Generic,
    /// A message for Slack and what reads the same.
    Slack,
}

/// Sends a notice for each change that lasts, until `shutdown`, while this process is the one to act.
pub(crate) async fn keep_telling(platform: Arc<Platform>, notices: Notices, shutdown: CancellationToken) {
    let mut teller: Option<Teller> = None;
    loop {
        tokio::select! { () = tokio::time::sleep(LOOK_EVERY) => {}, () = shutdown.cancelled() => return }
        // Whoever acts next reads what was told until then.
        if !platform.leadership.is_held() {
            teller = None;
            continue;
        }
        let looking = async {
            let teller = match &mut teller {
                Some(teller) => teller,
                none => none.insert(Teller::take_up(Arc::clone(&platform), notices.clone()).await?),
            };
            teller.look(Timestamp::now()).await
        };
        let looked = tokio::select! { looked = looking => looked, () = shutdown.cancelled() => return };
        if let Err(error) = looked {
            tracing::warn!(error = &error as &dyn std::error::Error, "clusters could not be looked at for notices");
        }
    }
}

/// Who tells the hook.
pub(crate) struct Teller {
    platform: Arc<Platform>,
    notices: Notices,
    clusters: HashMap<ClusterId, Damped>,
}

impl Teller {
    /// Goes on where telling stopped, whoever did it.
    pub(crate) async fn take_up(platform: Arc<Platform>, notices: Notices) -> Result<Self, DbErr> {
        let told = store::notices::told(&platform.db).await?;
        let clusters = told.into_iter().map(|(id, (told, at))| (id, Damped::told_before(&told, at))).collect();
        Ok(Self { platform, notices, clusters })
    }

    /// Looks at every cluster once and tells what is due. When the hook fails, the rest waits for a later look, so that a
    /// dead hook takes no more than a few calls of its limit.
    pub(crate) async fn look(&mut self, now: Timestamp) -> Result<(), DbErr> {
        let Self { platform, notices, clusters } = self;
        let notices: &Notices = notices;
        let drawing = platform.multi_cluster().await?;
        let rows = &drawing.view().clusters;
        let there: HashSet<_> = rows.iter().map(|row| row.id).collect();
        clusters.retain(|id, _| there.contains(id));
        let mut due = Vec::new();
        for row in rows {
            let damped = clusters.entry(row.id).or_default();
            if let Some((was, is)) = shown(row).and_then(|is| damped.see(is, now)) {
                due.push((row.id, is, notice(platform, notices, row, was, is, now)));
            }
        }
        let has_failed = AtomicBool::new(false);
        let posts = due.into_iter().map(|(id, is, notice)| {
            let has_failed = &has_failed;
            async move {
                if has_failed.load(Ordering::Relaxed) {
                    return (id, is, None);
                }
                let told = post(&notices.hook, &notice).await;
                has_failed.fetch_or(told.is_err(), Ordering::Relaxed);
                (id, is, Some(told))
            }
        });
        let mut told = stream::iter(posts).buffer_unordered(AT_ONCE);
        while let Some((id, is, told)) = told.next().await {
            let Some(damped) = clusters.get_mut(&id) else { continue };
            match told {
                Some(Ok(())) => {
                    damped.told(is);
                    store::notices::tell(&platform.db, id, is.as_str(), now).await?;
                }
                // It is due still, and tried again when the colour is looked at next, but not at once.
                Some(Err(why)) => {
                    tracing::warn!(cluster.id = %id, "a notice could not be sent: {why}");
                    damped.not_told(now);
                }
                None => damped.not_told(now),
            }
        }
        Ok(())
    }
}

/// What is shown of a cluster; nothing while it is being set up.
fn shown(row: &Row) -> Option<Shown> {
    match row.standing {
        Standing::SettingUp => None,
        Standing::Unreachable => Some(Shown::Unreachable),
        Standing::Healthy | Standing::Degraded => row.health.map(|health| Shown::Colour(health.colour)),
    }
}

fn notice(platform: &Platform, notices: &Notices, row: &Row, was: Option<Shown>, is: Shown, now: Timestamp) -> Value {
    let reasons = match (&row.stale, platform.monitor.cluster(row.id)) {
        (Some(stale), _) => vec![stale.reason.clone()],
        (None, Some(snapshot)) => {
            let mut deductions = snapshot.health.as_ref().map_or_else(Vec::new, |health| health.deductions.clone());
            deductions.sort_by_key(|deduction| Reverse(deduction.points));
            deductions.into_iter().take(REASONS).map(|deduction| deduction.message).collect()
        }
        (None, None) => Vec::new(),
    };
    let score = row.health.filter(|_| row.stale.is_none()).map(|health| health.score);
    let link = notices.dashboard.as_ref().and_then(|url| url.join(&format!("/clusters/{}", row.id)).ok());
    match notices.format {
        NoticeFormat::Generic => json!({
            "cluster": {"id": row.id, "name": row.name},
            "was": was.map(Shown::as_str),
            "is": is.as_str(),
            "score": score,
            "reasons": reasons,
            "at": now,
            "link": link,
        }),
        NoticeFormat::Slack => {
            let was = was.map_or_else(String::new, |was| format!(", was {}", was.as_str()));
            let score = score.map_or_else(String::new, |score| format!(" with {score} points"));
            let mut text = format!("Cluster *{}* is {}{score}{was}.", for_slack(&row.name), is.as_str());
            for reason in &reasons {
                let _ = write!(text, "\n• {}", for_slack(reason));
            }
            if let Some(link) = link {
                let _ = write!(text, "\n<{link}|Open it>");
            }
            json!({"text": text})
        }
    }
}

/// Slack takes these three for its own.
fn for_slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Posts once: no redirects, no repetition, a limit to everything; nothing of the answer is read but its status.
async fn post(hook: &Secret, notice: &Value) -> Result<(), String> {
    let client = service_kit::outbound::client(LONGEST_CALL);
    let client = client.map_err(|_| "no secure connection can be made".to_owned())?;
    // The address itself is a secret, and an error may hold it.
    let answer = client.post(hook.reveal()).json(notice).send().await;
    let answer = answer.map_err(|error| service_kit::chain(&error.without_url()))?;
    if answer.status().is_success() { Ok(()) } else { Err(format!("the web hook answered {}", answer.status())) }
}

#[cfg(test)]
mod tests;
