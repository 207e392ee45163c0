use std::{
    future::ready,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    http::{HeaderMap, Method, StatusCode, Uri},
};
use clap::Parser;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{wire::*, *};
use crate::server::tests::serving;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

/// What was asked of a server: the method and the address, the key that names the request, the body.
type Asked = Arc<Mutex<Vec<(String, Option<String>, Value)>>>;

/// A server that answers a request, told by its method and address, with a status and a body.
async fn server(answers: impl Fn(&str) -> (u16, Value) + Clone + Send + Sync + 'static) -> (Server, Asked) {
    let asked = Asked::default();
    let kept = Arc::clone(&asked);
    let router = Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap, body: String| {
        let request = format!("{method} {uri}");
        let (status, answer) = answers(&request);
        let key = headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
        kept.lock().unwrap().push((request, key, serde_json::from_str(&body).unwrap_or_default()));
        ready((StatusCode::from_u16(status).unwrap(), Json(answer)))
    });
    (serving(router).await, asked)
}

async fn ended(server: &Server, arguments: &[&str]) -> anyhow::Result<u8> {
    let options = Line::try_parse_from([&["clusters"], arguments].concat())?.options;
    carry_out(server, options.output, options.command).await
}

fn requests(asked: &Asked) -> Vec<String> {
    asked.lock().unwrap().iter().map(|(request, ..)| request.clone()).collect()
}

fn document() -> Value {
    serde_json::from_str(include_str!("../../../openapi/kubeopera-api.json")).unwrap()
}

/// An answer as the document describes it: with everything that may be there, or with nothing that need not be.
fn example(document: &Value, schema: &Value, is_full: bool) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return example(document, document.pointer(reference.trim_start_matches('#')).unwrap(), is_full);
    }
    let alternatives = schema["oneOf"].as_array();
    let types: Vec<_> = schema["type"].as_array().into_iter().flatten().collect();
    let may_lack = |schema: &Value| schema["type"] == "null";
    if !is_full && (types.contains(&&json!("null")) || alternatives.is_some_and(|some| some.iter().any(may_lack))) {
        return Value::Null;
    }
    if let Some(alternative) = alternatives.and_then(|some| some.iter().find(|schema| !may_lack(schema))) {
        return example(document, alternative, is_full);
    }
    if let Some(word) = schema["enum"].get(0) {
        return word.clone();
    }
    let kind = types.iter().find_map(|kind| kind.as_str().filter(|kind| *kind != "null")).or(schema["type"].as_str());
    match (kind.unwrap(), schema["format"].as_str()) {
        ("string", Some("date-time")) => json!("2026-11-30T11:00:00Z"),
        ("string", Some("uuid")) => json!("7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11"),
        ("string", _) => json!("words"),
        ("integer", _) => json!(3),
        ("number", _) => json!(72.5),
        ("boolean", _) => json!(true),
        ("array", _) if is_full => json!([example(document, &schema["items"], is_full)]),
        ("array", _) => json!([]),
        _ if schema["properties"].is_null() => json!({}),
        _ => {
            let required = schema["required"].as_array().unwrap();
            let properties = schema["properties"].as_object().unwrap().iter();
            let properties = properties.filter(|(name, _)| is_full || required.contains(&json!(name)));
            properties.map(|(name, schema)| (name.clone(), example(document, schema, is_full))).collect()
        }
    }
}

fn cluster(name: &str, phase: &str) -> Value {
    let document = document();
    let mut cluster = example(&document, &document["components"]["schemas"]["Cluster"], true);
    cluster["name"] = json!(name);
    cluster["phase"] = json!(phase);
    cluster["phases"] = json!([{"phase": "BootstrappingFlux", "state": "waiting"}]);
    cluster
}

fn read(cluster: &Value) -> Cluster {
    serde_json::from_value(cluster.clone()).unwrap()
}

fn page(clusters: &[Value], cursor: Option<&str>) -> Value {
    json!({"items": clusters, "next_cursor": cursor, "kubernetes": {"available": true}})
}

