//! The kubeconfig in a Secret.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use vocabulary::Trouble;

use super::{Kubeconfig, KubeconfigOptions, ValidKubeconfig};

/// Keys under which a kubeconfig is looked for: ours, and the one Cluster API writes.
const KEYS: [&str; 2] = ["kubeconfig", "value"];

impl ValidKubeconfig {
    /// The kubeconfig in a Secret's data, by the allow-list: what the context under the key `context` names, or its current
    /// context. `secret` is the Secret in words: `Secret kubeopera-system/x`.
    pub fn in_secret(
        secret: &str,
        data: &BTreeMap<String, ByteString>,
        options: KubeconfigOptions,
    ) -> Result<Self, Trouble> {
        let bytes = KEYS.into_iter().find_map(|key| data.get(key)).ok_or_else(|| {
            let message = format!("{secret} has no key kubeconfig. Put the kubeconfig there.");
            Trouble::rejected("KubeconfigMissing", message)
        })?;
        let context = data.get("context").and_then(|context| std::str::from_utf8(&context.0).ok());
        let usable = Kubeconfig::read(&bytes.0).and_then(|file| match context {
            Some(context) => file.usable(context, options),
            None => file.current(options),
        });
        usable.map_err(|problem| {
            let (field, message) = (problem.field, problem.message);
            let message = format!("The kubeconfig in {secret} is not used because of {field}: {message}");
            Trouble::rejected("KubeconfigRefused", message)
        })
    }
}
