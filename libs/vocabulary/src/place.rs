//! Where a cluster runs: provider and region, as typed by people or read from nodes' provider IDs.

use crate::text::{is_label, text_type};

text_type! {
    /// A cloud or kind of installation: `aws`, `gcp`, `azure`, `on-premises`, or whatever a node's provider ID names.
    Provider, "provider",
    "Use 1 to 32 lower-case letters, digits and hyphens, such as aws, gcp or on-premises.",
    |text| is_label(text, 32)
}

text_type! {
    /// A provider's region, such as `eu-north-1` or `europe-west4`.
    Region, "region",
    "Use 1 to 63 lower-case letters, digits and hyphens, such as eu-north-1.",
    |text| is_label(text, 63)
}

impl Provider {
    /// What a cluster without a cloud integration shows.
    pub const UNKNOWN: &str = "unknown";
    /// Amazon Web Services.
    pub const AWS: &str = "aws";
    /// Google Cloud.
    pub const GCP: &str = "gcp";

    /// `unknown`, for a cluster without a cloud integration.
    pub fn unknown() -> Self {
        Self(Self::UNKNOWN.to_owned())
    }
}

impl Region {
    /// `unknown`, for a cluster without a cloud integration.
    pub fn unknown() -> Self {
        Self(Provider::UNKNOWN.to_owned())
    }
}