/// A server that knows the cluster shop and does whatever it is asked with it.
async fn with_shop() -> (Server, Asked) {
    server(|request| match request {
        list if list.starts_with("GET /api/v1/clusters?") => (200, page(&[cluster("shop", "Pending")], None)),
        plan if plan.starts_with("GET") && plan.ends_with("/disconnect") => (200, json!({"goes": [], "stays": []})),
        _ => (202, cluster("shop", "Pending")),
    })
    .await
}

#[test]
fn every_answer_the_api_describes_can_be_read() {
    let document = document();
    for is_full in [true, false] {
        let example = |name: &str| example(&document, &document["components"]["schemas"][name], is_full);
        serde_json::from_value::<Cluster>(example("Cluster")).unwrap();
        serde_json::from_value::<Page>(example("ClusterList")).map(|_| ()).unwrap();
        serde_json::from_value::<Disconnection>(example("Disconnection")).map(|_| ()).unwrap();
        serde_json::from_value::<PartingReceipt>(example("PartingReceipt")).map(|_| ()).unwrap();
        serde_json::from_value::<KubeconfigCheck>(example("KubeconfigCheck")).map(|_| ()).unwrap();
    }
}

#[test]
fn every_request_has_the_fields_the_api_takes() {
    let document = document();
    let kubeconfig = || KubeconfigToCheck { kubeconfig: "", encoding: "base64", context: None };
    let wanted = ClusterToConnect {
        name: "",
        provider: "",
        region: "",
        domain: None,
        admin_email: None,
        admin_username: None,
        git_path: None,
        kubeconfig: kubeconfig(),
    };
    for (schema, request) in [
        ("KubeconfigToCheck", json!(kubeconfig())),
        ("ClusterToConnect", json!(wanted)),
        ("Confirmation", json!(Confirmation { name: "" })),
    ] {
        let schema = &document["components"]["schemas"][schema];
        let (required, request) = (schema["required"].as_array().unwrap(), request.as_object().unwrap());
        assert!(request.keys().all(|field| schema["properties"].get(field).is_some()), "{request:?}");
        assert!(required.iter().all(|field| request.contains_key(field.as_str().unwrap())), "{request:?}");
    }
    assert_eq!(document["components"]["schemas"]["Phase"]["enum"], json!(Phase::ALL.map(Phase::as_str)));
    let parameters = document["paths"]["/api/v1/clusters"]["get"]["parameters"].as_array().unwrap();
    for what in
        parameters.iter().find(|parameter| parameter["name"] == "sort").unwrap()["schema"]["enum"].as_array().unwrap()
    {
        assert!(Line::try_parse_from(["clusters", "list", "--sort", what.as_str().unwrap()]).is_ok(), "{what}");
    }
}

#[tokio::test]
async fn a_list_is_read_to_its_end_and_narrowed_by_the_server() {
    let (server, asked) = server(|request| {
        let is_last = request.contains("cursor=next%26page");
        (200, page(&[cluster("shop", "Ready")], (!is_last).then_some("next&page")))
    })
    .await;

    let arguments = ["list", "--phase", "Ready,Failed", "-l", "env=prod", "--label", "team", "--sort", "nodes"];
    assert_eq!(ended(&server, &arguments).await.unwrap(), 0);

    let narrowed =
        "GET /api/v1/clusters?phase=Ready%2CFailed&label=env%3Dprod%2Cteam&sort=nodes&direction=asc&limit=500";
    assert_eq!(requests(&asked), [narrowed.to_owned(), format!("{narrowed}&cursor=next%26page")]);
    assert_eq!(list::all(&server, Vec::new()).await.unwrap().0.len(), 2);
}

