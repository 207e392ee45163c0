//! Clusters that do not.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use k8s_monitor_contract::{
    Assessed, Colour, Cost, CostKind, Listed, Monitor, NodeCount, Row, Setup, Standing, Summary,
};
use serde_json::json;
use testkit_hostile_api_server::{Answer, Cluster};
use vocabulary::ClusterId;

use super::scene::{
    EVENTS, LEASES, NODES, PODS, Watched, access, backing_off, glance, healthy, node, pod, running, score, served,
    snapshot,
};
use crate::Engine;

#[tokio::test]
async fn a_cluster_that_goes_away_keeps_its_last_good_values_with_since_when_and_why() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    watched.cluster.put(PODS, pod(1, "Failed", json!({})));
    let seen = score(&engine, watched.id, 98.0).await;
    assert_eq!(seen.freshness.unreachable, None);

    watched.server.refuse().await;
    let lost = glance(&engine, watched.id, |glance| glance.freshness.unreachable.is_some()).await;
    assert_eq!((lost.health, lost.nodes), (seen.health, seen.nodes));
    let unreachable = lost.freshness.unreachable.as_ref().unwrap();
    assert!(unreachable.reason.contains("cannot be reached"), "{unreachable:?}");
    assert!(unreachable.since <= lost.freshness.as_of.unwrap(), "{lost:?}");

    watched.server.come_back().await.unwrap();
    watched.cluster.delete(PODS, "shop", "pod-1");
    let late = engine.refresh(Duration::from_secs(20)).await;
    assert_eq!(late, []);
    let back = score(&engine, watched.id, 100.0).await;
    assert_eq!(back.freshness.unreachable, None);
}

#[tokio::test]
async fn one_lost_answer_changes_nothing() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    score(&engine, watched.id, 100.0).await;

    watched.turns(|cluster, asked| if asked.path == "/livez" { Answer::Silence } else { cluster.answer(asked) });
    let late = engine.refresh(Duration::from_millis(200)).await;
    assert_eq!(late.len(), 1);
    watched.recovers();

    watched.cluster.put(PODS, pod(1, "Failed", json!({})));
    let seen = score(&engine, watched.id, 98.0).await;
    assert_eq!(seen.freshness.unreachable, None);
}

#[tokio::test]
async fn one_lost_answer_of_five_and_a_node_that_joins_cause_no_alarm() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    score(&engine, watched.id, 100.0).await;
    let asked_so_far = std::sync::atomic::AtomicUsize::new(0);
    watched.turns(move |cluster, asked| match asked.path.as_str() {
        "/livez" if asked_so_far.fetch_add(1, Ordering::Relaxed).is_multiple_of(5) => Answer::BreakOff("ok".into()),
        _ => cluster.answer(asked),
    });

    let mut revision = engine.revision();
    let all_is_well = async {
        loop {
            let seen = engine.glance(watched.id).unwrap();
            assert_eq!((seen.freshness.unreachable.as_ref(), seen.health.unwrap().colour), (None, Colour::Green));
            revision.changed().await.unwrap();
        }
    };
    let mut lost = 0;
    let trouble = async {
        for round in 0..20 {
            lost += engine.refresh(Duration::from_secs(20)).await.len();
            match round {
                7 => watched.cluster.put(NODES, node("two", &[])),
                12 => watched.cluster.put(NODES, node("two", &["Ready"])),
                _ => {}
            }
        }
        glance(&engine, watched.id, |glance| glance.nodes == Some(NodeCount { total: 2, ready: 2 })).await;
    };
    tokio::select! { () = all_is_well => {}, () = trouble => {} }
    assert!(lost >= 3, "{lost} answers were lost");
}

