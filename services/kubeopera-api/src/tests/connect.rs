//! Connect an existing cluster.

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::FutureExt;
use http::{StatusCode, header};
use sea_orm::{ConnectionTrait, DbBackend, QueryTrait};
use serde_json::{Value, json};

use super::{
    World,
    elsewhere::kubeconfig,
    kubernetes::{ApiServer, UID},
    on_both_databases,
    world::{Answer, until},
};
use crate::{
    resources::{relay::relay_what_is_due, repair},
    store,
};

on_both_databases! {
    a_cluster_is_connected_with_the_very_bytes_that_were_supplied
    the_same_request_is_done_once_however_often_it_is_sent
    twenty_at_once_connect_one_cluster_once
    one_cluster_is_one_entry_whatever_its_names_addresses_and_users_are
    two_clusters_share_neither_a_name_nor_a_folder_nor_lies_one_in_the_other
    whose_a_folder_is_is_looked_up_and_not_searched_for_among_all_clusters
    nothing_is_stored_unless_the_kubeconfig_can_be_used
    fields_are_refused_by_name
    a_crash_between_the_secret_and_the_record_leaves_nothing_for_long
    another_context_than_the_current_one_is_chosen
    the_largest_file_that_is_taken_fits_its_secret_with_the_longest_name_of_a_context
    a_person_connects_ten_times_in_ten_minutes
}

const CONNECT: &str = "/api/v1/clusters/connect";

fn wanted(name: &str, kubeconfig: &Value) -> Value {
    json!({"name": name, "provider": "on-premises", "region": "berlin", "kubeconfig": kubeconfig.to_string()})
}

