//! What Prometheus reads: KubeOpera itself, and each cluster as k8s-monitor saw it last.
//!
//! Everything is in memory already, so a family is written down and never counted up: the text format is all that is
//! needed of a metrics library. What is not known has no sample, as a zero would be a lie.
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::fmt::{Display, Write};

use k8s_monitor_contract::{Glance, Row, Standing};

use crate::app::Platform;

/// The text format's media type.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Their refusals are in no audit row, as nothing limits how many they cause.
const OF_STRANGERS: &str = "kubeopera_changes_refused_to_strangers_total";
const LEFT_OUT: &str = "kubeopera_refusals_not_written_down_total";

/// Samples so far.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    /// A family with all its samples: labels and value of each.
    fn family<V: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Vec<(&'static str, String)>, V)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
            let _ = match labels.as_slice() {
                [] => writeln!(self.0, "{name} {value}"),
                labels => writeln!(self.0, "{name}{{{}}} {value}", labels.join(",")),
            };
        }
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A metric of a cluster: name, what it says, and how it is read.
type OfCluster = (&'static str, &'static str, fn(&Row, &Glance) -> Option<f64>);

/// Measured values are there only while the cluster answers; `kubeopera_cluster_up` tells whether it does.
#[allow(clippy::cast_precision_loss, reason = "Prometheus has nothing but floating-point numbers")]
const OF_CLUSTERS: &[OfCluster] = &[
    ("kubeopera_cluster_up", "Whether the cluster answers.", |_, glance| {
        Some(f64::from(u8::from(glance.freshness.unreachable.is_none())))
    }),
    ("kubeopera_cluster_last_answer_timestamp_seconds", "When the cluster last answered.", |_, glance| {
        glance.freshness.as_of.map(|as_of| as_of.as_second() as f64)
    }),
    ("kubeopera_cluster_health_score", "Health score, 0 to 100.", |_, glance| {
        let health = glance.health.filter(|_| answers(glance))?;
        Some(health.score.into())
    }),
    ("kubeopera_cluster_nodes", "Nodes.", |_, glance| {
        glance.nodes.filter(|_| answers(glance)).map(|nodes| nodes.total as f64)
    }),
    ("kubeopera_cluster_nodes_ready", "Nodes that are ready.", |_, glance| {
        glance.nodes.filter(|_| answers(glance)).map(|nodes| nodes.ready as f64)
    }),
    ("kubeopera_cluster_nodes_measured", "Nodes that the metrics API tells the usage of.", |_, glance| {
        glance.usage.as_ref().filter(|_| answers(glance)).map(|usage| usage.measured_nodes as f64)
    }),
    ("kubeopera_cluster_cpu_used_cores", "CPU used on the measured nodes.", |_, glance| {
        glance.usage.as_ref().filter(|_| answers(glance))?.cpu.used.map(cores)
    }),
    ("kubeopera_cluster_cpu_measured_cores", "CPU that the measured nodes can allocate.", |_, glance| {
        glance.usage.as_ref().filter(|_| answers(glance))?.cpu.measured_allocatable.map(cores)
    }),
    ("kubeopera_cluster_cpu_requested_cores", "CPU that pods request.", |_, glance| {
        glance.usage.as_ref().filter(|_| answers(glance))?.cpu.requested.map(cores)
    }),
    ("kubeopera_cluster_cpu_allocatable_cores", "CPU that all nodes can allocate.", |_, glance| {
        Some(cores(glance.usage.as_ref().filter(|_| answers(glance))?.cpu.allocatable))
    }),
    ("kubeopera_cluster_memory_used_bytes", "Memory used on the measured nodes.", |_, glance| {
        glance.usage.as_ref().filter(|_| answers(glance))?.memory.used.map(|bytes| bytes as f64)
    }),
    ("kubeopera_cluster_memory_measured_bytes", "Memory that the measured nodes can allocate.", |_, glance| {
        glance.usage.as_ref().filter(|_| answers(glance))?.memory.measured_allocatable.map(|bytes| bytes as f64)
    }),
    ("kubeopera_cluster_memory_requested_bytes", "Memory that pods request.", |_, glance| {
        glance.usage.as_ref().filter(|_| answers(glance))?.memory.requested.map(|bytes| bytes as f64)
    }),
    ("kubeopera_cluster_memory_allocatable_bytes", "Memory that all nodes can allocate.", |_, glance| {
        Some(glance.usage.as_ref().filter(|_| answers(glance))?.memory.allocatable as f64)
    }),
    ("kubeopera_cluster_cost_usd_per_month", "Monthly cost of all that is priced, in US dollars.", |_, glance| {
        glance.cost?.monthly.map(f64::from)
    }),
    ("kubeopera_cluster_not_priced", "Things whose price is not known.", |_, glance| {
        Some(glance.cost?.not_priced as f64)
    }),
];

