//! `kubeopera clusters watch`.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::{MissedTickBehavior, interval, timeout};
use vocabulary::ClusterId;

use super::{
    Args, Cluster, FAILED, Method, NOT_IN_TIME, Named, Output, PHASES, PossibleValuesParser, Request, Server,
    StatusCode, plain, print, welcome,
};
use crate::{server::ServerError, terminal::json_line};

/// What a person takes for at once, and what costs the server next to nothing.
const PACE: Duration = Duration::from_secs(2);
/// What is no phase: KubeOpera has let go of the cluster.
const GONE: &str = "Gone";

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(super) struct WatchOptions {
    #[command(flatten)]
    named: Named,
    /// Until it is in this phase or past it; Gone is when KubeOpera has let go of it
    #[arg(long, value_name = "PHASE", default_value = "Ready", value_parser =
        PossibleValuesParser::new(PHASES.into_iter().chain([GONE])))]
    until: String,
    /// How long at most, such as 30m [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
}

/// Prints a line for every change of phase or message, and says how it ended.
pub(super) async fn run(server: &Server, output: Output, options: &WatchOptions) -> anyhow::Result<u8> {
    let WatchOptions { named, until, timeout: within } = options;
    let following = async {
        let id = named.id(server).await?;
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
    pace: Duration,
) -> anyhow::Result<u8> {
    let path = format!("/clusters/{id}");
    let mut ticks = interval(pace);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen = None;
    let mut complaint = None;
    loop {
        ticks.tick().await;
        let answer = match server.ask(Request::new(Method::GET, &path)).await {
            Ok(answer) => answer.json,
            Err(ServerError::Refused { status: StatusCode::NOT_FOUND, .. }) if until == GONE => return Ok(0),
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
        if let Some(code) = settled(&cluster, until) {
            return Ok(code);
        }
    }
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
