//! A planted password is found nowhere but where it must be.

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use base64::{Engine, engine::general_purpose::STANDARD};
use gitops_scaffolder_contract::GitOpsScaffolder;
use tracing_subscriber::fmt::MakeWriter;

use crate::stage::{CANARY, Stage, inputs, with_domain};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn the_password_is_in_no_argument_log_file_commit_or_setting() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    // For the whole program: what the other tests log must be free of secrets as well.
    tracing::subscriber::set_global_default(subscriber).unwrap();
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
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
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
