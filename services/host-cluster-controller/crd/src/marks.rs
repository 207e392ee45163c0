//! Labels by which KubeOpera knows its own objects again, and whose they are.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use vocabulary::ClusterId;

/// Label on every object KubeOpera makes for a cluster: the cluster's id.
pub const LABEL_CLUSTER_ID: &str = "kubeopera.io/cluster-id";
/// Label of what KubeOpera has made, with the value [`KUBEOPERA`].
pub const LABEL_MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Value of [`LABEL_MANAGED_BY`].
pub const KUBEOPERA: &str = "kubeopera";

/// The labels of what KubeOpera makes for a cluster.
pub fn marks(cluster: ClusterId) -> BTreeMap<String, String> {
    [(LABEL_CLUSTER_ID.to_owned(), cluster.to_string()), (LABEL_MANAGED_BY.to_owned(), KUBEOPERA.to_owned())].into()
}

/// Whose an object is by its label; any text, as anybody may have written it.
pub fn marked_for(object: &ObjectMeta) -> Option<&str> {
    object.labels.as_ref()?.get(LABEL_CLUSTER_ID).map(String::as_str)
}

/// Whether an object is this cluster's by its label.
pub fn is_marked(object: &ObjectMeta, cluster: ClusterId) -> bool {
    marked_for(object).is_some_and(|id| id == cluster.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_marked_as_the_clusters_own_is_its_own() {
        let cluster = ClusterId::random();
        let marked = |id: &str| ObjectMeta {
            labels: Some([(LABEL_CLUSTER_ID.to_owned(), id.to_owned())].into()),
            ..ObjectMeta::default()
        };
        assert!(is_marked(&marked(&cluster.to_string()), cluster));
        assert!(is_marked(&ObjectMeta { labels: Some(marks(cluster)), ..ObjectMeta::default() }, cluster));
        assert!(!is_marked(&marked(&ClusterId::random().to_string()), cluster));
        assert!(!is_marked(&ObjectMeta::default(), cluster));
    }
}