#[tokio::test]
async fn a_cluster_that_is_gone_shows_nothing_of_its_neighbour_and_is_counted_once() {
    let engine = Engine::default();
    let (here, gone) = (healthy(), Cluster::default());
    here.put(NODES, node("here", &["Ready"]));
    gone.put(NODES, node("gone", &["Ready"]));
    gone.put(PODS, pod(1, "Failed", json!({})));
    let (neighbour, server) = (served(&here).await, served(&gone).await);
    let [well, lost] = [ClusterId::random(), ClusterId::random()];
    engine
        .watch_exactly([(well, String::new(), access(&neighbour.url())), (lost, String::new(), access(&server.url()))]);
    score(&engine, well, 100.0).await;
    score(&engine, lost, 98.0).await;

    server.refuse().await;
    while engine.glance(lost).unwrap().freshness.unreachable.is_none() {
        engine.refresh(Duration::from_secs(20)).await;
    }

    let names = |id| {
        let nodes = engine.cluster(id).unwrap().nodes.clone().unwrap();
        nodes.into_iter().map(|node| node.name).collect::<Vec<_>>()
    };
    assert_eq!((names(well), names(lost)), (vec!["here".to_owned(), "one".to_owned()], vec!["gone".to_owned()]));
    let glances = engine.fleet();
    let listed = |id: ClusterId| Listed {
        id,
        name: id.to_string(),
        provider: "aws".to_owned(),
        region: "eu-north-1".to_owned(),
        is_host: false,
        kubernetes_version: None,
        phase: "Ready".to_owned(),
        setup: Setup::Done,
    };
    let rows: Vec<_> = glances.iter().map(|glance| Row::of(listed(glance.cluster), Some(glance))).collect();
    let sum = Summary::of(rows.iter().zip(glances.iter().map(Some)));
    let standing = |wanted| rows.iter().filter(|row| row.standing == wanted).count() as u64;
    assert_eq!((sum.healthy, sum.unreachable), (standing(Standing::Healthy), standing(Standing::Unreachable)));
    assert_eq!((sum.total, sum.healthy, sum.unreachable, sum.nodes), (2, 1, 1, NodeCount { total: 2, ready: 2 }));
    let row = rows.iter().find(|row| row.id == lost).unwrap();
    assert!(row.stale.as_ref().unwrap().reason.contains("cannot be reached"), "{row:?}");
}

#[tokio::test]
async fn a_refresh_asks_all_at_once_and_names_those_that_are_late() {
    let engine = Engine::default();
    let good = healthy();
    let server = served(&good).await;
    let silent = testkit_hostile_api_server::Server::start(|_| Answer::Silence).await.unwrap();
    let (alive, dead) = (ClusterId::random(), [ClusterId::random(), ClusterId::random()]);
    let all = dead.map(|id| (id, String::new(), access(&silent.url())));
    engine.watch_exactly(all.into_iter().chain([(alive, String::new(), access(&server.url()))]));
    score(&engine, alive, 100.0).await;

    // Asked one after the other, or waited for as long as a call may take, they would take more than twice as long.
    let (within, began) = (Duration::from_secs(2), Instant::now());
    let late = engine.refresh(within).await;
    assert!(began.elapsed() < within * 2, "{:?}", began.elapsed());
    let mut named: Vec<_> = late.iter().map(|late| late.cluster).collect();
    named.sort();
    let mut expected = dead;
    expected.sort();
    assert_eq!(named, expected);
    assert!(late.iter().all(|late| late.reason.contains("in time")), "{late:?}");
}

/// Whatever this one does, its neighbour is shown as it is.
#[tokio::test]
async fn a_server_that_is_no_kubernetes_is_told_from_one_that_is_not_there() {
    let html = "<html><body>Welcome to nginx! CANARY</body></html>";
    let script = move |path: &str| match path {
        "html" => Answer::Text(200, "text/html", html.into()),
        "not_found" => Answer::Text(404, "text/html", html.into()),
        "gateway" => Answer::Text(502, "text/html", html.into()),
        "garbage" => Answer::Text(200, "application/json", vec![0xff; 4096].into()),
        "redirect" => Answer::Redirect("http://127.0.0.1:1/".into()),
        "unauthorized" => Answer::Text(401, "text/html", html.into()),
        "endless" => Answer::endless(vec![b'x'; 4096]),
        "broken" => Answer::BreakOff("[+]ping ok\n".into()),
        "stalling" => Answer::Stall,
        "trickling" => Answer::trickle(Duration::from_millis(200)),
        other => panic!("{other}"),
    };
    let kinds = [
        ("html", "not as a Kubernetes API"),
        ("not_found", "not as a Kubernetes API"),
        ("gateway", "answered 502"),
        ("garbage", "not as a Kubernetes API"),
        ("redirect", "redirects to another address"),
        ("unauthorized", "does not accept the credential"),
        ("endless", "not as a Kubernetes API"),
        ("broken", "cannot be reached"),
        ("stalling", "did not answer in time"),
        ("trickling", "did not answer in time"),
    ];
    let seen = kinds.map(|(kind, words)| async move {
        let engine = Engine::default();
        let watched = Watched::well(&engine).await;
        watched.turns(move |_, _| script(kind));
        // Whatever it answered at first, it is seen by the next questions.
        let seen = loop {
            engine.refresh(Duration::from_secs(10)).await;
            let glance = engine.glance(watched.id).unwrap();
            if let Some(unreachable) = &glance.freshness.unreachable {
                break unreachable.reason.clone();
            }
        };
        assert!(seen.contains(words) && !seen.contains("CANARY"), "{kind}: {seen}");
    });
    futures::future::join_all(seen).await;
}

