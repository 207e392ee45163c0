//! A Google service-account key, read strictly. The file decides where a library sends the key and what it runs, so that
//! nothing in it is believed that is not exactly as Google hands it out.

use aws_lc_rs::rsa::KeyPair;
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde::{Deserialize, de::IgnoredAny};
use vocabulary::Secret;
use zeroize::Zeroizing;

/// A key file has about 2.3 KB.
pub(crate) const LARGEST: usize = 16 * 1024;

pub(crate) const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";
const AUTH_URI: &str = "https://accounts.google.com/o/oauth2/auth";
const PROVIDER_CERTIFICATES: &str = "https://www.googleapis.com/oauth2/v1/certs";
const CLIENT_CERTIFICATES: &str = "https://www.googleapis.com/robot/v1/metadata/x509/";
const UNIVERSE: &str = "googleapis.com";

/// A key that is what it says.
#[derive(Debug)]
pub(crate) struct GcpKey {
    pub(crate) project_id: String,
    pub(crate) private_key_id: String,
    /// Written anew, so that it holds what we read and nothing else.
    pub(crate) document: Secret,
}

/// Only what decides how the rest is read.
#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    type_: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "type")]
    _type: IgnoredAny,
    project_id: String,
    private_key_id: String,
    private_key: Secret,
    client_email: String,
    client_id: String,
    auth_uri: Option<String>,
    token_uri: String,
    auth_provider_x509_cert_url: Option<String>,
    client_x509_cert_url: Option<String>,
    universe_domain: Option<String>,
}

/// Reads a key file; the error is the rule that it breaks.
pub(crate) fn parse(file: &Secret) -> Result<GcpKey, &'static str> {
    let text = file.reveal().trim().trim_start_matches('\u{feff}');
    if text.len() > LARGEST {
        return Err("A service-account key is smaller than 16 KB.");
    }
    let kind: Kind =
        serde_json::from_str(text).map_err(|_| "Paste or upload the JSON file of the key as Google hands it out.")?;
    match kind.type_.as_deref() {
        Some("service_account") => {}
        Some("external_account" | "external_account_authorized_user") => {
            return Err(
                "Workload identity federation is not accepted: such a file can make KubeOpera read files, call \
                        addresses and run programs. Use the key of a service account.",
            );
        }
        Some("authorized_user") => {
            return Err("This file is a person's log-in. Use the key of a service account.");
        }
        _ => return Err("The file must be the key of a service account: its type must be service_account."),
    }
    let document: Document = serde_json::from_str(text).map_err(
        |_| "The file lacks a field of a service-account key, repeats one, or has one that does not belong in it.",
    )?;
    check(&document)?;
    let rewritten = rewritten(&document).ok_or("The file cannot be read.")?;
    Ok(GcpKey { project_id: document.project_id, private_key_id: document.private_key_id, document: rewritten })
}

fn check(document: &Document) -> Result<(), &'static str> {
    let Document {
        _type: _,
        project_id,
        private_key_id,
        private_key,
        client_email,
        client_id,
        auth_uri,
        token_uri,
        auth_provider_x509_cert_url,
        client_x509_cert_url,
        universe_domain,
    } = document;
    if token_uri != TOKEN_URI {
        return Err("The token_uri must be Google's own: https://oauth2.googleapis.com/token.");
    }
    let is_absent_or = |field: &Option<String>, only: &str| field.as_deref().is_none_or(|value| value == only);
    if !is_absent_or(auth_uri, AUTH_URI) || !is_absent_or(auth_provider_x509_cert_url, PROVIDER_CERTIFICATES) {
        return Err("The auth_uri and the addresses of certificates must be Google's own.");
    }
    if !client_x509_cert_url.as_deref().is_none_or(|url| url.starts_with(CLIENT_CERTIFICATES)) {
        return Err("The addresses of certificates must be Google's own.");
    }
    if !is_absent_or(universe_domain, UNIVERSE) {
        return Err("Only Google's own cloud is supported: universe_domain must be googleapis.com.");
    }
    if !is_project_id(project_id) {
        return Err("The project_id is not one of Google's.");
    }
    if !(private_key_id.len() == 40 && private_key_id.bytes().all(|c| c.is_ascii_hexdigit())) {
        return Err("The private_key_id must be 40 hexadecimal digits.");
    }
    let account = client_email.strip_suffix(".gserviceaccount.com").unwrap_or_default();
    let is_account = account.split_once('@').is_some_and(|(name, host)| is_name(name) && is_name(host));
    if !is_account || !client_id.bytes().all(|c| c.is_ascii_digit()) || client_id.len() > 30 {
        return Err("The client_email and client_id must be those of a service account.");
    }
    // 2048 to 8192 bits; anything else the library refuses.
    let is_rsa = PrivatePkcs8KeyDer::from_pem_slice(private_key.reveal().as_bytes())
        .is_ok_and(|der| KeyPair::from_pkcs8(der.secret_pkcs8_der()).is_ok());
    if is_rsa { Ok(()) } else { Err("The private_key is not an RSA key in PEM form; it may have been cut.") }
}

/// 6 to 30 letters, digits and hyphens; older ones belong to a domain, as in `acme.com:project`.
fn is_project_id(text: &str) -> bool {
    (6..=63).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-.:".contains(&c))
}

fn is_name(text: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-._".contains(&c);
    (1..=128).contains(&text.len()) && text.bytes().all(allowed)
}

