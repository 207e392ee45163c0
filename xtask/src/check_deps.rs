//! The direction of dependencies, as a table. A new edge is a change of design: it needs a page in `docs/decisions/`.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, bail};
use cargo_metadata::{DependencyKind, MetadataCommand};

/// Which crates of ours each crate may use. Tests (dev-dependencies) may in addition use what [`FOR_TESTS`] names.
const ALLOWED: &[(&str, &[&str])] = &[
    ("vocabulary", &[]),
    ("kube-kit", &["vocabulary"]),
    ("prices", &["vocabulary"]),
    ("service-kit", &["vocabulary"]),
    ("audit-log", &["service-kit", "vocabulary"]),
    ("auth-service-contract", &["vocabulary"]),
    ("cluster-provisioner-contract", &["vocabulary"]),
    ("cluster-provisioner-catalogue", &["cluster-provisioner-contract", "vocabulary"]),
    ("cluster-provisioner-terraform", &["cluster-provisioner-catalogue", "cluster-provisioner-contract", "vocabulary"]),
    (
        "cluster-provisioner",
        &[
            "auth-service-contract",
            "cluster-provisioner-catalogue",
            "cluster-provisioner-contract",
            "cluster-provisioner-terraform",
            "host-cluster-controller-crd",
            "kube-kit",
            "prices",
            "vocabulary",
        ],
    ),
    ("gitops-scaffolder-contract", &["vocabulary"]),
    ("host-cluster-controller-crd", &["cluster-provisioner-contract", "vocabulary"]),
    (
        "host-cluster-controller-decide",
        &["cluster-provisioner-contract", "gitops-scaffolder-contract", "host-cluster-controller-crd", "vocabulary"],
    ),
    ("gitops-scaffolder-tree", &["gitops-scaffolder-contract", "vocabulary"]),
    (
        "gitops-scaffolder",
        &["gitops-scaffolder-contract", "gitops-scaffolder-tree", "kube-kit", "service-kit", "vocabulary"],
    ),
    ("auth-service", &["audit-log", "auth-service-contract", "service-kit", "vocabulary"]),
    (
        "host-cluster-controller",
        &[
            "auth-service-contract",
            "cluster-provisioner-contract",
            "gitops-scaffolder-contract",
            "host-cluster-controller-crd",
            "host-cluster-controller-decide",
            "kube-kit",
            "service-kit",
            "vocabulary",
        ],
    ),
    (
        "kubeopera-api",
        &[
            "audit-log",
            "auth-service-contract",
            "cluster-provisioner-catalogue",
            "cluster-provisioner-contract",
            "gitops-scaffolder-contract",
            "host-cluster-controller-crd",
            "k8s-monitor-contract",
            "kube-kit",
            "prices",
            "service-kit",
            "vocabulary",
        ],
    ),
    (
        "kubeopera-api-bench",
        &[
            "auth-service",
            "auth-service-contract",
            "gitops-scaffolder",
            "host-cluster-controller",
            "host-cluster-controller-crd",
            "k8s-monitor",
            "k8s-monitor-contract",
            "kube-kit",
            "kubeopera-api",
            "service-kit",
            "testkit-bench",
            "vocabulary",
        ],
    ),
    ("k8s-monitor-contract", &["vocabulary"]),
    ("k8s-monitor-health", &["k8s-monitor-contract", "vocabulary"]),
    ("k8s-monitor-cost", &["cluster-provisioner-catalogue", "k8s-monitor-contract", "prices", "vocabulary"]),
    (
        "k8s-monitor",
        &[
            "host-cluster-controller-crd",
            "k8s-monitor-contract",
            "k8s-monitor-cost",
            "k8s-monitor-health",
            "kube-kit",
            "prices",
            "vocabulary",
        ],
    ),
    ("k8s-monitor-bench", &["k8s-monitor", "k8s-monitor-contract", "kube-kit", "testkit-bench", "vocabulary"]),
    (
        "kubeopera",
        &[
            "audit-log",
            "auth-service",
            "auth-service-contract",
            "cluster-provisioner",
            "cluster-provisioner-contract",
            "gitops-scaffolder",
            "gitops-scaffolder-contract",
            "host-cluster-controller",
            "host-cluster-controller-crd",
            "k8s-monitor",
            "k8s-monitor-contract",
            "kube-kit",
            "kubeopera-api",
            "prices",
            "service-kit",
            "vocabulary",
        ],
    ),
    ("testkit-bench", &["testkit-hostile-api-server"]),
    ("testkit-hostile-api-server", &[]),
    ("testkit-log", &[]),
    ("testkit-moto", &[]),
    ("testkit-oidc", &[]),
    ("testkit-postgres", &[]),
    ("testkit-terraform", &[]),
    ("stack", &["gitops-scaffolder", "host-cluster-controller-crd", "vocabulary"]),
    ("xtask", &["host-cluster-controller-crd", "host-cluster-controller-decide", "kubeopera-api"]),
];

