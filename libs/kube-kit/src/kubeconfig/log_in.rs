//! The ways in which kubeconfigs of other tools log in, and how to log in with a token instead.
//!
//! Of the programs that are known only the family is kept; nothing that stands in the file is ever quoted.

use serde::Deserialize;
use serde_json::Value;
use vocabulary::Secret;

/// How to make a kubeconfig that needs no program to log in, as sentences with commands.
///
/// The token is that of a Secret: EKS and AKS let one that is asked for (`kubectl create token`) end after 24 hours and GKE
/// after 48, whatever duration is asked for.
pub const HOW_TO_MAKE_A_TOKEN: &str = concat!(
    "Make a ServiceAccount and a token that lasts until its Secret is deleted: ",
    "`kubectl -n kube-system create serviceaccount kubeopera`, ",
    "`kubectl create clusterrolebinding kubeopera --clusterrole=cluster-admin --serviceaccount=kube-system:kubeopera`, ",
    "`kubectl -n kube-system create secret generic kubeopera --type=kubernetes.io/service-account-token \
     --dry-run=client -o yaml | kubectl annotate --local -f - kubernetes.io/service-account.name=kubeopera -o yaml | \
     kubectl apply -f -`. ",
    "Then make a copy of your kubeconfig use it: ",
    "`kubectl config view --raw --minify --flatten > kubeopera.kubeconfig`, ",
    "`kubectl config set-credentials kubeopera --kubeconfig=kubeopera.kubeconfig --token=\"$(kubectl -n kube-system get \
     secret kubeopera -o go-template='{{.data.token | base64decode}}')\"`, ",
    "`kubectl config set-context --current --kubeconfig=kubeopera.kubeconfig --user=kubeopera`. ",
    "Supply what `kubectl config view --raw --minify --flatten --kubeconfig=kubeopera.kubeconfig` prints.",
);

/// How an entry logs in, if by a program (`exec`) or by a provider's own method (`auth-provider`). A field that is null or
/// empty has no effect on kubectl either.
#[derive(Default)]
pub(super) struct LogIn(Option<Family>);

/// Whose program or method it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Eks,
    Gke,
    Aks,
    OpenShift,
    OpenIdConnect,
    Rancher,
    Teleport,
    Unknown,
}

impl LogIn {
    pub(super) const fn family(&self) -> Option<Family> {
        self.0
    }
}

impl<'de> Deserialize<'de> for LogIn {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let has_effect = match &value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        };
        Ok(Self(has_effect.then(|| Family::of(&value))))
    }
}

impl Family {
    /// By the program's name, wherever it is installed, or by the name of the method.
    fn of(log_in: &Value) -> Self {
        let text = |field: &str| log_in.get(field).and_then(Value::as_str).unwrap_or_default();
        let program = text("command").rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
        let arguments: Vec<_> =
            log_in.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        match program.trim_end_matches(".exe") {
            "aws" | "aws-iam-authenticator" => Self::Eks,
            "gke-gcloud-auth-plugin" | "gcloud" => Self::Gke,
            // Two programs have this name: that of Azure, and a plug-in of kubectl's for any provider.
            "kubelogin" if !arguments.iter().any(|argument| argument.starts_with("--oidc-")) => Self::Aks,
            "kubelogin" | "kubectl-oidc_login" => Self::OpenIdConnect,
            "kubectl" if arguments.first() == Some(&"oidc-login") => Self::OpenIdConnect,
            "oc" => Self::OpenShift,
            "rancher" => Self::Rancher,
            "tsh" | "tbot" => Self::Teleport,
            "" => match text("name") {
                "gcp" => Self::Gke,
                "azure" => Self::Aks,
                "oidc" => Self::OpenIdConnect,
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }

    /// Its programs, as words after "it runs".
    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Eks => "a program of Amazon's (aws or aws-iam-authenticator)",
            Self::Gke => "a program of Google's (gke-gcloud-auth-plugin)",
            Self::Aks => "a program of Azure's (kubelogin)",
            Self::OpenShift => "a program of OpenShift's (oc)",
            Self::OpenIdConnect => "a program that asks an OpenID Connect provider (kubelogin)",
            Self::Rancher => "a program of Rancher's (rancher)",
            Self::Teleport => "a program of Teleport's (tsh or tbot)",
            Self::Unknown => "a program",
        }
    }

