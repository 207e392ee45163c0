//! The API against its own document: schemathesis makes up requests of every kind, good and bad, and judges each answer.

use std::{env, path::PathBuf, time::Duration};

use jiff::{SignedDuration, Timestamp};
use tokio::process::Command;
use vocabulary::Actor;

use super::{World, on_both_databases};
use crate::config::{Allowance, Allowances, Config};

/// Requests of a kind for each route.
const EXAMPLES: &str = "8";
/// Judged is whatever the document promises. Left out is that a request of the right shape is accepted: whether an object
/// is there, or a kubeconfig leads to a cluster, no shape can say. And that a request with a wrong cookie is refused: it
/// comes with a good token, and one of the two is enough. Who is let in where is what the table of routes and roles is for.
const NOT_JUDGED: &str = "positive_data_acceptance,ignored_auth";
/// Whoever leaves out a header that is needed is told so by a status of its own where it is If-Match (RFC 6585, section 3),
/// which schemathesis does not expect by itself.
const EXPECTED: &str = "[checks.missing_required_header]\nexpected-statuses = [400, 401, 403, 406, 415, 422, 428]\n";
/// Alone it takes half a minute. This is for machines that do much else, and ends what hangs.
const WITHIN: Duration = Duration::from_mins(15);
/// A stream without an end, which has tests of its own.
const ENDLESS: &str = "/api/v1/events";

on_both_databases! {
    whatever_is_asked_the_answer_is_one_of_the_document_and_never_a_fault_of_ours
}

async fn whatever_is_asked_the_answer_is_one_of_the_document_and_never_a_fault_of_ours(world: World) {
    let platform = &world.platform;
    let endless = Allowance { times: 1_000_000, within: Duration::from_mins(1) };
    let allowances = Allowances { checks: endless, connects: endless, creates: endless };
    let served = world.serve(Config { allowances, ..Config::default() }).await;
    let url = format!("http://{}", served.address);
    let document = world.folder.path().join("openapi.json");
    std::fs::write(&document, crate::openapi_json().unwrap()).unwrap();
    let expected = world.folder.path().join("schemathesis.toml");
    std::fs::write(&expected, EXPECTED).unwrap();
    let administrator = world.user("administrator").await.parse().unwrap();
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(24);
    let label = "schemathesis".parse().unwrap();
    let token = platform.auth.make_token(&Actor::KubeOpera, administrator, &label, tomorrow).await.unwrap();

    let run = Command::new(program())
        .current_dir(world.folder.path())
        .arg("--config-file")
        .arg(&expected)
        .arg("run")
        .arg(&document)
        .args(["--url", &url, "--workers", "1", "--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", EXAMPLES, "--generation-deterministic"])
        .args(["--exclude-path", ENDLESS, "--checks", "all", "--exclude-checks", NOT_JUDGED])
        .args(["--request-timeout", "20", "--warnings", "off", "--no-color", "--continue-on-failure"])
        .args(["--header", &format!("Authorization: Bearer {}", token.secret.reveal())])
        .kill_on_drop(true)
        .output();
    let run = tokio::time::timeout(WITHIN, run).await.expect("it does not end").unwrap();

    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    served.end().await;
    audit_log::verify(platform.db.clone(), None).await.unwrap();
}

/// Where `tools/schemathesis` installs it, or wherever it is.
fn program() -> PathBuf {
    let cache = env::var_os("KUBEOPERA_CACHE").map(PathBuf::from).or_else(|| {
        let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home).map(|cache| cache.join("kubeopera"))
    });
    let installed = cache.map(|cache| cache.join("tools/schemathesis/bin"));
    let in_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let mut programs = installed.into_iter().chain(in_path).map(|folder| folder.join("schemathesis"));
    programs
        .find(|program| program.is_file())
        .expect("schemathesis is needed for this test. Install it with: tools/schemathesis")
}
