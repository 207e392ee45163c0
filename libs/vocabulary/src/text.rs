//! How a text becomes one of our types: one macro, so that each type says only its rule.

use std::fmt;

/// Why a text is not acceptable for a field, as a sentence that can be shown to the person who typed it.
///
/// The offending text is not repeated: it may be a secret pasted into the wrong box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAcceptable {
    /// What the text was meant to be, as people call it: "cluster name", "domain".
    pub what: &'static str,
    /// The rule it breaks, as a whole sentence.
    pub rule: &'static str,
}

impl fmt::Display for NotAcceptable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not a usable {}. {}", self.what, self.rule)
    }
}

impl std::error::Error for NotAcceptable {}

/// Defines a validated text type: `FromStr`, `TryFrom<String>`, `Display`, `as_str` and serde by way of its rule.
macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::NotAcceptable;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                let accepts: fn(&str) -> bool = $accepts;
                if accepts(&text) { Ok(Self(text)) } else { Err($crate::NotAcceptable { what: $what, rule: $rule }) }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::NotAcceptable;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.to_owned().try_into()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use text_type;

/// Lower-case letters, digits and hyphens; a letter or digit at both ends (RFC 1123 label); 1 to `longest` characters.
pub(crate) fn is_label(text: &str, longest: usize) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !text.is_empty()
        && text.len() <= longest
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Labels joined by dots (RFC 1123 subdomain); 1 to 253 characters.
pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(|label| is_label(label, 63))
}
