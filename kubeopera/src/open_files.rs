//! How many files and connections this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Allows as many as the system does at all. Each watched cluster takes four connections, so that what is usual at first,
/// 1,024, would be too few for three hundred clusters.
pub(crate) fn allow_all() {
    let limit = getrlimit(Resource::Nofile);
    // Where that is refused, few clusters are watched just as well.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
