//! What a kubeconfig must not hold, used or not: whatever would act on this machine, act as somebody else or weaken a
//! connection.

use super::{
    FLATTEN, HOW_TO_MAKE_A_TOKEN, KubeconfigProblem,
    file::{Cluster, File, User},
    problem,
};

impl File {
    /// Refuses the first entry, used or not, that would act on this machine or weaken a connection.
    pub(super) fn refuse_what_acts(&self) -> Result<(), KubeconfigProblem> {
        for (at, cluster) in self.clusters.iter().enumerate() {
            refuse_in_cluster(&format!("kubeconfig.clusters[{at}]"), &cluster.cluster)?;
        }
        for (at, user) in self.users.iter().enumerate() {
            refuse_in_user(&format!("kubeconfig.users[{at}]"), &user.user)?;
        }
        Ok(())
    }
}

pub(super) fn refuse_in_cluster(field: &str, cluster: &Cluster) -> Result<(), KubeconfigProblem> {
    if cluster.certificate_authority.is_present() {
        return Err(file_forbidden(&format!("{field}.cluster.certificate-authority")));
    }
    if cluster.proxy_url.is_present() {
        return Err(problem(
            "kubeconfig_proxy_forbidden",
            format!("{field}.cluster.proxy-url"),
            "This kubeconfig sends the connection through a proxy, which KubeOpera does not do. Remove proxy-url and use \
             an address that KubeOpera can reach.",
        ));
    }
    if cluster.insecure_skip_tls_verify == Some(true) {
        return Err(problem(
            "kubeconfig_insecure_tls_forbidden",
            format!("{field}.cluster.insecure-skip-tls-verify"),
            "This kubeconfig turns off the check of the server's certificate. Remove insecure-skip-tls-verify and put the \
             cluster's certificate authority into certificate-authority-data: `kubectl -n kube-system get configmap \
             kube-root-ca.crt -o jsonpath='{.data.ca\\.crt}' | base64 -w0` prints it.",
        ));
    }
    Ok(())
}

pub(super) fn refuse_in_user(field: &str, user: &User) -> Result<(), KubeconfigProblem> {
    let field = format!("{field}.user");
    if let Some(family) = user.exec.family() {
        return Err(problem(
            "kubeconfig_exec_forbidden",
            format!("{field}.exec"),
            format!("This kubeconfig runs {} to log in. {}", family.program(), family.way_out()),
        ));
    }
    if let Some(family) = user.auth_provider.family() {
        return Err(problem(
            "kubeconfig_auth_provider_forbidden",
            format!("{field}.auth-provider"),
            format!("This kubeconfig logs in by a provider's own method. {}", family.way_out()),
        ));
    }
    for (name, present) in [
        ("tokenFile", user.token_file.is_present()),
        ("client-certificate", user.client_certificate.is_present()),
        ("client-key", user.client_key.is_present()),
    ] {
        if present {
            return Err(file_forbidden(&format!("{field}.{name}")));
        }
    }
    for (name, present) in [
        ("as", user.impersonate.is_present()),
        ("as-uid", user.impersonate_uid.is_present()),
        ("as-groups", user.impersonate_groups.is_present()),
        ("as-user-extra", user.impersonate_user_extra.is_present()),
    ] {
        if present {
            return Err(problem(
                "kubeconfig_impersonation_forbidden",
                format!("{field}.{name}"),
                format!("This kubeconfig acts as somebody else. {HOW_TO_MAKE_A_TOKEN}"),
            ));
        }
    }
    if user.username.is_present() || user.password.is_present() {
        return Err(problem(
            "kubeconfig_basic_auth_unsupported",
            format!("{field}.username"),
            format!("Kubernetes no longer takes user name and password. {HOW_TO_MAKE_A_TOKEN}"),
        ));
    }
    Ok(())
}

fn file_forbidden(field: &str) -> KubeconfigProblem {
    problem(
        "kubeconfig_file_reference_forbidden",
        field,
        format!("This kubeconfig refers to a file that is not part of it. {FLATTEN}"),
    )
}
