//! A real PostgreSQL server for tests: one private server a test process, one empty database a test.
//!
//! It needs Debian's `postgresql` package and nothing set up: the server has its own data in a temporary folder, listens
//! on a Unix socket there and nowhere else, and ends with the test process, however that ends.

use std::{
    env,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use anyhow::{Context, Result, bail};

/// Runs the server until standard input ends, which it does when the process that holds the other end is gone: even a
/// SIGKILL leaves neither server nor data behind. Arguments: folder of the programs, folder of the data.
const KEEPER: &str = r#"
set -eu
bin="$1"; data="$2"
trap 'rm -rf "$data"' EXIT
"$bin/initdb" --pgdata="$data/db" --username=postgres --auth=trust --encoding=UTF8 --no-sync >/dev/null
"$bin/postgres" -D "$data/db" -k "$data" -c listen_addresses= -c fsync=off -c max_connections=200 >"$data/log" 2>&1 &
server=$!
trap 'kill -INT $server 2>/dev/null || true; wait $server || true; rm -rf "$data"' EXIT
until "$bin/pg_isready" -q -h "$data"; do
    kill -0 $server || { cat "$data/log" >&2; exit 1; }
    sleep 0.05
done
echo ready
cat >/dev/null
"#;

struct Server {
    /// Its standard input is what keeps the server alive.
    _keeper: Child,
    programs: PathBuf,
    socket: PathBuf,
}

static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// The URL of an empty database of its own.
///
/// # Errors
/// Where PostgreSQL is not installed, the error says how to install it. A test must fail then, not skip.
pub fn database() -> Result<String> {
    let server = match SERVER.get_or_init(|| start().map_err(|why| format!("{why:#}"))) {
        Ok(server) => server,
        Err(why) => bail!("{why}"),
    };
    let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let made = Command::new(server.programs.join("createdb"))
        .args(["--username=postgres", "--host"])
        .arg(&server.socket)
        .arg(&name)
        .status()
        .context("running createdb")?;
    if !made.success() {
        bail!("createdb ended with {made}");
    }
    Ok(format!("postgres://postgres@localhost/{name}?host={}", server.socket.display()))
}

fn start() -> Result<Server> {
    let programs = programs()?;
    let folder = tempfile::Builder::new().prefix("kubeopera-postgres-").tempdir()?.keep();
    // PostgreSQL refuses to run as root.
    let as_root = Command::new("id").arg("-u").output()?.stdout.starts_with(b"0\n");
    let mut command = if as_root {
        let owned = Command::new("chown").arg("postgres").arg(&folder).status()?;
        if !owned.success() {
            bail!("the folder for PostgreSQL cannot be given to the user postgres");
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "sh"]);
        command
    } else {
        Command::new("sh")
    };
    let mut keeper = command
        .args(["-c", KEEPER, "keeper"])
        .arg(&programs)
        .arg(&folder)
        .current_dir("/")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting PostgreSQL")?;
    let mut first_line = String::new();
    let output = keeper.stdout.take().context("PostgreSQL has no output")?;
    BufReader::new(output).read_line(&mut first_line)?;
    if first_line.trim() != "ready" {
        bail!("PostgreSQL did not start; its output above says why");
    }
    Ok(Server { _keeper: keeper, programs, socket: folder })
}

/// Debian keeps a server's programs out of `PATH`, one folder a version; the newest is taken.
fn programs() -> Result<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut versions: Vec<_> = debian.map(|folder| folder.join("bin")).collect();
    versions.sort();
    let in_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    versions
        .into_iter()
        .rev()
        .chain(in_path)
        .find(|folder| folder.join("initdb").is_file())
        .context("PostgreSQL is needed for this test. Install it with: apt-get install postgresql")
}