fn answers(glance: &Glance) -> bool {
    glance.freshness.unreachable.is_none()
}

#[allow(clippy::cast_precision_loss, reason = "Prometheus has nothing but floating-point numbers")]
fn cores(millicores: u64) -> f64 {
    millicores as f64 / 1000.0
}

impl Platform {
    /// All metrics as text.
    pub(crate) async fn exposition(&self) -> Result<String, sea_orm::DbErr> {
        let drawing = self.multi_cluster().await?;
        let view = drawing.view();
        let mut all = Exposition::default();
        let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
        all.family("kubeopera_build_info", "gauge", "The version of KubeOpera.", [(version, 1)]);
        let help = "Whether the HostCluster resources can be read.";
        all.family(
            "kubeopera_kubernetes_api_up",
            "gauge",
            help,
            [(Vec::new(), u8::from(self.observed.access().available))],
        );
        let help = "Whether this process leads: it alone drives clusters and sends notices.";
        all.family("kubeopera_leader", "gauge", help, [(Vec::new(), u8::from(self.leadership.is_held()))]);
        let help = "Changes that were refused to callers without a session or token, since the start.";
        all.family(OF_STRANGERS, "counter", help, [(Vec::new(), self.refusals.of_strangers())]);
        let help = "Refusals to people who had been refused 60 times within a minute, since the start.";
        all.family(LEFT_OUT, "counter", help, [(Vec::new(), self.refusals.beyond_allowance())]);
        let summary = &view.summary;
        let standings = [
            (Standing::Healthy, summary.healthy),
            (Standing::Degraded, summary.degraded),
            (Standing::Unreachable, summary.unreachable),
            (Standing::SettingUp, summary.setting_up),
        ];
        let standings = standings.map(|(standing, count)| (vec![("standing", standing.as_str().to_owned())], count));
        all.family("kubeopera_clusters", "gauge", "Clusters by how they stand.", standings);
        let clusters: Vec<_> =
            view.clusters.iter().filter_map(|row| Some((row, self.monitor.glance(row.id)?))).collect();
        for (name, help, value_of) in OF_CLUSTERS {
            let samples = clusters.iter().filter_map(|(row, glance)| {
                let labels = vec![("cluster", row.name.clone()), ("id", row.id.to_string())];
                Some((labels, value_of(row, glance)?))
            });
            all.family(name, "gauge", help, samples);
        }
        all.process();
        Ok(all.0)
    }
}

impl Exposition {
    /// What every process tells, as far as the system says it.
    fn process(&mut self) {
        let pages = std::fs::read_to_string("/proc/self/statm").ok();
        let resident = pages.as_deref().and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
        let resident = resident.map(|pages| (Vec::new(), pages * 4096));
        self.family("process_resident_memory_bytes", "gauge", "Memory in use.", resident);
        // After the name in parentheses: user and system time are the 12th and 13th, in hundredths of a second.
        let stat = std::fs::read_to_string("/proc/self/stat").ok();
        let ticks = stat.as_deref().and_then(|text| text.rsplit_once(')')).map(|(_, rest)| {
            let fields = rest.split_whitespace().skip(11).take(2);
            fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>()
        });
        #[allow(clippy::cast_precision_loss, reason = "Prometheus has nothing but floating-point numbers")]
        let seconds = ticks.map(|ticks| (Vec::new(), ticks as f64 / 100.0));
        self.family("process_cpu_seconds_total", "counter", "Processor time used.", seconds);
    }
}

/// Names of all metrics of KubeOpera's own.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    let own =
        ["kubeopera_build_info", "kubeopera_kubernetes_api_up", "kubeopera_leader", "kubeopera_clusters", OF_STRANGERS];
    own.into_iter().chain(OF_CLUSTERS.iter().map(|(name, ..)| *name)).collect()
}
