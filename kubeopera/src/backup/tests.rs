#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    sync::{Arc, Mutex},
};

use auth_service_contract::{
    AccessTokens, Auth, CloudAccess, CredentialId, Credentials, NewSecret, PersonChange, Role,
};
use http::{Request, Response};
use k8s_openapi::api::core::v1::Secret as KubernetesSecret;
use kube::client::Body;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use vocabulary::{ClusterId, Secret};

use super::*;

const PASSWORD: &str = "CANARY-correct-horse-battery";
const KEY: &[u8] = b"a2V5IG9mIHRoZSB0ZXN0cyBvZiBrdWJlb3BlcmEtYXA=";

/// A database that was in use.
struct Used {
    database: DatabaseConnection,
    credential: CredentialId,
    cluster: ClusterId,
}

fn keys() -> RootKeys {
    RootKeys::parse(KEY).unwrap()
}

fn sqlite(folder: &Path, name: &str) -> String {
    format!("sqlite://{}?mode=rwc", folder.join(name).display())
}

async fn postgres() -> String {
    tokio::task::spawn_blocking(testkit_postgres::database).await.unwrap().unwrap()
}

async fn rows_of(database: &DatabaseConnection, name: &str) -> Vec<Map<String, Value>> {
    let snapshot = copy::begin_snapshot(database).await.unwrap();
    let tables = copy::tables(&snapshot).await.unwrap();
    let table = tables.iter().find(|table| table.name == name).unwrap();
    let mut rows = Vec::new();
    let each = |row| {
        rows.push(row);
        anyhow::Ok(())
    };
    copy::read_rows(&snapshot, table, each).await.unwrap();
    rows
}

impl Used {
    async fn at(url: &str) -> Self {
        let database = service_kit::database::open(url).await.unwrap();
        kubeopera_api::bind(&database, "uid-of-home").await.unwrap();
        let auth = AuthService::open(database.clone(), keys()).await.unwrap();
        let by = Actor::KubeOpera;
        auth.add_user(&by, &"ada".parse().unwrap(), Role::Operator, &Secret::new(PASSWORD)).await.unwrap();
        let ada = auth.log_in("ada", &Secret::new(PASSWORD), "10.0.0.7").await.unwrap().user.id;
        let tomorrow = Timestamp::now() + jiff::SignedDuration::from_hours(24);
        auth.make_token(&by, ada, &"Script".parse().unwrap(), tomorrow).await.unwrap();
        let grace = auth.add_user(&by, &"grace".parse().unwrap(), Role::Viewer, &Secret::new(PASSWORD)).await.unwrap();
        let disable = PersonChange { is_disabled: Some(true), ..PersonChange::default() };
        auth.change_user(&by, grace.user.id, disable).await.unwrap();
        let secret = NewSecret::AwsAccessKey {
            access_key_id: Secret::new("AKIACANARY0KEY0ID0WX"),
            secret_access_key: Secret::new("CANARYsecret/access+key0123456789ABCDEFG"),
        };
        let saved = auth.add_credential(&by, &"Key".parse().unwrap(), secret).await.unwrap();
        let (credential, cluster) = (saved.credential.id, ClusterId::random());
        let role = NewSecret::AwsAssumeRole {
            role_arn: "arn:aws:iam::123456789012:role/kubeopera".to_owned(),
            source: Some(credential),
        };
        auth.add_credential(&by, &"A role".parse().unwrap(), role).await.unwrap();
        auth.bind(&by, credential, cluster).await.unwrap();
        let mut record = json!({"id": cluster.to_string(), "name": "north", "kube_system_uid": null, "is_host": false,
            "git_url": "https://git.acme.com/a.git", "git_path": "fluxcd/clusters/north", "spec": {"clusterID": "ü\n"},
            "created_at": 1_700_000_000_000_001_i64, "removing_since": null, "labels": {"env": "prod"}, "revision": 1});
        let tables = copy::tables(&database).await.unwrap();
        let clusters = tables.iter().find(|table| table.name == "clusters").unwrap();
        let tx = begin_write(&database).await.unwrap();
        copy::write_row(&tx, clusters, std::mem::take(record.as_object_mut().unwrap())).await.unwrap();
        tx.commit().await.unwrap();
        Self { database, credential, cluster }
    }
}

