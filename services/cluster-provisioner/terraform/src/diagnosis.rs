//! Terraform's errors as troubles: what happened to what, and what to change.

use vocabulary::{Trouble, TroubleKind};

use crate::{progress::words_of, say::Diagnostic};

/// A known kind of error.
struct Known {
    /// Words of which the error has one.
    words: &'static [&'static str],
    kind: TroubleKind,
    reason: &'static str,
    /// What happened and what to do, with the resource in place of `{what}`, and the name that was found in place of `{name}`.
    says: &'static str,
    /// What is in front of a name worth telling, such as that of a permission.
    names: &'static [&'static str],
}

/// The first that fits counts: a service that is not enabled is refused in the words of a missing permission, too.
const KNOWN: &[Known] = &[
    Known {
        words: &[
            "VcpuLimitExceeded",
            "LimitExceeded",
            "QuotaExceeded",
            "quotaExceeded",
            "insufficient regional quota",
            "Quota '",
            "ServiceQuotaExceeded",
        ],
        kind: TroubleKind::Rejected,
        reason: "QuotaExceeded",
        says: "A quota of the cloud account does not allow {what}{name}. Ask the cloud for a higher quota or free what is not needed, then try again. What exists already is kept.",
        names: &["Quota '", "quota: "],
    },
    Known {
        words: &[
            "InsufficientInstanceCapacity",
            "UnsupportedAvailabilityZone",
            "ZONE_RESOURCE_POOL_EXHAUSTED",
            "stockout",
            "InsufficientFreeAddressesInSubnet",
        ],
        kind: TroubleKind::Transient,
        reason: "NoCapacity",
        says: "The cloud has no room for {what} in this zone at the moment. It is tried again. If it stays like this, delete the cluster and create it with another instance type or region.",
        names: &[],
    },
    Known {
        words: &["has not been used in project", "SERVICE_DISABLED", "accessNotConfigured"],
        kind: TroubleKind::Rejected,
        reason: "ServiceNotEnabled",
        says: "A service of the cloud that is needed for {what} is not enabled in this project{name}. Enable it there, then try again.",
        names: &["googleapis.com/overview?project=", "service '"],
    },
    Known {
        words: &["OptInRequired", "region is not enabled", "is not enabled in this account"],
        kind: TroubleKind::Rejected,
        reason: "RegionNotEnabled",
        says: "The region is not enabled in this account. Enable it there, then try again.",
        names: &[],
    },
    Known {
        words: &[
            "InvalidClientTokenId",
            "AuthFailure",
            "SignatureDoesNotMatch",
            "invalid_grant",
            "UnrecognizedClient",
            "No valid credential sources",
            "could not find default credentials",
            "Cannot assume IAM Role",
        ],
        kind: TroubleKind::Rejected,
        reason: "CredentialRefused",
        says: "The cloud does not take the credential of this cluster. Check it on the page of cloud credentials and replace its secret, then try again. What exists already is kept.",
        names: &[],
    },
    Known {
        words: &[
            "UnauthorizedOperation",
            "AccessDenied",
            "is not authorized to perform",
            "forbidden",
            "Error 403",
            "PERMISSION_DENIED",
        ],
        kind: TroubleKind::Rejected,
        reason: "PermissionMissing",
        says: "The cloud credential may not do what is needed for {what}{name}. Give it the permission, then try again. What exists already is kept.",
        names: &["is not authorized to perform: ", "Required '", "permission '"],
    },
    Known {
        words: &["AlreadyExists", "already exists", "ResourceInUseException", "EntityAlreadyExists", "alreadyExists"],
        kind: TroubleKind::Rejected,
        reason: "AlreadyExists",
        says: "Something with the same name as {what} is in the cloud account and is not known to this cluster: an earlier attempt was cut off between making it and noting it down, or somebody else made it. Delete it in the cloud's console, or delete this cluster and create it anew.",
        names: &[],
    },
    Known {
        words: &["DependencyViolation", "resourceInUseByAnotherResource", "is already being used by", "ResourceInUse"],
        kind: TroubleKind::Transient,
        reason: "StillInUse",
        says: "Something in the cloud still uses {what}, such as a load balancer or a disk that was made from within the cluster. It is tried again.",
        names: &[],
    },
    Known {
        words: &[
            "ExpiredToken",
            "RequestLimitExceeded",
            "Throttling",
            "Invalid IAM Instance Profile",
            "i/o timeout",
            "connection reset",
            "TLS handshake timeout",
            "no such host",
            "Error 429",
            "Error 500",
            "Error 503",
            "rateLimitExceeded",
            "context deadline exceeded",
            "connection refused",
        ],
        kind: TroubleKind::Transient,
        reason: "CloudNotAvailable",
        says: "The cloud did not answer as it should while {what} was worked on. It is tried again.",
        names: &[],
    },
];

/// The trouble that a failed run is in, by what Terraform said. Without an error it is our own fault.
pub fn trouble(said: &[Diagnostic]) -> Trouble {
    let errors: Vec<_> = said.iter().filter(|said| said.is_error).collect();
    let found = KNOWN.iter().find_map(|known| {
        let error = errors
            .iter()
            .find(|error| known.words.iter().any(|word| error.summary.contains(word) || error.detail.contains(word)))?;
        Some((known, *error))
    });
    match (found, errors.first()) {
        (Some((known, error)), _) => {
            let name = known.name(error).map_or_else(String::new, |name| format!(" ({name})"));
            let message = known.says.replace("{what}", what(error)).replace("{name}", &name);
            Trouble { kind: known.kind, reason: known.reason.to_owned(), message }
        }
        (None, Some(error)) => Trouble::transient(
            "RunFailed",
            format!(
                "The cloud refused {}, for a reason that KubeOpera does not know. The log of the provisioning Job has it. It \
                 is tried again; what exists already is kept.",
                what(error)
            ),
        ),
        (None, None) => Trouble::bug("RunFailed", "The run failed and did not say why. Its log may tell."),
    }
}

fn what(error: &Diagnostic) -> &'static str {
    error.kind.as_deref().map_or("a part of the infrastructure", words_of)
}

impl Known {
    /// A name in the error that is worth telling, in characters that such names have.
    fn name(&self, error: &Diagnostic) -> Option<String> {
        let is_name = |c: &char| c.is_ascii_alphanumeric() || ":._-".contains(*c);
        let text = format!("{} {}", error.summary, error.detail);
        self.names.iter().find_map(|before| {
            let rest = text.split_once(before)?.1;
            let name: String = rest.chars().take_while(is_name).take(80).collect();
            let name = name.trim_end_matches(['.', ':', '-']).to_owned();
            if name.is_empty() { None } else { Some(name) }
        })
    }
}
