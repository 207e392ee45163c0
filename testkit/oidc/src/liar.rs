//! A provider that says whatever a test tells it to say, and writes down who asks it for what.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result};
use aws_lc_rs::{
    encoding::{AsDer, PublicKeyX509Der},
    hmac,
    rand::SystemRandom,
    rsa::KeySize,
    signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair},
};
use axum::{
    Form, Json, Router,
    extract::{Request, State},
    http::StatusCode,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// How a token is signed, whatever its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// With the provider's own RSA key, by RS256.
    Own,
    /// With an RSA key that it does not publish.
    Foreign,
    /// By HS256, with the published RSA key (its `SubjectPublicKeyInfo`) for a secret.
    PublicKeyAsSecret,
    /// Not at all.
    None,
}

/// The provider. It ends with the test.
#[derive(Debug, Clone)]
pub struct Liar {
    /// Its issuer.
    pub issuer: String,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    own: RsaKeyPair,
    foreign: RsaKeyPair,
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    metadata: Value,
    key_id: String,
    token_answer: (u16, Value),
    tokens: HashMap<String, String>,
    asked: Vec<String>,
    forms: Vec<HashMap<String, String>>,
}

impl Liar {
    /// Starts a provider that is honest until it is told otherwise, but has no token to give yet.
    pub async fn start() -> Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let issuer = format!("http://{}", listener.local_addr()?);
        let metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
        });
        let key = || RsaKeyPair::generate(KeySize::Rsa2048).context("making an RSA key");
        let said = Said { metadata, key_id: "one".to_owned(), token_answer: (400, json!({})), ..Said::default() };
        let inner = Arc::new(Inner { own: key()?, foreign: key()?, said: Mutex::new(said) });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata_document))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .layer(from_fn_with_state(Arc::clone(&inner), write_down))
            .with_state(Arc::clone(&inner));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { issuer, inner })
    }

    /// Changes fields of the discovery document.
    pub fn publish(&self, fields: &Value) {
        merge(&mut self.said().metadata, fields);
    }

    /// Gives the published key another name.
    pub fn rename_key(&self, id: &str) {
        id.clone_into(&mut self.said().key_id);
    }

    /// Answers every code with a token of these header and claims.
    pub fn give_token(&self, header: &Value, claims: &Value, signature: Signature) -> Result<()> {
        self.answer_codes(200, with_token(&self.token(header, claims, signature)?));
        Ok(())
    }

    /// Answers this code with an honest token, whatever others get.
    pub fn give_token_for(&self, code: &str, claims: &Value) -> Result<()> {
        let token = self.token(&json!({"alg": "RS256", "kid": self.said().key_id}), claims, Signature::Own)?;
        self.said().tokens.insert(code.to_owned(), token);
        Ok(())
    }

    fn token(&self, header: &Value, claims: &Value, signature: Signature) -> Result<String> {
        let signed = format!("{}.{}", encoded(header), encoded(claims));
        let rsa = |key: &RsaKeyPair| {
            let mut signature = vec![0; key.public_modulus_len()];
            key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).context("signing")?;
            Ok::<_, anyhow::Error>(signature)
        };
        let signature = match signature {
            Signature::Own => rsa(&self.inner.own)?,
            Signature::Foreign => rsa(&self.inner.foreign)?,
            Signature::PublicKeyAsSecret => {
                let public: PublicKeyX509Der<'_> = self.inner.own.public_key().as_der().context("encoding a key")?;
                hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, public.as_ref()), signed.as_bytes()).as_ref().to_vec()
            }
            Signature::None => Vec::new(),
        };
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Answers every code with this.
    pub fn answer_codes(&self, status: u16, body: Value) {
        self.said().token_answer = (status, body);
    }

    /// The paths that were asked for so far.
    pub fn asked(&self) -> Vec<String> {
        self.said().asked.clone()
    }

    /// The forms that came with codes so far.
    pub fn forms(&self) -> Vec<HashMap<String, String>> {
        self.said().forms.clone()
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.inner.said()
    }
}

impl Inner {
    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes fields of an object; null removes one.
fn merge(object: &mut Value, fields: &Value) {
    let (Some(object), Some(fields)) = (object.as_object_mut(), fields.as_object()) else { return };
    for (name, value) in fields {
        if value.is_null() {
            object.remove(name);
        } else {
            object.insert(name.clone(), value.clone());
        }
    }
}

fn with_token(token: &str) -> Value {
    json!({"token_type": "Bearer", "access_token": "CANARY", "id_token": token})
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

async fn write_down(State(inner): State<Arc<Inner>>, request: Request, next: Next) -> Response {
    inner.said().asked.push(request.uri().path().to_owned());
    next.run(request).await
}

async fn metadata_document(State(inner): State<Arc<Inner>>) -> Json<Value> {
    Json(inner.said().metadata.clone())
}

async fn keys(State(inner): State<Arc<Inner>>) -> Json<Value> {
    let public = inner.own.public_key();
    let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let modulus = public.modulus();
    let key = json!({
        "kty": "RSA",
        "use": "sig",
        "kid": inner.said().key_id,
        "n": number(modulus.big_endian_without_leading_zero()),
        "e": number(public.exponent().big_endian_without_leading_zero()),
    });
    // A shared secret has no place in what is published; whoever takes it for a key believes everybody.
    let secret = json!({"kty": "oct", "kid": "secret", "k": number(b"everybody knows this")});
    Json(json!({"keys": [{"kty": "unheard of"}, key, secret]}))
}

async fn token(State(inner): State<Arc<Inner>>, Form(form): Form<HashMap<String, String>>) -> Response {
    let mut said = inner.said();
    let for_this_code = form.get("code").and_then(|code| said.tokens.get(code)).map(|token| (200, with_token(token)));
    said.forms.push(form);
    let (status, body) = for_this_code.unwrap_or_else(|| said.token_answer.clone());
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Json(body)).into_response()
}
