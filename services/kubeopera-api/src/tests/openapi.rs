//! The committed document.

#[test]
fn the_committed_openapi_document_is_that_of_the_handlers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/kubeopera-api.json");
    let made = crate::openapi_json().unwrap();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == made, "openapi/kubeopera-api.json is out of date. Run with INSTA_UPDATE=always to write it.");
}

#[test]
fn every_operation_has_words_and_every_refusal_is_a_problem() {
    let document = serde_json::to_value(crate::http::openapi()).unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            assert!(operation["summary"].as_str().is_some_and(|words| words.ends_with('.')), "{method} {path}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let is_problem = response["content"]["application/problem+json"].is_object();
                assert_eq!(is_problem, status.starts_with(['4', '5']), "{method} {path} {status}");
            }
        }
    }
}
