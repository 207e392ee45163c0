//! `/api/v1/audit`: who did what.

use std::sync::Arc;

use audit_log::{Action, Filter, Outcome, Row, Who};
use axum::{
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use futures::TryStreamExt;
use http::header;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, Type},
    },
};
use uuid::Uuid;

use super::{
    page::{self, Limit},
    query::{Query, at_most},
};
use crate::{
    app::{Caller, Platform},
    error::AppError,
};

/// Which rows. What is left out is any.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedRows {
    /// Who did it: the id of a person or a cluster, or the name that somebody logs in with.
    #[serde(default, deserialize_with = "at_most::<320, _>")]
    #[param(max_length = 320)]
    who: Option<String>,
    /// What was done.
    #[serde(default, deserialize_with = "word")]
    #[param(value_type = Option<Actions>, inline)]
    action: Option<Action>,
    /// To which object: its id.
    #[serde(default, deserialize_with = "at_most::<500, _>")]
    #[param(max_length = 500)]
    object: Option<String>,
    /// What came of it.
    #[serde(default, deserialize_with = "word")]
    #[param(value_type = Option<Outcomes>, inline)]
    outcome: Option<Outcome>,
    /// Not before.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Before.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// Which page of which rows.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedPage {
    /// Who did it: the id of a person or a cluster, or the name that somebody logs in with.
    #[serde(default, deserialize_with = "at_most::<320, _>")]
    #[param(max_length = 320)]
    who: Option<String>,
    /// What was done.
    #[serde(default, deserialize_with = "word")]
    #[param(value_type = Option<Actions>, inline)]
    action: Option<Action>,
    /// To which object: its id.
    #[serde(default, deserialize_with = "at_most::<500, _>")]
    #[param(max_length = 500)]
    object: Option<String>,
    /// What came of it.
    #[serde(default, deserialize_with = "word")]
    #[param(value_type = Option<Outcomes>, inline)]
    outcome: Option<Outcome>,
    /// Not before.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Before.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Rows a page, 100 unless said otherwise.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 500)]
    limit: Limit,
    /// The `next_cursor` of the page before, which had the same filter.
    cursor: Option<String>,
}

/// One of our words.
fn word<'de, T: std::str::FromStr<Err = ()>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(|()| D::Error::custom("an unknown word"))).transpose()
}

/// The words for what can be done, for the document.
struct Actions;

impl PartialSchema for Actions {
    fn schema() -> RefOr<Schema> {
        words(Action::ALL.iter().map(|action| action.as_str()))
    }
}

impl ToSchema for Actions {}

/// The words for what can come of it, for the document.
struct Outcomes;

impl PartialSchema for Outcomes {
    fn schema() -> RefOr<Schema> {
        words(Outcome::ALL.iter().map(|outcome| outcome.as_str()))
    }
}

impl ToSchema for Outcomes {}

fn words(words: impl Iterator<Item = &'static str>) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
}

impl From<WantedRows> for Filter {
    fn from(wanted: WantedRows) -> Self {
        let WantedRows { who, action, object, outcome, from, until } = wanted;
        let who = who.map(|who| who.parse().map_or(Who::Name(who), Who::Id));
        Self { who, action, object, outcome, from, until }
    }
}

/// Who did something.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditActor)]
pub(crate) struct ActorSeen {
    /// person, stranger (somebody who was not logged in), cluster (a run for it) or kubeopera (KubeOpera itself).
    kind: String,
    /// Identity of a person or a cluster, else null.
    #[schema(required)]
    id: Option<Uuid>,
    /// Name a person logs in with, else null.
    #[schema(required)]
    name: Option<String>,
    /// Role a person had then, else null.
    #[schema(required)]
    role: Option<String>,
}

/// A row of the audit log.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditEntry {
    /// 1 for the first row ever, one more for each next, without a gap.
    position: i64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    happened_at: Timestamp,
    /// Who.
    actor: ActorSeen,
    /// Where they came from; empty for KubeOpera itself.
    address: String,
    /// What was done.
    #[schema(examples("connect_cluster"))]
    action: String,
    /// Id of the object. Null if there is none or it did not come to one.
    #[schema(required)]
    object: Option<String>,
    /// What people called the object then. Null if the row does not tell.
    #[schema(required)]
    object_name: Option<String>,
    /// What came of it: asked (it is about to be done elsewhere than in the database, and another row says what came of
    /// it), done, unchanged (it had been done before), denied or failed.
    #[schema(examples("done"))]
    outcome: String,
    /// Names of the fields that were changed; never what is in them.
    changed: Vec<String>,
    /// The request in which it was done; all zeros if it was in none.
    request_id: String,
    /// SHA-256 of the row and of the hash of the row before it.
    hash: String,
}

impl From<Row> for AuditEntry {
    fn from(row: Row) -> Self {
        Self {
            position: row.position,
            happened_at: row.happened_at,
            actor: ActorSeen { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, role: row.actor_role },
            address: row.address,
            action: row.action,
            object: row.object,
            object_name: row.object_name,
            outcome: row.outcome,
            changed: row.changed,
            request_id: row.request_id,
            hash: row.hash,
        }
    }
}

/// Rows of the audit log.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditPage {
    /// The newest first.
    items: Vec<AuditEntry>,
    /// Asks for the page after this one. Null on the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Lists who did what, the newest first.
#[utoipa::path(
    get,
    path = "/api/v1/audit",
    tag = "audit",
    params(WantedPage),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "A page of rows", body = AuditPage),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_audit(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Query(wanted): Query<WantedPage>,
) -> Result<Json<AuditPage>, Problem> {
    let WantedPage { who, action, object, outcome, from, until, limit, cursor } = wanted;
    let rows = WantedRows { who, action, object, outcome, from, until };
    let list = format!("audit {rows:?}");
    let before = cursor.map(|cursor| page::place(&list, &cursor)).transpose()?;
    let mut items = platform.audit(&caller, &rows.into(), before, limit.things() as u64 + 1).await?;
    let has_more = items.len() > limit.things();
    items.truncate(limit.things());
    let end = items.last().filter(|_| has_more);
    let next_cursor = end.and_then(|end| page::cursor(&list, &end.position));
    Ok(Json(AuditPage { items: items.into_iter().map(AuditEntry::from).collect(), next_cursor }))
}

/// Hands out the audit log as JSON lines, the oldest row first. An answer that breaks off is not complete; a complete one
/// without a filter ends with the row of this very export.
#[utoipa::path(
    get,
    path = "/api/v1/audit/export",
    tag = "audit",
    params(WantedRows),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "A row a line", body = AuditEntry, content_type = "application/x-ndjson"),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn export_audit(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Query(wanted): Query<WantedRows>,
) -> Result<Response, AppError> {
    let rows = platform.export_audit(&caller, wanted.into()).await?;
    // A chunk a row would be a packet a row.
    let lines = rows.map_err(std::io::Error::other).try_ready_chunks(500).map_err(|broken| broken.1);
    let lines = lines.and_then(async |rows| {
        let mut text = Vec::new();
        for row in rows {
            serde_json::to_writer(&mut text, &AuditEntry::from(row))?;
            text.push(b'\n');
        }
        Ok(text)
    });
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"kubeopera-audit.ndjson\""),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}
