//! The parts of an environment: for each, whether this cluster gets it, from which chart in which exact version, with
//! which values. One file per component; adding one is adding a file and a line to [`all`].
//!
//! Components are data. How a chart becomes Flux objects is `release.rs`; where files go is `render.rs`.

mod aws_cloud_controller_manager;
mod aws_ebs_csi_driver;
mod cert_manager;
mod cilium;
mod cloudnative_pg;
mod database;
mod issuers;
mod kube_prometheus_stack;
mod kubeopera;
mod local_path;
mod metrics_server;
mod monitors;
mod traefik;

use serde_json::Value;

use crate::{cluster::Cluster, layer::Layer, object::Object};

pub use cert_manager::INGRESS_ISSUER;

/// One part of an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its name: of its file, its HelmRelease and its Helm release.
    pub name: &'static str,
    /// What it does for the environment, in a few words for people.
    pub purpose: &'static str,
    /// What becomes of it on this cluster.
    pub fate: Fate,
}

/// What becomes of a component on a cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// KubeOpera installs it.
    Installed(Box<Installation>),
    /// The cluster had it before KubeOpera came. It is used, and left alone.
    LeftAlone,
    /// The cluster's provider brings it, or nothing here needs it.
    NotNeeded,
}

/// How a component is installed.
#[derive(Debug, Clone, PartialEq)]
pub struct Installation {
    /// Where in the order it comes.
    pub layer: Layer,
    /// Its namespace.
    pub namespace: Namespace,
    /// Its chart, if it comes as one.
    pub release: Option<Release>,
    /// Objects of its own beside or instead of a chart. They never need a CRD that `release` brings.
    pub objects: Vec<Object>,
}

/// A namespace that components live in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Namespace {
    /// Name.
    pub name: &'static str,
    /// Pods may use the node's files and network: the namespace says so to Pod Security admission.
    pub privileged: bool,
}

impl Namespace {
    /// Exists on every cluster and is never rendered.
    pub const KUBE_SYSTEM: Self = Self { name: "kube-system", privileged: true };
    /// KubeOpera's own services and their database.
    pub const KUBEOPERA: Self = Self { name: "kubeopera", privileged: false };
    /// Prometheus, Grafana and exporters. Not the plain `monitoring`: people have one of that name.
    pub const MONITORING: Self = Self { name: "kubeopera-monitoring", privileged: true };
}

/// A Helm release.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// Chart.
    pub chart: Chart,
    /// Values that differ from the chart's own.
    pub values: Value,
    /// Each image the release runs, spelled as the chart spells it, without tag. They are what a mirror must hold.
    pub images: &'static [&'static str],
}

/// A chart in an exact version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chart {
    /// Where it comes from.
    pub source: ChartSource,
    /// Exact version as its source spells it, a leading `v` included.
    pub version: &'static str,
}

/// Where a chart comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartSource {
    /// `oci://…/<chart>`.
    Oci(&'static str),
    /// A classic Helm repository and the chart's name in it.
    Repository {
        /// `https://…`.
        url: &'static str,
        /// Name of the chart.
        chart: &'static str,
    },
}

/// Every component in the order people think of them, each with its fate on this cluster.
pub fn all(cluster: &Cluster) -> Vec<Component> {
    vec![
        cilium::component(cluster),
        aws_cloud_controller_manager::component(cluster),
        traefik::component(cluster),
        cert_manager::component(cluster),
        issuers::component(cluster),
        local_path::component(cluster),
        aws_ebs_csi_driver::component(cluster),
        metrics_server::component(cluster),
        cloudnative_pg::component(cluster),
        database::component(cluster),
        kube_prometheus_stack::component(cluster),
        monitors::component(cluster),
        kubeopera::component(cluster),
    ]
}

impl Component {
    fn installed(name: &'static str, purpose: &'static str, installation: Installation) -> Self {
        Self { name, purpose, fate: Fate::Installed(Box::new(installation)) }
    }

    const fn left_alone(name: &'static str, purpose: &'static str) -> Self {
        Self { name, purpose, fate: Fate::LeftAlone }
    }

    const fn not_needed(name: &'static str, purpose: &'static str) -> Self {
        Self { name, purpose, fate: Fate::NotNeeded }
    }

    /// How it is installed, if it is.
    pub const fn installation(&self) -> Option<&Installation> {
        match &self.fate {
            Fate::Installed(installation) => Some(installation),
            Fate::LeftAlone | Fate::NotNeeded => None,
        }
    }
}