#[tokio::test]
async fn a_broken_object_costs_only_itself() {
    for streams in [true, false] {
        let engine = Engine::default();
        let cluster = Cluster::new(streams);
        cluster.put(NODES, node("one", &["Ready"]));
        let poison = [
            json!({"metadata": {"name": "a", "uid": "no uid"}}),
            json!({"metadata": {"name": "b"}, "spec": "CANARY"}),
            json!({"metadata": {"name": "c"}, "status": {"containerStatuses": [{"restartCount": "many"}]}}),
            json!({"metadata": "CANARY"}),
            json!([1, 2, 3]),
        ];
        let mut odd = pod(7, "Running", backing_off());
        odd["status"]["containerStatuses"][0]["restartCount"] = json!(-5);
        odd["spec"]["containers"][0]["resources"]["requests"] = json!({"cpu": "NaN", "memory": "-1"});
        for (number, broken) in poison.iter().enumerate() {
            let mut broken = broken.clone();
            if broken["metadata"].is_object() {
                broken["metadata"]["namespace"] = json!(format!("n{number}"));
                cluster.put(PODS, broken);
            }
        }
        cluster.put(PODS, odd);
        cluster.put(PODS, pod(8, "Failed", json!({})));
        let watched = Watched::of(&engine, cluster).await;
        score(&engine, watched.id, 95.5).await;

        for broken in &poison {
            let line = json!({"type": "ADDED", "object": broken});
            watched.cluster.send(PODS, format!("{line}\n"));
        }
        watched.cluster.send(PODS, "\n");
        watched.cluster.send(PODS, format!("{}\n", json!({"type": "UNHEARD-OF", "object": {}})));
        watched.cluster.send(PODS, [vec![b'x'; 3 << 20], vec![b'\n']].concat());
        watched.cluster.put(PODS, pod(9, "Failed", json!({})));
        score(&engine, watched.id, 93.5).await;
        let seen = snapshot(&engine, watched.id, |snapshot| snapshot.health.is_some()).await;
        let told = seen.health.as_ref().unwrap().not_assessed.iter().find(|not| not.what == Assessed::Pods).unwrap();
        assert!(told.reason.contains("pods could not be read"), "{told:?}");
        assert!(!format!("{seen:?}").contains("CANARY"));
    }
}

#[tokio::test]
async fn what_is_forbidden_is_not_assessed_and_costs_nothing() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    watched.cluster.put(PODS, pod(1, "Failed", json!({})));
    watched.turns(|cluster, asked| match asked.path.as_str() {
        PODS => Answer::Json(403, json!({"kind": "Status", "code": 403, "message": "CANARY"}).to_string().into()),
        _ => cluster.answer(asked),
    });
    let engine = Engine::default();
    let id = ClusterId::random();
    engine.watch_exactly([(id, String::new(), access(&watched.server.url()))]);

    score(&engine, id, 100.0).await;
    let seen = engine.cluster(id).unwrap();
    let told = seen.health.as_ref().unwrap().not_assessed.iter().find(|not| not.what == Assessed::Pods).unwrap();
    assert!(told.reason.contains("the credential may not do this") && !told.reason.contains("CANARY"), "{told:?}");
    assert_eq!(seen.nodes.as_ref().unwrap()[0].requested, None);
}

#[tokio::test]
async fn load_balancers_that_may_not_be_read_are_not_priced_which_is_not_nothing() {
    let engine = Engine::priced(std::sync::Arc::new(prices::Table::built_in().clone()));
    let cluster = healthy();
    cluster.say("/api/v1/services", 403, json!({"kind": "Status", "code": 403, "message": "CANARY"}).to_string());
    for path in ["/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses"] {
        cluster.say(path, 200, json!({"items": null}).to_string());
    }
    let watched = Watched::of(&engine, cluster).await;

    let is_counted = |cost: &Cost| cost.not_priced.iter().all(|not| !not.reason.contains("not counted yet"));
    let seen = snapshot(&engine, watched.id, |snapshot| snapshot.cost.as_ref().is_some_and(is_counted)).await;
    let told = &seen.cost.as_ref().unwrap().not_priced;
    let not = told.iter().find(|not| not.kind == CostKind::LoadBalancer).unwrap();
    assert!(not.reason.contains("the credential may not do this") && !not.reason.contains("CANARY"), "{not:?}");
    assert!(told.iter().all(|not| not.kind != CostKind::Volumes), "there are none: {told:?}");
    let total = seen.cost.as_ref().unwrap().total;
    glance(&engine, watched.id, |glance| glance.cost == Some(total)).await;
}

