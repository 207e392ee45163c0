//! What thousands of connections that say nothing cost those who want something.

use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use testkit_bench::{figure, percentile, times};

use crate::{api::Caller, process::Api};

/// More than the API serves at once.
const SILENT: usize = 5_000;
const ROUNDS: usize = 5;
/// Requests of a round, with and without a crowd.
const REQUESTS: usize = 300;
/// Requests before those that count: what the round before left behind is cleared away meanwhile.
const NOT_COUNTED: usize = 100;
/// How many times as long others may wait.
const GOAL: f64 = 2.0;

pub(crate) async fn measure(api: &Api) -> anyhow::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    let other = api.caller.on_new_connections()?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.extend(ask(&other).await?);
        let crowd = crowd(api.caller.address()?)?;
        with.extend(ask(&other).await?);
        drop(crowd);
    }
    times("the first of all clusters, on a new connection", &mut without, None);
    times(&format!("… beside {SILENT} connections that say nothing"), &mut with, None);
    let ratio = percentile(&mut with, 99).as_secs_f64() / percentile(&mut without, 99).as_secs_f64();
    figure("… at p99 so many times as long as without them", ratio, "×", Some(GOAL));
    Ok(())
}

async fn ask(caller: &Caller) -> anyhow::Result<Vec<Duration>> {
    let mut took = Vec::new();
    for number in 0..NOT_COUNTED + REQUESTS {
        let answer = caller.get("/api/v1/clusters?limit=1").await?;
        if number >= NOT_COUNTED {
            took.push(answer.took);
        }
    }
    Ok(took)
}

/// Every other one begins a head that never ends.
fn crowd(address: SocketAddr) -> anyhow::Result<Vec<TcpStream>> {
    let join = |number| {
        let mut stream = TcpStream::connect(address).context("joining the crowd")?;
        if number % 2 == 0 {
            // One that had to make room already says nothing more.
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nX-Slow: ");
        }
        Ok(stream)
    };
    (0..SILENT).map(join).collect()
}