/// Every address is written as we know it, whatever was read.
fn rewritten(document: &Document) -> Option<Secret> {
    let mut text = Zeroizing::new(String::with_capacity(2 * LARGEST));
    text.push('{');
    for (position, (name, value)) in [
        ("type", "service_account"),
        ("project_id", &document.project_id),
        ("private_key_id", &document.private_key_id),
        ("private_key", document.private_key.reveal()),
        ("client_email", &document.client_email),
        ("client_id", &document.client_id),
        ("auth_uri", AUTH_URI),
        ("token_uri", TOKEN_URI),
        ("universe_domain", UNIVERSE),
    ]
    .into_iter()
    .enumerate()
    {
        if position > 0 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(name).ok()?);
        text.push(':');
        text.push_str(&Zeroizing::new(serde_json::to_string(value).ok()?));
    }
    text.push('}');
    Some(Secret::new(text.as_str()))
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use std::sync::OnceLock;

    use aws_lc_rs::{
        encoding::{AsDer, Pkcs8V1Der},
        rsa::KeySize,
    };
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde_json::{Value, json};

    use super::*;

    /// A fresh RSA key in PEM form; making one takes long, so there is one a process.
    pub(crate) fn private_key() -> &'static str {
        static KEY: OnceLock<String> = OnceLock::new();
        KEY.get_or_init(|| {
            let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
            let der: Pkcs8V1Der = pair.as_der().unwrap();
            let base64 = STANDARD.encode(der.as_ref());
            let lines: Vec<_> = base64.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
            format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
        })
    }

    /// A key file as Google hands it out.
    pub(crate) fn key_file() -> Value {
        json!({
            "type": "service_account",
            "project_id": "acme-platform",
            "private_key_id": "0123456789abcdef0123456789abcdef0123beef",
            "private_key": private_key(),
            "client_email": "kubeopera@acme-platform.iam.gserviceaccount.com",
            "client_id": "104857610485761048576",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": "https://oauth2.googleapis.com/token",
            "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
            "client_x509_cert_url": "https://www.googleapis.com/robot/v1/metadata/x509/kubeopera%40acme-platform.iam.gserviceaccount.com",
            "universe_domain": "googleapis.com"
        })
    }

    fn parsed(file: &Value) -> Result<GcpKey, &'static str> {
        parse(&Secret::new(file.to_string()))
    }

    #[test]
    fn a_key_as_google_hands_it_out_is_accepted_and_written_anew() {
        let key = parsed(&key_file()).unwrap();

        let document: Value = serde_json::from_str(key.document.reveal()).unwrap();
        assert_eq!((key.project_id.as_str(), &key.private_key_id[36..]), ("acme-platform", "beef"));
        assert_eq!(document["private_key"], private_key());
        assert_eq!(document["token_uri"], TOKEN_URI);
        assert!(parse(&key.document).is_ok(), "what is written is itself a key");
        assert!(parse(&Secret::new(format!("\u{feff}{}\n", key_file()))).is_ok(), "with a byte order mark");
    }

    #[test]
    fn whatever_could_send_the_key_elsewhere_or_run_something_is_refused() {
        for (field, value) in [
            ("type", json!("external_account")),
            ("type", json!("authorized_user")),
            ("type", json!("CANARY")),
            ("type", json!(1)),
            ("token_uri", json!("https://oauth2.googleapis.com.evil.example/token")),
            ("token_uri", json!("http://oauth2.googleapis.com/token")),
            ("token_uri", json!("http://169.254.169.254/token")),
            ("token_uri", json!("https://oauth2.googleapis.com/token?x=CANARY")),
            ("auth_uri", json!("https://evil.example/")),
            ("auth_provider_x509_cert_url", json!("https://evil.example/")),
            ("client_x509_cert_url", json!("file:///etc/passwd")),
            ("universe_domain", json!("evil.example")),
            ("credential_source", json!({"executable": {"command": "/bin/sh"}})),
            ("private_key", json!("CANARY")),
            ("private_key", json!("-----BEGIN PRIVATE KEY-----\nQ0FOQVJZ\n-----END PRIVATE KEY-----\n")),
            ("private_key_id", json!("CANARY")),
            ("client_email", json!("kubeopera@evil.example")),
            ("client_email", json!("a@b@c.gserviceaccount.com")),
            ("client_id", json!("CANARY")),
            ("project_id", json!("../CANARY")),
            ("CANARY", json!(1)),
        ] {
            let mut file = key_file();
            file[field] = value.clone();
            let refused = parsed(&file).expect_err(&format!("{field} {value}"));
            assert!(refused.ends_with('.') && !refused.contains("CANARY"), "{refused}");
        }
    }

    #[test]
    fn a_file_that_is_cut_or_says_a_thing_twice_is_refused() {
        let text = key_file().to_string();
        for file in [
            String::new(),
            "CANARY".to_owned(),
            "[]".to_owned(),
            "{}".to_owned(),
            text[..text.len() / 2].to_owned(),
            text.replacen('{', r#"{"token_uri":"https://evil.example/","#, 1),
            text.replacen('{', r#"{"type":"external_account","#, 1),
            format!("{text}{text}"),
            " ".repeat(10) + &"x".repeat(LARGEST + 1),
        ] {
            assert!(parse(&Secret::new(file.clone())).is_err(), "{file}");
        }
        let mut without = key_file();
        without.as_object_mut().unwrap().remove("private_key_id");
        assert!(parsed(&without).is_err());
    }
}
