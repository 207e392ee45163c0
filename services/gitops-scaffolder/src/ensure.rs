//! Makes a tree be in Git: look at the branch's tip, compare, commit on top of it, push; and once more from the start
//! if somebody else was faster. Nothing is remembered between attempts, so an interrupted one costs nothing.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use gitops_scaffolder_contract::{Destination, TreeInputs, WrittenTree};
use gitops_scaffolder_tree::{LOCK_PATH, Lock, LockUnreadable, Tree, lint, render};
use rand::RngExt;
use tokio::sync::Mutex;
use vocabulary::{GitPath, Trouble};

use crate::{
    Scaffolder, bases,
    git::{
        access::Access,
        clone::{Change, Clone, Tip, folder_of},
        program::Failure,
        server,
        trouble::{self, Attempt, Refusal},
    },
    merge::{self, Changes, Folder},
    proposal::Proposal,
};

/// How often a push may be overtaken. With the pauses between, that is about half a minute of others pushing.
const ATTEMPTS: u32 = 12;

/// How often in a row a push may not be taken although the branch stands still: about three seconds, longer than anybody
/// else holds its lock.
const ATTEMPTS_AT_A_STANDSTILL: u32 = 6;

/// No file of a tree is near this many bytes.
pub(crate) const LARGEST_FILE: u64 = 1 << 20;

/// Why one attempt did not succeed.
pub(crate) enum Setback {
    /// The server did not take the push just now: mostly because somebody else pushed in between.
    NotTaken {
        /// The branch.
        branch: String,
        /// Where it stood before.
        tip: Option<String>,
        /// What the server said.
        words: String,
    },
    /// Our clone cannot be used.
    CloneBroken(Failure),
    /// Something that another attempt at once would not mend.
    Trouble(Trouble),
}

impl From<Trouble> for Setback {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl Scaffolder {
    pub(crate) async fn ensure(&self, inputs: &TreeInputs, destination: &Destination) -> Result<WrittenTree, Trouble> {
        let access = self.access(destination).await?;
        let clone = self.clone_of(destination, &access);
        let turn = self.turn(&clone.folder).await;
        let _turn = turn.lock().await;
        let mut made_anew = false;
        let (mut stood_at, mut standstill) = (None, 0);
        for attempt in 0..ATTEMPTS {
            match self.attempt(inputs, destination, &clone).await {
                Ok(written) => return Ok(written),
                Err(Setback::Trouble(trouble)) => return Err(trouble),
                Err(Setback::NotTaken { branch, tip, words }) => {
                    let tip = Some(tip);
                    standstill = if stood_at == tip { standstill + 1 } else { 1 };
                    stood_at = tip;
                    if standstill == ATTEMPTS_AT_A_STANDSTILL {
                        return Err(trouble::not_taken(&destination.url, &branch, &words));
                    }
                    let longest = 100_u64 << attempt.min(5);
                    let pause = rand::rng().random_range(longest / 2..=longest);
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
                Err(Setback::CloneBroken(failure)) if made_anew => return Err(local(&failure)),
                Err(Setback::CloneBroken(failure)) => {
                    made_anew = true;
                    tracing::warn!(cluster.id = %inputs.cluster, %failure, "a clone cannot be used and is made anew");
                    clone.discard().await.map_err(|failure| local(&failure))?;
                }
            }
        }
        Err(busy(destination))
    }

    async fn attempt(
        &self,
        inputs: &TreeInputs,
        destination: &Destination,
        clone: &Clone<'_>,
    ) -> Result<WrittenTree, Setback> {
        let Tip { branch, commit: tip } = fetched(clone, destination).await?;
        let there = match &tip {
            Some(commit) => folder(clone, commit, &inputs.path).await?,
            None => Folder::new(),
        };
        let lock = there.get(LOCK_PATH).map(|text| read_lock(text, &inputs.path)).transpose()?;
        if let Some(lock) = lock.as_ref().filter(|lock| lock.inputs.uid != inputs.cluster_uid) {
            return Err(of_another(lock, &inputs.path).into());
        }
        let tree = self.sound_tree(inputs, lock.as_ref())?;
        let bases = match &lock {
            Some(lock) => bases::of(clone, lock, &merge::to_merge(&there, lock, &tree)).await,
            None => Folder::new(),
        };
        let changes =
            merge::changes(&there, lock.as_ref(), &bases, &tree).map_err(|foreign| not_empty(&foreign, inputs))?;
        let written = |commit: String| WrittenTree {
            branch: branch.clone(),
            commit,
            tree_hash: tree.hash(),
            kept_edits: changes.kept_edits.clone(),
        };
        if let (Some(tip), true, true) = (&tip, changes.write.is_empty(), changes.remove.is_empty()) {
            return Ok(written(tip.clone()));
        }
        let proposal = Proposal::new(clone, inputs, destination, &branch);
        // A first commit can only go to the branch itself: there is nothing to merge it into.
        let proposed = if tip.is_some() { proposal.find().await? } else { None };
        if let Some(proposed) = &proposed
            && proposal.holds(proposed, &tree).await?
        {
            return Err(proposal.awaited().into());
        }
        let committer = format!("{} <{}>", self.config.committer.name, self.config.committer.email);
        let message = message(inputs, &tree, lock.is_none(), &changes.conflicts);
        let change = change(&committer, &message, &inputs.path, &changes);
        let commit = clone.commit(tip.as_deref(), &change).await.map_err(Setback::CloneBroken)?;
        match push(clone, &commit, &branch, tip.clone(), destination).await {
            Err(Setback::Trouble(refused)) if refused.reason == trouble::PUSH_REFUSED && tip.is_some() => {
                proposal.put(&commit, proposed.as_deref()).await?;
                tracing::info!(cluster.id = %inputs.cluster, %commit, branch, "proposed the cluster's tree");
                return Err(proposal.awaited().into());
            }
            pushed => pushed?,
        }
        tracing::info!(cluster.id = %inputs.cluster, %commit, branch, "committed the cluster's tree");
        Ok(written(commit))
    }

    /// Renders the tree, and answers for it.
    fn sound_tree(&self, inputs: &TreeInputs, lock: Option<&Lock>) -> Result<Tree, Trouble> {
        let present = lock.map_or(inputs.present, |lock| lock.present_before(inputs.present));
        let tree = render(&TreeInputs { present, ..inputs.clone() }, &self.tree);
        let findings = lint(&tree);
        if findings.is_empty() {
            return Ok(tree);
        }
        tracing::error!(cluster.id = %inputs.cluster, ?findings, "a rendered tree is not sound");
        let first = findings.first().map(ToString::to_string).unwrap_or_default();
        let message = format!(
            "The tree KubeOpera generated for {} is not sound ({first}), so it was not committed. This is a fault of \
             KubeOpera: please report it.",
            inputs.name
        );
        Err(Trouble::bug("TreeUnsound", message))
    }

    pub(crate) async fn access(&self, destination: &Destination) -> Result<Access, Trouble> {
        let addresses = server::addresses(&destination.url, &self.config.trusted).await?;
        let folder = self.config.work_dir.join("access");
        Access::new(&destination.url, &addresses, &destination.credential, &folder)
            .map_err(|error| local(&Failure::NotRun(error.to_string())))
    }

    pub(crate) fn clone_of<'a>(&'a self, destination: &'a Destination, access: &'a Access) -> Clone<'a> {
        let url = destination.url.as_str();
        let folder = folder_of(&self.config.work_dir.join("clones"), url);
        Clone { git: &self.git, folder, url, access }
    }

