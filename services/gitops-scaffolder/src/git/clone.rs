//! Our copy of one remote repository: bare, shallow, and of no worth to anybody but as a cache. A commit is built in it
//! without a work tree and pushed without force.

use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use tokio::fs;
use vocabulary::GitBranch;

use super::{
    access::Access,
    program::{Failure, Git},
};

/// The default branch of a repository that has none yet and does not say which it wants.
pub(crate) const FIRST_BRANCH: &str = "main";

/// Files of this size and more stay on the server, where it lets us leave them: no file of a tree is near it.
const LEFT_OUT: &str = "--filter=blob:limit=1m";

/// A clone with more than this is made anew by the next fetch: loose objects and packs as Git itself would tidy them up
/// at, and KiB in all.
const MOST_LOOSE: u64 = 6700;
const MOST_PACKS: u64 = 50;
const MOST_KIB: u64 = 256 << 10;

/// Of other branches, this many are told.
const MOST_BRANCHES_TOLD: usize = 5;

/// The remote's branch as of the last fetch, and the commit we are about to push, by names of our own.
const FETCHED: &str = "refs/kubeopera/fetched";
const NEXT: &str = "refs/kubeopera/next";

/// A bare clone and whom it is of.
pub(crate) struct Clone<'a> {
    pub(crate) git: &'a Git,
    pub(crate) folder: PathBuf,
    pub(crate) url: &'a str,
    pub(crate) access: &'a Access,
}

/// Where a remote stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tip {
    /// Its default branch.
    pub(crate) branch: String,
    /// The commit the branch is at, if there is one.
    pub(crate) commit: Option<String>,
}

/// The remote has branches, and not this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoBranch {
    /// The branch that was named; none if it is the default branch that is missing.
    pub(crate) wanted: Option<String>,
    /// Some of those it has.
    pub(crate) others: Vec<String>,
}

/// One entry of a folder in Git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Path from the repository's root.
    pub(crate) path: String,
    /// `blob`, `tree` or `commit`.
    pub(crate) kind: String,
    /// Object id.
    pub(crate) id: String,
    /// Bytes, of a blob.
    pub(crate) size: Option<u64>,
}

/// What one commit changes.
pub(crate) struct Change<'a> {
    /// `Name <address>`.
    pub(crate) committer: &'a str,
    /// Whole message.
    pub(crate) message: &'a str,
    /// Files to write, by path from the root.
    pub(crate) write: Vec<(String, &'a str)>,
    /// Files to remove.
    pub(crate) remove: Vec<String>,
}

