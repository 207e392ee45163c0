//! The kubeconfig doctor: can this be used from here, and if not, why exactly.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube_kit::{
    Context, Discovery, HOW_TO_MAKE_A_TOKEN, Kubeconfig, KubeconfigOptions, KubeconfigProblem, ValidKubeconfig,
    printable,
};
use vocabulary::{Trouble, TroubleKind};

use super::{Caller, Platform};
use crate::{
    error::AppError,
    store::{
        audit::Action,
        clusters::{self, Record},
    },
    verdict::{ContextVerdict, Finding, FoundCluster, KnownCluster, KubeconfigCheck, Verdict},
    view::NodeCount,
};

/// A cluster has to be looked at within this.
const LOOK_WITHIN: Duration = Duration::from_secs(10);
/// Contexts of one file whose clusters are called, all at once. The others are looked at when somebody asks for them.
const MOST_CALLED: usize = 8;
/// A credential that ends sooner is worth a word.
const SOON: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Of a name that somebody gave a context.
const LONGEST_NAME: usize = 253;

impl Platform {
    /// Says of each context whether it can be used from here, or of one only. Nothing is stored.
    pub(crate) async fn check_kubeconfig(
        &self,
        caller: &Caller,
        kubeconfig: &[u8],
        only: Option<&str>,
    ) -> Result<KubeconfigCheck, AppError> {
        self.permit(caller, Action::CheckKubeconfig).await?;
        self.spend(caller, Action::CheckKubeconfig, self.allowances.checks).await?;
        let file = Kubeconfig::read(kubeconfig).map_err(Finding::from)?;
        let preferred = file.preferred_context();
        let mut contexts: Vec<_> =
            file.contexts().filter(|context| only.is_none_or(|name| context.name == name)).collect();
        if contexts.is_empty() {
            let missing = match only {
                Some(_) => "The kubeconfig has no context of this name.".to_owned(),
                None => format!("The kubeconfig has no context. {HOW_TO_MAKE_A_TOKEN}"),
            };
            let field = Some("kubeconfig.contexts".to_owned());
            return Err(Finding::new("kubeconfig_unresolved_reference", field, missing).into());
        }
        // The preferred one is among those that are called.
        let first = contexts.iter().position(|context| Some(context.name) == preferred).unwrap_or(0);
        if let Some(ahead) = contexts.get_mut(..=first) {
            ahead.rotate_right(1);
        }
        let mut calls = 0;
        let verdicts = contexts.into_iter().map(|context| {
            let readable = usable(&file, context.name, self.kubeconfigs);
            calls += usize::from(readable.is_ok());
            self.verdict(context, readable, calls <= MOST_CALLED)
        });
        // At most MOST_CALLED of them wait for anything.
        let mut verdicts = futures::future::join_all(verdicts).await;
        if let Some(ahead) = verdicts.get_mut(..=first) {
            ahead.rotate_left(1);
        }
        Ok(KubeconfigCheck { preferred: preferred.map(name), contexts: verdicts })
    }

    async fn verdict(
        &self,
        context: Context<'_>,
        readable: Result<ValidKubeconfig, Finding>,
        call: bool,
    ) -> ContextVerdict {
        let mut verdict = ContextVerdict {
            name: name(context.name),
            is_current: context.is_current,
            verdict: Verdict::Refused,
            refusal: None,
            warnings: Vec::new(),
            server: None,
            expires_at: None,
            cluster: None,
        };
        let kubeconfig = match readable {
            Ok(kubeconfig) => kubeconfig,
            Err(finding) => return ContextVerdict { refusal: Some(finding), ..verdict },
        };
        verdict.server = Some(printable(kubeconfig.server().as_str(), LONGEST_NAME));
        verdict.expires_at = kubeconfig.expires_at();
        verdict.warnings.extend(verdict.expires_at.and_then(ends_soon));
        verdict.warnings.extend(kubeconfig.ends_untold().map(Finding::from));
        verdict.warnings.extend(kubeconfig.authority_flaws().into_iter().map(Finding::from));
        if !call {
            return ContextVerdict { verdict: Verdict::NotChecked, ..verdict };
        }
        match self.look_through(&kubeconfig).await {
            Err(finding) => verdict.refusal = Some(finding),
            Ok(discovery) => match self.known_as(&discovery.uid).await {
                Ok(known_as) => {
                    verdict.refusal = known_as.as_ref().map(Known::finding);
                    verdict.cluster = Some(found(&discovery, known_as));
                }
                Err(error) => {
                    tracing::warn!("whether a cluster is known could not be found out: {}", service_kit::chain(&error));
                    return ContextVerdict { verdict: Verdict::NotChecked, ..verdict };
                }
            },
        }
        if verdict.refusal.is_none() {
            verdict.verdict = Verdict::Usable;
        }
        verdict
    }

    /// The cluster at the other end, if it answers and lets us do everything.
    pub(super) async fn look_through(&self, kubeconfig: &ValidKubeconfig) -> Result<Discovery, Finding> {
        if kubeconfig.expires_at().is_some_and(|end| end <= Timestamp::now()) {
            let message = format!("The credential of this kubeconfig has expired. {HOW_TO_MAKE_A_TOKEN}");
            return Err(Finding::new("credential_expired", None, message));
        }
        let look = async {
            let client = self.elsewhere.client(kubeconfig).await.map_err(unusable)?;
            if !kube_kit::is_cluster_admin(&client).await.map_err(unusable)? {
                let message = format!("The credential of this kubeconfig is not cluster-admin. {HOW_TO_MAKE_A_TOKEN}");
                return Err(Finding::new("insufficient_permissions", None, message));
            }
            kube_kit::discover(&client).await.map_err(unusable)
        };
        let looked = tokio::time::timeout(LOOK_WITHIN, look).await.unwrap_or_else(|_| Err(unreachable()));
        looked.map_err(|finding| blaming_the_authority(finding, kubeconfig))
    }

