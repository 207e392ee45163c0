#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[test]
fn the_committed_openapi_document_is_that_of_the_handlers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/kubeopera-api.json");
    let made = super::openapi_json().unwrap();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == made, "openapi/kubeopera-api.json is out of date. Run with INSTA_UPDATE=always to write it.");
}
