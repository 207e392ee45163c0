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

/// Label on KubeOpera's objects on a managed cluster: which KubeOpera it is, see [`Installation::id`].
pub const LABEL_INSTALLATION: &str = "kubeopera.io/installation";
/// Annotation beside it: where people open that KubeOpera.
pub const ANNOTATION_INSTALLATION_URL: &str = "kubeopera.io/installation-url";

/// A KubeOpera, as another one comes to know it. A cluster is managed by one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Which records are its own: the UID of the kube-system namespace of the cluster that they were begun on. It is kept
    /// among them, so it stays when a backup is restored onto another cluster.
    pub id: String,
    /// Where people open it; none if that is not known.
    pub url: Option<String>,
}

impl Installation {
    /// Marks an object as written by this KubeOpera.
    pub fn mark(&self, object: &mut ObjectMeta) {
        object.labels.get_or_insert_default().insert(LABEL_INSTALLATION.to_owned(), self.id.clone());
        if let Some(url) = &self.url {
            object.annotations.get_or_insert_default().insert(ANNOTATION_INSTALLATION_URL.to_owned(), url.clone());
        }
    }

    /// Whose mark an object has; the URL is any text, as anybody may have written it.
    pub fn of(object: &ObjectMeta) -> Option<Self> {
        let id = object.labels.as_ref()?.get(LABEL_INSTALLATION)?.clone();
        let url = object.annotations.as_ref().and_then(|all| all.get(ANNOTATION_INSTALLATION_URL)).cloned();
        Some(Self { id, url })
    }
}

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

    #[test]
    fn an_object_tells_which_kubeopera_has_written_it() {
        let mut object = ObjectMeta::default();
        assert_eq!(Installation::of(&object), None);
        for url in [None, Some("https://kubeopera.acme.com".to_owned())] {
            let installation = Installation { id: "11111111-2222".to_owned(), url };
            installation.mark(&mut object);
            assert_eq!(Installation::of(&object), Some(installation));
        }
    }
}