impl World {
    async fn connect_with_key(&self, cookie: &str, key: &str, body: &Value) -> Answer {
        let request = http::Request::post(CONNECT)
            .header(header::COOKIE, cookie)
            .header("idempotency-key", key)
            .header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    /// A cluster at this host.
    fn cluster_at(&self, host: &str, uid: &str) -> ApiServer {
        let server = ApiServer::of_cluster(uid);
        self.others.add(host, &server);
        server
    }

    async fn nothing_is_stored(&self) {
        assert!(self.dump("clusters").await.is_empty());
        assert!(self.dump("outbox").await.is_empty());
        assert!(self.api_server.secrets().is_empty());
        assert!(self.api_server.resources().is_empty());
    }
}

async fn a_cluster_is_connected_with_the_very_bytes_that_were_supplied(world: World) {
    let cookie = world.log_in("operator").await;
    world.cluster_at("api.acme.com", "north-uid");
    let text = format!("\u{feff}# mine\r\n{}\r\n", kubeconfig(&[("north", "api.acme.com")]));
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();

    let answer = world
        .post(
            CONNECT,
            &cookie,
            &json!({"name": "north", "provider": "aws", "region": "eu-north-1", "kubeconfig": STANDARD.encode(&bytes),
                "encoding": "base64", "domain": "north.acme.com", "admin_email": "admin@acme.com",
                "admin_username": "admin"}),
        )
        .await;
    relay_what_is_due(&world.platform).await.unwrap();

    assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
    let cluster = answer.json();
    let id = cluster["id"].as_str().unwrap();
    assert_eq!((&cluster["name"], &cluster["is_host"]), (&json!("north"), &json!(false)));
    let [secret] = &world.api_server.secrets()[..] else { panic!("not one Secret") };
    let short = &id[..8];
    assert_eq!(secret["metadata"]["name"], format!("hostcluster-{short}-input-kubeconfig"));
    assert_eq!(secret["metadata"]["labels"]["kubeopera.io/cluster-id"], id);
    assert_eq!(secret["metadata"].get("annotations"), None);
    assert_eq!(secret["data"], json!({"kubeconfig": STANDARD.encode(&bytes)}));
    let [resource] = &world.api_server.resources()[..] else { panic!("not one resource") };
    let spec = &resource["spec"];
    assert_eq!(spec["connectKubeconfigSecretRef"], secret["metadata"]["name"]);
    assert_eq!((&spec["provider"], &spec["region"]), (&json!("aws"), &json!("eu-north-1")));
    assert_eq!((&spec["gitOpsPath"], &spec["domain"]), (&json!("fluxcd/clusters/north"), &json!("north.acme.com")));
    assert_eq!((&spec["adminEmail"], &spec["adminUsername"]), (&json!("admin@acme.com"), &json!("admin")));
    let typed = serde_json::from_value(resource.clone()).unwrap();
    host_cluster_controller_crd::ValidSpec::of(&typed).expect("the controller would refuse it");
    for table in ["clusters", "outbox", "audit_entries"] {
        let rows = world.dump(table).await.concat();
        assert!(!rows.contains("CANARY") && !rows.contains("api.acme.com"), "{table}: {rows}");
    }
}

async fn the_same_request_is_done_once_however_often_it_is_sent(world: World) {
    let cookie = world.log_in("operator").await;
    let server = world.cluster_at("api.acme.com", "north-uid");
    let body = wanted("north", &kubeconfig(&[("north", "api.acme.com")]));

    let first = world.connect_with_key(&cookie, "k1", &body).await;
    let calls = server.requests();
    let second = world.connect_with_key(&cookie, "k1", &body).await;
    let other_name =
        world.connect_with_key(&cookie, "k1", &wanted("south", &kubeconfig(&[("north", "api.acme.com")]))).await;
    let other_file =
        world.connect_with_key(&cookie, "k1", &wanted("north", &kubeconfig(&[("other", "api.acme.com")]))).await;
    let bad_key = world.connect_with_key(&cookie, &"k".repeat(256), &body).await;

    assert_eq!((first.status, second.status), (StatusCode::CREATED, StatusCode::OK));
    assert_eq!(first.json()["id"], second.json()["id"]);
    assert_eq!(server.requests(), calls, "what is done needs no call");
    assert_eq!((other_name.status.as_u16(), other_name.code().as_str()), (422, "idempotency_key_reused"));
    assert_eq!(other_file.code(), "idempotency_key_reused");
    assert_eq!((bad_key.status.as_u16(), bad_key.code().as_str()), (400, "idempotency_key_invalid"));
    // The key is a person's own.
    let another = world.log_in("administrator").await;
    assert_eq!(world.connect_with_key(&another, "k1", &body).await.status, StatusCode::CONFLICT);
    assert_eq!((world.dump("clusters").await.len(), world.api_server.secrets().len()), (1, 1));
}

async fn twenty_at_once_connect_one_cluster_once(world: World) {
    world.start();
    world.cluster_at("api.acme.com", "north-uid");
    let operator = world.log_in("operator").await;
    let administrator = world.log_in("administrator").await;
    let file = kubeconfig(&[("north", "api.acme.com")]);

    // Whoever finds the database too busy is told when to come back, and comes back.
    let request = async |cookie: &str, key: &str, name: &str| {
        let mut tries = 0;
        loop {
            tries += 1;
            let answer = world.connect_with_key(cookie, key, &wanted(name, &file)).await;
            if answer.status != StatusCode::SERVICE_UNAVAILABLE || tries == 6 {
                return answer;
            }
            assert!(answer.headers.contains_key(header::RETRY_AFTER), "{answer:?}");
        }
    };
    let keys: Vec<_> = (0..10).map(|n| format!("k{n}")).collect();
    let same = (0..10).map(|_| request(&operator, "k1", "north").boxed_local());
    let others = keys.iter().map(|key| request(&administrator, key, key).boxed_local());
    let answers = futures::future::join_all(same.chain(others).collect::<Vec<_>>()).await;

    let count = |status: u16| answers.iter().filter(|answer| answer.status.as_u16() == status).count();
    // The one who connected it may have been told to come back after that, and then finds it connected.
    assert!(count(201) <= 1 && count(201) + count(200) > 0, "{answers:?}");
    assert_eq!(count(200) + count(409) + count(201), 20, "{answers:?}");
    assert_eq!(world.dump("clusters").await.len(), 1);
    assert_eq!(world.api_server.secrets().len(), 1, "a loser's Secret stayed");
    until("the outbox is empty", async || world.dump("outbox").await.is_empty().then_some(())).await;
    assert_eq!(world.api_server.resources().len(), 1);
}

async fn one_cluster_is_one_entry_whatever_its_names_addresses_and_users_are(world: World) {
    let cookie = world.log_in("operator").await;
    world.cluster_at("api.acme.com", "north-uid");
    world.cluster_at("10.0.0.7", "north-uid");
    world.cluster_at("home.acme.com", UID);
    world.post(CONNECT, &cookie, &wanted("north", &kubeconfig(&[("a", "api.acme.com")]))).await;

    let again = world.post(CONNECT, &cookie, &wanted("south", &kubeconfig(&[("b", "10.0.0.7")]))).await;
    let host = world.post(CONNECT, &cookie, &wanted("home", &kubeconfig(&[("c", "home.acme.com")]))).await;
    world.register(&cookie).await;
    let known_host = world.post(CONNECT, &cookie, &wanted("castle", &kubeconfig(&[("c", "home.acme.com")]))).await;

    assert_eq!((again.status.as_u16(), again.code().as_str()), (409, "cluster_already_known"));
    assert!(again.json()["detail"].as_str().unwrap().contains("north"), "{again:?}");
    assert_eq!((host.status.as_u16(), host.code().as_str()), (409, "is_host_cluster"));
    assert_eq!(known_host.code(), "cluster_already_known");
    assert_eq!((world.dump("clusters").await.len(), world.api_server.secrets().len()), (2, 1));
}

async fn two_clusters_share_neither_a_name_nor_a_folder_nor_lies_one_in_the_other(world: World) {
    let cookie = world.log_in("operator").await;
    for (host, uid) in
        [("a.acme.com", "a-uid"), ("b.acme.com", "b-uid"), ("c.acme.com", "c-uid"), ("d.acme.com", "d-uid")]
    {
        world.cluster_at(host, uid);
    }
    let mut first = wanted("north", &kubeconfig(&[("a", "a.acme.com")]));
    first["git_path"] = "fleet/a_1/north".into();
    assert_eq!(world.post(CONNECT, &cookie, &first).await.status, StatusCode::CREATED);
    let file = kubeconfig(&[("b", "b.acme.com")]);

    let name = world.post(CONNECT, &cookie, &wanted("north", &file)).await;
    assert_eq!((name.status.as_u16(), name.code().as_str()), (409, "name_taken"));
    for path in ["fleet/a_1/north", "fleet/A_1/North", "fleet", "fleet/a_1", "fleet/a_1/north/deeper/still"] {
        let mut second = wanted("south", &file);
        second["git_path"] = path.into();
        let refused = world.post(CONNECT, &cookie, &second).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (409, "git_path_in_use"), "{path}");
        assert!(refused.json()["detail"].as_str().unwrap().contains("north"));
    }
    // Names around it in the order of bytes, where a slash is after a hyphen and before a zero.
    for (name, path) in [("b", "fleet/aX1/north"), ("c", "fleet/a_1/north-2"), ("d", "fleet/a_1/north0")] {
        let mut beside = wanted(name, &kubeconfig(&[(name, &format!("{name}.acme.com"))]));
        beside["git_path"] = path.into();
        assert_eq!(world.post(CONNECT, &cookie, &beside).await.status, StatusCode::CREATED, "{path}");
    }
}

