//! Reading objects without decoding what is not looked at.
//!
//! The types they are read into name only the fields that matter; the rest is skipped while parsing, so that a list of
//! nodes or pods costs a hundredth of its size in memory.

use kube::Client;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use vocabulary::Trouble;

use crate::trouble::{Attempt, is_not_found, trouble};

/// Objects per answer. A node with a full list of images is about 25 KB, so that a page stays well below the limit of
/// 8 MiB that a guarded client sets.
const PAGE: u32 = 150;

/// How much of an object the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// All of it.
    Whole,
    /// `metadata` alone.
    Metadata,
}

impl View {
    const fn accept(self, is_list: bool) -> &'static str {
        match (self, is_list) {
            (Self::Whole, _) => "application/json",
            (Self::Metadata, false) => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            (Self::Metadata, true) => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        }
    }
}

/// Reads the object at `path`, such as `/api/v1/namespaces/kube-system`; none if it, or its kind, does not exist.
pub async fn read<T: DeserializeOwned>(
    client: &Client,
    attempt: Attempt<'_>,
    path: &str,
    view: View,
) -> Result<Option<T>, Trouble> {
    match answer(client, request(path, view.accept(false))).await {
        Ok(object) => Ok(Some(object)),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => Err(trouble(attempt, &error)),
    }
}

/// Reads the objects of a collection that carry these labels, page by page; none if their kind does not exist.
///
/// A selector is a list of key and value; an empty value asks for the key alone.
pub async fn read_all<T: DeserializeOwned>(
    client: &Client,
    attempt: Attempt<'_>,
    collection: &str,
    selector: &[(&str, &str)],
    view: View,
) -> Result<Option<Vec<T>>, Trouble> {
    let selector: Vec<_> = selector
        .iter()
        .map(|(key, value)| if value.is_empty() { (*key).to_owned() } else { format!("{key}={value}") })
        .collect();
    let mut objects = Vec::new();
    let mut next = String::new();
    // The API server compacts old revisions every five minutes, so a list slower than that would end in 410 Gone. It
    // is reported as it is: the next look begins anew.
    loop {
        let path = format!("{collection}?{}", page_query(&selector.join(","), &next));
        let page: Page<T> = match answer(client, request(&path, view.accept(true))).await {
            Ok(page) => page,
            Err(error) if is_not_found(&error) => return Ok(None),
            Err(error) => return Err(trouble(attempt, &error)),
        };
        objects.extend(page.items);
        next = page.metadata.r#continue;
        if next.is_empty() {
            return Ok(Some(objects));
        }
    }
}

/// Kept out of the async function: the serializer cannot be sent between threads.
fn page_query(selector: &str, next: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &PAGE.to_string());
    if !selector.is_empty() {
        query.append_pair("labelSelector", selector);
    }
    if !next.is_empty() {
        query.append_pair("continue", next);
    }
    query.finish()
}

/// Like [`Client::request`], which would write an answer that is no such object to the log, all of it.
async fn answer<T: DeserializeOwned>(client: &Client, request: http::Request<Vec<u8>>) -> Result<T, kube::Error> {
    serde_json::from_str(&client.request_text(request).await?).map_err(kube::Error::SerdeError)
}

/// A path that is no path of a URL becomes a request for `/`, which no object is at.
fn request(path: &str, accept: &'static str) -> http::Request<Vec<u8>> {
    let mut request = http::Request::new(Vec::new());
    if let Ok(uri) = path.parse() {
        *request.uri_mut() = uri;
    }
    request.headers_mut().insert(http::header::ACCEPT, http::HeaderValue::from_static(accept));
    request
}

/// For lists of foreign objects: Go writes an empty one as null where the field may not be left out.
pub fn null_as_empty<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct Page<T> {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(default = "Vec::new", deserialize_with = "null_as_empty")]
    items: Vec<T>,
}

#[derive(Deserialize, Default)]
struct PageMetadata {
    #[serde(default)]
    r#continue: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tower::{BoxError, service_fn};

    use super::*;

    #[derive(Deserialize)]
    struct Named {
        name: String,
    }

    fn server(answer: impl Fn(&str) -> (u16, serde_json::Value) + Send + Sync + Clone + 'static) -> Client {
        let service = service_fn(move |request: Request<Body>| {
            let (status, body) = answer(&request.uri().to_string());
            async move {
                let answer = Response::builder().status(status);
                Ok::<_, BoxError>(answer.body(Body::from(body.to_string().into_bytes())).unwrap())
            }
        });
        Client::new(service, "default")
    }

    #[tokio::test]
    async fn a_long_list_is_read_page_by_page() {
        let client = server(|uri| match uri {
            "/api/v1/pods?limit=150&labelSelector=a%3Db%2Cc" => {
                (200, json!({"metadata": {"continue": "x y"}, "items": [{"name": "one"}]}))
            }
            "/api/v1/pods?limit=150&labelSelector=a%3Db%2Cc&continue=x+y" => (200, json!({"items": [{"name": "two"}]})),
            other => panic!("{other}"),
        });

        let found: Vec<Named> =
            read_all(&client, Attempt("look"), "/api/v1/pods", &[("a", "b"), ("c", "")], View::Whole)
                .await
                .unwrap()
                .unwrap();

        assert_eq!(found.into_iter().map(|pod| pod.name).collect::<Vec<_>>(), ["one", "two"]);
    }

    #[tokio::test]
    async fn an_empty_list_may_be_written_as_null() {
        let client = server(|_| (200, json!({"kind": "PartialObjectMetadataList", "items": null})));

        let found: Option<Vec<Named>> =
            read_all(&client, Attempt("look"), "/api/v1/pods", &[], View::Metadata).await.unwrap();

        assert!(found.unwrap().is_empty());
    }

    #[tokio::test]
    async fn what_does_not_exist_is_none_and_what_is_refused_is_a_trouble() {
        let client = server(|uri| match uri {
            "/gone" => (404, json!({"kind": "Status", "code": 404, "reason": "NotFound", "message": ""})),
            _ => (403, json!({"kind": "Status", "code": 403, "reason": "Forbidden", "message": "u cannot get"})),
        });

        assert!(read::<Named>(&client, Attempt("look"), "/gone", View::Metadata).await.unwrap().is_none());
        assert_eq!(read::<Named>(&client, Attempt("look"), "/x", View::Whole).await.err().unwrap().reason, "Forbidden");
    }
}