async fn moves(from: &str, to: &str, folder: &Path) {
    let used = Used::at(from).await;
    let path = folder.join("backup");
    let end = CancellationToken::new();
    let writing = tokio::spawn({
        let (database, end) = (service_kit::database::open(from).await.unwrap(), end.clone());
        async move {
            let mut count = 0;
            while !end.is_cancelled() {
                let entry = Entry::new(&Actor::KubeOpera, Action::RetryCluster, Outcome::Done);
                audit_log::note(&database, entry).await.unwrap();
                count += 1;
            }
            count
        }
    });

    make(&used.database, &keys(), async { Ok(Vec::new()) }, &path).await.unwrap();
    end.cancel();
    assert!(writing.await.unwrap() > 0, "nobody wrote meanwhile");
    let target = service_kit::database::open(to).await.unwrap();
    check(&keys(), &path).unwrap();
    put_back(&target, &path, None).await.unwrap();

    for table in
        ["users", "credentials", "credential_uses", "clusters", "cluster_revisions", "installation", "root_keys"]
    {
        let rows = rows_of(&target, table).await;
        assert_eq!(rows, rows_of(&used.database, table).await, "{table}");
        assert!(!rows.is_empty(), "{table}");
    }
    for table in ["sessions", "access_tokens"] {
        assert_eq!(rows_of(&used.database, table).await.len(), 1, "{table}");
        assert!(rows_of(&target, table).await.is_empty(), "{table} came back");
    }
    let told = who_may_log_in(&target, keys()).await.unwrap();
    assert!(told.contains("then: ada. Disable"), "{told}");
    audit_log::verify(target.clone(), None).await.unwrap();
    let auth = AuthService::open(target.clone(), keys()).await.unwrap();
    auth.log_in("ada", &Secret::new(PASSWORD), "10.0.0.7").await.unwrap();
    let opened = auth.open(used.credential, used.cluster).await.unwrap();
    assert!(matches!(opened, CloudAccess::AwsAccessKey(key) if key.access_key_id.reveal().ends_with("D0WX")));
    kubeopera_api::bind(&target, "uid-of-home").await.unwrap();
    assert!(kubeopera_api::bind(&target, "uid-of-another").await.is_err());
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("CANARY"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
}

#[tokio::test]
async fn a_backup_made_while_others_write_is_restored_into_either_kind_of_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    moves(&sqlite(path, "a.db"), &sqlite(path, "b.db"), path).await;
    fs::remove_file(path.join("backup")).unwrap();
    moves(&sqlite(path, "c.db"), &postgres().await, path).await;
    fs::remove_file(path.join("backup")).unwrap();
    moves(&postgres().await, &sqlite(path, "d.db"), path).await;
}