async fn whose_a_folder_is_is_looked_up_and_not_searched_for_among_all_clusters(world: World) {
    let backend = world.platform.db.get_database_backend();
    let mut select = store::clusters::with_folder_in_common(backend, "fleet/north").build(backend);
    let explain = if backend == DbBackend::Postgres { "EXPLAIN" } else { "EXPLAIN QUERY PLAN" };
    select.sql = format!("{explain} {}", select.sql);
    let tx = service_kit::database::begin_write(&world.platform.db).await.unwrap();
    if backend == DbBackend::Postgres {
        // An empty table is read as a whole otherwise.
        tx.execute_unprepared("SET LOCAL enable_seqscan = off").await.unwrap();
    }

    let rows = tx.query_all_raw(select).await.unwrap();

    let column = if backend == DbBackend::Postgres { "QUERY PLAN" } else { "detail" };
    let plan: Vec<String> = rows.iter().map(|row| row.try_get("", column).unwrap()).collect();
    let by_index = plan.iter().filter(|step| step.contains("clusters_by_tree")).count();
    assert_eq!(by_index, 2, "those with or around it, and those within: {plan:#?}");
}

async fn nothing_is_stored_unless_the_kubeconfig_can_be_used(world: World) {
    let cookie = world.log_in("operator").await;
    world.cluster_at("reader.acme.com", "reader-uid").grant_everything(false);
    world.cluster_at("stranger.acme.com", "stranger-uid").answer_always(401);
    let mut exec = kubeconfig(&[("a", "reader.acme.com")]);
    exec["users"][0]["user"] = json!({"exec": {"command": "aws"}});
    for (file, status, code) in [
        (kubeconfig(&[("a", "reader.acme.com")]), 422, "insufficient_permissions"),
        (kubeconfig(&[("a", "stranger.acme.com")]), 422, "unauthorized"),
        (kubeconfig(&[("a", "nobody.acme.com")]), 422, "cluster_unreachable"),
        (kubeconfig(&[("a", "169.254.169.254")]), 422, "cluster_address_forbidden"),
        (exec, 422, "kubeconfig_exec_forbidden"),
        (json!("token: CANARY"), 400, "kubeconfig_malformed"),
    ] {
        let refused = world.post(CONNECT, &cookie, &wanted("north", &file)).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (status, code), "{refused:?}");
        world.nothing_is_stored().await;
    }
    let rows = world.told().await;
    assert_eq!(rows.iter().filter(|row| row.contains("|connect_cluster||denied|")).count(), 6, "{rows:#?}");

    // KubeOpera's own API server is away: nothing can be kept.
    world.cluster_at("good.acme.com", "good-uid");
    world.api_server.be_down(true);
    let refused = world.post(CONNECT, &cookie, &wanted("north", &kubeconfig(&[("a", "good.acme.com")]))).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "{refused:?}");
    world.api_server.be_down(false);
    world.nothing_is_stored().await;
}

