//! A planted password is found nowhere but where it must be.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use base64::{Engine, engine::general_purpose::STANDARD};
use gitops_scaffolder_contract::GitOpsScaffolder;
use testkit_log::Log;

use crate::stage::{CANARY, Stage, inputs, with_domain};

#[tokio::test]
async fn the_password_is_in_no_argument_log_file_commit_or_setting() {
    let log = Log::of_this_process().unwrap();
    let stage = Stage::new().await;
    let (scaffolder, plain) = (stage.scaffolder("a").await, inputs("prod"));
    let watch = Watch::start(stage.folder.path());

    for round in 0..5 {
        let changed = with_domain(&plain, &format!("r{round}.acme.com"));
        scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();
    }
    let refused = scaffolder.ensure_tree(&plain, &stage.destination_as("kubeopera", "CANARY-wrong")).await.unwrap_err();

    let arguments = watch.stop();
    assert!(arguments.iter().any(|line| line.contains("push")), "nothing was seen: {arguments:?}");
    let log = log.text();
    assert!(log.contains("committed the cluster's tree"), "{log}");
    for secret in ["CANARY", &STANDARD.encode(format!("kubeopera:{CANARY}"))] {
        assert!(arguments.iter().all(|line| !line.contains(secret)), "{arguments:?}");
        assert!(!log.contains(secret), "{log}");
        assert!(!format!("{refused:?}").contains(secret), "{refused:?}");
        assert_eq!(files_with(&stage.work_dir("a"), secret), [""; 0]);
        assert_eq!(files_with(stage.repository.folder(), secret), [""; 0]);
        let everything = stage.git(&["log", "-p", "--all", "--format=fuller"]);
        assert!(!everything.contains(secret));
    }
}

/// Looks at the arguments of all programs at work below a folder, again and again.
struct Watch {
    over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Vec<String>>,
}

impl Watch {
    fn start(below: &Path) -> Self {
        let below = below.to_owned();
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut seen = std::collections::BTreeSet::new();
            while !until.load(Ordering::Relaxed) {
                for process in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
                    let folder = fs::read_link(process.path().join("cwd"));
                    if folder.is_ok_and(|folder| folder.starts_with(&below)) {
                        let line = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
                        seen.insert(line.replace('\0', " "));
                    }
                }
            }
            seen.into_iter().collect()
        });
        Self { over, thread }
    }

    fn stop(self) -> Vec<String> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn files_with(folder: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, secret));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(secret) {
            found.push(path.display().to_string());
        }
    }
    found
}