#[tokio::test]
async fn with_a_wrong_key_a_damaged_file_or_rows_in_the_database_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let used = Used::at(&sqlite(folder.path(), "used.db")).await;
    let path = folder.path().join("backup");
    make(&used.database, &keys(), async { Ok(Vec::new()) }, &path).await.unwrap();

    let other = RootKeys::parse(RootKeys::new_line().reveal().as_bytes()).unwrap();
    let refusal = check(&other, &path).err().unwrap().to_string();
    assert!(
        refusal.contains(&keys().in_use().to_string()) && refusal.contains(&other.in_use().to_string()),
        "{refusal}"
    );

    let before = rows_of(&used.database, "audit_entries").await;
    let refusal = put_back(&used.database, &path, None).await.unwrap_err().to_string();
    assert!(refusal.contains("not empty"), "{refusal}");
    assert_eq!(rows_of(&used.database, "audit_entries").await, before);

    let whole = fs::read_to_string(&path).unwrap();
    let cut: String = whole.lines().take(6).flat_map(|line| [line, "\n"]).collect();
    let fewer: String =
        whole.lines().enumerate().filter(|(at, _)| *at != 3).flat_map(|(_, line)| [line, "\n"]).collect();
    for (damage, text) in
        [("cut off", cut), ("a line is missing", fewer), ("half a line", whole[..whole.len() - 9].to_owned())]
    {
        fs::write(&path, text).unwrap();
        assert!(check(&keys(), &path).is_err(), "{damage}");
        let target = service_kit::database::open(&sqlite(folder.path(), "target.db")).await.unwrap();
        assert!(put_back(&target, &path, None).await.is_err(), "{damage}");
        assert!(rows_of(&target, "users").await.is_empty() && rows_of(&target, "audit_entries").await.is_empty());
    }
    for (text, why) in
        [("", "not a backup"), ("{}", "not a backup"), (&whole.replacen(":1,", ":9,", 1), "another version")]
    {
        fs::write(&path, text).unwrap();
        assert!(check(&keys(), &path).err().unwrap().to_string().contains(why), "{text}");
    }
    fs::write(&path, whole.replacen("0001_clusters", "0001_others", 1)).unwrap();
    let target = service_kit::database::open(&sqlite(folder.path(), "target.db")).await.unwrap();
    let refusal = put_back(&target, &path, None).await.unwrap_err().to_string();
    assert!(refusal.contains("another version"), "{refusal}");
    assert!(
        make(&used.database, &keys(), async { Ok(Vec::new()) }, &path)
            .await
            .unwrap_err()
            .to_string()
            .contains("is there already")
    );
}

#[tokio::test]
async fn in_place_of_a_lost_cluster_another_one_is_that_of_the_database_and_kubeopera_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let used = Used::at(&sqlite(folder.path(), "used.db")).await;
    let installation_id = kubeopera_api::bind(&used.database, "uid-of-home").await.unwrap();
    let path = folder.path().join("backup");
    make(&used.database, &keys(), async { Ok(Vec::new()) }, &path).await.unwrap();

    for target in [sqlite(folder.path(), "target.db"), postgres().await] {
        let target = service_kit::database::open(&target).await.unwrap();
        put_back(&target, &path, Some("uid-of-another".to_owned())).await.unwrap();

        assert_eq!(kubeopera_api::bind(&target, "uid-of-another").await.unwrap(), installation_id);
        assert!(kubeopera_api::bind(&target, "uid-of-home").await.is_err(), "it is that of the lost one");
    }
    // That one is lost as well.
    let twice = service_kit::database::open(&sqlite(folder.path(), "between.db")).await.unwrap();
    put_back(&twice, &path, Some("uid-of-another".to_owned())).await.unwrap();
    fs::remove_file(&path).unwrap();
    make(&twice, &keys(), async { Ok(Vec::new()) }, &path).await.unwrap();
    let target = service_kit::database::open(&sqlite(folder.path(), "third.db")).await.unwrap();
    put_back(&target, &path, Some("uid-of-a-third".to_owned())).await.unwrap();
    assert_eq!(kubeopera_api::bind(&target, "uid-of-a-third").await.unwrap(), installation_id);
}

#[tokio::test]
async fn of_a_backup_that_still_has_access_tokens_none_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let used = Used::at(&sqlite(folder.path(), "used.db")).await;
    let path = folder.path().join("backup");
    make(&used.database, &keys(), async { Ok(Vec::new()) }, &path).await.unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let end = lines.pop().unwrap();
    assert_eq!(end, json!({ "lines": lines.len() - 1 }).to_string(), "all but the head are counted");
    let token = rows_of(&used.database, "access_tokens").await.remove(0);
    lines.push(json!({ "table": "access_tokens", "row": token }).to_string());
    lines.push(json!({ "lines": lines.len() - 1 }).to_string());
    fs::write(&path, lines.join("\n") + "\n").unwrap();

    let target = service_kit::database::open(&sqlite(folder.path(), "target.db")).await.unwrap();
    put_back(&target, &path, None).await.unwrap();

    assert_eq!(rows_of(&target, "users").await, rows_of(&used.database, "users").await);
    assert!(rows_of(&target, "access_tokens").await.is_empty());
}