async fn fields_are_refused_by_name(world: World) {
    let cookie = world.log_in("operator").await;
    let good = wanted("north", &kubeconfig(&[("a", "a.acme.com")]));
    for (field, value) in [
        ("name", json!("North")),
        ("name", json!("-a")),
        ("name", json!("x".repeat(41))),
        ("name", json!("n\u{f6}rth")),
        ("name", json!("${file(\"/etc/passwd\")}")),
        ("provider", json!("On Premises")),
        ("region", json!("a b")),
        ("domain", json!("https://acme.com")),
        ("domain", json!("x\"\n---\nkind: ClusterRoleBinding")),
        ("git_path", json!("../other")),
        ("git_path", json!("a/.git/hooks")),
        ("admin_email", json!("admin")),
    ] {
        let mut body = good.clone();
        body[field] = value.clone();
        let refused = world.post(CONNECT, &cookie, &body).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (422, &json!(field)), "{value}");
    }
    for extra in ["id", "is_host", "phase", "mode"] {
        let mut body = good.clone();
        body[extra] = json!("x");
        assert_eq!(world.post(CONNECT, &cookie, &body).await.code(), "field_invalid", "{extra}");
    }
    let mut alone = good.clone();
    alone["admin_username"] = "admin".into();
    assert_eq!(world.post(CONNECT, &cookie, &alone).await.json()["field"], "admin_email");
    world.nothing_is_stored().await;
}

