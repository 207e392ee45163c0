//! Against moto, which checks signatures and policies, and a stand-in for Google that checks the assertion.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use auth_service_contract::AwsAccessKey;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use axum::{Form, Json, Router, extract::State, http::StatusCode as Status, routing::post};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};
use testkit_moto::Aws;
use vocabulary::Secret;

use super::*;
use crate::credentials::gcp_key::tests::{key_file, private_key};

const NOWHERE: &str = "http://127.0.0.1:9/";

fn clouds(aws: &str, google: &str) -> Clouds {
    Clouds { aws_sts: aws.parse().unwrap(), google_token: google.parse().unwrap() }
}

fn key(id: &str, secret: &str) -> AwsAccessKey {
    AwsAccessKey { access_key_id: Secret::new(id), secret_access_key: Secret::new(secret) }
}

async fn check(clouds: &Clouds, access: &CloudAccess) -> Result<CheckOutcome, CredentialError> {
    clouds.check(access, Timestamp::now()).await
}

fn message(outcome: CheckOutcome) -> String {
    match outcome {
        CheckOutcome::Refused { message } => message,
        CheckOutcome::Accepted { .. } => panic!("{outcome:?}"),
    }
}

#[tokio::test]
async fn aws_says_who_a_key_is_and_what_is_wrong_with_one() {
    let aws = Aws::start().await.unwrap();
    let clouds = clouds(&aws.endpoint, NOWHERE);
    let access = |id: &str, secret: &str| CloudAccess::AwsAccessKey(key(id, secret));

    let accepted = check(&clouds, &access(&aws.access_key_id, &aws.secret_access_key)).await.unwrap();
    let identity = "arn:aws:iam::123456789012:user/kubeopera".to_owned();
    assert_eq!(accepted, CheckOutcome::Accepted { account: "123456789012".to_owned(), identity });

    let wrong = "CANARYsecret/access+key0123456789ABCDEFG";
    let refused = message(check(&clouds, &access(&aws.access_key_id, wrong)).await.unwrap());
    assert!(refused.contains("secret access key is not the one"), "{refused}");
    let refused = message(check(&clouds, &access("AKIACANARY0KEY0ID0WX", wrong)).await.unwrap());
    assert!(refused.contains("does not know this access key ID"), "{refused}");
    assert!(!refused.contains("CANARY"));
}

#[tokio::test]
async fn aws_says_whether_a_key_may_assume_a_role() {
    let aws = Aws::start().await.unwrap();
    let clouds = clouds(&aws.endpoint, NOWHERE);
    let role = |source| CloudAccess::AwsAssumeRole {
        role_arn: aws.role_arn.clone(),
        external_id: "kubeopera-1".to_owned(),
        source,
    };

    let accepted = check(&clouds, &role(Some(key(&aws.access_key_id, &aws.secret_access_key)))).await.unwrap();
    let identity = "arn:aws:sts::123456789012:assumed-role/kubeopera/kubeopera-check".to_owned();
    assert_eq!(accepted, CheckOutcome::Accepted { account: "123456789012".to_owned(), identity });

    let wrong = key(&aws.access_key_id, "CANARYsecret/access+key0123456789ABCDEFG");
    let refused = message(check(&clouds, &role(Some(wrong))).await.unwrap());
    assert!(refused.contains("secret access key"), "{refused}");
    let refused = message(check(&clouds, &role(None)).await.unwrap());
    assert!(refused.contains("whoever KubeOpera runs as"), "{refused}");
}

/// A token endpoint that checks what it is sent, and gives the answer it was told to give.
async fn google(answer: Option<(u16, Value)>) -> (String, Arc<Mutex<Vec<Value>>>) {
    type Seen = Arc<Mutex<Vec<Value>>>;
    type Told = (Option<(u16, Value)>, Seen);
    async fn give(
        State((answer, seen)): State<Told>,
        Form(form): Form<HashMap<String, String>>,
    ) -> (Status, Json<Value>) {
        let mut parts = form["assertion"].splitn(3, '.');
        let (header, claims, signature) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
        let der = PrivatePkcs8KeyDer::from_pem_slice(private_key().as_bytes()).unwrap();
        let pair = KeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
        let is_signed = public.verify(format!("{header}.{claims}").as_bytes(), &decoded(signature)).is_ok();
        let claims: Value = serde_json::from_slice(&decoded(claims)).unwrap();
        seen.lock().unwrap().push(json!({"claims": claims, "grant": form["grant_type"], "signed": is_signed}));
        match answer {
            Some((status, body)) => (Status::from_u16(status).unwrap(), Json(body)),
            None => (Status::OK, Json(json!({"access_token": "CANARY", "token_type": "Bearer", "expires_in": 3599}))),
        }
    }
    let seen = Seen::default();
    let router = Router::new().route("/token", post(give)).with_state((answer, Arc::clone(&seen)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/token", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, seen)
}

fn google_key() -> CloudAccess {
    let key = crate::credentials::gcp_key::parse(&Secret::new(key_file().to_string())).unwrap();
    CloudAccess::GcpServiceAccountKey { project_id: key.project_id, key: key.document }
}

#[tokio::test]
async fn google_gets_a_signed_assertion_that_says_who_asks_and_is_soon_over() {
    let (url, seen) = google(None).await;

    let accepted = check(&clouds(NOWHERE, &url), &google_key()).await.unwrap();

    let identity = "kubeopera@acme-platform.iam.gserviceaccount.com".to_owned();
    assert_eq!(accepted, CheckOutcome::Accepted { account: "acme-platform".to_owned(), identity });
    let seen = seen.lock().unwrap();
    let claims = &seen[0]["claims"];
    assert_eq!(
        (seen.len(), &seen[0]["signed"], &seen[0]["grant"]),
        (1, &json!(true), &json!("urn:ietf:params:oauth:grant-type:jwt-bearer"))
    );
    assert_eq!(claims["iss"], "kubeopera@acme-platform.iam.gserviceaccount.com");
    assert_eq!(claims["aud"], "https://oauth2.googleapis.com/token");
    assert!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap() <= 600);
}

#[tokio::test]
async fn what_google_refuses_is_told_in_our_words() {
    let canary = json!({"error": "invalid_grant", "error_description": "CANARY"});
    let (url, _) = google(Some((400, canary))).await;

    let refused = message(check(&clouds(NOWHERE, &url), &google_key()).await.unwrap());

    assert!(refused.contains("Google does not accept this key") && !refused.contains("CANARY"), "{refused}");
}

#[tokio::test]
async fn an_answer_that_means_nothing_is_no_verdict_on_the_credential() {
    for answer in [
        (500, json!({"error": "internal"})),
        (400, json!({"error": "CANARY"})),
        (200, json!({})),
        (200, json!([])),
        (200, json!({"token_type": "x".repeat(LARGEST)})),
        (302, json!({})),
    ] {
        let (url, _) = google(Some(answer.clone())).await;
        let no_verdict = check(&clouds(NOWHERE, &url), &google_key()).await;
        assert_eq!(no_verdict, Err(CredentialError::CloudUnreachable { cloud: "Google" }), "{answer:?}");
        let no_verdict = check(&clouds(&url, NOWHERE), &CloudAccess::AwsAccessKey(key("AKIA", "x"))).await;
        assert_eq!(no_verdict, Err(CredentialError::CloudUnreachable { cloud: "AWS" }), "{answer:?}");
    }
    let nobody = check(&clouds(NOWHERE, NOWHERE), &google_key()).await;
    assert_eq!(nobody, Err(CredentialError::CloudUnreachable { cloud: "Google" }));
}