impl Clone<'_> {
    /// Makes the folder a repository, if it is none.
    pub(crate) async fn ensure(&self) -> Result<(), Failure> {
        if fs::try_exists(self.folder.join("HEAD")).await.unwrap_or(false) {
            return Ok(());
        }
        fs::create_dir_all(&self.folder).await.map_err(not_run)?;
        self.git.local(&self.folder, &["init", "--quiet", "--bare"], &[]).await?;
        Ok(())
    }

    /// Forgets everything. It all comes back with the next fetch.
    pub(crate) async fn discard(&self) -> Result<(), Failure> {
        match fs::remove_dir_all(&self.folder).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(not_run(error)),
            _ => Ok(()),
        }
    }

    /// The branch, or the remote's default branch, and the commit it is at. An empty repository has no commit, and gets any
    /// branch with the first one; one with other branches has to have this one.
    pub(crate) async fn find(&self, branch: Option<&GitBranch>) -> Result<Result<Tip, NoBranch>, Failure> {
        let wanted = branch.map_or_else(|| "HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
        let told = self.ls_remote(&["--symref", "--", self.url, &wanted]).await?;
        let of_wanted = || told.lines().filter_map(|line| line.strip_suffix(&wanted)?.strip_suffix('\t'));
        let default = of_wanted().find_map(|line| line.strip_prefix("ref: refs/heads/"));
        let commit = of_wanted().find(|line| !line.starts_with("ref: "));
        if let (Some(commit), Some(branch)) = (commit, branch.map(GitBranch::as_str).or(default)) {
            return Ok(Ok(Tip { branch: branch.to_owned(), commit: Some(commit.to_owned()) }));
        }
        let told = self.ls_remote(&["--heads", "--", self.url]).await?;
        let others: Vec<_> = told.lines().filter_map(|line| line.split_once("\trefs/heads/")).collect();
        if !others.is_empty() {
            let others = others.into_iter().map(|(_, name)| name.to_owned()).take(MOST_BRANCHES_TOLD).collect();
            return Ok(Err(NoBranch { wanted: branch.map(ToString::to_string), others }));
        }
        match branch {
            Some(branch) => Ok(Ok(Tip { branch: branch.to_string(), commit: None })),
            None => self.unborn().await.map(Ok),
        }
    }

    /// The commit a branch of the remote is at; none if there is no such branch.
    pub(crate) async fn commit_at(&self, branch: &str) -> Result<Option<String>, Failure> {
        let told = self.ls_remote(&["--", self.url, &format!("refs/heads/{branch}")]).await?;
        Ok(told.split_ascii_whitespace().next().map(str::to_owned))
    }

    async fn ls_remote(&self, what: &[&str]) -> Result<String, Failure> {
        let told = self.git.remote(&self.folder, &[&["ls-remote"], what].concat(), self.access).await?;
        Ok(String::from_utf8_lossy(&told).into_owned())
    }

    /// The default branch of a repository without a commit, which it tells only who clones it.
    async fn unborn(&self) -> Result<Tip, Failure> {
        let trial = tempfile::tempdir_in(&self.folder).map_err(not_run)?;
        let into = trial.path().to_str().ok_or_else(|| Failure::NotRun("the folder's name is not UTF-8".into()))?;
        let clone = ["clone", "--quiet", "--bare", "--depth=1", "--no-tags", "--", self.url, into];
        self.git.remote(&self.folder, &clone, self.access).await?;
        let head = self.git.local(trial.path(), &["symbolic-ref", "--short", "HEAD"], &[]).await?;
        Ok(Tip { branch: text(&head), commit: None })
    }

    /// Makes the commit a branch is at be here, and says which it is: the branch may have moved since.
    pub(crate) async fn fetch(&self, branch: &str, commit: &str) -> Result<String, Failure> {
        // Commits come here whole or not at all.
        if self.git.local(&self.folder, &["cat-file", "-e", commit], &[]).await.is_ok() {
            return Ok(commit.to_owned());
        }
        if self.is_full().await? {
            self.discard().await?;
            self.ensure().await?;
        }
        let refspec = format!("+refs/heads/{branch}:{FETCHED}");
        let how = ["fetch", "--quiet", "--depth=1", LEFT_OUT, "--no-tags", "--no-write-fetch-head"];
        let fetch = [how.as_slice(), &["--", self.url, &refspec]].concat();
        self.git.remote(&self.folder, &fetch, self.access).await?;
        // Git has noted down where to get what was left out, and would go there, without our credential, as soon as it
        // meets such a file. Without the note it takes it for a file of unknown size.
        let note = format!("remote.{}", self.url);
        let _ = self.git.local(&self.folder, &["config", "--remove-section", &note], &[]).await;
        let commit = self.git.local(&self.folder, &["rev-parse", "--verify", FETCHED], &[]).await?;
        Ok(text(&commit))
    }

    /// Whether more has come together than is worth keeping. Nothing else ever takes anything out of a clone.
    async fn is_full(&self) -> Result<bool, Failure> {
        let told = self.git.local(&self.folder, &["count-objects", "-v"], &[]).await?;
        Ok(is_too_much(&String::from_utf8_lossy(&told)))
    }

    /// Everything below these paths of a commit: an entry each for a path that is a file, its files for one that ends
    /// in a slash.
    pub(crate) async fn list(&self, commit: &str, recursive: bool, paths: &[String]) -> Result<Vec<Entry>, Failure> {
        let mut arguments = vec!["ls-tree", "-z", "--long", "--full-tree"];
        arguments.extend(recursive.then_some("-r"));
        arguments.extend([commit, "--"]);
        arguments.extend(paths.iter().map(String::as_str));
        let listed = self.git.local(&self.folder, &arguments, &[]).await?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        Ok(listed.split('\0').filter_map(entry).collect())
    }

    /// The contents of these blobs, in their order.
    pub(crate) async fn read(&self, ids: &[&str]) -> Result<Vec<String>, Failure> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = ids.join("\n") + "\n";
        let answer = self.git.local(&self.folder, &["cat-file", "--batch"], wanted.as_bytes()).await?;
        blobs(&answer).ok_or_else(|| Failure::NotRun("cat-file answered in a form that is not known".into()))
    }

    /// A blob of the repository, of whatever commit: it is fetched alone if it is not here. Servers hand out by their ids what
    /// any branch's history holds.
    pub(crate) async fn blob(&self, id: &str) -> Result<String, Failure> {
        if self.git.local(&self.folder, &["cat-file", "-e", id], &[]).await.is_err() {
            let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--", self.url, id];
            self.git.remote(&self.folder, &fetch, self.access).await?;
        }
        let text = self.git.local(&self.folder, &["cat-file", "blob", id], &[]).await?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Makes a commit on top of `parent`, or the first one.
    pub(crate) async fn commit(&self, parent: Option<&str>, change: &Change<'_>) -> Result<String, Failure> {
        let script = script(parent, change);
        let import = ["fast-import", "--quiet", "--force", "--done", "--date-format=now"];
        let said = self.git.local(&self.folder, &import, &script).await?;
        Ok(text(&said))
    }

    /// Offers a commit to the remote's branch. It is refused if the branch has moved on.
    pub(crate) async fn push(&self, commit: &str, branch: &str) -> Result<(), Failure> {
        self.offer(commit, branch, &[]).await
    }

    /// Puts a commit at a branch in place of another commit, or where there is no such branch. It is refused if something
    /// else is there.
    pub(crate) async fn replace(&self, commit: &str, branch: &str, other: Option<&str>) -> Result<(), Failure> {
        let lease = format!("--force-with-lease=refs/heads/{branch}:{}", other.unwrap_or_default());
        self.offer(commit, branch, &[&lease]).await
    }

    /// All that comes before a commit is sent: whoever may not push learns it here.
    pub(crate) async fn rehearse_push(&self, commit: &str, branch: &str) -> Result<(), Failure> {
        self.offer(commit, branch, &["--dry-run"]).await
    }

    async fn offer(&self, commit: &str, branch: &str, how: &[&str]) -> Result<(), Failure> {
        let refspec = format!("{commit}:refs/heads/{branch}");
        let push = ["push", "--porcelain", "--no-verify", "--no-recurse-submodules"];
        let push = [push.as_slice(), how, &["--", self.url, &refspec]].concat();
        self.git.remote(&self.folder, &push, self.access).await.map(drop)
    }
}