#[test]
fn a_row_says_what_is_not_known_and_obeys_nobody() {
    let mut new = cluster("new\u{1b}[2J", "Pending");
    for field in ["kubernetes_version", "nodes", "health", "unreachable"] {
        new[field] = Value::Null;
    }
    let mut shop = cluster("shop", "Ready");
    shop["unreachable"] = Value::Null;
    let clusters = [read(&new), read(&shop), read(&cluster("dead", "Ready"))];

    let text = list::for_people(&clusters, "2026-11-30T14:30:00Z".parse().unwrap());

    let rows: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "PHASE", "HEALTH", "NODES", "PROVIDER", "REGION", "VERSION", "AGE"]);
    assert_eq!(rows[1], ["new\u{fffd}[2J", "(host)", "Pending", "–", "–", "words", "words", "–", "3h"]);
    assert_eq!(rows[2], ["shop", "(host)", "Ready", "72.5", "red", "3/3", "words", "words", "words", "3h"]);
    assert!(rows[3].contains(&"unreachable"), "{text}");
}

#[test]
fn an_age_has_one_unit_and_is_never_negative() {
    let ages = [-5, 0, 119, 120, 7199, 7200, 172_799, 172_800];

    let words = ages.map(|seconds| list::age(SignedDuration::from_secs(seconds)));

    assert_eq!(words, ["0s", "0s", "119s", "2m", "119m", "2h", "47h", "2d"]);
}

#[test]
fn one_cluster_is_shown_with_its_failed_attempts_and_the_message_last() {
    let mut shop = cluster("shop", "BootstrappingFlux");
    shop["message"] = json!("Flux\u{1b}c is being installed.");
    shop["phases"] = json!([{"phase": "BootstrappingFlux", "state": "current", "failed_attempts": {
        "count": 4, "first_at": "2026-11-30T11:00:00Z", "last_at": "2026-11-30T12:00:00Z", "message": "No route.",
    }}]);

    let text = get::for_people(&read(&shop));

    assert_eq!(text.lines().last(), Some("Flux\u{fffd}c is being installed."));
    assert!(text.contains("4 failed, last at 2026-11-30T12:00:00Z: No route."), "{text}");
    assert!(text.contains("current  BootstrappingFlux") && text.contains("CONDITION"), "{text}");
}

#[tokio::test]
async fn a_name_is_the_whole_name() {
    let (server, asked) = server(|request| {
        let other = page(&[cluster("shop-2", "Ready")], None);
        if request.contains('?') { (200, other) } else { (500, Value::Null) }
    })
    .await;

    let error = ended(&server, &["get", "shop"]).await.unwrap_err().to_string();

    assert!(error.starts_with("KubeOpera has no cluster shop."), "{error}");
    assert_eq!(requests(&asked).len(), 1);
    let error = format!("{:#}", ended(&server, &["get", "No Name\u{1b}"]).await.unwrap_err());
    assert!(error.starts_with("No Name\u{fffd} names no cluster: this is not a usable cluster name."), "{error}");
    assert_eq!(requests(&asked).len(), 1, "what is no name is not asked for");
}

#[tokio::test]
async fn a_list_that_never_ends_is_given_up() {
    let (server, _) = server(|_| (200, page(&[], Some("again")))).await;

    let error = ended(&server, &["list"]).await.unwrap_err().to_string();

    assert!(error.contains("does not end"), "{error}");
}

#[tokio::test]
async fn a_kubeconfig_goes_to_the_server_byte_by_byte_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    std::fs::write(&file, b"\xff\xfeCANARY").unwrap();
    let file = file.to_str().unwrap();
    let (server, asked) = server(|request| {
        if request.ends_with("-check") {
            return (200, json!({"preferred": null, "contexts": []}));
        }
        let detail = "It runs aws. Make another with `kubectl create token admin`.";
        (422, json!({"detail": detail, "field": "kubeconfig.users[0].user.exec", "request_id": "1"}))
    })
    .await;

    let arguments =
        ["connect", "--kubeconfig", file, "--name", "shop", "--provider", "aws", "--region", "eu", "--context", "one"];
    let refused = ended(&server, &arguments).await.unwrap_err();
    let unusable = ended(&server, &["connect", "--kubeconfig", file, "--check"]).await.unwrap_err();

    let told = format!("{refused:?}{unusable:?}");
    assert!(refused.to_string().starts_with("kubeconfig.users[0].user.exec: It runs aws. Make another with `kubectl"));
    assert!(!told.contains("CANARY") && !told.contains("//5DQU5BUlk"), "{told}");
    let asked = asked.lock().unwrap();
    let (request, key, body) = &asked[0];
    assert_eq!(request, "POST /api/v1/clusters/connect");
    assert!(key.is_some());
    assert_eq!(body["kubeconfig"], "//5DQU5BUlk=");
    assert_eq!((&body["encoding"], &body["name"], &body["context"]), (&json!("base64"), &json!("shop"), &json!("one")));
    assert_eq!(asked[1].0, "POST /api/v1/clusters/kubeconfig-check");
}

