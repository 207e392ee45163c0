//! What a line of a watch and a page of a list say.

use std::{borrow::Cow, fmt};

use jiff::Timestamp;
use kube::core::Status;
use kube_kit::Attempt;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, Visitor},
};
use serde_json::value::RawValue;

use super::Kind;
use crate::call::{Refusal, not_kubernetes};

/// A revision is a number of at most twenty digits; a cluster cannot make us keep more.
const LONGEST_REVISION: usize = 64;

/// Kubernetes takes no longer name.
const LONGEST_NAME: usize = 253;

/// Text that is not copied unless it is written with escapes. (`Option<Cow<str>>` would always copy.)
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Text<'a>(Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            // Go writes what is not there as null.
            fn visit_unit<E>(self) -> Result<Text<'de>, E> {
                Ok(Text::default())
            }
        }
        deserializer.deserialize_any(Borrowing)
    }
}

impl Text<'_> {
    /// As a point in time, if it is one.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        self.0.parse().ok()
    }

    /// As a name that is kept: none if it is empty, never longer than a name can be, and nothing that a terminal would act
    /// on.
    pub(crate) fn kept(&self) -> Option<String> {
        let end = self.0.floor_char_boundary(LONGEST_NAME);
        let text = self.0.get(..end).filter(|text| !text.is_empty())?;
        Some(text.chars().filter(|c| !c.is_control()).collect())
    }
}

/// What is looked at of every object's metadata.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a, L: Deserialize<'de> + Default"))]
pub(crate) struct Metadata<'a, L = IgnoredAny> {
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    #[serde(borrow)]
    pub(crate) namespace: Text<'a>,
    #[serde(borrow)]
    pub(crate) uid: Text<'a>,
    #[serde(borrow)]
    resource_version: Text<'a>,
    #[serde(borrow)]
    pub(crate) creation_timestamp: Text<'a>,
    pub(crate) deletion_timestamp: Option<IgnoredAny>,
    pub(crate) labels: L,
}

impl<L> Metadata<'_, L> {
    /// The revision of the object; empty if it is none.
    pub(crate) fn resource_version(&self) -> &str {
        if self.resource_version.len() > LONGEST_REVISION { "" } else { &self.resource_version }
    }
}

/// What happened to an object.
pub(super) enum Change {
    Put,
    Delete,
}

/// What a line says.
pub(super) enum Decoded<T> {
    Object {
        change: Change,
        object: T,
    },
    Bookmark {
        revision: String,
        ends_list: bool,
    },
    /// It is about an object that cannot be read, or about nothing known.
    Skipped {
        revision: String,
    },
}

#[derive(Deserialize)]
struct Event<'a, T> {
    #[serde(borrow)]
    r#type: Text<'a>,
    object: T,
}

/// The same for objects that cannot be read, and for what is no object.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Bookmark<'a> {
    #[serde(borrow)]
    metadata: BookmarkMetadata<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct BookmarkMetadata<'a> {
    #[serde(borrow)]
    resource_version: Text<'a>,
    annotations: Option<EndOfList>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EndOfList {
    #[serde(rename = "k8s.io/initial-events-end")]
    is_here: Option<IgnoredAny>,
}

/// Reads a line. One that is not JSON ends the connection: it is no Kubernetes that talks.
pub(super) fn line<'a, K: Kind>(attempt: Attempt<'_>, line: &'a [u8]) -> Result<Decoded<K::Object<'a>>, Refusal> {
    // Nearly every line is an object that can be read.
    if let Ok(Event { r#type, object }) = serde_json::from_slice::<Event<'a, K::Object<'a>>>(line) {
        match &*r#type {
            "ADDED" | "MODIFIED" => return Ok(Decoded::Object { change: Change::Put, object }),
            "DELETED" => return Ok(Decoded::Object { change: Change::Delete, object }),
            _ => {}
        }
    }
    let event: Event<'_, &RawValue> = serde_json::from_slice(line).map_err(|error| not_kubernetes(attempt, error))?;
    if &*event.r#type == "ERROR" {
        let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
        return Err(Refusal::of(attempt, &kube::Error::Api(status.boxed())));
    }
    let bookmark: Bookmark<'_> = serde_json::from_str(event.object.get()).unwrap_or_default();
    let mut revision = bookmark.metadata.resource_version.to_string();
    if revision.len() > LONGEST_REVISION {
        revision.clear();
    }
    if &*event.r#type == "BOOKMARK" {
        let ends_list = bookmark.metadata.annotations.is_some_and(|annotations| annotations.is_here.is_some());
        return Ok(Decoded::Bookmark { revision, ends_list });
    }
    Ok(Decoded::Skipped { revision })
}

/// A page of a list.
#[derive(Deserialize)]
pub(super) struct Page<'a, T> {
    #[serde(borrow, default)]
    pub(super) metadata: PageMetadata<'a>,
    /// Null if there are none.
    pub(super) items: Option<Vec<T>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PageMetadata<'a> {
    #[serde(borrow)]
    pub(super) resource_version: Text<'a>,
    #[serde(borrow)]
    pub(super) r#continue: Text<'a>,
}

/// Reads a page, object by object if one of them is broken: those come as none.
pub(super) fn page<'a, T: Deserialize<'a>>(
    attempt: Attempt<'_>,
    text: &'a [u8],
) -> Result<(PageMetadata<'a>, Vec<Option<T>>), Refusal> {
    if let Ok(Page { metadata, items }) = serde_json::from_slice::<Page<'a, T>>(text) {
        return Ok((metadata, items.unwrap_or_default().into_iter().map(Some).collect()));
    }
    let page: Page<'a, &'a RawValue> = serde_json::from_slice(text).map_err(|error| not_kubernetes(attempt, error))?;
    let items = page.items.unwrap_or_default().into_iter().map(|item| serde_json::from_str(item.get()).ok());
    Ok((page.metadata, items.collect()))
}
