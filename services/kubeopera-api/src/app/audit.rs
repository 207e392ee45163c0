//! Reading the audit log.

use audit_log::{Filter, Row};
use futures::Stream;
use sea_orm::DbErr;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    store::audit::{self, Action, Outcome},
};

impl Platform {
    /// At most `limit` rows, the newest first, beginning before a position.
    pub(crate) async fn audit(
        &self,
        caller: &Caller,
        filter: &Filter,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<Row>, AppError> {
        self.permit(caller, Action::SeeAudit).await?;
        Ok(audit_log::page(&self.db, filter, before, limit).await?)
    }

    /// Every row, the oldest first, read as they are taken. That they were taken away is the last of them.
    pub(crate) async fn export_audit(
        &self,
        caller: &Caller,
        filter: Filter,
    ) -> Result<impl Stream<Item = Result<Row, DbErr>> + Send + use<>, AppError> {
        self.permit(caller, Action::ExportAudit).await?;
        audit::write(&self.db, caller.actor(), Action::ExportAudit, None, Outcome::Done).await?;
        Ok(audit_log::rows(self.db.clone(), filter))
    }
}