#[test]
fn every_context_of_a_kubeconfig_has_its_verdict() {
    let document = document();
    let check = &document["components"]["schemas"]["KubeconfigCheck"];
    let mut found = example(&document, check, true);
    found["contexts"][0]["refusal"] =
        json!({"code": "c", "field": "users[0]", "message": "Expired.\r", "commands": []});

    let text = connect::verdicts(&serde_json::from_value(found).unwrap());

    assert!(text.contains("words (words): usable\n"), "{text}");
    assert!(text.contains("Kubernetes words, 3 of 3 nodes ready, words words; known as words"), "{text}");
    assert!(text.contains("  users[0]: Expired.\u{fffd}\n"), "{text}");
}

#[test]
fn a_new_cluster_is_said_to_be_new_and_what_comes_next() {
    let shop = read(&cluster("shop", "Pending"));

    let text = connect::joined(&shop, "registered", StatusCode::CREATED);

    assert!(text.starts_with("shop is registered.") && text.contains("Next: BootstrappingFlux."), "{text}");
    assert!(connect::joined(&shop, "registered", StatusCode::OK).starts_with("shop was already registered."));
}

#[tokio::test]
async fn nothing_is_let_go_of_unless_somebody_says_yes() {
    let (server, asked) = with_shop().await;

    let error = ended(&server, &["disconnect", "shop", "--output", "json"]).await.unwrap_err().to_string();

    assert!(error.contains("--yes") && requests(&asked).is_empty(), "{error}");
    assert_eq!(["y\n", "YES\n", "", "n\n", "yesterday"].map(let_go::is_yes), [true, true, false, false, false]);
}

#[tokio::test]
async fn what_goes_and_what_stays_is_shown_before_a_cluster_is_let_go_of() {
    let (server, asked) = with_shop().await;

    assert_eq!(ended(&server, &["disconnect", "shop", "--yes"]).await.unwrap(), 0);

    let path = "/api/v1/clusters/7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11/disconnect";
    assert_eq!(requests(&asked)[1..], [format!("GET {path}"), format!("POST {path}")]);

    let secret = |place| json!({"place": place, "kind": "Secret", "namespace": "flux-system", "name": "git\u{7}"});
    let plan = json!({"goes": [secret("cluster"), secret("kubeopera")], "stays": ["Flux stays."]});
    assert_eq!(
        let_go::for_people(&serde_json::from_value(plan).unwrap()),
        "Goes from the cluster:\n  Secret flux-system/git\u{fffd}\nGoes from KubeOpera:\n  Secret flux-system/git\u{fffd}\n\
         Stays:\n  Flux stays.\n"
    );
}

#[test]
fn a_cluster_that_is_gone_says_what_is_left_for_people_to_do() {
    let document = document();
    let schema = &document["components"]["schemas"]["PartingReceipt"];
    let receipt = |is_full| serde_json::from_value(example(&document, schema, is_full)).unwrap();

    let text = let_go::farewell(&receipt(true));

    assert!(text.contains("These could not be removed. words\n  words words/words\n"), "{text}");
    assert!(text.ends_with("With the cluster's own kubeconfig, this removes them:\n  words\n"), "{text}");
    assert_eq!(let_go::farewell(&receipt(false)), "words is deleted, with its infrastructure.\n");
}

