//! Every cluster in every order in which somebody may want to see them.
//!
//! What a cluster is called is in the database, how it does is in its resource, and a page may be sorted by either. So the
//! few words that pages are sorted and filtered by are kept here, in order, a change at a time: a page costs what is on it,
//! not what is on record. It says which clusters are on a page and what they are called; how they do is read from their
//! resources when it is shown.

mod filter;
mod order;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use host_cluster_controller_crd::{HostCluster, Mode, NodeCount, Phase};
use jiff::Timestamp;
use k8s_monitor_contract::{Glance, Listed, Setup};
use sea_orm::{DatabaseConnection, DbErr};
use tokio::sync::Mutex;
use uuid::Uuid;
use vocabulary::{ClusterId, ClusterLabels};

pub(crate) use filter::{Filter, Selector};
use order::Order;
pub(crate) use order::{Direction, Place, Sort};

use crate::{
    resources::observed::Observed,
    store::{clusters, clusters::Record, revisions},
    view::OnRecord,
};

/// Records that are in memory as a whole at a time.
const AT_ONCE: u64 = 500;

/// The clusters on record, in all their orders.
pub(crate) struct Listing {
    index: RwLock<Index>,
    /// One reads what is new, the others wait for it.
    reading: Mutex<()>,
}

struct Index {
    /// The last change of the records that is in here; `None` before anything was read.
    revision: Option<i64>,
    rows: HashMap<ClusterId, Arc<Row>>,
    orders: [Order; Sort::ALL.len()],
}

/// What pages are sorted and filtered by, with the little else that is shown of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    id: ClusterId,
    name: String,
    created_at: Timestamp,
    mode: Mode,
    provider: String,
    region: String,
    is_host: bool,
    is_leaving: bool,
    labels: ClusterLabels,
    phase: Phase,
    kubernetes_version: Option<String>,
    /// Nodes as the resource tells.
    nodes: Option<NodeCount>,
    /// Nodes as k8s-monitor counts them, which is what is shown where it does.
    counted: Option<u64>,
}

impl Listing {
    pub(crate) fn new() -> Self {
        Self { index: RwLock::new(Index::new()), reading: Mutex::new(()) }
    }

    /// Reads the records that were changed since the last time, by whichever process, and says which. Mostly none was, and
    /// that is all that is asked for. What is read the first time is no change.
    pub(crate) async fn catch_up(&self, db: &DatabaseConnection, observed: &Observed) -> Result<Vec<ClusterId>, DbErr> {
        if Some(revisions::last(db).await?) == self.read().revision {
            return Ok(Vec::new());
        }
        let _one = self.reading.lock().await;
        let last = revisions::last(db).await?;
        let seen = self.read().revision;
        // A database that was restored from a backup has its old numbers again.
        let from = seen.filter(|seen| *seen <= last).unwrap_or(-1);
        let (mut after, mut news) = ((from, Uuid::max()), Vec::new());
        loop {
            let changed = clusters::changed_after(db, after, AT_ONCE).await?;
            let Some(end) = changed.last().map(|record| (record.revision, record.id.uuid())) else { break };
            after = end;
            news.extend(changed.iter().map(|record| record.id));
            let mut index = self.write();
            for record in changed {
                let resource = observed.resource(record.id);
                let counted = index.rows.get(&record.id).and_then(|row| row.counted);
                index.put(Row { counted, ..Row::of(record, resource.as_ref()) });
            }
        }
        let on_record = clusters::count(db).await?;
        let known = self.read().rows.len();
        let left = if usize::try_from(on_record).is_ok_and(|count| count == known) && from >= 0 {
            None
        } else {
            Some(clusters::ids(db).await?.into_iter().collect::<BTreeSet<_>>())
        };
        let mut index = self.write();
        if let Some(left) = left {
            let gone: Vec<_> = index.rows.keys().filter(|id| !left.contains(id)).copied().collect();
            for id in &gone {
                index.remove(*id);
            }
            news.extend(gone);
        }
        // What was written while this was read has a higher number and is read the next time.
        index.revision = Some(last);
        Ok(if seen.is_some() { news } else { Vec::new() })
    }

    /// A resource is new, changed or gone.
    pub(crate) fn see(&self, cluster: ClusterId, resource: Option<&HostCluster>) {
        self.write().see(cluster, resource);
    }

    /// These are all the resources there are.
    pub(crate) fn see_all(&self, observed: &Observed) {
        let ids: Vec<_> = self.read().rows.keys().copied().collect();
        for id in ids {
            self.see(id, observed.resource(id).as_ref());
        }
    }

