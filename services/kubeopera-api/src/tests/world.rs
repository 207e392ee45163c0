//! A whole kubeopera-api with people who may do different things, and the words to use it with.

use std::{sync::Arc, time::Duration};

use auth_service::{AuthService, Clouds, RootKeys};
use auth_service_contract::{People, Role};
use axum::{Router, body::Body};
use cluster_provisioner_contract::ClusterProvisioner;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use kube_kit::KubeconfigOptions;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;
use vocabulary::Secret;

use super::{elsewhere::Others, git_server::GitServer, kubernetes::ApiServer, monitor::Watched};
use crate::{
    app::{Elsewhere, Platform},
    config::{Config, PlatformDefaults},
    resources, store,
};

/// Everybody's password.
pub(super) const PASSWORD: &str = "CANARY-correct-horse-battery";

pub(super) struct World {
    pub(super) api_server: ApiServer,
    pub(super) others: Others,
    pub(super) git: GitServer,
    pub(super) monitor: Watched,
    pub(super) platform: Arc<Platform>,
    pub(super) router: Router,
    pub(super) folder: tempfile::TempDir,
    pub(super) url: String,
    _shutdown: DropGuard,
    shutdown: CancellationToken,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: http::HeaderMap,
    pub(super) text: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of a problem, whose shape is checked on the way.
    pub(super) fn code(&self) -> String {
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16(), "{problem}");
        assert_eq!(problem["request_id"], self.headers["x-request-id"].to_str().unwrap(), "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.ends_with('.')), "{problem}");
        problem["code"].as_str().unwrap().to_owned()
    }
}

