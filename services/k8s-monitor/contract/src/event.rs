//! Kubernetes events of late.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ObjectName;

/// How Kubernetes rates an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the API document's plain enum into a oneOf")]
#[schema(as = ClusterEventKind)]
pub enum EventKind {
    Normal,
    Warning,
}

/// The latest events.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ClusterEvents)]
pub struct Events {
    /// By last occurrence, the latest first; those without a time last.
    pub items: Vec<Event>,
    /// Events the cluster has besides those, or that arrived faster than they were read.
    pub more: u64,
    /// Why events cannot be read, as sentences. Null if they can.
    #[schema(required)]
    pub not_readable: Option<String>,
}

/// Something that Kubernetes reports, once however often it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ClusterEvent)]
pub struct Event {
    /// Normal or a warning.
    pub kind: EventKind,
    /// One word for why.
    pub reason: String,
    /// What it is about.
    pub object: ObjectName,
    /// What happened, as the cluster says it; at most 1,024 characters.
    pub message: String,
    /// How often.
    pub count: u64,
    /// When it happened last. Null if the event does not say.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub last_seen: Option<Timestamp>,
    /// When it happened first. Null if the event does not say.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub first_seen: Option<Timestamp>,
}
