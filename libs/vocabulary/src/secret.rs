//! A text that must not be seen.

use std::fmt;

use zeroize::Zeroizing;

/// A password, token, key or kubeconfig. It prints as dots, cannot be serialised by accident, and its memory is
/// cleared when it is dropped. [`Secret::reveal`] is for the adapter that hands it to whom it is meant for.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes ownership of a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself. Call it where the secret leaves for its one destination, and nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Dots, always as many: not even the length is told.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("••••••••")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl<'de> serde::Deserialize<'de> for Secret {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_as_dots_in_every_format() {
        let secret = Secret::new("CANARY");
        for printed in
            [format!("{secret}"), format!("{secret:?}"), format!("{secret:#?}"), format!("{:?}", Some(&secret))]
        {
            assert!(!printed.contains("CANARY"), "{printed}");
        }
        assert_eq!(secret.reveal(), "CANARY");
    }
}
