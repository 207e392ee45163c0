//! Pages of lists. A cursor is the place of the last thing that was seen, so that a page begins right after it, whatever
//! came and went since. It belongs to one list in one order, and is not for reading: what is in it may change.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned, de::Error};
use service_kit::Problem;
use sha2::{Digest, Sha256};

/// Things a page: 1 to 500, 100 unless said otherwise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit(u16);

impl Limit {
    pub(super) fn things(self) -> usize {
        self.0.into()
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(100)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u16::deserialize(deserializer)?;
        if (1..=500).contains(&number) { Ok(Self(number)) } else { Err(D::Error::custom("1 to 500")) }
    }
}

/// The cursor of a place in a list. `list` names the list, with everything that its order and content depend on.
pub(super) fn cursor(list: &str, place: &impl Serialize) -> Option<String> {
    serde_json::to_vec(&(mark(list), place)).ok().map(|json| URL_SAFE_NO_PAD.encode(json))
}

/// The place that a cursor names in a list.
pub(super) fn place<T: DeserializeOwned>(list: &str, cursor: &str) -> Result<T, Problem> {
    let refused = |code, detail: &'static str| Problem::new(StatusCode::BAD_REQUEST, code, detail).field("cursor");
    let json = URL_SAFE_NO_PAD.decode(cursor).unwrap_or_default();
    let read = serde_json::from_slice::<(String, serde_json::Value)>(&json);
    let (of, place) = read.map_err(|_| refused("cursor_invalid", "This is not the next_cursor of a page."))?;
    if of != mark(list) {
        return Err(refused(
            "cursor_of_another_list",
            "This is the next_cursor of another list, or of this one in another order or with another filter.",
        )
        .hint("Begin without a cursor after a change of order or filter."));
    }
    serde_json::from_value(place).map_err(|_| refused("cursor_invalid", "This is not the next_cursor of a page."))
}

/// A page of things that are all at hand, sorted by their place, and the cursor of the next.
pub(super) fn cut<T, P: Ord + Serialize + DeserializeOwned>(
    mut things: Vec<T>,
    list: &str,
    (limit, after): (Limit, Option<&str>),
    place_of: impl Fn(&T) -> P,
) -> Result<(Vec<T>, Option<String>), Problem> {
    things.sort_by_cached_key(&place_of);
    if let Some(after) = after {
        let after: P = place(list, after)?;
        things.drain(..things.partition_point(|thing| place_of(thing) <= after));
    }
    let has_more = things.len() > limit.things();
    things.truncate(limit.things());
    let end = things.last().filter(|_| has_more);
    let next = end.and_then(|end| cursor(list, &place_of(end)));
    Ok((things, next))
}

/// Tells lists apart, and says nothing of what somebody looked for.
fn mark(list: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(list).into_iter().take(9).collect::<Vec<_>>())
}
