//! What a module says about the cluster it made.

use serde::Deserialize;
use vocabulary::{Secret, Trouble};

/// What a parameter holds before a machine has written it.
const NOT_YET: &str = "not yet";

/// How a new cluster is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outputs {
    /// By the cloud's address and token, which ends within the hour.
    Managed {
        /// Address of the API server, such as `https://…`.
        endpoint: String,
        /// Who signs for it: PEM in base64.
        certificate_authority: String,
        /// The token.
        token: Secret,
    },
    /// By the kubeconfig that its control plane has published.
    Published(Secret),
    /// Not yet: the control plane boots.
    Booting {
        /// What each control-plane node says it is at.
        status: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Managed { endpoint: Output<String>, certificate_authority: Output<String>, token: Output<Secret> },
    Vanilla { kubeconfig: Output<Secret>, status: Output<Vec<String>> },
}

#[derive(Deserialize)]
struct Output<T> {
    value: T,
}

impl Outputs {
    /// Reads what `terraform output -json` prints.
    pub(super) fn read(text: &Secret) -> Result<Self, Trouble> {
        let written: Written = serde_json::from_str(text.reveal()).map_err(|_| {
            Trouble::bug("OutputsMissing", "Terraform finished, but does not say how the new cluster is reached.")
        })?;
        Ok(match written {
            Written::Managed { endpoint, certificate_authority, token } => Self::Managed {
                endpoint: endpoint.value,
                certificate_authority: certificate_authority.value,
                token: token.value,
            },
            Written::Vanilla { kubeconfig, status } if kubeconfig.value.reveal() == NOT_YET => {
                Self::Booting { status: status.value }
            }
            Written::Vanilla { kubeconfig, .. } => Self::Published(kubeconfig.value),
        })
    }
}

/// What booting machines are at, as a sentence; `None` while none has said anything.
pub(super) fn sentence(status: &[String]) -> Option<String> {
    let said = status.iter().enumerate().filter(|(_, said)| !matches!(said.as_str(), NOT_YET | "ready"));
    let words: Vec<_> = said.map(|(index, said)| format!("control-plane-{index} is at: {}", plain(said))).collect();
    if words.is_empty() { None } else { Some(format!("The control plane boots ({}).", words.join("; "))) }
}

/// What a machine said, as far as it is words.
fn plain(said: &str) -> String {
    said.chars().filter(|c| c.is_ascii_alphanumeric() || " -.:;,()".contains(*c)).take(120).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(json: &str) -> Outputs {
        Outputs::read(&Secret::new(json)).unwrap()
    }

    #[test]
    fn a_control_plane_that_boots_says_what_it_is_at_until_its_kubeconfig_is_there() {
        let text = r#"{"kubeconfig":{"value":"not yet"},"status":{"value":["installing packages","not yet","ready"]}}"#;
        let Outputs::Booting { status } = read(text) else { unreachable!() };
        assert_eq!(sentence(&status).unwrap(), "The control plane boots (control-plane-0 is at: installing packages).");
        assert_eq!(sentence(&["not yet".to_owned()]), None);
        assert_eq!(plain("joi\u{1b}[31mning <b>"), "joi31mning b");
        let text = r#"{"kubeconfig":{"value":"apiVersion: v1"},"status":{"value":[]}}"#;
        assert_eq!(read(text), Outputs::Published(Secret::new("apiVersion: v1")));
    }

    #[test]
    fn outputs_of_no_module_are_a_fault() {
        for text in ["", "{}", r#"{"endpoint":{"value":"x"}}"#] {
            assert_eq!(Outputs::read(&Secret::new(text)).unwrap_err().reason, "OutputsMissing");
        }
    }
}
