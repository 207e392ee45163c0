//! Kubeconfigs for a real cluster as people bring them, good ones and others.

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRoleBinding, RoleRef, Subject},
};
use kube::{Api, api::PostParams};
use serde_json::{Value, json};

const NAMESPACE: &str = "kube-system";

/// A kubeconfig with a context for each of these (name, cluster, user).
pub(crate) fn kubeconfig(contexts: &[(&str, Value, Value)]) -> String {
    let list = |entry: &dyn Fn(&(&str, Value, Value)) -> Value| contexts.iter().map(entry).collect::<Value>();
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": contexts[0].0,
        "contexts": list(&|(name, ..)| json!({"name": name, "context": {"cluster": name, "user": name}})),
        "clusters": list(&|(name, cluster, _)| json!({"name": name, "cluster": cluster})),
        "users": list(&|(name, _, user)| json!({"name": name, "user": user})),
    })
    .to_string()
}

/// A field of the kubeconfig that a local cluster comes with.
pub(crate) fn field<'a>(file: &'a str, name: &str) -> &'a str {
    file.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": ")).unwrap()
}

/// The token of a `ServiceAccount` of this name, which is cluster-admin or may do nothing.
pub(crate) async fn token(client: &kube::Client, name: &str, is_admin: bool) -> String {
    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), NAMESPACE);
    let mut account = ServiceAccount::default();
    account.metadata.name = Some(name.to_owned());
    accounts.create(&PostParams::default(), &account).await.unwrap();
    if is_admin {
        let binding = ClusterRoleBinding {
            metadata: account.metadata,
            role_ref: RoleRef {
                api_group: "rbac.authorization.k8s.io".to_owned(),
                kind: "ClusterRole".to_owned(),
                name: "cluster-admin".to_owned(),
            },
            subjects: Some(vec![Subject {
                kind: "ServiceAccount".to_owned(),
                name: name.to_owned(),
                namespace: Some(NAMESPACE.to_owned()),
                ..Subject::default()
            }]),
        };
        let bindings = Api::<ClusterRoleBinding>::all(client.clone());
        bindings.create(&PostParams::default(), &binding).await.unwrap();
    }
    let wanted = TokenRequest {
        spec: TokenRequestSpec { expiration_seconds: Some(3600), ..TokenRequestSpec::default() },
        ..TokenRequest::default()
    };
    let made = accounts.create_token_request(name, &PostParams::default(), &wanted).await.unwrap();
    made.status.unwrap().token
}