/// What `git fast-import` is told: one program makes all blobs, trees and the commit, and tells the commit's id.
fn script(parent: Option<&str>, change: &Change<'_>) -> Vec<u8> {
    let mut script = String::new();
    let mut line = |text: &str| {
        script.push_str(text);
        script.push('\n');
    };
    let data = |text: &str| format!("data {}\n{text}", text.len());
    // Whatever an interrupted attempt left under this name is forgotten.
    line(&format!("reset {NEXT}\n"));
    line(&format!("commit {NEXT}"));
    line("mark :1");
    line(&format!("committer {} now", change.committer));
    line(&data(change.message));
    if let Some(parent) = parent {
        line(&format!("from {parent}"));
    }
    for path in &change.remove {
        line(&format!("D {}", quoted(path)));
    }
    for (path, text) in &change.write {
        line(&format!("M 100644 inline {}", quoted(path)));
        line(&data(text));
    }
    line("");
    line("get-mark :1");
    line("done");
    script.into_bytes()
}

/// A path as `git fast-import` takes it, whatever people put into the names of their files.
fn quoted(path: &str) -> String {
    let escaped = path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// `<mode> <kind> <id> <size>\t<path>`, with spaces before the size, which is `-` for what has none.
fn entry(line: &str) -> Option<Entry> {
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split_ascii_whitespace().skip(1);
    let (kind, id, size) = (facts.next()?.to_owned(), facts.next()?.to_owned(), facts.next()?.parse().ok());
    Some(Entry { path: path.to_owned(), kind, id, size })
}

/// `<what>: <number>` in each line.
fn is_too_much(counted: &str) -> bool {
    let number = |what: &str| -> u64 {
        let told = counted.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "));
        told.and_then(|number| number.parse().ok()).unwrap_or_default()
    };
    number("count") > MOST_LOOSE || number("packs") > MOST_PACKS || number("size") + number("size-pack") > MOST_KIB
}

/// `<id> blob <size>\n<content>\n` for each.
fn blobs(mut answer: &[u8]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    while !answer.is_empty() {
        let end = answer.iter().position(|byte| *byte == b'\n')?;
        let header = std::str::from_utf8(answer.get(..end)?).ok()?;
        let size: usize = header.rsplit(' ').next()?.parse().ok()?;
        let from = end + 1;
        found.push(String::from_utf8_lossy(answer.get(from..from + size)?).into_owned());
        answer = answer.get(from + size + 1..)?;
    }
    Some(found)
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim().to_owned()
}

#[expect(clippy::needless_pass_by_value, reason = "the form `map_err` wants")]
fn not_run(error: std::io::Error) -> Failure {
    Failure::NotRun(error.to_string())
}

/// The folder of the clone of a repository, below `folder`.
pub(crate) fn folder_of(folder: &Path, url: &str) -> PathBuf {
    let digest = Sha256::digest(url);
    folder.join(format!("{}.git", URL_SAFE_NO_PAD.encode(digest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_file_is_taken_for_a_command() {
        assert_eq!(quoted("a/b.yaml"), r#""a/b.yaml""#);
        assert_eq!(quoted("a\"\\\nD b"), r#""a\"\\\nD b""#);
    }

    #[test]
    fn a_listed_entry_has_a_size_if_it_is_a_file() {
        let file = entry("100644 blob 1f7a7a472abf3dd9643fd615f6da379c4acb3e3a      23\ta b.txt").unwrap();
        let folder = entry("040000 tree 1f7a7a472abf3dd9643fd615f6da379c4acb3e3a       -\tdir").unwrap();

        assert_eq!((file.path.as_str(), file.kind.as_str(), file.size), ("a b.txt", "blob", Some(23)));
        assert_eq!((folder.kind.as_str(), folder.size), ("tree", None));
    }

    #[test]
    fn a_clone_with_too_many_objects_or_packs_or_bytes_is_full() {
        let counted = |count: u64, packs: u64, kib: u64| {
            is_too_much(&format!("count: {count}\nsize: 8\nin-pack: 9\npacks: {packs}\nsize-pack: {kib}\ngarbage: 0\n"))
        };

        assert!(!counted(6700, 50, 1000));
        assert!(counted(6701, 1, 1) && counted(1, 51, 1) && counted(1, 1, 256 << 10));
    }

    #[test]
    fn blobs_are_read_by_their_size_whatever_is_in_them() {
        let answer = b"aa blob 6\nx\ny\n\nz\nbb blob 0\n\n";

        assert_eq!(blobs(answer), Some(vec!["x\ny\n\nz".to_owned(), String::new()]));
        assert_eq!(blobs(b"aa missing\n"), None);
    }
}
