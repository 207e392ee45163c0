//! Names of clusters, domains, people, versions and Secrets.

use crate::text::{is_label, is_subdomain, text_type};

text_type! {
    /// The name people give a cluster: an RFC 1123 label of at most 40 characters, so that every object name derived
    /// from it (Flux Kustomizations, Helm releases, folders) stays within Kubernetes' own limits.
    ClusterName, "cluster name",
    "Use 1 to 40 lower-case letters, digits and hyphens, and start and end with a letter or digit.",
    |text| is_label(text, 40)
}

text_type! {
    /// The domain under which a cluster's environment is reached, such as `my-cluster.acme.com`.
    Domain, "domain",
    "Enter a host name with at least one dot, in lower case and without https://, such as prod.acme.com.",
    |text| {
        let top = text.rsplit('.').next();
        text.contains('.') && is_subdomain(text) && top.is_some_and(|top| top.starts_with(|c: char| c.is_ascii_lowercase()))
    }
}

text_type! {
    /// The e-mail address of an environment's first administrator.
    Email, "e-mail address",
    "Enter an address such as admin@acme.com.",
    |text| text.len() <= 254 && text.split_once('@').is_some_and(|(local, host)| {
        let allowed = |c: u8| c.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_{|}~-".contains(&c);
        !local.is_empty() && local.len() <= 64 && local.bytes().all(allowed) && host.contains('.')
            && is_subdomain(&host.to_ascii_lowercase())
    })
}

text_type! {
    /// The user name of an environment's first administrator.
    AdminUsername, "user name",
    "Use 2 to 32 lower-case letters, digits, dots, hyphens and underscores, and start with a letter.",
    |text| (2..=32).contains(&text.len()) && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"._-".contains(&c))
}

text_type! {
    /// What people call one of their things, such as a credential or a token: a line of plain words.
    Label, "label",
    "Use 1 to 64 letters, digits, spaces and simple punctuation, without a space at either end.",
    |text| (1..=64).contains(&text.chars().count()) && text.trim() == text
        && text.chars().all(|c| c.is_alphanumeric() || " -_.,:/()@#+&'".contains(c))
}

text_type! {
    /// A Kubernetes version as the API server tells it or as the wizard asks for it, without a leading `v`: `1.31.0`,
    /// `1.30.4-eks-1552ad0`.
    KubernetesVersion, "Kubernetes version",
    "Enter a version such as 1.31.0.",
    |text| {
        let (core, suffix) = text.find(['-', '+']).map_or((text, ""), |at| text.split_at(at));
        let mut parts = core.split('.');
        text.len() <= 63
            && (2..=3).contains(&core.split('.').count())
            && parts.all(|part| !part.is_empty() && part.len() <= 4 && part.bytes().all(|c| c.is_ascii_digit()))
            && suffix.bytes().all(|c| c.is_ascii_alphanumeric() || b"-+.".contains(&c))
    }
}

text_type! {
    /// The name of a Secret in the namespace of its HostCluster (RFC 1123 subdomain).
    SecretName, "Secret name",
    "Use lower-case letters, digits, hyphens and dots, and start and end with a letter or digit.",
    is_subdomain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_name_is_a_label_of_at_most_forty_characters() {
        for good in ["a", "my-cluster", "1st", &"x".repeat(40)] {
            assert!(good.parse::<ClusterName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b", "ä", "a b", &"x".repeat(41)] {
            assert!(bad.parse::<ClusterName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_domain_has_a_dot_and_nothing_that_could_be_pasted_into_a_file() {
        for good in ["acme.com", "my-cluster.acme.com", "a.b"] {
            assert!(good.parse::<Domain>().is_ok(), "{good}");
        }
        for bad in [
            "acme",
            "https://acme.com",
            "acme.com/",
            "Acme.com",
            "10.0.0.1",
            "a..b",
            "x\"\n---",
            "${a}.com",
            "acme.com ",
        ] {
            assert!(bad.parse::<Domain>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_email_address_has_one_local_part_and_a_host_with_a_dot() {
        for good in ["admin@acme.com", "a.b+c@Acme.Example"] {
            assert!(good.parse::<Email>().is_ok(), "{good}");
        }
        for bad in ["admin", "@acme.com", "admin@acme", "a b@acme.com", "a\"@acme.com", "a@b@c.d", "a@acme.com\n"] {
            assert!(bad.parse::<Email>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_kubernetes_version_may_carry_a_vendor_suffix() {
        for good in ["1.31.0", "1.31", "1.30.4-eks-1552ad0", "1.30.5-gke.1014001", "1.34.4+k3s1"] {
            assert!(good.parse::<KubernetesVersion>().is_ok(), "{good}");
        }
        for bad in ["", "v1.31.0", "1", "1.31.0.1", "latest", "1.31.0 ", "1..0", "1.31.0-$(id)"] {
            assert!(bad.parse::<KubernetesVersion>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_label_is_one_line_of_words_in_any_script() {
        for good in ["a", "AWS production", "Büro (Köln)", "東京", "ci/deploy #2", &"ü".repeat(64)] {
            assert!(good.parse::<Label>().is_ok(), "{good}");
        }
        for bad in ["", " a", "a ", "a\nb", "a\u{202e}b", "a\u{1b}[31m", "<b>", "a\"b", "a\u{200b}b", &"x".repeat(65)] {
            assert!(bad.parse::<Label>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_refusal_never_repeats_what_was_typed() {
        let refusal = "CANARY_secret".parse::<ClusterName>().unwrap_err().to_string();
        assert!(!refusal.contains("CANARY"), "{refusal}");
    }
}
