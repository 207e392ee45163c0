//! What a credential may do.

use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use kube::{Api, Client, api::PostParams};
use vocabulary::Trouble;

use crate::trouble::{Attempt, trouble};

/// Whether every verb on every resource of every group is granted, which is what cluster-admin means.
pub async fn is_cluster_admin(client: &Client) -> Result<bool, Trouble> {
    let everything = ResourceAttributes {
        verb: Some("*".into()),
        group: Some("*".into()),
        resource: Some("*".into()),
        ..ResourceAttributes::default()
    };
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(everything),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let api: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let answer = api
        .create(&PostParams::default(), &review)
        .await
        .map_err(|error| trouble(Attempt("ask whether the credential has the role cluster-admin"), &error))?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}