#[tokio::test]
async fn a_cluster_is_deleted_under_the_name_that_was_typed() {
    let (server, asked) = with_shop().await;

    assert_eq!(ended(&server, &["delete", "shop", "--confirm", "shopp"]).await.unwrap(), 0);

    let asked = asked.lock().unwrap();
    assert_eq!(asked[1].0, "DELETE /api/v1/clusters/7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11");
    assert_eq!(asked[1].2, json!({"name": "shopp"}));
    assert!(Line::try_parse_from(["clusters", "delete", "shop"]).is_err(), "no name was typed");
}

#[test]
fn a_watch_ends_with_how_it_ended() {
    let settled = |phase: &str, until: &str| watch::settled(&read(&cluster("shop", phase)), until);

    assert_eq!(settled("Ready", "Ready"), Some(0));
    assert_eq!(settled("Failed", "Ready"), Some(FAILED));
    assert_eq!(settled("Failed", "Failed"), Some(0));
    assert_eq!(settled("BootstrappingFlux", "Ready"), None);
    assert_eq!(settled("Ready", "BootstrappingFlux"), Some(0), "it is past it");
    assert_eq!(settled("Ready", "Failed"), None);
    assert_eq!(settled("Failed", "Gone"), None, "a cluster that failed can be let go of");

    let mut past = cluster("shop", "GeneratingGitOpsTree");
    past["phases"][0]["state"] = json!("done");
    assert_eq!(watch::settled(&read(&past), "BootstrappingFlux"), Some(0));
}

fn at_pace(grace: Duration) -> watch::Pace {
    watch::Pace { between: Duration::from_millis(1), grace }
}

#[tokio::test]
async fn a_cluster_that_was_just_asked_to_try_again_is_not_yet_taken_for_failed() {
    let phases = ["Failed", "Failed", "BootstrappingFlux", "Failed"];
    let count = Arc::new(Mutex::new(0));
    let (server, asked) = server(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        (200, cluster("shop", phases.get(*count - 1).unwrap_or(&"Failed")))
    })
    .await;
    let id: ClusterId = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap();
    let watched = |grace| watch::follow(&server, Output::Table, id, "Ready", at_pace(grace));

    assert_eq!(watched(Duration::from_hours(1)).await.unwrap(), FAILED);
    assert_eq!(requests(&asked).len(), 4, "once it was tried again, Failed is an answer at once");
    assert_eq!(watched(Duration::from_millis(20)).await.unwrap(), FAILED, "nobody asked it to try again");
}

#[tokio::test]
async fn a_watch_outlives_a_server_that_is_started_anew() {
    let count = Arc::new(Mutex::new(0));
    let (server, _) = server(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        match *count {
            1 => (200, cluster("shop", "Pending")),
            2 => (503, Value::Null),
            3 => (200, cluster("shop", "Ready")),
            _ => (404, json!({"detail": "KubeOpera has no cluster with this id.", "request_id": "1"})),
        }
    })
    .await;
    let id: ClusterId = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap();
    let watched = |until: &'static str| watch::follow(&server, Output::Table, id, until, at_pace(Duration::ZERO));

    assert_eq!(watched("Ready").await.unwrap(), 0);
    assert_eq!(watched("Gone").await.unwrap(), 0);
    assert!(watched("Ready").await.unwrap_err().to_string().contains("no cluster with this id"));
}

#[tokio::test]
async fn what_was_gone_before_anybody_looked_is_gone() {
    let (server, _) = server(|_| (200, page(&[], None))).await;

    assert_eq!(ended(&server, &["watch", "shop", "--until", "Gone"]).await.unwrap(), 0);
    assert!(ended(&server, &["watch", "shop"]).await.is_err());
}

#[tokio::test]
async fn a_watch_can_be_out_of_time() {
    let (server, _) = with_shop().await;

    assert_eq!(ended(&server, &["watch", "shop", "--timeout", "200ms"]).await.unwrap(), NOT_IN_TIME);
    assert!(Line::try_parse_from(["clusters", "watch", "shop", "--timeout", "soon"]).is_err());
}