    /// k8s-monitor counts the nodes of these clusters, and of no other.
    pub(crate) fn count(&self, glances: &[Arc<Glance>]) {
        let counts = glances.iter().filter_map(|glance| Some((glance.cluster, glance.nodes?.total)));
        let counts: HashMap<_, _> = counts.collect();
        let counted = |row: &Row| counts.get(&row.id).copied();
        let news: Vec<_> = self.read().rows.values().filter(|row| row.counted != counted(row)).cloned().collect();
        if news.is_empty() {
            return;
        }
        let mut index = self.write();
        // They may have changed, or gone, since they were looked at.
        let rows: Vec<_> = news.iter().filter_map(|row| index.rows.get(&row.id)).map(|row| Row::clone(row)).collect();
        for row in rows {
            index.put(Row { counted: counted(&row), ..row });
        }
    }

    /// All clusters in few words, in no order.
    pub(crate) fn all(&self) -> Vec<Listed> {
        self.read().rows.values().map(|row| Listed::from(row.as_ref())).collect()
    }

    /// At most `limit` clusters that pass the filter, after a place; and the place to go on from, if there are more.
    pub(crate) fn page(
        &self,
        (sort, direction): (Sort, Direction),
        filter: &Filter,
        after: Option<&Place<'_>>,
        limit: usize,
    ) -> (Vec<Arc<Row>>, Option<Place<'static>>) {
        let index = self.read();
        let Some(order) = index.orders.get(sort.position()) else { return (Vec::new(), None) };
        let mut passing = order.walk(direction, after).filter(|row| filter.lets_pass(row));
        let on_page: Vec<_> = passing.by_ref().take(limit).collect();
        let is_last = passing.next().is_none();
        let last = on_page.last().filter(|_| !is_last).map(|row| Place::of(sort, row).into_owned());
        (on_page.into_iter().map(Arc::clone).collect(), last)
    }

    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    fn new() -> Self {
        Self { revision: None, rows: HashMap::new(), orders: Sort::ALL.map(Order::by) }
    }

    fn put(&mut self, row: Row) {
        if self.rows.get(&row.id).is_some_and(|before| **before == row) {
            return;
        }
        self.remove(row.id);
        let row = Arc::new(row);
        for order in &mut self.orders {
            order.insert(&row);
        }
        self.rows.insert(row.id, row);
    }

    fn see(&mut self, cluster: ClusterId, resource: Option<&HostCluster>) {
        if let Some(row) = self.rows.get(&cluster) {
            let row = Row::clone(row).seen(resource);
            self.put(row);
        }
    }

    fn remove(&mut self, cluster: ClusterId) {
        let Some(row) = self.rows.remove(&cluster) else { return };
        for order in &mut self.orders {
            order.remove(&row);
        }
    }
}

impl From<&Row> for Listed {
    fn from(row: &Row) -> Self {
        Self {
            id: row.id,
            name: row.name.clone(),
            provider: row.provider.clone(),
            region: row.region.clone(),
            is_host: row.is_host,
            kubernetes_version: row.kubernetes_version.clone(),
            phase: row.phase.as_str().to_owned(),
            setup: match row.phase {
                Phase::Ready => Setup::Done,
                Phase::Failed => Setup::Failed,
                _ => Setup::Underway,
            },
        }
    }
}

impl Row {
    pub(crate) const fn id(&self) -> ClusterId {
        self.id
    }

    pub(crate) fn on_record(&self) -> OnRecord<'_> {
        OnRecord {
            id: self.id,
            name: &self.name,
            is_host: self.is_host,
            created_at: self.created_at,
            is_leaving: self.is_leaving,
            labels: &self.labels,
        }
    }

    fn of(record: Record, resource: Option<&HostCluster>) -> Self {
        let row = Self {
            id: record.id,
            name: record.name.into(),
            created_at: record.created_at,
            mode: record.spec.mode,
            provider: record.spec.provider,
            region: record.spec.region,
            is_host: record.is_host,
            is_leaving: record.removing_since.is_some(),
            labels: record.labels,
            phase: Phase::Pending,
            kubernetes_version: None,
            nodes: None,
            counted: None,
        };
        row.seen(resource)
    }

    /// With what its resource says. Without one, as a cluster that is shown without one.
    fn seen(self, resource: Option<&HostCluster>) -> Self {
        let status = resource.and_then(|resource| resource.status.as_ref());
        Self {
            phase: status.and_then(|status| status.phase).unwrap_or(Phase::Pending),
            kubernetes_version: status.and_then(|status| status.kubernetes_version.clone()),
            nodes: status.and_then(|status| status.nodes),
            ..self
        }
    }
}

#[cfg(test)]
mod tests;
