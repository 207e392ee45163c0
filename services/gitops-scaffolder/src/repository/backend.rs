//! `git http-backend`, a CGI program: the request goes to its standard input, its standard output is the answer. Both
//! are streamed and bounded in size and time. When the visitor goes away, Git is not killed at once: in the middle of
//! a push it would leave a lock behind that refuses every later one.

use std::{io, process::Stdio, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use http::{HeaderName, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, Command},
    runtime::Handle,
    sync::OwnedSemaphorePermit,
    time::timeout,
};
use tokio_util::io::ReaderStream;

use super::{NAME, Repository, command};
use crate::git::program::Group;

/// A push of a whole tree is some tens of kilobytes.
const LARGEST_REQUEST: usize = 64 << 20;
/// Git has a few lines of header.
const LONGEST_HEADER: u64 = 16 << 10;
/// From the request to the first byte of the answer, and from there to the last.
const DEADLINE: Duration = Duration::from_mins(2);

/// How long Git may take to come to an end by itself once nobody listens.
const FAREWELL: Duration = Duration::from_secs(10);

/// Git at work for a visitor.
struct Backend {
    group: Option<Group>,
}

impl Drop for Backend {
    fn drop(&mut self) {
        let (Some(mut group), Ok(runtime)) = (self.group.take(), Handle::try_current()) else { return };
        // Its pipes are closed by now: it finishes what it has in hand, or fails and cleans up after itself.
        runtime.spawn(async move {
            let ended = timeout(FAREWELL, group.child().wait()).await;
            if ended.is_ok() {
                group.ended();
            }
        });
    }
}

/// Lets Git answer a request that was found to be in order. `turn` is kept until the answer has been read.
pub(super) async fn answer(repository: &Repository, request: Request<Body>, turn: OwnedSemaphorePermit) -> Response {
    match timeout(DEADLINE, converse(repository, request, turn)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            tracing::warn!(%error, "git http-backend gave no answer");
            (StatusCode::BAD_GATEWAY, "The repository cannot be read at the moment.\n").into_response()
        }
        Err(_) => (StatusCode::GATEWAY_TIMEOUT, "The repository did not answer in time.\n").into_response(),
    }
}

/// Git's `http-backend` for one request.
///
/// It is not told how long the body is: with a length it waits for all of it and, when the body ends early because this
/// process was killed, spins for ever without noticing (Git 2.39). Without one it reads to the end.
fn backend<B>(repository: &Repository, request: &Request<B>) -> io::Result<Command> {
    let mut command = command(repository.folder());
    command.arg("http-backend").current_dir(repository.folder());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let root = repository.folder().parent().ok_or_else(|| io::Error::other("the repository has no parent folder"))?;
    command.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    let page = request.uri().path().strip_prefix(&format!("/{NAME}")).unwrap_or_default();
    command.env("PATH_INFO", format!("/{NAME}{page}"));
    command.env("QUERY_STRING", request.uri().query().unwrap_or_default());
    command.env("REQUEST_METHOD", request.method().as_str());
    // Pushing is for those who are somebody; who may, was decided before.
    command.env("REMOTE_USER", "kubeopera").env("REMOTE_ADDR", "-");
    for (variable, name) in [
        ("CONTENT_TYPE", "content-type"),
        ("HTTP_CONTENT_ENCODING", "content-encoding"),
        ("GIT_PROTOCOL", "git-protocol"),
    ] {
        if let Some(value) = request.headers().get(name).and_then(|value| value.to_str().ok()) {
            command.env(variable, value);
        }
    }
    Ok(command)
}

async fn converse(repository: &Repository, request: Request<Body>, turn: OwnedSemaphorePermit) -> io::Result<Response> {
    let mut group = Group::start(backend(repository, &request)?)?;
    let (stdin, stdout) = (group.child().stdin.take(), group.child().stdout.take());
    let backend = Backend { group: Some(group) };
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::Error::other("no pipes to git")) };
    let mut stdout = BufReader::new(stdout);

    // Git reads the request to its end before it answers, except where it refuses; then the rest need not be read.
    let (sent, head) = tokio::join!(send(request.into_body(), stdin), head(&mut stdout));
    if sent.is_err() {
        return Ok((StatusCode::PAYLOAD_TOO_LARGE, "The request is too large or was cut off.\n").into_response());
    }
    let mut response = head?;
    let rest = ReaderStream::new(stdout).take_until(tokio::time::sleep(DEADLINE)).map(move |chunk| {
        let _until_read = (&backend, &turn);
        chunk
    });
    *response.body_mut() = Body::from_stream(rest);
    Ok(response)
}

async fn send(body: Body, mut stdin: ChildStdin) -> Result<(), ()> {
    let mut body = Limited::new(body, LARGEST_REQUEST);
    while let Some(frame) = body.frame().await {
        let chunk: Bytes = frame.map_err(|_| ())?.into_data().unwrap_or_default();
        if stdin.write_all(&chunk).await.is_err() {
            return Ok(());
        }
    }
    let _ = stdin.shutdown().await;
    Ok(())
}

/// Reads the header of a CGI answer: `Name: value` lines up to an empty one, with the status among them.
async fn head(output: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Response> {
    let mut response = Response::new(Body::empty());
    let mut output = output.take(LONGEST_HEADER);
    let mut line = String::new();
    loop {
        line.clear();
        if output.read_line(&mut line).await? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "git ended within its header"));
        }
        let field = line.trim_end_matches(['\r', '\n']);
        if field.is_empty() {
            return Ok(response);
        }
        let Some((name, value)) = field.split_once(": ") else { continue };
        if name.eq_ignore_ascii_case("status") {
            let code = value.split(' ').next().and_then(|code| code.parse::<u16>().ok());
            *response.status_mut() = code.and_then(|code| StatusCode::from_u16(code).ok()).unwrap_or_default();
        } else if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            // The server frames the answer itself.
            if name != header::CONTENT_LENGTH && name != header::TRANSFER_ENCODING {
                response.headers_mut().append(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_backend_whose_server_was_killed_in_the_middle_of_a_body_ends_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let repository = crate::repository::ensure(folder.path()).await.unwrap();
        let request = Request::post(format!("/{NAME}/git-receive-pack"))
            .header("content-type", "application/x-git-receive-pack-request")
            .header("content-length", "1000")
            .body(())
            .unwrap();
        let mut running = backend(&repository, &request).unwrap().kill_on_drop(true).spawn().unwrap();

        // What is left of a killed server: a body that ends before its time, and an answer that nobody reads.
        running.stdin.take().unwrap().write_all(b"0094").await.unwrap();
        drop(running.stdout.take());

        timeout(Duration::from_secs(10), running.wait()).await.expect("it still runs").unwrap();
    }
}