/// A cluster that has some Secrets.
fn cluster_with(secrets: Arc<Mutex<Vec<Value>>>) -> Client {
    let answer = move |request: Request<Body>| {
        let secrets = Arc::clone(&secrets);
        async move {
            let namespace = request.uri().path().split('/').nth(4).unwrap().to_owned();
            let (status, body) = if request.method() == "GET" {
                let held = secrets.lock().unwrap();
                let items: Vec<_> =
                    held.iter().filter(|one| one["metadata"]["namespace"] == namespace).cloned().collect();
                (200, json!({"apiVersion": "v1", "kind": "SecretList", "metadata": {}, "items": items}))
            } else {
                let mut secret: Value =
                    serde_json::from_slice(&request.into_body().collect_bytes().await.unwrap()).unwrap();
                secret["metadata"]["namespace"] = namespace.into();
                let mut held = secrets.lock().unwrap();
                if held.iter().any(|one| one["metadata"]["name"] == secret["metadata"]["name"]) {
                    let status = json!({"kind": "Status", "status": "Failure", "reason": "AlreadyExists", "code": 409});
                    (409, status)
                } else {
                    held.push(secret.clone());
                    (201, secret)
                }
            };
            let response = Response::builder().status(status).header("content-type", "application/json");
            Ok::<_, std::convert::Infallible>(response.body(Body::from(body.to_string().into_bytes())).unwrap())
        }
    };
    Client::new(tower::service_fn(answer), "default")
}

#[tokio::test]
async fn secrets_of_the_cluster_are_sealed_and_put_back_where_there_is_none_of_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let used = Used::at(&sqlite(folder.path(), "used.db")).await;
    let path = folder.path().join("backup");
    let secret = |namespace: &str, name: &str, kind: &str, text: &str| {
        let labels = json!({"kubeopera.io/cluster-id": "x"});
        json!({"apiVersion": "v1", "kind": "Secret", "type": kind, "data": {"kubeconfig": STANDARD.encode(text)},
            "metadata": {"name": name, "namespace": namespace, "labels": labels, "resourceVersion": "7", "uid": "u"}})
    };
    let old = Arc::new(Mutex::new(vec![
        secret("kubeopera-system", "a", "Opaque", "CANARY-a"),
        secret("kubeopera-system", "token", "kubernetes.io/service-account-token", "CANARY-t"),
        secret("kubeopera-provisioning", "state", "Opaque", "CANARY-s"),
    ]));
    let new = Arc::new(Mutex::new(vec![secret("kubeopera-system", "a", "Opaque", "younger")]));

    let kept = secrets::all(&cluster_with(old)).await.unwrap();
    make(&used.database, &keys(), async { Ok(kept) }, &path).await.unwrap();
    let mut back = Vec::new();
    for (name, kept) in check(&keys(), &path).unwrap() {
        back.push((name.clone(), secrets::put_back(&cluster_with(Arc::clone(&new)), &name, kept).await.unwrap()));
    }

    assert_eq!(back, [("kubeopera-system/a".to_owned(), false), ("kubeopera-provisioning/state".to_owned(), true)]);
    let new = new.lock().unwrap();
    let state: KubernetesSecret = serde_json::from_value(new[1].clone()).unwrap();
    assert_eq!(state.data.unwrap()["kubeconfig"].0, b"CANARY-s");
    assert_eq!(state.metadata.labels.unwrap()["kubeopera.io/cluster-id"], "x");
    assert_eq!(new[0]["data"]["kubeconfig"], STANDARD.encode("younger"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("CANARY") && !text.contains(&STANDARD.encode("CANARY-s")));
}