impl World {
    pub(super) async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("kubeopera.db").display());
        Self::on(url, folder).await
    }

    pub(super) async fn on_postgres() -> Self {
        let url = tokio::task::spawn_blocking(testkit_postgres::database).await.unwrap().unwrap();
        Self::on(url, tempfile::tempdir().unwrap()).await
    }

    async fn on(url: String, folder: tempfile::TempDir) -> Self {
        let db = service_kit::database::open(&url).await.unwrap();
        let auth = AuthService::open(db.clone(), root_keys()).await.unwrap().with_clouds(no_clouds());
        for (name, role) in
            [("administrator", Role::PlatformAdministrator), ("operator", Role::Operator), ("viewer", Role::Viewer)]
        {
            auth.add_user(&vocabulary::Actor::KubeOpera, &name.parse().unwrap(), role, &Secret::new(PASSWORD))
                .await
                .unwrap();
        }
        Self::with(url, folder, db, auth, ApiServer::new(), Others::default()).await
    }

    async fn with(
        url: String,
        folder: tempfile::TempDir,
        db: DatabaseConnection,
        auth: AuthService,
        api_server: ApiServer,
        others: Others,
    ) -> Self {
        store::migrate(&db).await.unwrap();
        let defaults = PlatformDefaults {
            git_url: "https://git.acme.com/gitops-iac.git".parse().unwrap(),
            git_credentials_secret: "gitops-iac-credentials".parse().unwrap(),
            domain: Some("host.acme.com".parse().unwrap()),
            host_name: "home".parse().unwrap(),
        };
        let shutdown = CancellationToken::new();
        let git = GitServer::default();
        let (client, auth) = (api_server.client(), Arc::new(auth));
        let monitor = Watched::default();
        let (git_too, watched) = (Arc::new(git.clone()), Arc::new(monitor.clone()));
        let mut platform = Platform::new(db, client, auth, git_too, watched, defaults, shutdown.clone());
        platform.elsewhere = Arc::new(others.clone());
        let platform = Arc::new(platform);
        let router = crate::http::router(Arc::clone(&platform), &Config::default()).unwrap();
        Self {
            api_server,
            others,
            git,
            monitor,
            platform,
            router,
            folder,
            url,
            _shutdown: shutdown.clone().drop_guard(),
            shutdown,
        }
    }

    /// The same database and API server under a new process: everything in memory is gone.
    pub(super) async fn restarted(self) -> Self {
        let db = service_kit::database::open(&self.url).await.unwrap();
        let auth = AuthService::open(db.clone(), root_keys()).await.unwrap().with_clouds(no_clouds());
        Self::with(self.url, self.folder, db, auth, self.api_server, self.others).await
    }

    /// The same with an identity provider.
    pub(super) async fn at_provider(self, provider: auth_service::Provider) -> Self {
        let db = service_kit::database::open(&self.url).await.unwrap();
        let auth = AuthService::open(db.clone(), root_keys()).await.unwrap().with_provider(provider);
        Self::with(self.url, self.folder, db, auth, self.api_server, self.others).await
    }

    /// The same, reaching clusters in this way and only where kubeconfigs may lead, before anything is started.
    pub(super) fn reaching(mut self, elsewhere: Arc<dyn Elsewhere>, kubeconfigs: KubeconfigOptions) -> Self {
        // It holds the platform, too.
        self.router = Router::new();
        let platform = Arc::get_mut(&mut self.platform).unwrap();
        (platform.elsewhere, platform.kubeconfigs) = (elsewhere, kubeconfigs);
        self.router = crate::http::router(Arc::clone(&self.platform), &Config::default()).unwrap();
        self
    }

    /// The same with something that creates clusters, before anything is started.
    pub(super) fn with_provisioner(mut self, provisioner: Arc<dyn ClusterProvisioner>) -> Self {
        // It holds the platform, too.
        self.router = Router::new();
        Arc::get_mut(&mut self.platform).unwrap().provisioner = Some(provisioner);
        self.router = crate::http::router(Arc::clone(&self.platform), &Config::default()).unwrap();
        self
    }

    /// Another process on the same database and API server, which has its own memory.
    pub(super) async fn beside(&self) -> Self {
        let db = service_kit::database::open(&self.url).await.unwrap();
        let auth = AuthService::open(db.clone(), root_keys()).await.unwrap().with_clouds(no_clouds());
        let folder = tempfile::tempdir().unwrap();
        Self::with(self.url.clone(), folder, db, auth, self.api_server.clone(), self.others.clone()).await
    }

    /// Starts the tasks that run beside the requests.
    pub(super) fn start(&self) {
        let (platform, shutdown) = (&self.platform, &self.shutdown);
        tokio::spawn(resources::watch::keep(Arc::clone(platform), shutdown.clone()));
        tokio::spawn(resources::access::keep_asking(Arc::clone(platform), shutdown.clone()));
        tokio::spawn(resources::relay::keep_relaying(Arc::clone(platform), shutdown.clone()));
        tokio::spawn(resources::repair::keep_repairing(Arc::clone(platform), shutdown.clone()));
        tokio::spawn(crate::fleet::keep_drawing(Arc::clone(platform), shutdown.clone()));
        tokio::spawn(crate::events::keep_following(Arc::clone(platform), shutdown.clone()));
        tokio::spawn(crate::events::keep_announcing(Arc::clone(platform), shutdown.clone()));
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    pub(super) async fn call(&self, method: Method, path: &str, cookie: Option<&str>) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "kubeopera.acme.com");
        if let Some(cookie) = cookie {
            request = request.header(header::COOKIE, cookie);
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub(super) async fn get(&self, path: &str, cookie: &str) -> Answer {
        self.call(Method::GET, path, Some(cookie)).await
    }

    /// Sends a body as the dashboard would.
    pub(super) async fn change(&self, method: Method, path: &str, cookie: &str, body: &Value) -> Answer {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "kubeopera.acme.com");
        let request = request.header(header::COOKIE, cookie).header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// The tag of what is there now.
    pub(super) async fn tag(&self, path: &str, cookie: &str) -> String {
        self.get(path, cookie).await.headers[header::ETAG].to_str().unwrap().to_owned()
    }

    /// Changes what was seen under a tag; `*` whatever it is now.
    pub(super) async fn change_seen(
        &self,
        tag: &str,
        method: Method,
        path: &str,
        cookie: &str,
        body: &Value,
    ) -> Answer {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "kubeopera.acme.com");
        let request = request.header(header::COOKIE, cookie).header(header::CONTENT_TYPE, "application/json");
        self.send(request.header(header::IF_MATCH, tag).body(Body::from(body.to_string())).unwrap()).await
    }

    /// Puts a cluster on record that nobody asked for over HTTP.
    pub(super) async fn put_on_record(&self, record: &store::clusters::Record) {
        let tx = service_kit::database::begin_write(&self.platform.db).await.unwrap();
        store::clusters::insert(&tx, record).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// A user's id.
    pub(super) async fn user(&self, username: &str) -> String {
        let people = self.platform.auth.people().await.unwrap();
        people.iter().find(|person| person.user.username == username).unwrap().user.id.to_string()
    }

    pub(super) async fn register(&self, cookie: &str) -> Answer {
        self.call(Method::POST, "/api/v1/clusters/register", Some(cookie)).await
    }

    pub(super) async fn try_log_in(&self, username: &str, password: &str) -> Answer {
        let body = json!({"username": username, "password": password}).to_string();
        let request = Request::post("/api/v1/session").header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    /// Logs in and returns the cookie as a browser would send it back.
    pub(super) async fn log_in(&self, username: &str) -> String {
        let answer = self.try_log_in(username, PASSWORD).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        cookie_of(&answer)
    }

    /// Every row of a table as text.
    pub(super) async fn dump(&self, table: &str) -> Vec<String> {
        let db = &self.platform.db;
        let everything = Statement::from_string(db.get_database_backend(), format!("SELECT * FROM {table}"));
        let rows = db.query_all_raw(everything).await.unwrap();
        let row_text = |row: &sea_orm::QueryResult| {
            let text_of = |column: &String| {
                row.try_get::<String>("", column)
                    .or_else(|_| row.try_get::<Value>("", column).map(|json| json.to_string()))
                    .or_else(|_| {
                        row.try_get::<Vec<u8>>("", column).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                    })
                    .or_else(|_| row.try_get::<i64>("", column).map(|number| number.to_string()))
                    .unwrap_or_default()
            };
            row.column_names().iter().map(text_of).collect::<Vec<_>>().join("|")
        };
        rows.iter().map(row_text).collect()
    }
}

/// Nobody answers there.
fn no_clouds() -> Clouds {
    let nowhere = || "http://127.0.0.1:9/".parse().unwrap();
    Clouds { aws_sts: nowhere(), google_token: nowhere() }
}

/// The same at every start.
pub(super) fn root_keys() -> RootKeys {
    RootKeys::parse(b"a2V5IG9mIHRoZSB0ZXN0cyBvZiBrdWJlb3BlcmEtYXA=").unwrap()
}

pub(super) fn cookie_of(answer: &Answer) -> String {
    let set = answer.headers[header::SET_COOKIE].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// Waits until something holds, and says what did not if it takes too long.
pub(super) async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(tokio::time::Instant::now() < deadline, "still not so: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
