//! Looking at clusters.

use std::collections::HashMap;

use sea_orm::DbErr;
use vocabulary::ClusterId;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    listing::{Direction, Filter, Place, Sort},
    store::{audit::Action, clusters, outbox},
    view::{Cluster, ClusterList, Wanted},
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
        // What is read from here on knows all that was told until now. What is told meanwhile may be newer than what is
        // read, so that no cluster is to carry a later revision.
        let told = self.events.last();
        self.catch_up().await?;
        let WantedPage { sort, direction, filter, after, limit } = wanted;
        let (rows, next) = self.listing.page((*sort, *direction), filter, after.as_ref(), *limit);
        let ids: Vec<_> = rows.iter().map(|row| row.id()).collect();
        let entries = outbox::of(&self.db, &ids).await?;
        let mut entries: HashMap<_, _> = entries.into_iter().map(|entry| (entry.cluster, entry)).collect();
        let resources: Vec<_> = ids.iter().map(|id| self.observed.resource(*id)).collect();
        let without: Vec<_> = ids.iter().zip(&resources).filter(|(_, one)| one.is_none()).map(|(id, _)| *id).collect();
        let records = clusters::by_ids(&self.db, &without).await?;
        let records: HashMap<_, _> = records.into_iter().map(|record| (record.id, record)).collect();
        let items = rows.iter().zip(&resources).filter_map(|(row, resource)| {
            let wanted = match resource {
                Some(resource) => Wanted::Resource(resource),
                // One that is off the record since a moment is not on the page either.
                None => Wanted::Record(&records.get(&row.id())?.spec),
            };
            let revision = self.events.revision_of(row.id()).min(told);
            Some(self.view(row.on_record(), wanted, entries.remove(&row.id()), revision))
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
