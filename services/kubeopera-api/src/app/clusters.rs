//! Looking at clusters.

use std::collections::HashMap;

use sea_orm::DbErr;
use vocabulary::ClusterId;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    listing::{Direction, Filter, Place, Sort},
    store::{audit::Action, clusters, outbox},
    view::{Cluster, ClusterList},
};

/// A page of clusters that somebody asks for.
pub(crate) struct WantedPage {
    pub(crate) sort: Sort,
    pub(crate) direction: Direction,
    pub(crate) filter: Filter,
    pub(crate) after: Option<Place<'static>>,
    pub(crate) limit: usize,
}

impl Platform {
    /// A page of clusters, and the place to go on from.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        wanted: &WantedPage,
    ) -> Result<(ClusterList, Option<Place<'static>>), AppError> {
        self.permit(caller, Action::SeeClusters).await?;
        self.catch_up().await?;
        let WantedPage { sort, direction, filter, after, limit } = wanted;
        let (ids, next) = self.listing.page((*sort, *direction), filter, after.as_ref(), *limit);
        // To be read before the records, as one that is newer is never to carry an older revision.
        let revisions: Vec<_> = ids.iter().map(|id| (*id, self.events.revision_of(*id))).collect();
        let records = clusters::by_ids(&self.db, &ids).await?;
        let mut records: HashMap<_, _> = records.into_iter().map(|record| (record.id, record)).collect();
        let entries = outbox::of(&self.db, &ids).await?;
        let mut entries: HashMap<_, _> = entries.into_iter().map(|entry| (entry.cluster, entry)).collect();
        // One that is off the record since a moment is not on the page either.
        let items = revisions.into_iter().filter_map(|(id, revision)| {
            let record = records.remove(&id)?;
            Some(self.view(&record, entries.remove(&id), revision))
        });
        Ok((ClusterList { items: items.collect(), next_cursor: None, kubernetes: self.observed.access() }, next))
    }

    /// Reads which records were changed since the last time, by whichever process, and has the pages told.
    pub(crate) async fn catch_up(&self) -> Result<(), DbErr> {
        for id in self.listing.catch_up(&self.db, &self.observed).await? {
            self.events.mark(id);
        }
        Ok(())
    }

    /// One cluster.
    pub(crate) async fn cluster(&self, caller: &Caller, id: ClusterId) -> Result<Cluster, AppError> {
        self.permit(caller, Action::SeeClusters).await?;
        self.look_at(id).await?.ok_or(AppError::NoSuchCluster)
    }
}
