//! `kubeopera clusters watch`.

use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use reqwest::{Method, StatusCode};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use vocabulary::ClusterId;

use super::{FAILED, NOT_IN_TIME, Named, Output, let_go, phase_or, wire::Cluster};
use crate::{
    server::{Request, Server, ServerError},
    terminal::{json_line, plain, print},
    welcome,
};

/// What a person takes for at once, and what costs the server next to nothing.
const PACE: Pace = Pace { between: Duration::from_secs(2), grace: Duration::from_secs(10) };
/// What is no phase: KubeOpera has let go of the cluster.
const GONE: &str = "Gone";

/// How often a cluster is looked at, and how long one may be Failed at first that was just asked to try again.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) between: Duration,
    pub(super) grace: Duration,
}

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(super) struct WatchOptions {
    #[command(flatten)]
    named: Named,
    /// Until it is in this phase or past it; Gone is when KubeOpera has let go of it
    #[arg(long, value_name = "PHASE", default_value = "Ready", value_parser = phase_or([GONE]))]
    until: String,
    /// How long at most, such as 30m [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
}

/// Prints a line for every change of phase or message, and says how it ended.
pub(super) async fn run(server: &Server, output: Output, options: &WatchOptions) -> anyhow::Result<u8> {
    let WatchOptions { named, until, timeout: within } = options;
    let following = async {
        let id = match named.find(server).await? {
            Some(id) => id,
            // It may have been gone before anybody looked. `kubectl wait --for=delete` is content with that, too.
            None if until == GONE => {
                welcome::complain(&format!("KubeOpera has no cluster {}", plain(&named.cluster)));
                return Ok(0);
            }
            None => return Err(named.unknown()),
        };
        follow(server, output, id, until, PACE).await
    };
    let Some(within) = *within else { return following.await };
    if let Ok(ended) = timeout(within, following).await {
        return ended;
    }
    let name = plain(&named.cluster);
    welcome::complain(&format!("{name} is not {until} after {:#}", SignedDuration::try_from(within)?));
    Ok(NOT_IN_TIME)
}

/// Asks until it is settled. A server that does not answer for a while, as when it is started anew, is asked on.
pub(super) async fn follow(
    server: &Server,
    output: Output,
    id: ClusterId,
    until: &str,
    pace: Pace,
) -> anyhow::Result<u8> {
    let path = format!("/clusters/{id}");
    let mut ticks = interval(pace.between);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let first_look = Instant::now();
    let mut was_failed = true;
    let mut seen = None;
    let mut complaint = None;
    loop {
        ticks.tick().await;
        let answer = match server.ask(Request::new(Method::GET, &path)).await {
            Ok(answer) => answer.json,
            Err(ServerError::Refused { status: StatusCode::NOT_FOUND, .. }) if until == GONE => {
                return farewell(server, output, id).await.map(|()| 0);
            }
            Err(error) if error.may_pass() => {
                let words = Some(error.to_string());
                if complaint != words {
                    welcome::complain(&format!("{error}. It is asked again"));
                }
                complaint = words;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        complaint = None;
        let cluster: Cluster = server.read(&answer)?;
        let now = (cluster.phase.clone(), cluster.message.clone());
        if seen.as_ref() != Some(&now) {
            print(&match output {
                Output::Table => line(&cluster, Timestamp::now()),
                Output::Json => json_line(&answer)?,
            })?;
            seen = Some(now);
        }
        was_failed &= cluster.phase == "Failed";
        match settled(&cluster, until) {
            Some(FAILED) if was_failed && first_look.elapsed() < pace.grace => {}
            Some(code) => return Ok(code),
            None => {}
        }
    }
}

/// What became of it is worth more than that it is not there any more.
async fn farewell(server: &Server, output: Output, id: ClusterId) -> anyhow::Result<()> {
    let receipt = match server.ask(Request::new(Method::GET, &format!("/clusters/{id}/receipt"))).await {
        Ok(answer) => answer.json,
        // There never was one, or it is not for this role to read what became of it.
        Err(ServerError::Refused { status: StatusCode::NOT_FOUND | StatusCode::FORBIDDEN, .. }) => {
            welcome::complain(&format!("KubeOpera has no cluster {id}"));
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    print(&match output {
        Output::Table => let_go::farewell(&server.read(&receipt)?),
        Output::Json => json_line(&receipt)?,
    })
}

fn line(cluster: &Cluster, now: Timestamp) -> String {
    format!("{now:.0}  {:<20}  {}\n", plain(&cluster.phase), plain(&cluster.message))
}

/// How it ended, if it did. Between two looks a phase may have come and gone.
pub(super) fn settled(cluster: &Cluster, until: &str) -> Option<u8> {
    let phase = cluster.phase.as_str();
    let is_past = match until {
        GONE | "Failed" => false,
        _ => phase == "Ready" || cluster.phases.iter().any(|step| step.phase == until && step.state == "done"),
    };
    if phase == until || is_past {
        return Some(0);
    }
    // What is being let go of may well have failed before.
    (phase == "Failed" && until != GONE).then_some(FAILED)
}

/// A time in words, such as 90s or 1h 30m.
fn time(text: &str) -> Result<Duration, String> {
    let time: SignedDuration = text.parse().map_err(|_| "this is no time such as 90s or 30m".to_owned())?;
    Duration::try_from(time).map_err(|_| "a time is not negative".to_owned())
}
