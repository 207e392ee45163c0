//! What a module says about the cluster it made.

use serde::Deserialize;
use vocabulary::{Secret, Trouble};

/// How the API server of a new cluster is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outputs {
    /// Its address, such as `https://…`.
    pub endpoint: String,
    /// Who signs for it: PEM in base64.
    pub certificate_authority: String,
    /// A token that ends within the hour.
    pub token: Secret,
}

#[derive(Deserialize)]
struct Written {
    endpoint: Output<String>,
    certificate_authority: Output<String>,
    token: Output<Secret>,
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
        Ok(Self {
            endpoint: written.endpoint.value,
            certificate_authority: written.certificate_authority.value,
            token: written.token.value,
        })
    }
}
