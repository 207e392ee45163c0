//! What a failed call to an API server means for who has to act.
//!
//! A server's own text is never passed on: it may hold anything. Only words from Kubernetes' closed lists and field paths
//! of a fixed alphabet are.

use std::error::Error as StdError;

use kube::core::response::Status;
use vocabulary::{Trouble, TroubleKind};

use crate::{
    client::GuardError,
    kubeconfig::{NoAddress, Refused},
};

/// What was being attempted, as the words after "Could not": `read the nodes`.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a>(pub &'a str);

/// Names who has to act after a failed call and says what to do.
pub fn trouble(attempt: Attempt<'_>, error: &kube::Error) -> Trouble {
    let (kind, reason, cause) = cause(error);
    Trouble { kind, reason: reason.to_owned(), message: format!("Could not {}: {cause}", attempt.0) }
}

/// Whether the object or its kind does not exist.
pub fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_not_found() || status.code == 404)
}

/// What came of deleting or changing an object; one that is gone already is fine.
pub fn unless_gone<T>(answer: Result<T, kube::Error>, attempt: Attempt<'_>) -> Result<(), Trouble> {
    match answer {
        Err(error) if !is_not_found(&error) => Err(trouble(attempt, &error)),
        _ => Ok(()),
    }
}

type Cause = (TroubleKind, &'static str, String);

fn cause(error: &kube::Error) -> Cause {
    use TroubleKind::{Bug, Rejected, Transient};
    match error {
        kube::Error::Api(status) => answered(status),
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => {
            (Rejected, "NotKubernetes", "the server answered, but not as a Kubernetes API. Check the address.".into())
        }
        kube::Error::LinesCodecMaxLineLengthExceeded => too_large(),
        kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => {
            (Bug, "BadRequest", "KubeOpera built a request that is not valid.".into())
        }
        kube::Error::Auth(_) => (
            Rejected,
            "CredentialUnusable",
            "the credential cannot be used. Supply a kubeconfig with a token or a client certificate.".into(),
        ),
        kube::Error::RustlsTls(_) => (
            Rejected,
            "CertificateUnusable",
            "a certificate or key of the kubeconfig cannot be read. Copy the kubeconfig again.".into(),
        ),
        other => connection(other).unwrap_or((
            Transient,
            "Unreachable",
            "the API server cannot be reached. Check its address, and that a firewall lets KubeOpera through.".into(),
        )),
    }
}

/// The server answered with a Kubernetes Status.
fn answered(status: &Status) -> Cause {
    use TroubleKind::{Rejected, Transient};
    match status.code {
        401 => (
            Rejected,
            "Unauthorized",
            "the API server does not accept the credential. It may have expired: supply a new kubeconfig.".into(),
        ),
        403 if has_cause(status, "NamespaceTerminating") => {
            (Transient, "NamespaceTerminating", format!("the namespace of {} is being deleted.", subject(status)))
        }
        // Authorisation says "cannot"; admission (Pod Security, quotas, policies) answers 403 as well.
        403 if !status.message.contains(" cannot ") => (
            Rejected,
            "RefusedByPolicy",
            format!("a policy or quota of the cluster refuses {}. Allow it there.", subject(status)),
        ),
        403 => (
            Rejected,
            "Forbidden",
            format!("the credential may not do this with {}. Give it the role cluster-admin.", subject(status)),
        ),
        404 => (Transient, "NotFound", format!("{} does not exist (yet).", subject(status))),
        409 if status.is_already_exists() => {
            (Transient, "AlreadyExists", format!("{} exists already.", subject(status)))
        }
        409 => (Transient, "Conflict", format!("{} was changed at the same time.", subject(status))),
        410 => (Transient, "Expired", "the list took too long and has to be read again.".into()),
        400 | 405 | 406 | 413 | 415 | 422 => {
            (Rejected, "Invalid", format!("the API server refuses {}{}.", subject(status), fields(status)))
        }
        429 => (Transient, "TooManyRequests", "the API server asks for fewer requests.".into()),
        code @ 500..=599 => (Transient, "ServerError", format!("the API server answered {code}.")),
        code => (Rejected, "UnexpectedAnswer", format!("the server answered {code}. Check the address.")),
    }
}

/// The call did not get as far as an answer of Kubernetes.
fn connection(error: &kube::Error) -> Option<Cause> {
    use TroubleKind::{Rejected, Transient};
    let mut link: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(current) = link {
        if let Some(guard) = current.downcast_ref::<GuardError>() {
            return Some(match guard {
                GuardError::Timeout => {
                    (Transient, "Timeout", "the API server did not answer in time. It may be overloaded.".into())
                }
                GuardError::TooLarge => too_large(),
                GuardError::Redirect => (
                    Rejected,
                    "UnexpectedRedirect",
                    "the server redirects to another address, which is not followed. Enter the API server's own address."
                        .into(),
                ),
            });
        }
        if let Some(refused) = current.downcast_ref::<Refused>() {
            return Some((Rejected, "ClusterAddressForbidden", format!("the address {refused}")));
        }
        if current.is::<NoAddress>() {
            let cause = "its host name has no address. Check the server field of the kubeconfig.";
            return Some((Transient, "Unreachable", cause.into()));
        }
        if let Some(tls) = tls_error(current) {
            return Some((Rejected, "TLSVerificationFailed", tls_cause(tls)));
        }
        link = current.source();
    }
    None
}

fn too_large() -> Cause {
    (
        TroubleKind::Rejected,
        "AnswerTooLarge",
        "the server's answer is larger than a Kubernetes API server's. Check the address.".into(),
    )
}

/// A TLS error inside an I/O error is not among its sources, and is often nested twice.
fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    if let Some(tls) = error.downcast_ref() {
        return Some(tls);
    }
    tls_error(error.downcast_ref::<std::io::Error>()?.get_ref()?)
}