    pub(crate) async fn turn(&self, folder: &Path) -> Arc<Mutex<()>> {
        Arc::clone(self.turns.lock().await.entry(folder.to_owned()).or_default())
    }
}

/// Where the branch stands, with its commit fetched.
pub(crate) async fn fetched(clone: &Clone<'_>, destination: &Destination) -> Result<Tip, Setback> {
    let reading = |failure: Failure| {
        if trouble::is_about_the_clone(&failure) {
            return Setback::CloneBroken(failure);
        }
        trouble::of(&failure, &destination.url, Attempt::Read).into()
    };
    clone.ensure().await.map_err(Setback::CloneBroken)?;
    let found = clone.find(destination.branch.as_ref()).await.map_err(reading)?;
    let Tip { branch, commit } = found.map_err(|missing| trouble::no_branch(&missing, &destination.url))?;
    let commit = match commit {
        Some(commit) => Some(clone.fetch(&branch, &commit).await.map_err(reading)?),
        None => None,
    };
    Ok(Tip { branch, commit })
}

/// The files below a cluster's path. A path that leads through a file or a symbolic link leads elsewhere than it says.
pub(crate) async fn folder(clone: &Clone<'_>, commit: &str, path: &GitPath) -> Result<Folder, Setback> {
    let ends = path.as_str().match_indices('/').map(|(at, _)| at).chain([path.as_str().len()]);
    let above: Vec<String> = ends.filter_map(|end| path.as_str().get(..end)).map(str::to_owned).collect();
    let on_the_way = clone.list(commit, false, &above).await.map_err(Setback::CloneBroken)?;
    if let Some(entry) = on_the_way.iter().find(|entry| entry.kind != "tree") {
        let message = format!(
            "{} is a file or a symbolic link in the repository, so the folder {path} cannot be used. Choose another folder, \
             or remove it.",
            entry.path
        );
        return Err(Trouble::rejected("PathEscapesRepository", message).into());
    }
    let prefix = format!("{path}/");
    let entries = clone.list(commit, true, std::slice::from_ref(&prefix)).await.map_err(Setback::CloneBroken)?;
    // Of what is in overrides/, and of what is too large to be ours, only matters that it is there.
    let (unread, read): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .filter(|entry| entry.kind == "blob")
        .filter_map(|entry| Some((entry.path.strip_prefix(&prefix)?.to_owned(), entry)))
        .partition(|(path, entry)| path.starts_with("overrides/") || entry.size.is_none_or(|size| size > LARGEST_FILE));
    let ids: Vec<&str> = read.iter().map(|(_, entry)| entry.id.as_str()).collect();
    let texts = clone.read(&ids).await.map_err(Setback::CloneBroken)?;
    let mut folder: BTreeMap<String, String> = read.iter().map(|(path, _)| path.clone()).zip(texts).collect();
    folder.extend(unread.into_iter().map(|(path, _)| (path, String::new())));
    Ok(folder)
}

