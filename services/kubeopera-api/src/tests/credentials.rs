//! Cloud credentials.

use auth_service_contract::CredentialId;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use vocabulary::ClusterId;

use super::{World, on_both_databases};

on_both_databases! {
    a_credential_leaves_as_its_label_and_last_four_and_by_no_route_as_more
    a_role_gets_an_external_id_that_is_shown_once
    what_is_no_credential_is_refused_by_its_field
    a_credential_in_use_is_not_deleted_and_the_answer_names_the_clusters
    a_cloud_that_cannot_be_asked_says_nothing_about_a_credential
    changes_of_credentials_are_written_down
}

const PATH: &str = "/api/v1/credentials";

fn access_key(label: &str) -> Value {
    json!({"label": label, "secret": secret("AKIACANARY0KEY0ID0WX")})
}

fn secret(id: &str) -> Value {
    let secret = "CANARYsecret/access+key0123456789ABCDEFG";
    json!({"type": "aws_access_key", "access_key_id": id, "secret_access_key": secret})
}

impl World {
    async fn save(&self, cookie: &str, body: &Value) -> Value {
        let saved = self.change(Method::POST, PATH, cookie, body).await;
        assert_eq!(saved.status, StatusCode::CREATED, "{saved:?}");
        saved.json()
    }
}

fn path_of(saved: &Value) -> String {
    format!("{PATH}/{}", saved["credential"]["id"].as_str().unwrap())
}

async fn a_credential_leaves_as_its_label_and_last_four_and_by_no_route_as_more(world: World) {
    let administrator = world.log_in("administrator").await;

    let saved = world.save(&administrator, &access_key("Production")).await;

    let credential = &saved["credential"];
    let mut fields: Vec<_> = credential.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["changed_at", "clusters", "created_at", "id", "label", "last_four", "type"]);
    assert_eq!((&credential["label"], &credential["last_four"]), (&json!("Production"), &json!("D0WX")));
    assert_eq!((&credential["type"], &saved["external_id"]), (&json!("aws_access_key"), &json!(null)));
    assert_eq!(world.get(PATH, &administrator).await.json()["items"], json!([credential]));
    assert_eq!(world.get(&path_of(&saved), &administrator).await.code(), "method_not_allowed");

    let renamed = world.change(Method::PATCH, &path_of(&saved), &administrator, &json!({"label": "Main"})).await.json();
    assert_eq!((&renamed["label"], &renamed["last_four"]), (&json!("Main"), &json!("D0WX")));
    let replaced = json!({"secret": secret("AKIACANARY0OTHER0IYZ")});
    let replaced = world.change(Method::PATCH, &path_of(&saved), &administrator, &replaced).await.json();
    assert_eq!((&replaced["label"], &replaced["last_four"]), (&json!("Main"), &json!("0IYZ")));

    assert_eq!(world.call(Method::DELETE, &path_of(&saved), Some(&administrator)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(world.call(Method::DELETE, &path_of(&saved), Some(&administrator)).await.code(), "no_such_credential");
}

async fn a_role_gets_an_external_id_that_is_shown_once(world: World) {
    let administrator = world.log_in("administrator").await;
    let key = world.save(&administrator, &access_key("Key")).await;
    let secret = json!({
        "type": "aws_assume_role",
        "role_arn": "arn:aws:iam::123456789012:role/kubeopera",
        "source": key["credential"]["id"],
    });

    let saved = world.save(&administrator, &json!({"label": "Role", "secret": secret})).await;

    let external_id = saved["external_id"].as_str().unwrap();
    assert!(external_id.starts_with("kubeopera-"));
    assert!(!world.get(PATH, &administrator).await.text.contains(external_id));
    let refused = world.call(Method::DELETE, &path_of(&key), Some(&administrator)).await;
    assert_eq!(refused.code(), "credential_in_use");
    assert!(refused.json()["detail"].as_str().unwrap().contains("the credential Role"), "{refused:?}");
}

async fn what_is_no_credential_is_refused_by_its_field(world: World) {
    let administrator = world.log_in("administrator").await;
    world.save(&administrator, &access_key("Taken")).await;
    let external = r#"{"type":"external_account","credential_source":{"executable":{"command":"/bin/CANARY"}}}"#;

    for (body, status, code, field) in [
        (access_key("Taken"), 409, "label_taken", json!("label")),
        (access_key(" A"), 422, "field_invalid", json!("label")),
        (
            json!({"label": "A", "secret": secret("ASIACANARY0KEY0ID0WX")}),
            422,
            "credential_not_acceptable",
            json!("secret.access_key_id"),
        ),
        (
            json!({"label": "A", "secret": {"type": "aws_assume_role", "role_arn": "CANARY"}}),
            422,
            "credential_not_acceptable",
            json!("secret.role_arn"),
        ),
        (
            json!({"label": "A", "secret": {"type": "gcp_service_account_key", "key": external}}),
            422,
            "gcp_key_invalid",
            json!("secret.key"),
        ),
        (
            json!({"label": "A", "secret": {"type": "gcp_service_account_key", "key": "CANARY"}}),
            422,
            "gcp_key_invalid",
            json!("secret.key"),
        ),
        (json!({"label": "A", "secret": {"type": "azure"}}), 422, "field_invalid", json!("secret.type")),
        (
            json!({"label": "A", "secret": {"type": "aws_assume_role", "role_arn": "x", "owner_id": 1}}),
            422,
            "field_invalid",
            json!("secret"),
        ),
        (json!({"label": "A"}), 422, "field_invalid", json!(null)),
        (json!({"label": "A", "secret": secret("x"), "last_four": "CANARY"}), 422, "field_invalid", json!("last_four")),
    ] {
        let refused = world.change(Method::POST, PATH, &administrator, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (status, code), "{body}");
        assert_eq!(refused.json()["field"], field, "{body}: {refused:?}");
        assert!(!refused.text.contains("CANARY"), "{refused:?}");
    }
    assert_eq!(world.get(PATH, &administrator).await.json()["items"].as_array().unwrap().len(), 1);
}

async fn a_credential_in_use_is_not_deleted_and_the_answer_names_the_clusters(world: World) {
    let administrator = world.log_in("administrator").await;
    let saved = world.save(&administrator, &access_key("Production")).await;
    let credential = CredentialId(saved["credential"]["id"].as_str().unwrap().parse().unwrap());
    let host = world.register(&administrator).await.json();
    let on_record: ClusterId = host["id"].as_str().unwrap().parse().unwrap();
    let unknown = ClusterId::random();
    for cluster in [on_record, unknown] {
        world.platform.auth.bind(&vocabulary::Actor::KubeOpera, credential, cluster).await.unwrap();
    }

    let refused = world.call(Method::DELETE, &path_of(&saved), Some(&administrator)).await;

    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "credential_in_use"));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains(host["name"].as_str().unwrap()) && detail.contains(&unknown.to_string()), "{detail}");
    let listed = world.get(PATH, &administrator).await.json();
    assert_eq!(listed["items"][0]["clusters"].as_array().unwrap().len(), 2);
    for cluster in [on_record, unknown] {
        world.platform.auth.release(&vocabulary::Actor::KubeOpera, cluster).await.unwrap();
    }
    assert_eq!(world.call(Method::DELETE, &path_of(&saved), Some(&administrator)).await.status, StatusCode::NO_CONTENT);
}