    /// How to do without.
    pub(super) fn way_out(self) -> String {
        let besides = match self {
            Self::Aks => {
                "Where the cluster has local accounts, what `az aks get-credentials --admin` writes can be used as it is. "
            }
            Self::Rancher => {
                "A ServiceAccount's token is refused at Rancher's address unless JWT Authentication is enabled for the \
                 cluster in Rancher; without it, use these commands with a kubeconfig that leads to the API server itself. "
            }
            Self::Teleport => {
                "A ServiceAccount's token is refused at Teleport's address: use these commands with a kubeconfig that leads \
                 to the API server itself. "
            }
            _ => "",
        };
        format!("{besides}{HOW_TO_MAKE_A_TOKEN}")
    }
}

/// Why a token that does not tell its end ends soon all the same, as a sentence.
pub(super) fn soon_over(token: &Secret) -> Option<&'static str> {
    let token = token.reveal();
    if token.starts_with("sha256~") {
        return Some("The token is that of an `oc login`: OpenShift ends it after a day, unless it is set otherwise.");
    }
    let is_of_rancher = token.starts_with("kubeconfig-") && token.contains(':');
    is_of_rancher.then_some(
        "The token is one that Rancher makes for a kubeconfig: Rancher ends it after 30 days, unless it is set otherwise.",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kubeconfig::{Kubeconfig, KubeconfigOptions, KubeconfigProblem, ValidKubeconfig};

    /// A file with one context, whose user is given as YAML in one line and whose names are as the tool makes them.
    fn file(name: &str, cluster: &str, user: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Config\npreferences: {{}}\ncurrent-context: {name}\ncontexts:\n- context:\n    cluster: \
             {name}\n    user: {name}\n  name: {name}\nclusters:\n- cluster:\n    certificate-authority-data: Y2E=\n    \
             {cluster}\n  name: {name}\nusers:\n- name: {name}\n  user:\n    {user}\n"
        )
    }

    fn judge(file: &str) -> Result<ValidKubeconfig, KubeconfigProblem> {
        Kubeconfig::read(file.as_bytes()).unwrap().current(KubeconfigOptions::default())
    }

    const EKS: &str = "arn:aws:eks:eu-north-1:111122223333:cluster/north";
    const EKS_SERVER: &str = "server: https://0A1B2C.gr7.eu-north-1.eks.amazonaws.com";
    const GKE: &str = "gke_acme_europe-north1_north";
    const RANCHER_SERVER: &str = "server: https://rancher.acme.com/k8s/clusters/c-m-abcd1234";
    const TELEPORT_SERVER: &str =
        "server: https://teleport.acme.com:443\n    tls-server-name: kube-teleport-proxy-alpn.teleport.acme.com";

    #[test]
    fn a_kubeconfig_that_runs_a_tool_to_log_in_names_the_tool_and_every_command_that_makes_a_token() {
        let exec = |command: &str, arguments: &str| {
            format!(
                "exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n      args: {arguments}\n      command: \
                 {command}\n      env: null\n      interactiveMode: IfAvailable\n      provideClusterInfo: false"
            )
        };
        let aws = "[--region, eu-north-1, eks, get-token, --cluster-name, CANARY, --output, json]";
        let azure = "[get-token, --environment, AzurePublicCloud, --server-id, CANARY, --client-id, CANARY, --tenant-id, \
                     CANARY, --login, devicecode]";
        let oidc = "get-token, '--oidc-issuer-url=https://id.acme.com', --oidc-client-secret=CANARY]";
        let teleport =
            "[kube, credentials, --kube-cluster=CANARY, --teleport-cluster=acme, '--proxy=teleport.acme.com:443']";
        for (name, server, user, family) in [
            (EKS, EKS_SERVER, exec("aws", aws), "Amazon's (aws or aws-iam-authenticator)"),
            (EKS, EKS_SERVER, exec("aws-iam-authenticator", "[token, -i, CANARY]"), "Amazon's"),
            (EKS, EKS_SERVER, exec(r"'C:\Program Files\Amazon\AWSCLIV2\aws.exe'", aws), "Amazon's"),
            (
                GKE,
                "server: https://203.0.113.9",
                exec("gke-gcloud-auth-plugin", "null"),
                "Google's (gke-gcloud-auth-plugin)",
            ),
            ("north", "server: https://north-1a2b.hcp.northeurope.azmk8s.io:443", exec("kubelogin", azure), "Azure's"),
            (
                "north",
                "server: https://api.acme.com:6443",
                exec("kubectl", &format!("[oidc-login, {oidc}")),
                "OpenID Connect",
            ),
            ("north", "server: https://api.acme.com:6443", exec("kubelogin", &format!("[{oidc}")), "OpenID"),
            (
                "north/api",
                "server: https://api.acme.com:6443",
                exec("oc", "[get-token, --client-id=CANARY]"),
                "OpenShift's",
            ),
            (
                "north",
                RANCHER_SERVER,
                exec("rancher", "[token, '--server=rancher.acme.com', --user=CANARY]"),
                "Rancher's",
            ),
            ("teleport.acme.com-north", TELEPORT_SERVER, exec("/usr/local/bin/tsh", teleport), "Teleport's"),
            ("north", "server: https://api.acme.com:6443", exec("/home/me/CANARY", "[CANARY]"), "runs a program to"),
        ] {
            let problem = judge(&file(name, server, &user)).unwrap_err();
            assert_eq!(
                (problem.code, problem.field.as_str()),
                ("kubeconfig_exec_forbidden", "kubeconfig.users[0].user.exec")
            );
            let message = problem.message;
            assert!(message.contains(family) && !message.contains("CANARY"), "{family}: {message}");
            assert!(message.ends_with(HOW_TO_MAKE_A_TOKEN), "{message}");
            let leads_elsewhere = matches!(family, "Rancher's" | "Teleport's");
            assert_eq!(message.contains("leads to the API server itself"), leads_elsewhere, "{message}");
            assert_eq!(message.contains("az aks get-credentials --admin"), family == "Azure's", "{message}");
        }
    }

    #[test]
    fn a_kubeconfig_of_before_there_were_programs_says_the_same() {
        let of =
            |provider: &str| format!("auth-provider:\n      config: {{access-token: CANARY}}\n      name: {provider}");
        for (provider, by) in [("gcp", ""), ("azure", "az aks get-credentials --admin"), ("oidc", ""), ("CANARY", "")] {
            let problem = judge(&file(GKE, "server: https://203.0.113.9", &of(provider))).unwrap_err();
            assert_eq!(
                (problem.code, problem.field.as_str()),
                ("kubeconfig_auth_provider_forbidden", "kubeconfig.users[0].user.auth-provider")
            );
            assert!(problem.message.contains(by) && problem.message.ends_with(HOW_TO_MAKE_A_TOKEN), "{problem}");
            assert!(!problem.message.contains("CANARY"), "{problem}");
        }
    }

    #[test]
    fn a_kubeconfig_of_a_tool_that_holds_its_credential_is_taken_and_a_token_that_ends_soon_is_told() {
        let certificate = "client-certificate-data: Y2VydA==\n    client-key-data: a2V5";
        let with_token = format!("{certificate}\n    token: CANARY");
        let openshift = ("north/api-acme-com:6443/kube:admin", "server: https://api.acme.com:6443");
        let extended = "extensions:\n    - {name: teleport.kube.name, extension: north}\n    ";
        for ((name, server), user, warning) in [
            // `az aks get-credentials --admin`, or of a cluster without Entra ID.
            (("north", "server: https://north-1a2b.hcp.northeurope.azmk8s.io:443"), with_token.as_str(), None),
            (openshift, "token: sha256~CANARY", Some("`oc login`")),
            (("north", RANCHER_SERVER), "token: 'kubeconfig-u-abcdefCANARY:CANARY'", Some("Rancher")),
            // `tctl auth sign --format=kubernetes`.
            (("teleport.acme.com-north", &format!("{extended}{TELEPORT_SERVER}")), certificate, None),
        ] {
            let valid = judge(&file(name, server, user)).unwrap();
            let told = valid.ends_untold();
            assert_eq!(told.is_some(), warning.is_some(), "{told:?}");
            if let (Some(told), Some(warning)) = (told, warning) {
                assert_eq!((told.code, told.field.as_str()), ("credential_may_end_soon", "kubeconfig.token"));
                assert!(told.message.contains(warning) && told.message.ends_with(HOW_TO_MAKE_A_TOKEN), "{told}");
                assert!(!told.message.contains("CANARY"), "{told}");
            }
        }
        let (name, server) = openshift;
        let confirmed = file(name, &format!("insecure-skip-tls-verify: true\n    {server}"), "token: sha256~CANARY");
        assert_eq!(judge(&confirmed).unwrap_err().code, "kubeconfig_insecure_tls_forbidden");
    }
}