fn tls_cause(error: &rustls::Error) -> String {
    use rustls::{CertificateError as Certificate, Error};
    match error {
        Error::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            "the API server's certificate has expired. Renew it."
        }
        Error::InvalidCertificate(Certificate::NotValidYet | Certificate::NotValidYetContext { .. }) => {
            "the API server's certificate is not valid yet. Check the clocks of both machines."
        }
        Error::InvalidCertificate(Certificate::NotValidForNameContext { presented, .. }) if !presented.is_empty() => {
            return format!(
                "the API server's certificate does not name this address, but {}. Use one of these, or give one of them as \
                 tls-server-name.",
                names(presented)
            );
        }
        Error::InvalidCertificate(Certificate::NotValidForName | Certificate::NotValidForNameContext { .. }) => {
            "the API server's certificate does not name this address. Use an address that the certificate names."
        }
        Error::InvalidCertificate(_) => {
            "the API server's certificate is not signed by the certificate authority of the kubeconfig. Put the \
             cluster's own into certificate-authority-data: `kubectl -n kube-system get configmap kube-root-ca.crt -o \
             jsonpath='{.data.ca\\.crt}' | base64 -w0` prints it."
        }
        _ => "no secure connection to the API server could be made. Check the address and its port.",
    }
    .to_owned()
}

/// Names in a certificate, which rustls shows as `DnsName("api.acme.com")` and `IpAddress(10.0.0.7)`: at most five.
fn names(presented: &[String]) -> String {
    let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || ".-:*".contains(c);
    let bare =
        |name: &String| name.rsplit('(').next().unwrap_or_default().chars().filter(|c| is_of_a_name(*c)).collect();
    let names: Vec<String> = presented.iter().map(bare).filter(|name: &String| !name.is_empty()).take(5).collect();
    names.join(", ")
}

fn has_cause(status: &Status, reason: &str) -> bool {
    status.details.iter().flat_map(|details| &details.causes).any(|cause| cause.reason == reason)
}

/// `deployments source-controller`, as the answer's details name it.
fn subject(status: &Status) -> String {
    match &status.details {
        Some(details) if !details.kind.is_empty() && !details.name.is_empty() => {
            format!("{} {}", word(&details.kind), word(&details.name))
        }
        Some(details) if !details.kind.is_empty() => word(&details.kind),
        _ => "the object".to_owned(),
    }
}

/// The field paths that the answer objects to: at most three, without their values.
fn fields(status: &Status) -> String {
    let fields: Vec<_> = status
        .details
        .iter()
        .flat_map(|details| &details.causes)
        .map(|cause| word(&cause.field))
        .filter(|field| !field.is_empty())
        .take(3)
        .collect();
    if fields.is_empty() { String::new() } else { format!(" because of {}", fields.join(", ")) }
}

/// A name, reason or field path of a remote server as far as it can be shown: at most 120 characters of its alphabet.
pub fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || "._-/[]".contains(*c)).take(120).collect()
}