/// What tests of a crate may use beyond [`ALLOWED`]: the real service behind a contract.
const FOR_TESTS: &[(&str, &[&str])] = &[
    ("kube-kit", &["testkit-log"]),
    ("gitops-scaffolder", &["testkit-log"]),
    ("service-kit", &["testkit-postgres"]),
    ("cluster-provisioner", &["testkit-terraform"]),
    ("audit-log", &["testkit-postgres"]),
    ("auth-service", &["testkit-moto", "testkit-oidc", "testkit-postgres"]),
    ("k8s-monitor", &["stack", "testkit-bench", "testkit-hostile-api-server"]),
    (
        "kubeopera-api",
        &["auth-service", "testkit-hostile-api-server", "testkit-log", "testkit-oidc", "testkit-postgres"],
    ),
    ("host-cluster-controller", &["stack"]),
    ("kubeopera", &["stack", "testkit-moto", "testkit-postgres", "testkit-terraform"]),
];

/// Crates that decide and never do: no client, no clock, no runtime, so the whole list of what they may use is here.
const PURE: &[(&str, &[&str])] = &[
    ("vocabulary", &["jiff", "serde", "thiserror", "url", "uuid", "zeroize"]),
    ("host-cluster-controller-decide", &["jiff", "k8s-openapi", "serde", "serde_json", "sha2"]),
    ("cluster-provisioner-catalogue", &["jiff", "thiserror"]),
    ("cluster-provisioner-terraform", &["serde", "serde_json", "sha2"]),
    ("k8s-monitor-cost", &["jiff"]),
    ("k8s-monitor-health", &["jiff"]),
    ("prices", &["serde", "serde_json", "thiserror"]),
    ("gitops-scaffolder-tree", &["serde", "serde-saphyr", "serde_json", "sha1", "sha2", "thiserror"]),
];

/// Compares every crate's manifest with the tables.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("reading the workspace")?;
    let ours: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let look_up = |table: &'static [(&str, &'static [&str])], name: &str| {
        table.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, allowed)| *allowed)
    };

    let mut faults = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let Some(allowed) = look_up(ALLOWED, name) else {
            faults.push(format!("{name} is not in the table of allowed dependencies"));
            continue;
        };
        for dependency in &package.dependencies {
            let used = dependency.name.as_str();
            let in_tests = dependency.kind == DependencyKind::Development;
            let allowed_here = allowed.contains(&used)
                || (in_tests && look_up(FOR_TESTS, name).is_some_and(|extra| extra.contains(&used)));
            if ours.contains(used) && !allowed_here {
                faults.push(format!("{name} must not depend on {used}"));
            }
            if let Some(pure) = look_up(PURE, name)
                && !in_tests
                && !ours.contains(used)
                && !pure.contains(&used)
            {
                faults.push(format!("{name} is pure and must not depend on {used}"));
            }
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("the direction of dependencies is broken:\n  {}", faults.join("\n  "))
}
