//! Looks whether a cluster's tree is in Git, by its lock file alone.

use gitops_scaffolder_contract::{Destination, TreeSeen};
use gitops_scaffolder_tree::{LOCK_PATH, render_again};
use vocabulary::{GitPath, Trouble};

use crate::{
    Scaffolder,
    ensure::{LARGEST_FILE, Setback, busy, fetched, local, read_lock},
    git::clone::{Clone, Tip},
};

impl Scaffolder {
    pub(crate) async fn look_at(
        &self,
        cluster_uid: &str,
        path: &GitPath,
        destination: &Destination,
    ) -> Result<TreeSeen, Trouble> {
        let access = self.access(destination).await?;
        let clone = self.clone_of(destination, &access);
        let turn = self.turn(&clone.folder).await;
        let _turn = turn.lock().await;
        match self.seen(cluster_uid, path, destination, &clone).await {
            Ok(seen) => Ok(seen),
            Err(Setback::Trouble(trouble)) => Err(trouble),
            Err(Setback::CloneBroken(failure)) => {
                // The next look begins with a new one.
                clone.discard().await.map_err(|failure| local(&failure))?;
                Err(local(&failure))
            }
            Err(Setback::NotTaken { .. }) => Err(busy(destination)),
        }
    }

    async fn seen(
        &self,
        cluster_uid: &str,
        path: &GitPath,
        destination: &Destination,
        clone: &Clone<'_>,
    ) -> Result<TreeSeen, Setback> {
        let Tip { branch, commit } = fetched(clone, destination).await?;
        let Some(commit) = commit else { return Ok(TreeSeen { branch, tree_hash: None }) };
        let at = [format!("{path}/{LOCK_PATH}")];
        let listed = clone.list(&commit, false, &at).await.map_err(Setback::CloneBroken)?;
        let file =
            listed.iter().find(|entry| entry.kind == "blob" && entry.size.is_some_and(|size| size <= LARGEST_FILE));
        let ids: Vec<&str> = file.iter().map(|entry| entry.id.as_str()).collect();
        let texts = clone.read(&ids).await.map_err(Setback::CloneBroken)?;
        let lock = texts.first().map(|text| read_lock(text, path)).transpose()?;
        let ours = lock.filter(|lock| lock.inputs.uid == cluster_uid);
        Ok(TreeSeen { branch, tree_hash: ours.map(|lock| render_again(&lock, &self.tree).hash()) })
    }
}
