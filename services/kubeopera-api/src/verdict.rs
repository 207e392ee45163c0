//! What the doctor says about a kubeconfig.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::view::NodeCount;

/// A kubeconfig, context by context. Of the file itself only names and addresses are told.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KubeconfigCheck {
    /// The context to use unless somebody chooses: the current one, or the only one there is.
    #[schema(required)]
    pub(crate) preferred: Option<String>,
    /// In the order of the file.
    pub(crate) contexts: Vec<ContextVerdict>,
}

/// Whether a context can be used from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Verdict {
    Usable,
    Refused,
    NotChecked,
}

/// A context and what came of looking at it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContextVerdict {
    /// Its name in the file.
    pub(crate) name: String,
    /// Whether it is the file's current context.
    pub(crate) is_current: bool,
    /// Whether it can be used from here. In a file with many contexts only some are looked at; ask for the others by name.
    pub(crate) verdict: Verdict,
    /// Why it is refused. Null otherwise.
    #[schema(required)]
    pub(crate) refusal: Option<Finding>,
    /// What will become a trouble.
    pub(crate) warnings: Vec<Finding>,
    /// Address of its API server. Null if it has none that may be used.
    #[schema(required)]
    pub(crate) server: Option<String>,
    /// When its credential ends. Null if it does not tell.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
    /// The cluster it leads to. Null unless that was seen.
    #[schema(required)]
    pub(crate) cluster: Option<FoundCluster>,
}

/// Something about a kubeconfig, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Finding {
    /// One word for programs, stable over versions.
    pub(crate) code: &'static str,
    /// The field at fault, such as `kubeconfig.users[0].user.exec`. Null if none is.
    #[schema(required)]
    pub(crate) field: Option<String>,
    /// What is wrong and what to do, as sentences.
    pub(crate) message: String,
    /// The commands in it that mend it.
    pub(crate) commands: Vec<String>,
}

/// A cluster at the other end of a kubeconfig.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundCluster {
    /// Kubernetes version of the API server.
    pub(crate) kubernetes_version: String,
    /// Its nodes.
    pub(crate) nodes: NodeCount,
    /// Provider by its nodes, or unknown.
    pub(crate) provider: String,
    /// Region by its nodes, or unknown.
    pub(crate) region: String,
    /// The cluster under which KubeOpera knows it. Null if it does not.
    #[schema(required)]
    pub(crate) known_as: Option<KnownCluster>,
}

/// A cluster that KubeOpera knows already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct KnownCluster {
    /// Its id.
    pub(crate) id: Uuid,
    /// Its name.
    pub(crate) name: String,
}

impl Finding {
    pub(crate) fn new(code: &'static str, field: Option<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        let quoted = message.split('`').skip(1).step_by(2);
        let commands = quoted.filter(|words| words.starts_with("kubectl ") || words.starts_with("openssl "));
        let commands = commands.map(str::to_owned).collect();
        Self { code, field, message, commands }
    }
}
