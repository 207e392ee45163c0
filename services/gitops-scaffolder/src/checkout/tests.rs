use std::process::Command;

use gitops_scaffolder_tree::render;
use tempfile::TempDir;

use super::*;
use crate::tests::inputs;

const MONITORING: &str = "infrastructure/monitoring/kube-prometheus-stack.yaml";

fn written() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, file) in render(&inputs("prod"), &TreeConfig::default()).files() {
        write(&folder, path, &file.text);
    }
    folder
}

fn write(folder: &TempDir, path: &str, text: &str) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn text(folder: &TempDir, path: &str) -> String {
    fs::read_to_string(folder.path().join(path)).unwrap()
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let said = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    String::from_utf8(said.stdout).unwrap().trim().to_owned()
}

/// The folder as an older version would have left it: another chart, and the lock file that goes with it.
fn make_older(folder: &TempDir, blob: &str) {
    let older = text(folder, MONITORING).replace("88.5.3", "1.0.0");
    write(folder, MONITORING, &older);
    let mut lock: serde_json::Value = serde_json::from_str(&text(folder, LOCK_PATH)).unwrap();
    let sha256 = vocabulary::hex(&<sha2::Sha256 as sha2::Digest>::digest(&older));
    lock["files"][MONITORING] = serde_json::json!({ "class": "owned", "sha256": sha256, "blob": blob });
    write(folder, LOCK_PATH, &lock.to_string());
}

#[tokio::test]
async fn a_tree_of_this_version_is_sound_and_would_not_change() {
    let folder = written();

    let checkout = Checkout::read(folder.path()).unwrap();
    let upgrade = checkout.upgrade().await.unwrap();

    assert_eq!(checkout.findings(), []);
    assert!(upgrade.files.is_empty() && upgrade.kept_edits.is_empty(), "{upgrade:?}");
}

#[tokio::test]
async fn a_new_version_of_a_component_shows_as_a_diff_that_git_applies() {
    let folder = written();
    git(folder.path(), &["init", "--quiet"]);
    make_older(&folder, &"0".repeat(40));

    let upgrade = Checkout::read(folder.path()).unwrap().upgrade().await.unwrap();

    let [change] = upgrade.files.as_slice() else { panic!("{upgrade:?}") };
    let diff = change.diff();
    assert!(diff.starts_with(&format!("--- a/{MONITORING}\n+++ b/{MONITORING}\n@@ ")), "{diff}");
    assert!(diff.contains("\n-    tag: \"1.0.0\"\n+    tag: \"88.5.3\"\n"), "{diff}");
    write(&folder, "change.patch", &diff);
    git(folder.path(), &["apply", "change.patch"]);
    assert_eq!(Some(text(&folder, MONITORING)), change.after);
}

#[tokio::test]
async fn an_edited_file_is_merged_with_what_the_clones_history_says_was_generated() {
    let folder = written();
    git(folder.path(), &["init", "--quiet"]);
    make_older(&folder, "");
    let blob = git(folder.path(), &["hash-object", "-w", MONITORING]);
    let mut lock: serde_json::Value = serde_json::from_str(&text(&folder, LOCK_PATH)).unwrap();
    lock["files"][MONITORING]["blob"] = blob.into();
    write(&folder, MONITORING, &text(&folder, MONITORING).replace("retention: 7d", "retention: 90d"));

    let unknown = Checkout::read(folder.path()).unwrap().upgrade().await.unwrap();
    write(&folder, LOCK_PATH, &lock.to_string());
    let known = Checkout::read(folder.path()).unwrap().upgrade().await.unwrap();

    assert_eq!((unknown.files.len(), unknown.conflicts.as_slice()), (0, [MONITORING.to_owned()].as_slice()));
    let after = known.files[0].after.as_ref().unwrap();
    assert!(after.contains("88.5.3") && after.contains("retention: 90d"), "{after}");
    assert_eq!((known.kept_edits, known.conflicts), (vec![MONITORING.to_owned()], vec![]));
}

#[test]
fn a_file_that_comes_or_goes_is_told_as_git_tells_it() {
    let change = |before: Option<&str>, after: Option<&str>| {
        let (before, after) = (before.map(str::to_owned), after.map(str::to_owned));
        FileChange { path: "a.yaml".to_owned(), before, after }.diff()
    };
    assert_eq!(change(None, Some("x\n")), "--- /dev/null\n+++ b/a.yaml\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(change(Some("x\n"), None), "--- a/a.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
}

#[test]
fn an_edit_that_breaks_nothing_is_no_fault() {
    let folder = written();
    write(&folder, MONITORING, &text(&folder, MONITORING).replace("retention: 7d", "retention: 90d"));

    assert_eq!(Checkout::read(folder.path()).unwrap().findings(), []);
}

#[test]
fn an_edit_that_breaks_the_tree_is_found() {
    let folder = written();
    write(&folder, MONITORING, "kind: [\n");

    let findings = Checkout::read(folder.path()).unwrap().findings();

    assert!(findings.iter().any(|finding| finding.file == MONITORING), "{findings:?}");
}

#[test]
fn a_folder_that_holds_no_tree_says_so() {
    let empty = tempfile::tempdir().unwrap();
    let said = |folder: &Path| Checkout::read(folder).unwrap_err().to_string();

    assert!(said(empty.path()).contains("holds no tree of KubeOpera's"));
    assert!(said(&empty.path().join("nowhere")).contains("cannot be read"));
    write(&empty, LOCK_PATH, "{}");
    assert!(said(empty.path()).contains("was edited and cannot be read"));
    write(&empty, LOCK_PATH, "{\"schema\": 99}");
    assert!(said(empty.path()).contains("newer version"));
}