async fn a_crash_between_the_secret_and_the_record_leaves_nothing_for_long(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    world.cluster_at("api.acme.com", "north-uid");
    let body = wanted("north", &kubeconfig(&[("north", "api.acme.com")]));
    let id = world.connect_with_key(&cookie, "k1", &body).await.json()["id"].as_str().unwrap().to_owned();
    until("the resource is seen", async || (!world.api_server.resources().is_empty()).then_some(())).await;

    // As if the process had been killed before the record was there.
    world.api_server.delete(&id);
    until("the record is gone", async || world.dump("clusters").await.is_empty().then_some(())).await;
    repair::sweep(&world.platform).await.unwrap();
    assert_eq!(world.api_server.secrets().len(), 1, "it may be a request of this very moment");
    let again = world.connect_with_key(&cookie, "k1", &body).await;
    assert_eq!((again.status, again.json()["id"].as_str()), (StatusCode::CREATED, Some(id.as_str())));
    world.api_server.age_secrets();
    repair::sweep(&world.platform).await.unwrap();
    assert_eq!(world.api_server.secrets().len(), 1, "it is on record");

    until("the resource is there", async || (!world.api_server.resources().is_empty()).then_some(())).await;
    world.api_server.delete(&id);
    until("the record is gone", async || world.dump("clusters").await.is_empty().then_some(())).await;
    until("nothing is left", async || {
        repair::sweep(&world.platform).await.unwrap();
        world.api_server.secrets().is_empty().then_some(())
    })
    .await;
}

async fn another_context_than_the_current_one_is_chosen(world: World) {
    let cookie = world.log_in("operator").await;
    world.cluster_at("a.acme.com", "a-uid");
    world.cluster_at("b.acme.com", "b-uid");
    let mut file = kubeconfig(&[("a", "a.acme.com"), ("user@b/cluster", "b.acme.com")]);
    let mut body = wanted("b", &file);
    body["context"] = "user@b/cluster".into();

    let chosen = world.post(CONNECT, &cookie, &body).await;
    body["context"] = "gone".into();
    body["name"] = "c".into();
    let gone = world.post(CONNECT, &cookie, &body).await;
    file.as_object_mut().unwrap().remove("current-context");
    let none = world.post(CONNECT, &cookie, &wanted("c", &file)).await;

    assert_eq!(chosen.status, StatusCode::CREATED, "{chosen:?}");
    assert_eq!(world.api_server.secrets()[0]["data"]["context"], STANDARD.encode("user@b/cluster"));
    assert!(world.dump("clusters").await[0].contains("b-uid"));
    assert_eq!(gone.code(), "kubeconfig_unresolved_reference");
    assert_eq!((none.code().as_str(), &none.json()["field"]), ("kubeconfig_no_current_context", &json!("context")));
}

async fn the_largest_file_that_is_taken_fits_its_secret_with_the_longest_name_of_a_context(world: World) {
    let cookie = world.log_in("operator").await;
    world.cluster_at("a.acme.com", "a-uid");
    let longest = "🚀".repeat(253);
    let bytes = 1023 * 1024;
    let file = format!("{}\n", kubeconfig(&[("current", "current.acme.com"), (&longest, "a.acme.com")]));
    let file = format!("{file}{}", "#".repeat(bytes - file.len()));
    let mut body = json!({"name": "a", "provider": "on-premises", "region": "berlin", "context": longest});
    body["kubeconfig"] = format!("{file}#").into();

    let refused = world.post(CONNECT, &cookie, &body).await;
    world.nothing_is_stored().await;
    body["kubeconfig"] = file.as_str().into();
    let connected = world.post(CONNECT, &cookie, &body).await;

    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (413, "kubeconfig_too_large"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("1023 KiB"), "{refused:?}");
    assert_eq!(connected.status, StatusCode::CREATED, "{connected:?}");
    let data = world.api_server.secrets()[0]["data"].clone();
    assert_eq!(data, json!({"kubeconfig": STANDARD.encode(&file), "context": STANDARD.encode(&longest)}));
}

async fn a_person_connects_ten_times_in_ten_minutes(world: World) {
    let cookie = world.log_in("operator").await;
    let file = kubeconfig(&[("a", "nobody.acme.com")]);

    for _ in 0..10 {
        assert_eq!(world.post(CONNECT, &cookie, &wanted("a", &file)).await.code(), "cluster_unreachable");
    }
    let refused = world.post(CONNECT, &cookie, &wanted("a", &file)).await;

    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (429, "connect_rate_limited"));
    assert!(refused.headers.contains_key(header::RETRY_AFTER));
}
