//! Servers at the other end of a kubeconfig that are no API servers, or bad ones, over real connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use kube_kit::KubeconfigOptions;
use serde_json::json;
use testkit_hostile_api_server::{Answer, Server};
use tokio::net::{TcpListener, TcpSocket};

use super::{World, elsewhere::kubeconfig, listening::Listening};
use crate::app::OverTheNetwork;

type Script = Box<dyn Fn() -> Answer + Send + Sync>;

/// A look may take 10 s; the rest is the machine's.
const AT_MOST: Duration = Duration::from_secs(30);

async fn world() -> World {
    let here = KubeconfigOptions { allow_loopback: true, allowed_targets: &[], own_ranges: None };
    World::on_sqlite().await.reaching(Arc::new(OverTheNetwork), here)
}

/// Refusal's code and message of a connect with this kubeconfig, after which nothing is stored.
async fn refused(world: &World, cookie: &str, kubeconfig: &serde_json::Value) -> (String, String) {
    let body = json!({"name": "north", "provider": "on-premises", "region": "berlin",
        "kubeconfig": kubeconfig.to_string()});
    let began = Instant::now();
    let answer = world.post("/api/v1/clusters/connect", cookie, &body).await;
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
    assert!(world.dump("clusters").await.is_empty() && world.dump("outbox").await.is_empty());
    assert!(world.api_server.secrets().is_empty() && world.api_server.resources().is_empty());
    assert!(!world.told().await.concat().contains("SECRET-OF-THEIRS"));
    (answer.code(), answer.text)
}

#[tokio::test]
async fn what_a_server_says_that_is_no_api_server_is_neither_followed_nor_waited_for_nor_repeated() {
    let world = world().await;
    let cookie = world.log_in("operator").await;
    let followed = Server::start(|_| Answer::Json(200, "{}".into())).await.unwrap();
    let elsewhere = followed.url();
    let failure = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"SECRET-OF-THEIRS"}"#;
    let html = "<html>SECRET-OF-THEIRS</html>";
    let server = Server::start(|_| Answer::Silence).await.unwrap();
    let file = Listening::before(server.port()).await;
    let file = (file.kubeconfig("127.0.0.1"), file);
    let scripts: [(&str, Script); 7] = [
        ("not_kubernetes", Box::new(move || Answer::Text(200, "text/html", html.into()))),
        ("not_kubernetes", Box::new(|| Answer::Json(200, r#"{"SECRET-OF-THEIRS": "#.into()))),
        ("not_kubernetes", Box::new(|| Answer::endless(vec![b' '; 65_536]))),
        ("cluster_unreachable", Box::new(|| Answer::trickle(Duration::from_millis(100)))),
        ("cluster_not_available", Box::new(move || Answer::Json(500, failure.into()))),
        ("cluster_not_available", Box::new(|| Answer::Later(503, 86_400))),
        ("unexpected_redirect", Box::new(move || Answer::Redirect(elsewhere.clone()))),
    ];
    for (code, answer) in scripts {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        server.follow(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            answer()
        });

        let (said, text) = refused(&world, &cookie, &file.0).await;

        assert_eq!(said, code, "{text}");
        assert!(!text.contains("SECRET-OF-THEIRS"), "{text}");
        assert_eq!(asked.load(Ordering::Relaxed), 1, "{code}: a create is sent once");
    }
    assert_eq!(followed.all_requests(), 0, "a redirect was followed");
}

#[tokio::test]
async fn a_port_that_refuses_one_that_hangs_up_and_one_that_is_silent_are_answered_alike() {
    let world = world().await;
    let cookie = world.log_in("operator").await;
    // Bound, so that nobody else gets it, and not listened at.
    let refusing_socket = TcpSocket::new_v4().unwrap();
    refusing_socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let refusing = refusing_socket.local_addr().unwrap().port();
    let hanging_up = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hangs_up = hanging_up.local_addr().unwrap().port();
    let _hanging_up = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move {
        while let Ok((connection, _)) = hanging_up.accept().await {
            drop(connection);
        }
    }));
    // It is connected to by the kernel and never accepted.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let silent = socket.listen(8).unwrap();
    let is_silent = silent.local_addr().unwrap().port();

    let mut answers = Vec::new();
    for port in [refusing, hangs_up, is_silent] {
        let mut file = kubeconfig(&[("a", "127.0.0.1")]);
        file["clusters"][0]["cluster"]["server"] = format!("https://127.0.0.1:{port}").into();
        let (code, text) = refused(&world, &cookie, &file).await;
        let mut problem: serde_json::Value = serde_json::from_str(&text).unwrap();
        problem.as_object_mut().unwrap().remove("request_id");
        answers.push((code, problem));
    }

    assert_eq!(answers[0].0, "cluster_unreachable");
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
}