#[tokio::test]
async fn a_server_that_asks_for_fewer_requests_gets_fewer() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    score(&engine, watched.id, 100.0).await;
    watched.turns(|cluster, asked| match asked.path.as_str() {
        PODS | NODES => Answer::Later(429, 86_400),
        _ => cluster.answer(asked),
    });
    watched.server.break_off();
    let before = watched.server.requests(PODS);
    tokio::time::sleep(Duration::from_secs(4)).await;

    assert!(watched.server.requests(PODS) - before <= 2, "{} requests", watched.server.requests(PODS) - before);
    let seen = engine.glance(watched.id).unwrap();
    assert_eq!((seen.nodes, seen.freshness.unreachable.clone()), (Some(NodeCount { total: 1, ready: 1 }), None));
}

#[tokio::test]
async fn a_server_that_breaks_off_at_once_is_asked_ever_less_often() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    watched.turns(|cluster, asked| match asked.path.as_str() {
        PODS | NODES if asked.is_watch() => Answer::BreakOff("{\"type\":".into()),
        _ => cluster.answer(asked),
    });
    watched.server.break_off();
    tokio::time::sleep(Duration::from_secs(5)).await;

    assert!(watched.server.requests(PODS) <= 12, "{} requests", watched.server.requests(PODS));
}

#[tokio::test]
async fn clusters_that_break_off_together_come_back_in_turns() {
    const CLUSTERS: usize = 40;
    let engine = Engine::default();
    let cluster = healthy();
    let server = served(&cluster).await;
    engine.watch_exactly((0..CLUSTERS).map(|_| (ClusterId::random(), String::new(), access(&server.url()))));
    let watches = || [NODES, PODS, EVENTS, LEASES].map(|path| server.requests(path)).into_iter().sum::<usize>();
    let are_watched = async |count| {
        let deadline = Instant::now() + Duration::from_secs(30);
        while watches() < count {
            assert!(Instant::now() < deadline, "{} of {count}", watches());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    for glance in engine.fleet() {
        score(&engine, glance.cluster, 100.0).await;
    }
    // Events are listed first, and then watched like all others.
    are_watched(CLUSTERS * 5).await;

    let (before, began) = (watches(), Instant::now());
    server.break_off();
    are_watched(before + CLUSTERS * 4).await;
    let after = began.elapsed();
    assert!(after >= Duration::from_millis(1500), "all at once after {after:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn endless_and_oversized_clusters_are_cut_short_and_their_neighbour_is_shown_as_it_is() {
    let engine = Engine::default();
    let good = healthy();
    let neighbour = served(&good).await;
    let bad = healthy();
    let line = |number| format!("{}\n", json!({"type": "ADDED", "object": node(&format!("n-{number}"), &[])}));
    let nodes: Vec<bytes::Bytes> = (0..12_000).map(|number| line(number).into()).collect();
    let server = testkit_hostile_api_server::Server::start(move |asked| match asked.path.as_str() {
        NODES if asked.is_watch() => {
            use futures::StreamExt;
            Answer::Chunks(futures::stream::iter(nodes.clone().into_iter().cycle()).boxed())
        }
        PODS if asked.is_watch() => Answer::endless(vec![b'x'; 65536]),
        _ => bad.answer(asked),
    })
    .await
    .unwrap();
    let (well, ill) = (ClusterId::random(), ClusterId::random());
    engine
        .watch_exactly([(ill, String::new(), access(&server.url())), (well, String::new(), access(&neighbour.url()))]);
    score(&engine, well, 100.0).await;

    for _ in 0..10 {
        good.put(PODS, pod(1, "Failed", json!({})));
        score(&engine, well, 98.0).await;
        good.put(PODS, pod(1, "Running", running()));
        score(&engine, well, 100.0).await;
    }
    assert!(engine.glance(ill).unwrap().nodes.is_none_or(|nodes| nodes.total <= 10_000));
}

#[tokio::test]
async fn a_cluster_that_is_let_go_of_is_gone_at_once_with_its_connections() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    score(&engine, watched.id, 100.0).await;
    let mut revision = engine.revision();
    revision.borrow_and_update();

    engine.watch_exactly([]);
    assert!(engine.fleet().is_empty() && engine.cluster(watched.id).is_none());
    assert!(revision.has_changed().unwrap());
    let deadline = Instant::now() + Duration::from_secs(10);
    while watched.server.connections() > 0 {
        assert!(Instant::now() < deadline, "{} connections are left", watched.server.connections());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn another_way_to_a_cluster_is_taken_without_forgetting_what_is_known() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    watched.cluster.put(PODS, pod(1, "Failed", json!({})));
    score(&engine, watched.id, 98.0).await;
    let elsewhere = served(&watched.cluster).await;
    watched.server.refuse().await;

    engine.watch_exactly([(watched.id, "another".into(), access(&elsewhere.url()))]);
    assert_eq!(engine.glance(watched.id).unwrap().health.map(|health| f64::from(health.score)), Some(98.0));
    watched.cluster.delete(PODS, "shop", "pod-1");
    score(&engine, watched.id, 100.0).await;
}
