//! The latest events of a cluster.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

use jiff::Timestamp;
use k8s_monitor_contract::{Event as Shown, EventKind, Events as AllShown, ObjectName};
use kube_kit::printable;
use serde::Deserialize;

use crate::watch::{Metadata, Text};

/// So many of a list are read: they come by name, so that fewer could miss the latest.
pub(crate) const MOST_LISTED: usize = 10_000;
/// So many are kept.
const MOST: usize = 200;
const LONGEST_MESSAGE: usize = 1024;
/// Objects of Kubernetes that are one event here: the same is written anew after a while.
const MOST_PARTS: usize = 16;

/// What is looked at of an event (core/v1).
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Event<'a> {
    #[serde(borrow)]
    pub(crate) metadata: Metadata<'a>,
    #[serde(borrow)]
    involved_object: Involved<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    r#type: Text<'a>,
    count: Option<i64>,
    #[serde(borrow)]
    first_timestamp: Text<'a>,
    #[serde(borrow)]
    last_timestamp: Text<'a>,
    #[serde(rename = "eventTime", borrow)]
    time: Text<'a>,
    #[serde(borrow)]
    series: Option<Series<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Involved<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Series<'a> {
    count: Option<i64>,
    #[serde(borrow)]
    last_observed_time: Text<'a>,
}

impl Event<'_> {
    /// Times in the future are taken for now: a clock that is ahead must not hold the first place for ever.
    fn last_seen(&self, now: Timestamp) -> Option<Timestamp> {
        let series = self.series.as_ref().and_then(|series| series.last_observed_time.time());
        let times = [series, self.last_timestamp.time(), self.time.time(), self.first_timestamp.time()];
        let known = times.into_iter().flatten().max().or_else(|| self.metadata.creation_timestamp.time());
        known.map(|time| time.min(now))
    }

    fn first_seen(&self, now: Timestamp) -> Option<Timestamp> {
        let known = self.first_timestamp.time().or_else(|| self.time.time());
        known.or_else(|| self.metadata.creation_timestamp.time()).map(|time| time.min(now))
    }

    fn count(&self) -> u64 {
        let series = self.series.as_ref().and_then(|series| series.count);
        let count = series.into_iter().chain(self.count).max().unwrap_or(1);
        u64::try_from(count).unwrap_or(1).max(1)
    }

    fn key(&self) -> Key {
        Key {
            kind: if &*self.r#type == "Warning" { EventKind::Warning } else { EventKind::Normal },
            reason: self.reason.kept().unwrap_or_default(),
            object: ObjectName {
                kind: self.involved_object.kind.kept().unwrap_or_default(),
                namespace: self.involved_object.namespace.kept(),
                name: self.involved_object.name.kept().unwrap_or_default(),
            },
        }
    }
}

/// Events that say the same of the same object are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: EventKind,
    reason: String,
    object: ObjectName,
}

struct Kept {
    number: u64,
    message: String,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// How often, by object of Kubernetes.
    parts: Vec<(String, u64)>,
}

/// The latest events, each once however often it happened.
#[derive(Default)]
pub(crate) struct Events {
    by_key: HashMap<Key, Kept>,
    /// Those without a time first, then the oldest.
    by_age: BTreeSet<(Option<Timestamp>, u64)>,
    keys: HashMap<u64, Key>,
    next: u64,
    more: u64,
    listing: Option<Box<Self>>,
    not_readable: Option<String>,
}

impl Events {
    /// A new list begins; until it is complete the present one is shown.
    pub(crate) fn list_begins(&mut self) {
        self.listing = Some(Box::default());
    }

    /// The list is complete, or as much of it as is read.
    pub(crate) fn list_ends(&mut self, is_cut_short: bool) {
        if let Some(complete) = self.listing.take() {
            *self = *complete;
            self.more += u64::from(is_cut_short);
        }
    }

    /// Why they cannot be read; none if they can.
    pub(crate) fn set_not_readable(&mut self, reason: Option<String>) {
        self.not_readable = reason;
    }

    /// An event happened, perhaps again.
    pub(crate) fn put(&mut self, event: &Event<'_>, now: Timestamp) {
        if let Some(listing) = &mut self.listing {
            return listing.put(event, now);
        }
        let (key, last) = (event.key(), event.last_seen(now));
        let uid = event.metadata.uid.kept().unwrap_or_default();
        let message = || printable(&event.message, LONGEST_MESSAGE);
        if let Some(kept) = self.by_key.get_mut(&key) {
            if last >= kept.last {
                self.by_age.remove(&(kept.last, kept.number));
                self.by_age.insert((last, kept.number));
                kept.last = last;
                kept.message = message();
            }
            kept.first = [kept.first, event.first_seen(now)].into_iter().flatten().min();
            kept.parts.retain(|(part, _)| *part != uid);
            if kept.parts.len() >= MOST_PARTS {
                kept.parts.remove(0);
            }
            kept.parts.push((uid, event.count()));
            return;
        }
        let number = self.next;
        self.next += 1;
        let parts = vec![(uid, event.count())];
        let kept = Kept { number, message: message(), first: event.first_seen(now), last, parts };
        self.by_key.insert(key.clone(), kept);
        self.keys.insert(number, key);
        self.by_age.insert((last, number));
        if self.by_key.len() > MOST
            && let Some((_, oldest)) = self.by_age.pop_first()
            && let Some(key) = self.keys.remove(&oldest)
        {
            self.by_key.remove(&key);
            self.more += 1;
        }
    }

    /// Kubernetes forgot it.
    pub(crate) fn delete(&mut self, event: &Event<'_>) {
        let key = event.key();
        let Some(kept) = self.by_key.get_mut(&key) else {
            self.more = self.more.saturating_sub(1);
            return;
        };
        kept.parts.retain(|(part, _)| *part != *event.metadata.uid);
        if kept.parts.is_empty() {
            self.by_age.remove(&(kept.last, kept.number));
            self.keys.remove(&kept.number);
            self.by_key.remove(&key);
        }
    }

    /// One could not be read.
    pub(crate) fn skipped(&mut self) {
        self.more += 1;
    }

    /// The latest first, those without a time last.
    pub(crate) fn shown(&self) -> AllShown {
        let mut items: Vec<_> = self.by_key.iter().map(|(key, kept)| kept.shown(key)).collect();
        items.sort_by_cached_key(|event| (Reverse(event.last_seen), event.object.clone(), event.reason.clone()));
        AllShown { items, more: self.more, not_readable: self.not_readable.clone() }
    }
}

impl Kept {
    fn shown(&self, key: &Key) -> Shown {
        Shown {
            kind: key.kind,
            reason: key.reason.clone(),
            object: key.object.clone(),
            message: self.message.clone(),
            count: self.parts.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count)),
            last_seen: self.last,
            first_seen: self.first,
        }
    }
}
