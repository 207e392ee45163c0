//! Git programs that outlived us. A process that is killed cannot end its children, and a signal on a parent's death is
//! no help: it is about the one thread that started a child, which a runtime may end at any time, and reaches no
//! grandchild. So whoever begins anew waits until nobody works in the folder any more; such a Git has lost its reader
//! and soon ends by itself.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, sleep};

/// Longer than a Git whose server has fallen silent waits for it.
const PATIENCE: Duration = Duration::from_secs(40);
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until no Git of an earlier process works in a folder or below it. Where there is no `/proc`, there is nothing
/// to be seen and none is waited for.
pub(crate) async fn wait_for_end(folder: &Path) -> io::Result<()> {
    // The kernel tells folders without symbolic links.
    let folder = fs::canonicalize(folder)?;
    let deadline = Instant::now() + PATIENCE;
    while let Some(process) = working_in(folder.clone()).await? {
        if Instant::now() > deadline {
            return Err(io::Error::other(format!(
                "process {process}, a Git, still works in {} since an earlier start; wait for its end, or end it, and \
                 start again",
                folder.display()
            )));
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

/// The number of a process that is a Git and whose working folder is there.
async fn working_in(folder: PathBuf) -> io::Result<Option<String>> {
    let find = move || {
        let Ok(processes) = fs::read_dir("/proc") else { return None };
        let mut folders = processes.filter_map(Result::ok).map(|process| process.path());
        let found = folders.find(|process| {
            let is_there = fs::read_link(process.join("cwd")).is_ok_and(|works_in| works_in.starts_with(&folder));
            is_there && fs::read_to_string(process.join("comm")).is_ok_and(|name| name.starts_with("git"))
        })?;
        Some(found.file_name()?.to_string_lossy().into_owned())
    };
    tokio::task::spawn_blocking(find).await.map_err(io::Error::other)
}