/// A remote text in a form that can be shown: one line, no control characters, at most `longest` characters, and nothing
/// that has the look of a credential (user information in URLs, long runs of base64).
pub fn printable(text: &str, longest: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.map(without_credential).collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    let mut short: String = line.chars().take(longest.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// `https://user:token@host/` without the user; a run of 40 or more characters of base64 that is not a hash or a path
/// becomes dots.
fn without_credential(word: &str) -> String {
    if let Some((scheme, rest)) = word.split_once("://") {
        let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        if let Some((authority, path)) = rest.split_at_checked(host_end)
            && let Some((_, host)) = authority.rsplit_once('@')
        {
            return format!("{scheme}://{host}{path}");
        }
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '=' || c == '_' || c == '-';
    let longest_run = word.split(|c| !is_part(c)).max_by_key(|run| run.len()).unwrap_or_default();
    let is_hash = longest_run.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c) || c == b'-');
    let looks_random = longest_run.bytes().any(|c| c.is_ascii_uppercase())
        && longest_run.bytes().any(|c| c.is_ascii_digit())
        && longest_run.bytes().any(|c| c.is_ascii_lowercase());
    if longest_run.len() >= 40 && !is_hash && looks_random {
        "••••••••".to_owned()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn after(status: serde_json::Value) -> Trouble {
        let status: Status = serde_json::from_value(status).unwrap();
        trouble(Attempt("install Flux"), &kube::Error::Api(status.boxed()))
    }

    #[test]
    fn each_answer_says_who_has_to_act() {
        for (code, kind, reason) in [
            (401, TroubleKind::Rejected, "Unauthorized"),
            (403, TroubleKind::Rejected, "RefusedByPolicy"),
            (404, TroubleKind::Transient, "NotFound"),
            (409, TroubleKind::Transient, "Conflict"),
            (410, TroubleKind::Transient, "Expired"),
            (422, TroubleKind::Rejected, "Invalid"),
            (429, TroubleKind::Transient, "TooManyRequests"),
            (500, TroubleKind::Transient, "ServerError"),
            (503, TroubleKind::Transient, "ServerError"),
            (302, TroubleKind::Rejected, "UnexpectedAnswer"),
        ] {
            let trouble = after(json!({"code": code, "message": "CANARY", "reason": ""}));
            assert_eq!((trouble.kind, trouble.reason.as_str()), (kind, reason));
            assert!(trouble.message.starts_with("Could not install Flux: "), "{trouble}");
            assert!(!trouble.message.contains("CANARY"), "{trouble}");
        }
    }

    #[test]
    fn a_refused_object_is_named_with_its_fields_and_without_their_values() {
        let trouble = after(json!({
            "code": 422, "reason": "Invalid", "message": "spec.x: Invalid value: \"CANARY\"",
            "details": {"kind": "Deployment", "name": "source-controller",
                "causes": [{"reason": "FieldValueInvalid", "field": "spec.replicas", "message": "CANARY"}]},
        }));

        assert_eq!(
            trouble.message,
            "Could not install Flux: the API server refuses Deployment source-controller because of spec.replicas."
        );
    }

    #[test]
    fn of_what_is_forbidden_the_right_party_is_told() {
        let forbidden = |message: &str, causes: serde_json::Value| {
            let details = json!({"kind": "deployments", "name": "x", "causes": causes});
            let status = json!({"code": 403, "reason": "Forbidden", "message": message, "details": details});
            let trouble = after(status);
            (trouble.kind, trouble.reason)
        };

        let no_right = forbidden("deployments is forbidden: User \"u\" cannot patch resource", json!([]));
        let policy = forbidden("x is forbidden: violates PodSecurity \"restricted:latest\"", json!([]));
        let ending = json!([{"reason": "NamespaceTerminating", "field": "metadata.namespace", "message": "m"}]);
        let going = forbidden("x is forbidden: unable to create new content in namespace flux-system", ending);

        assert_eq!(no_right, (TroubleKind::Rejected, "Forbidden".to_owned()));
        assert_eq!(policy, (TroubleKind::Rejected, "RefusedByPolicy".to_owned()));
        assert_eq!(going, (TroubleKind::Transient, "NamespaceTerminating".to_owned()));
    }

    #[test]
    fn a_certificate_that_is_not_trusted_is_told_from_a_server_that_is_not_there() {
        let certificate = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let nested = std::io::Error::other(std::io::Error::new(std::io::ErrorKind::InvalidData, certificate));
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);

        let untrusted = trouble(Attempt("connect"), &kube::Error::Service(Box::new(nested)));
        let absent = trouble(Attempt("connect"), &kube::Error::Service(Box::new(refused)));

        assert_eq!((untrusted.kind, untrusted.reason.as_str()), (TroubleKind::Rejected, "TLSVerificationFailed"));
        assert_eq!((absent.kind, absent.reason.as_str()), (TroubleKind::Transient, "Unreachable"));
    }

    #[test]
    fn remote_text_is_shown_on_one_line_shortened_and_without_credentials() {
        assert_eq!(printable("a\n\tb \u{1b}[31mc", 40), "a b [31mc");
        assert_eq!(
            printable("pull https://user:CANARY@reg.acme.com/x failed", 60),
            "pull https://reg.acme.com/x failed"
        );
        assert_eq!(
            printable("token eyJhbGciOiJSUzI1NiIsImtpZCI6IkNBTkFSWSJ9xx1234567890AB bad", 60),
            "token •••••••• bad"
        );
        let revision = "main@sha1:e93be56e0a1f7e93be56e0a1f7e93be56e0a1f70";
        assert_eq!(printable(revision, 80), revision);
        assert_eq!(printable("one two three", 8), "one two…");
    }
}