    /// What KubeOpera knows of a cluster with this identity, whatever its names, addresses and users are.
    pub(super) async fn known_as(&self, uid: &str) -> Result<Option<Known>, AppError> {
        if let Some(record) = clusters::by_kube_system_uid(&self.db, uid).await? {
            return Ok(Some(Known::connected(&record)));
        }
        Ok((self.own_uid().await? == uid).then_some(Known::Host))
    }

    /// UID of the cluster that KubeOpera runs on. As long as this process lives, that is one and the same.
    async fn own_uid(&self) -> Result<&str, Trouble> {
        let read = async {
            let uid = tokio::time::timeout(LOOK_WITHIN, kube_kit::cluster_uid(&self.client)).await;
            uid.map_err(|_| Trouble::transient("Timeout", "KubeOpera's own API server did not answer in time."))?
        };
        self.own_uid.get_or_try_init(|| read).await.map(String::as_str)
    }
}

/// A cluster that cannot be connected once more.
#[derive(Debug, Clone)]
pub(super) enum Known {
    Connected(KnownCluster),
    /// The cluster KubeOpera runs on, not registered so far.
    Host,
}

impl Known {
    pub(super) fn connected(record: &Record) -> Self {
        Self::Connected(KnownCluster { id: record.id.uuid(), name: record.name.to_string() })
    }

    pub(super) fn finding(&self) -> Finding {
        match self {
            Self::Connected(KnownCluster { name, .. }) => Finding::new(
                "cluster_already_known",
                None,
                format!(
                    "KubeOpera manages this cluster already: it is {name}. To give it another kubeconfig, replace the one it has."
                ),
            ),
            Self::Host => Finding::new(
                "is_host_cluster",
                None,
                "This is the cluster that KubeOpera runs on. Use Register This Cluster: it needs no kubeconfig.",
            ),
        }
    }
}

/// What a context names, and that its name can be used.
pub(super) fn usable(file: &Kubeconfig, context: &str, options: KubeconfigOptions) -> Result<ValidKubeconfig, Finding> {
    if name(context) != context {
        let field = Some("kubeconfig.contexts".to_owned());
        let message = "The name of this context is too long or has characters that cannot be shown. Rename it with `kubectl config rename-context`.";
        return Err(Finding::new("kubeconfig_context_name", field, message));
    }
    Ok(file.usable(context, options)?)
}

/// A context's name as it is shown.
fn name(context: &str) -> String {
    context.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect()
}

fn found(discovery: &Discovery, known: Option<Known>) -> FoundCluster {
    FoundCluster {
        kubernetes_version: discovery.version.to_string(),
        nodes: NodeCount { total: discovery.nodes.total, ready: discovery.nodes.ready },
        provider: discovery.provider.to_string(),
        region: discovery.region.to_string(),
        known_as: known.and_then(|known| match known {
            Known::Connected(cluster) => Some(cluster),
            Known::Host => None,
        }),
    }
}

fn ends_soon(end: Timestamp) -> Option<Finding> {
    let now = Timestamp::now();
    let days = end.duration_since(now).as_hours() / 24;
    (end > now && end.duration_since(now) < SOON).then(|| {
        let message = format!(
            "The credential of this kubeconfig ends in {days} days, and KubeOpera loses the cluster with it. {HOW_TO_MAKE_A_TOKEN}"
        );
        Finding::new("credential_ends_soon", None, message)
    })
}

impl From<KubeconfigProblem> for Finding {
    fn from(problem: KubeconfigProblem) -> Self {
        Self::new(problem.code, Some(problem.field), problem.message)
    }
}

/// Why a look failed. Whoever tries addresses learns the same from each that does not answer, however it does not.
fn unusable(trouble: Trouble) -> Finding {
    let code = match trouble.reason.as_str() {
        "Unauthorized" => {
            let message =
                format!("The API server does not accept the credential of this kubeconfig. {HOW_TO_MAKE_A_TOKEN}");
            return Finding::new("unauthorized", None, message);
        }
        "Forbidden" => "insufficient_permissions",
        "TLSVerificationFailed" => "tls_verification_failed",
        "UnexpectedRedirect" => "unexpected_redirect",
        "NotKubernetes" | "UnexpectedAnswer" | "AnswerTooLarge" | "NotFound" | "Invalid" => "not_kubernetes",
        "CertificateUnusable" | "CredentialUnusable" => "credential_unusable",
        "ClusterAddressForbidden" => "cluster_address_forbidden",
        "ServerError" | "TooManyRequests" => "cluster_not_available",
        _ if trouble.kind == TroubleKind::Bug => "internal_error",
        _ => return unreachable(),
    };
    Finding::new(code, None, trouble.message)
}

/// A certificate that is not trusted may be the fault of what the kubeconfig has as authority.
fn blaming_the_authority(mut finding: Finding, kubeconfig: &ValidKubeconfig) -> Finding {
    if finding.code == "tls_verification_failed" {
        let none = "The kubeconfig has no certificate-authority-data, so that only public authorities are trusted.";
        let flaws = kubeconfig.authority_flaws().into_iter().map(|flaw| flaw.message);
        for sentence in flaws.chain((!kubeconfig.has_authority()).then(|| none.to_owned())) {
            finding.message = format!("{} {sentence}", finding.message);
        }
    }
    finding
}

fn unreachable() -> Finding {
    let message = "KubeOpera cannot reach the API server from where it runs. Check the address in the kubeconfig, that its \
                   name is known here, and that a firewall lets KubeOpera through.";
    Finding::new("cluster_unreachable", None, message)
}
