//! Labels that people give a cluster, by Kubernetes' own rules, as they become labels of its resource.

use std::collections::BTreeMap;

use crate::text::{is_subdomain, text_type};

/// Labels by key.
pub type ClusterLabels = BTreeMap<LabelKey, LabelValue>;

/// Labels under this domain are KubeOpera's own.
const OWN: &str = "kubeopera.io";

text_type! {
    /// The key of a label, such as `env` or `acme.com/team`. Those of `kubeopera.io` are not for people to give.
    LabelKey, "label key",
    "Use up to 63 letters, digits, hyphens, underscores and dots, with a letter or digit at both ends; a domain and a \
     slash may come before, but not kubeopera.io, which is KubeOpera's own.",
    |text| match text.split_once('/') {
        None => is_name(text),
        Some((domain, name)) => is_subdomain(domain) && !is_own(domain) && is_name(name),
    }
}

text_type! {
    /// The value of a label, which may be empty.
    LabelValue, "label value",
    "Use up to 63 letters, digits, hyphens, underscores and dots, with a letter or digit at both ends, or nothing.",
    |text| text.is_empty() || is_name(text)
}

fn is_name(text: &str) -> bool {
    let end = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && end(text.bytes().next())
        && end(text.bytes().next_back())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c))
}

fn is_own(domain: &str) -> bool {
    domain.strip_suffix(OWN).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_kubernetes_but_not_kubeoperas_own() {
        for good in ["env", "Team_1", "acme.com/team", "a.b/c.d", "notkubeopera.io/x", &"x".repeat(63)] {
            assert!(good.parse::<LabelKey>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a-",
            "a b",
            "ä",
            "/a",
            "a/",
            "a/b/c",
            "Acme.com/team",
            "kubeopera.io/host",
            "x.kubeopera.io/a",
            "a\n",
            &"x".repeat(64),
            &format!("{}/a", "x".repeat(254)),
        ] {
            assert!(bad.parse::<LabelKey>().is_err(), "{bad}");
        }
    }

    #[test]
    fn values_are_those_of_kubernetes() {
        for good in ["", "prod", "1.2.3", "A_b-c", &"x".repeat(63)] {
            assert!(good.parse::<LabelValue>().is_ok(), "{good}");
        }
        for bad in ["-a", "a.", "a b", "a/b", "ü", "a\u{202e}", &"x".repeat(64)] {
            assert!(bad.parse::<LabelValue>().is_err(), "{bad}");
        }
    }
}
