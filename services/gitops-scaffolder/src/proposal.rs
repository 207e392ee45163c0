//! What to do where a branch takes no commits from us: the change is put on a branch beside it, for somebody who may merge
//! it. As long as that branch holds the change, there is nothing to do but to wait: nothing is pushed again, so that nobody's
//! review is undone. Whoever deletes it has the branch itself tried again.

use gitops_scaffolder_contract::{Destination, TreeInputs};
use gitops_scaffolder_tree::{LOCK_PATH, Tree};
use vocabulary::Trouble;

use crate::{
    ensure::{Setback, folder, read_lock},
    git::{
        clone::Clone,
        trouble::{self, Attempt, Refusal},
    },
    merge,
};

/// The branch with a cluster's change.
pub(crate) struct Proposal<'a> {
    clone: &'a Clone<'a>,
    inputs: &'a TreeInputs,
    destination: &'a Destination,
    /// The branch it is for.
    target: &'a str,
    branch: String,
}

impl<'a> Proposal<'a> {
    pub(crate) fn new(
        clone: &'a Clone<'a>,
        inputs: &'a TreeInputs,
        destination: &'a Destination,
        target: &'a str,
    ) -> Self {
        Self { clone, inputs, destination, target, branch: format!("kubeopera/{}", inputs.name) }
    }

    /// Where it is, if it is there.
    pub(crate) async fn find(&self) -> Result<Option<String>, Setback> {
        let read = |failure| Setback::from(trouble::of(&failure, &self.destination.url, Attempt::Read));
        let Some(commit) = self.clone.commit_at(&self.branch).await.map_err(read)? else { return Ok(None) };
        self.clone.fetch(&self.branch, &commit).await.map(Some).map_err(read)
    }

    /// Whether all of the tree is in it.
    pub(crate) async fn holds(&self, commit: &str, tree: &Tree) -> Result<bool, Setback> {
        let there = folder(self.clone, commit, &self.inputs.path).await?;
        let lock = there.get(LOCK_PATH).map(|text| read_lock(text, &self.inputs.path)).transpose()?;
        let is_ours = lock.as_ref().is_some_and(|lock| lock.inputs.uid == self.inputs.cluster_uid);
        // Its lock file is the new tree's, so nothing is left to merge.
        let changes = merge::changes(&there, lock.as_ref(), &merge::Folder::new(), tree);
        Ok(is_ours && changes.is_ok_and(|changes| changes.write.is_empty() && changes.remove.is_empty()))
    }

    /// Puts a commit there, in place of the one that was found there.
    pub(crate) async fn put(&self, commit: &str, found: Option<&str>) -> Result<(), Setback> {
        let Err(failure) = self.clone.replace(commit, &self.branch, found).await else { return Ok(()) };
        Err(match trouble::refusal(&failure) {
            Refusal::NotNow(words) => {
                let tip = found.map(str::to_owned);
                Setback::NotTaken { branch: self.branch.clone(), tip, words }
            }
            Refusal::Refused(words) => trouble::refused(&self.destination.url, self.target, &words).into(),
            Refusal::Other => trouble::of(&failure, &self.destination.url, Attempt::Write).into(),
        })
    }

    /// What is awaited.
    pub(crate) fn awaited(&self) -> Trouble {
        let (branch, target, url) = (&self.branch, self.target, &self.destination.url);
        let message = format!(
            "The branch {target} of the repository {url} takes no commits from KubeOpera, so the environment of {} is on the \
             branch {branch}. Merge {branch} into {target}, and KubeOpera goes on; delete it, and KubeOpera tries {target} \
             again.",
            self.inputs.name
        );
        Trouble::waiting("GitProposalPushed", message)
    }
}
