//! `kubeopera audit …`: whether the audit log is as it was written.

use audit_log::{Head, VerifyError, verify};
use clap::Subcommand;

use crate::{data_folder::DataFolder, storage::Storage, welcome};

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Compute every hash of the audit log anew and name the first row that is not as it was written. KubeOpera may be
    /// running.
    Verify {
        #[command(flatten)]
        storage: Storage,
        /// The end that this command told earlier, kept where nobody who can write the database can write
        #[arg(long, value_name = "POSITION:HASH")]
        noted: Option<Head>,
    },
}

pub(crate) async fn run(command: AuditCommand) -> anyhow::Result<()> {
    let AuditCommand::Verify { storage, noted } = command;
    let data = DataFolder::beside_running(&storage.data_path())?;
    let database = storage.database(&data).await?;
    match verify(database, noted.as_ref()).await {
        Ok(verified) => {
            welcome::step(&format!("All {} rows of the audit log are as they were written", verified.rows));
            if let Some(head) = verified.head {
                welcome::step(&format!("Its end, to keep elsewhere and give to --noted later: {head}"));
            }
            Ok(())
        }
        Err(VerifyError::Broken(broken)) => Err(anyhow::anyhow!(
            "{broken}. Nobody can vouch for this row and those after it. Compare them with an export or a backup from before"
        )),
        Err(error) => Err(error.into()),
    }
}
