//! Looking at clusters.

use vocabulary::ClusterId;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    store::{
        audit::Action,
        clusters::{self, Record},
        outbox,
    },
    view::{Cluster, ClusterList},
};

/// Clusters per page unless somebody asks for another number.
pub(crate) const PAGE: u16 = 100;
/// Clusters per page at most.
pub(crate) const LONGEST_PAGE: u16 = 500;

impl Platform {
    /// A page of clusters by name, beginning after a name.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: u16,
    ) -> Result<(ClusterList, Option<String>), AppError> {
        self.permit(caller, Action::SeeClusters).await?;
        let limit = usize::from(limit.clamp(1, LONGEST_PAGE));
        let mut records = clusters::page(&self.db, after, limit as u64 + 1).await?;
        let has_more = records.len() > limit;
        records.truncate(limit);
        let next = if has_more { records.last().map(|record| record.name.to_string()) } else { None };
        let ids: Vec<_> = records.iter().map(|record| record.id).collect();
        let mut entries = outbox::of(&self.db, &ids).await?;
        let items = records.iter().map(|record| self.view_of_page(record, &mut entries)).collect();
        Ok((ClusterList { items, next_cursor: None, kubernetes: self.observed.access() }, next))
    }

    fn view_of_page(&self, record: &Record, entries: &mut Vec<outbox::Entry>) -> Cluster {
        let revision = self.events.revision_of(record.id);
        let entry = entries.iter().position(|entry| entry.cluster == record.id).map(|at| entries.swap_remove(at));
        self.view(record, entry, revision)
    }

    /// One cluster.
    pub(crate) async fn cluster(&self, caller: &Caller, id: ClusterId) -> Result<Cluster, AppError> {
        self.permit(caller, Action::SeeClusters).await?;
        self.look_at(id).await?.ok_or(AppError::NoSuchCluster)
    }
}