pub(crate) fn read_lock(text: &str, path: &GitPath) -> Result<Lock, Trouble> {
    Lock::parse(text).map_err(|unreadable| match unreadable {
        LockUnreadable::Malformed => Trouble::rejected(
            "LockFileUnreadable",
            format!(
                "{path}/{LOCK_PATH} in the repository was edited and cannot be read. Restore it from Git's history."
            ),
        ),
        LockUnreadable::Newer => Trouble::rejected(
            "TreeOfNewerVersion",
            format!(
                "The folder {path} of the repository was written by a newer version of KubeOpera. Update this one."
            ),
        ),
    })
}

/// Whose a folder is tells the UID and not the id: a cluster that was let go of and is registered again has a new id,
/// and keeps its folder.
fn of_another(lock: &Lock, path: &GitPath) -> Trouble {
    let message = format!(
        "The folder {path} of the repository holds the environment of another cluster, {} (HostCluster {}). Choose another \
         folder; if that cluster is gone, delete the folder from the repository.",
        lock.inputs.name, lock.inputs.id
    );
    Trouble::rejected("GitPathInUse", message)
}

/// The repository does not stand still for long enough.
pub(crate) fn busy(destination: &Destination) -> Trouble {
    let message = format!(
        "Others change the repository {} so often that the cluster's tree could not be added yet. KubeOpera tries again.",
        destination.url
    );
    Trouble::transient("GitBusy", message)
}

fn not_empty(merge::Foreign(paths): &merge::Foreign, inputs: &TreeInputs) -> Trouble {
    let message = format!(
        "The folder {} of the repository already holds files that KubeOpera did not write ({}). Choose an empty folder.",
        inputs.path,
        paths.join(", ")
    );
    Trouble::rejected("GitPathInUse", message)
}

fn message(inputs: &TreeInputs, tree: &Tree, first: bool, conflicts: &[String]) -> String {
    let verb = if first { "Add" } else { "Update" };
    let mut message = format!("{verb} the environment of {}\n\n", inputs.name);
    if !conflicts.is_empty() {
        message += "These files were edited where they would have changed, and stay as they are:\n\n";
        message.extend(conflicts.iter().map(|path| format!("- {path}\n")));
        message.push('\n');
    }
    message + &format!("KubeOpera-Cluster: {}\nKubeOpera-Tree: {}\n", inputs.cluster, tree.hash())
}

fn change<'a>(committer: &'a str, message: &'a str, path: &GitPath, changes: &'a Changes<'a>) -> Change<'a> {
    let in_repository = |file: &str| format!("{path}/{file}");
    Change {
        committer,
        message,
        write: changes.write.iter().map(|(file, text)| (in_repository(file), text.as_ref())).collect(),
        remove: changes.remove.iter().map(|file| in_repository(file)).collect(),
    }
}

async fn push(
    clone: &Clone<'_>,
    commit: &str,
    branch: &str,
    tip: Option<String>,
    destination: &Destination,
) -> Result<(), Setback> {
    let Err(failure) = clone.push(commit, branch).await else { return Ok(()) };
    match trouble::refusal(&failure) {
        Refusal::NotNow(words) => Err(Setback::NotTaken { branch: branch.to_owned(), tip, words }),
        Refusal::Refused(words) => Err(trouble::refused(&destination.url, branch, &words).into()),
        Refusal::Other => Err(trouble::of(&failure, &destination.url, Attempt::Write).into()),
    }
}

/// Our own folder or program failed us, not the server.
pub(crate) fn local(failure: &Failure) -> Trouble {
    if *failure == Failure::Missing {
        return trouble::missing();
    }
    let message = format!(
        "Git could not be used where gitops-scaffolder runs: {failure}. See that git is installed and the disk is not full."
    );
    Trouble::transient("GitNotRun", message)
}
