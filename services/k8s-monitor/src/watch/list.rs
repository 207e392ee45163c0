//! A list page by page, for servers that do not stream one.

use kube::Client;
use kube_kit::Attempt;
use tokio::sync::Semaphore;

use super::{Kind, decode};
use crate::call::{Refusal, read, with_query};

/// Objects a page. A pod is 5 to 10 KB, so that a page stays below the client's limit of 8 MiB.
pub(super) const PAGE: u32 = 500;
/// Where the objects are so large that a page passes the limit, pages get smaller down to this.
const SMALLEST_PAGE: u32 = 20;
/// Pages that are in memory at a time, of all clusters.
static PAGES: Semaphore = Semaphore::const_new(16);
/// Longer than this no cluster waits for others: they may be slow for a reason of their own.
const QUEUE: std::time::Duration = std::time::Duration::from_secs(2);

/// Reads all pages into `kind`, and returns the revision from which to follow.
pub(super) async fn read_all<K: Kind>(client: &Client, kind: &K, page: &mut u32) -> Result<String, Refusal> {
    let attempt = Attempt(K::ATTEMPT);
    kind.list_begins();
    let (mut next, mut count) = (String::new(), 0);
    // Not even empty pages come without end.
    for _ in 0..K::MOST {
        let limit = page.to_string();
        let path = with_query(K::PATH, &[("limit", &limit), ("fieldSelector", K::FIELDS), ("continue", &next)]);
        let place = tokio::time::timeout(QUEUE, PAGES.acquire()).await;
        let answer = read(client, attempt, &path).await.inspect_err(|refusal| {
            if refusal.trouble.reason == "AnswerTooLarge" {
                *page = (*page / 5).max(SMALLEST_PAGE);
            }
        })?;
        let (metadata, objects) = decode::page::<K::Object<'_>>(attempt, &answer.body)?;
        count += objects.len();
        for object in objects {
            match object {
                Some(object) => kind.put(object),
                None => kind.skipped(),
            }
        }
        drop(place);
        let is_cut_short = count >= K::MOST && !metadata.r#continue.is_empty();
        if metadata.r#continue.is_empty() || is_cut_short {
            kind.list_ends(is_cut_short);
            return Ok(metadata.resource_version.to_string());
        }
        next = metadata.r#continue.to_string();
    }
    kind.list_ends(true);
    // An empty revision asks for a watch from now on.
    Ok(String::new())
}