async fn a_cloud_that_cannot_be_asked_says_nothing_about_a_credential(world: World) {
    let administrator = world.log_in("administrator").await;
    let key = world.save(&administrator, &access_key("Key")).await;
    let role = json!({"type": "aws_assume_role", "role_arn": "arn:aws:iam::123456789012:role/kubeopera"});
    let role = world.save(&administrator, &json!({"label": "Role", "secret": role})).await;
    let check = async |saved: &Value| {
        let path = format!("{}/check", path_of(saved));
        world.call(Method::POST, &path, Some(&administrator)).await
    };

    let away = check(&key).await;
    assert_eq!((away.status, away.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "cloud_unreachable"));
    assert!(away.headers.contains_key("retry-after"));
    let refused = check(&role).await;
    assert_eq!((refused.status, &refused.json()["accepted"]), (StatusCode::OK, &json!(false)));
    assert!(refused.json()["message"].as_str().unwrap().contains("source"), "{refused:?}");
}

async fn changes_of_credentials_are_written_down(world: World) {
    let (administrator, operator) = (world.log_in("administrator").await, world.log_in("operator").await);
    world.change(Method::POST, PATH, &operator, &access_key("Production")).await;
    let saved = world.save(&administrator, &access_key("Production")).await;
    world.change(Method::PATCH, &path_of(&saved), &administrator, &json!({"label": "Main"})).await;
    world.call(Method::DELETE, &path_of(&saved), Some(&operator)).await;
    world.call(Method::DELETE, &path_of(&saved), Some(&administrator)).await;

    let rows = world.told().await;

    let id = saved["credential"]["id"].as_str().unwrap();
    let row = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(row(&["|add_credential|", "|denied|", "|operator|"]), 1);
    assert_eq!(row(&["|delete_credential|", "|denied|", "|operator|"]), 1);
    for action in ["|add_credential|", "|change_credential|", "|delete_credential|"] {
        assert_eq!(row(&[action, "|done|", "|administrator|", id]), 1, "{action}");
    }
    assert_eq!(rows.len(), 3 + 2 + 5, "three people, two sessions: {rows:#?}");
    assert!(!rows.concat().contains("CANARY"));
}
