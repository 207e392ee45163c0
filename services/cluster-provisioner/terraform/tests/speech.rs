//! What Terraform says, in words and as troubles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::time::Duration;

use cluster_provisioner_terraform::{Change, Diagnostic, Progress, Purpose, Said, trouble};
use serde_json::json;
use vocabulary::TroubleKind::{self, Bug, Rejected, Transient};

fn hook(type_: &str, address: &str, kind: &str) -> Said {
    let resource = json!({ "addr": address, "resource_type": kind });
    Said::of(&json!({ "type": type_, "hook": { "resource": resource, "action": "create" } }).to_string())
}

fn planned(kind: &str, action: &str, reason: Option<&str>) -> Said {
    let resource = json!({ "addr": format!("{kind}.this"), "resource_type": kind });
    let change = json!({ "resource": resource, "action": action, "reason": reason });
    Said::of(&json!({ "type": "planned_change", "change": change }).to_string())
}

#[test]
fn progress_tells_what_takes_longest_and_how_far_it_is() {
    let mut progress = Progress::new(Purpose::Create);
    let seconds = Duration::from_secs;
    assert_eq!(progress.sentence(seconds(0)), "Creating the infrastructure (0 of 0 resources done).");
    for kind in ["aws_vpc", "aws_eks_cluster", "aws_iam_role"] {
        progress.hear(&planned(kind, "create", None), seconds(1));
    }
    progress.hear(&hook("apply_start", "a", "aws_eks_cluster"), seconds(2));
    progress.hear(&hook("apply_start", "b", "aws_vpc"), seconds(3));
    progress.hear(&hook("apply_complete", "b", "aws_vpc"), seconds(4));
    assert_eq!(progress.sentence(seconds(410)), "Creating the EKS control plane (1 of 3 resources done, 6 min).");
    progress.hear(&hook("apply_errored", "a", "aws_eks_cluster"), seconds(411));
    assert_eq!(progress.counts(), (1, 3));
    let destroy = Progress::new(Purpose::Destroy);
    assert!(destroy.sentence(seconds(0)).starts_with("Deleting the infrastructure"));
}

#[test]
fn a_plan_to_create_loses_nothing_but_what_was_left_unfinished() {
    for (kind, action, reason, lost) in [
        ("aws_vpc", "create", None, false),
        ("aws_vpc", "update", None, false),
        ("aws_vpc", "delete", None, true),
        ("aws_vpc", "replace", None, true),
        ("aws_eks_node_group", "replace", Some("tainted"), false),
        // Half an hour of waiting, and what runs there.
        ("aws_eks_cluster", "replace", Some("tainted"), true),
        ("google_container_cluster", "replace", Some("tainted"), true),
        ("aws_instance", "replace", Some("tainted"), true),
    ] {
        let mut progress = Progress::new(Purpose::Create);
        progress.hear(&planned(kind, action, reason), Duration::ZERO);
        assert_eq!(progress.would_lose().is_some(), lost, "{kind} {action} {reason:?}");
        let mut progress = Progress::new(Purpose::Destroy);
        progress.hear(&planned(kind, action, reason), Duration::ZERO);
        assert_eq!(progress.would_lose(), None);
    }
}

#[test]
fn lines_that_say_nothing_here_are_passed_over() {
    for line in [
        "",
        "not JSON",
        "{}",
        "[]",
        "null",
        r#"{"type":"version"}"#,
        r#"{"type":"apply_start"}"#,
        r#"{"type":"planned_change","change":{"resource":{"addr":"a","resource_type":"b"},"action":"noop"}}"#,
    ] {
        assert_eq!(Said::of(line), Said::Else, "{line}");
    }
    assert_eq!(
        planned("aws_vpc", "replace", Some("tainted")),
        Said::Planned { kind: "aws_vpc".to_owned(), change: Change::Replace, is_unfinished: true }
    );
}

fn said(summary: &str, address: &str) -> Diagnostic {
    let diagnostic = json!({ "severity": "error", "summary": summary, "detail": "", "address": address,
        "snippet": { "code": "CANARY" } });
    let Said::Diagnostic(diagnostic) = Said::of(&json!({ "type": "diagnostic", "diagnostic": diagnostic }).to_string())
    else {
        panic!("no diagnostic");
    };
    assert!(!format!("{diagnostic:?}").contains("CANARY"));
    diagnostic
}

#[test]
fn errors_say_what_to_change_and_whether_to_try_again() {
    let expected: &[(&str, &str, TroubleKind, &str, &str)] = &[
        (
            "creating EC2 Instance: VcpuLimitExceeded: You have requested more vCPU capacity",
            "aws_instance.control_plane[0]",
            Rejected,
            "QuotaExceeded",
            "the control plane",
        ),
        (
            "creating EC2 EIP: AddressLimitExceeded: The maximum number of addresses has been reached.",
            "module.network.aws_eip.nat",
            Rejected,
            "QuotaExceeded",
            "an IP address",
        ),
        (
            "googleapi: Error 403: Quota 'SSD_TOTAL_GB' exceeded. Limit: 500.0 in region",
            "google_container_cluster.this",
            Rejected,
            "QuotaExceeded",
            "(SSD_TOTAL_GB)",
        ),
        (
            "InsufficientInstanceCapacity: We currently do not have sufficient m7g.large capacity",
            "aws_instance.control_plane[0]",
            Transient,
            "NoCapacity",
            "the control plane",
        ),
        (
            "UnauthorizedOperation: User: arn:aws:iam::1:user/x is not authorized to perform: ec2:CreateVpc on resource",
            "module.network.aws_vpc.this",
            Rejected,
            "PermissionMissing",
            "the network (ec2:CreateVpc)",
        ),
        (
            "operation error STS: GetCallerIdentity, InvalidClientTokenId: The security token included in the request is invalid.",
            "",
            Rejected,
            "CredentialRefused",
            "credential",
        ),
        (
            "ExpiredToken: The security token included in the request is expired",
            "aws_eks_cluster.this",
            Transient,
            "CloudNotAvailable",
            "the EKS control plane",
        ),
        (
            "EntityAlreadyExists: Role with name north already exists.",
            "aws_iam_role.node",
            Rejected,
            "AlreadyExists",
            "roles and rights",
        ),
        (
            "DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.",
            "module.network.aws_vpc.this",
            Transient,
            "StillInUse",
            "the network",
        ),
        ("OptInRequired: You are not subscribed to this service", "", Rejected, "RegionNotEnabled", "region"),
        (
            "Error 403: Kubernetes Engine API has not been used in project 1 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/container.googleapis.com/overview?project=acme",
            "google_container_cluster.this",
            Rejected,
            "ServiceNotEnabled",
            "GKE control plane",
        ),
        (
            "dial tcp: lookup eks.eu-north-1.amazonaws.com: no such host",
            "aws_eks_cluster.this",
            Transient,
            "CloudNotAvailable",
            "the EKS control plane",
        ),
        ("something nobody has ever seen", "x_y.z", Transient, "RunFailed", "a part of the infrastructure"),
    ];
    for (summary, address, kind, reason, says) in expected {
        let trouble = trouble(&[said(summary, address)]);
        assert_eq!((trouble.kind, trouble.reason.as_str()), (*kind, *reason), "{summary}: {trouble:?}");
        assert!(trouble.message.contains(says) && trouble.message.ends_with('.'), "{summary}: {}", trouble.message);
        assert!(!trouble.message.contains("arn:"), "{}", trouble.message);
    }
    assert_eq!(trouble(&[]).kind, Bug);
}
