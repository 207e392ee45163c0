//! CPU and memory in use, as the metrics API tells them of nodes.

use std::{collections::HashMap, time::Duration};

use jiff::{SignedDuration, Timestamp};
use k8s_monitor_contract::Resources;
use kube::Client;
use kube_kit::Attempt;
use serde::Deserialize;

use crate::{
    call::read,
    pods::Amounts,
    watch::{Metadata, Text},
};

const PATH: &str = "/apis/metrics.k8s.io/v1beta1/nodes";
const ATTEMPT: Attempt<'static> = Attempt("read what nodes use");
/// How long reading may take: whoever asks the metrics API waits for the program behind it.
const PATIENCE: Duration = Duration::from_secs(10);
/// A measurement is from the last half minute; an old one is of a node that tells nothing any more.
const OLDEST: SignedDuration = SignedDuration::from_mins(5);

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Option<Vec<NodeMetrics<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NodeMetrics<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    usage: Amounts<'a>,
}

/// Reads the usage of all nodes and hands it on: by name, or why there is none.
pub(crate) async fn read_usage<R>(
    client: &Client,
    tell: impl FnOnce(Result<&HashMap<&str, Resources>, String>) -> R,
) -> R {
    let answer = match tokio::time::timeout(PATIENCE, read(client, ATTEMPT, PATH)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(refusal)) => {
            return tell(Err(match refusal.code {
                Some(404) => "The cluster has no metrics API. Install metrics-server.".to_owned(),
                Some(503) => "The metrics API does not work: metrics-server is not ready or not there.".to_owned(),
                _ => refusal.trouble.message,
            }));
        }
        Err(_) => return tell(Err("The metrics API did not answer in time.".to_owned())),
    };
    let Ok(list) = serde_json::from_slice::<List<'_>>(&answer.body) else {
        return tell(Err("The metrics API answered with something that is no list of nodes.".to_owned()));
    };
    let items = list.items.unwrap_or_default();
    let now = answer.server_time.unwrap_or_else(Timestamp::now);
    let is_recent =
        |item: &&NodeMetrics<'_>| item.timestamp.time().is_none_or(|time| now.duration_since(time) < OLDEST);
    let usage = items.iter().filter(is_recent).filter_map(|item| Some((&*item.metadata.name, item.usage.measured()?)));
    tell(Ok(&usage.collect()))
}
