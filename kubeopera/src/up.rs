//! `kubeopera up`: every service in this process, composed once and readable from top to bottom.

use std::{net::IpAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use auth_service::AuthService;
use clap::Args;
use cluster_provisioner::Provisioner;
use cluster_provisioner_contract::ClusterProvisioner;
use gitops_scaffolder::{Mirror, Scaffolder};
use host_cluster_controller::FluxConfig;
use host_cluster_controller_crd::Installation;
use kube_kit::KubeconfigOptions;
use kubeopera_api::{BindError, PlatformDefaults};
use sea_orm::DatabaseConnection;
use service_kit::telemetry::LogFormat;
use vocabulary::{ClusterName, Domain, GitUrl, SecretName, Trouble, TroubleKind};

use crate::{
    browsers::Browsers,
    clouds::CloudAddresses,
    data_folder::DataFolder,
    identity_provider::IdentityProvider,
    leader, local_cluster,
    notices::NoticeOptions,
    open_files,
    own_cluster::{self, Found},
    price_list,
    repository::{TreeRepository, listen},
    storage::Storage,
    targets::Targets,
    welcome::{self, Welcome},
};

/// Between two attempts to reach the cluster at the start.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(2);

/// Where Flux publishes the images of its controllers.
const FLUX_IMAGES: &str = "ghcr.io/fluxcd";
const LONGEST_LOCAL_NAME: usize = 30;

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct Options {
    /// Kubeconfig of the cluster KubeOpera runs on [default: the usual place]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context in the kubeconfig [default: its current context]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Start a local cluster and use it, whatever the kubeconfig says
    #[arg(long, conflicts_with_all = ["kubeconfig", "context"])]
    local: bool,
    /// Name of the local cluster, at most 30 characters
    #[arg(long, value_name = "NAME", default_value = "kubeopera", value_parser = local_name)]
    local_name: ClusterName,
    /// The local-cluster program
    #[arg(long, value_name = "FILE", env = "KUBEOPERA_LOCAL_CLUSTER")]
    local_program: Option<PathBuf>,

    #[command(flatten)]
    storage: Storage,
    #[command(flatten)]
    browsers: Browsers,
    #[command(flatten)]
    identity_provider: IdentityProvider,
    #[command(flatten)]
    notices: NoticeOptions,
    #[command(flatten)]
    cloud_addresses: CloudAddresses,
    #[command(flatten)]
    targets: Targets,

    /// Use this Git repository instead of the built-in one, as long as none is chosen in the dashboard
    #[arg(long, value_name = "URL", requires = "git_credentials_secret")]
    git_url: Option<GitUrl>,
    /// Secret in kubeopera-system with the credentials for --git-url
    #[arg(long, value_name = "NAME", requires = "git_url")]
    git_credentials_secret: Option<SecretName>,
    /// Address at which clusters reach the built-in repository [default: this machine's address towards the cluster]
    #[arg(long, value_name = "IP", conflicts_with = "git_url")]
    git_address: Option<IpAddr>,
    /// Port of the built-in repository
    #[arg(long, value_name = "PORT", default_value_t = 7071)]
    git_port: u16,

    /// Image of the Jobs that create clusters: KubeOpera with Terraform; without it no cluster can be created
    #[arg(long, value_name = "IMAGE", env = "KUBEOPERA_PROVISIONER_IMAGE")]
    provisioner_image: Option<String>,
    /// When its nodes pull that image: Always, IfNotPresent or Never
    #[arg(long, value_name = "POLICY", default_value = "IfNotPresent", value_parser = ["Always", "IfNotPresent", "Never"])]
    provisioner_pull_policy: String,

    /// Domain of the cluster's environment; without it nothing is exposed
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<Domain>,
    /// Name that Register This Cluster gives the cluster
    #[arg(long, value_name = "NAME", default_value = "host")]
    cluster_name: ClusterName,

    /// Flux's install manifest: a file or an https:// URL
    #[arg(long, value_name = "WHERE", requires = "flux_manifest_sha256", env = "KUBEOPERA_FLUX_MANIFEST")]
    flux_manifest: Option<String>,
    /// SHA-256 of the manifest
    #[arg(long, value_name = "HEX", requires = "flux_manifest", env = "KUBEOPERA_FLUX_MANIFEST_SHA256")]
    flux_manifest_sha256: Option<String>,
    /// Registry that mirrors charts and images under the names of their own registries
    #[arg(long, value_name = "HOST:PORT", env = "KUBEOPERA_MIRROR")]
    mirror: Option<String>,
    /// The mirror speaks plain HTTP
    #[arg(long, requires = "mirror")]
    mirror_plain_http: bool,

    /// text or json
    #[arg(long, value_name = "FORMAT", default_value_t = LogFormat::Text, env = "KUBEOPERA_LOG_FORMAT")]
    log_format: LogFormat,
    /// What is logged, in the syntax of RUST_LOG
    // kube_client's warning about an answer it cannot decode quotes the whole answer, which may be a Secret.
    #[arg(long, value_name = "FILTER", default_value = "warn,kube_client=error", env = "RUST_LOG")]
    log: String,
}

/// The cluster KubeOpera runs on, and what comes with it.
struct Host {
    config: kube::Config,
    /// Whether this process is a Pod of it.
    has_this_pod: bool,
    /// The cluster in words.
    words: String,
    /// What to put behind `kubectl` to reach it.
    kubectl: String,
    flux: Option<FluxConfig>,
    mirror: Option<Mirror>,
}

/// Starts everything, says where it is, and stays until it is told to stop.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    service_kit::telemetry::init(options.log_format, &options.log).map_err(anyhow::Error::msg)?;
    open_files::allow_all();
    let shutdown = service_kit::shutdown::on_signals().context("listening for signals")?;
    let data_path = options.storage.data_path();
    let data = DataFolder::open(&data_path)?;
    let prices = Arc::new(price_list::all(&data_path)?);

    options.browsers.must_be_reachable()?;
    // Whatever may be refused at once comes before the minutes that a local cluster takes.
    let dashboard = listen(options.browsers.listen, "--listen").await?;
    let external_url = options.browsers.external_url(dashboard.local_addr()?);
    let provider = options.identity_provider.provider(&external_url)?;
    let notices = options.notices.notices(&external_url)?;
    let database = options.storage.database(&data).await?;

    // Nothing is served yet, so there is nothing to end in order.
    let (host, client, installation_id) = tokio::select! {
        prepared = prepare(&options, &database) => prepared?,
        () = shutdown.cancelled() => return Ok(()),
    };
    let encryption_keys = options.storage.encryption_keys(&data, &database).await?;
    let auth =
        AuthService::open(database.clone(), encryption_keys).await?.with_clouds(options.cloud_addresses.clouds());
    let auth = Arc::new(match provider {
        Some(provider) => auth.with_provider(provider),
        None => auth,
    });
    let repository = options.repository(&data, &client, &host.config).await?;

    let mut scaffolding = gitops_scaffolder::Config::new(data.clones()).trusting(&repository.url);
    scaffolding.mirror = host.mirror.clone();
    let scaffolder = Arc::new(Scaffolder::new(scaffolding).await.context("preparing gitops-scaffolder")?);
    let own_ranges = if host.has_this_pod { Some(own_cluster::ranges(&client, &shutdown).await) } else { None };
    let kubeconfigs = options.targets.kubeconfigs(own_ranges);
    let provisioner = options.provisioner(&client, kubeconfigs, &auth, &prices);
    let lease = leader::lease(client.clone(), &data)?;
    let controller = host_cluster_controller::Context {
        client: client.clone(),
        kubeconfigs,
        scaffolder: scaffolder.clone(),
        provisioner: provisioner.clone().map(|provisioner| provisioner as Arc<dyn ClusterProvisioner>),
        auth: auth.clone(),
        flux: host.flux.clone(),
        installation: Installation { id: installation_id, url: Some(external_url.clone()) },
        leadership: lease.leadership(),
    };
    let monitor = k8s_monitor::Engine::priced(prices);
    let monitoring = k8s_monitor::Context { client: client.clone(), kubeconfigs, engine: monitor.clone() };
    let defaults = options.defaults(&repository);

    // What somebody chose in the dashboard goes before what this start was given.
    let chosen = kubeopera_api::chosen_repository(&database).await.context("reading the Git setting")?;
    let welcome = Welcome {
        dashboard: &external_url,
        cluster: &host.words,
        repository: chosen.as_ref().unwrap_or(&repository.url).as_str(),
        kubectl: &host.kubectl,
        data: &data_path.display().to_string(),
    };
    let told = auth.ensure_first_administrator(|name, password| welcome.greet(Some((name, password)))).await?;
    if !told {
        welcome.greet(None).context("greeting")?;
    }

    let api = kubeopera_api::Config {
        trusted_origins: options.browsers.trusted_origins(),
        external_url: Some(external_url),
        trusted_proxies: options.browsers.trusted_proxy,
        kubeconfigs,
        notices,
        leadership: lease.leadership(),
        provisioner: provisioner.clone().map(|provisioner| provisioner as Arc<dyn ClusterProvisioner>),
        ..kubeopera_api::Config::default()
    };
    // What acts on clusters by itself is done by one process at a time; what is asked for is done by whoever is asked.
    let lead = lease.lead(&shutdown, |over| {
        let (controller, provisioner) = (controller.clone(), provisioner.clone());
        async move {
            let renewing = over.clone();
            let renewal = async {
                if let Some(provisioner) = provisioner {
                    provisioner.keep_tokens_fresh(renewing).await;
                }
                Ok(())
            };
            let drive =
                async { host_cluster_controller::run(controller, over).await.context("host-cluster-controller") };
            tokio::try_join!(renewal, drive).map(drop)
        }
    });
    tokio::try_join!(
        lead,
        repository.serve(shutdown.clone()),
        async {
            let (monitor, stop) = (Arc::new(monitor), shutdown.clone());
            kubeopera_api::run(api, dashboard, database, client, auth, scaffolder, monitor, defaults, stop)
                .await
                .context("kubeopera-api")
        },
        async {
            k8s_monitor::run(monitoring, shutdown.clone()).await;
            Ok(())
        },
    )?;
    welcome::step("KubeOpera has stopped. The next start continues where it was.");
    Ok(())
}

/// The cluster, with what has to be on it before anything else, and the id of this KubeOpera. Nothing is put on a cluster
/// that the database is not about.
async fn prepare(options: &Options, database: &DatabaseConnection) -> anyhow::Result<(Host, kube::Client, String)> {
    let host = host(options).await?;
    let client = kube_kit::guarded(host.config.clone(), kube_kit::Limits::default())?;
    let cluster = &host.words;
    let uid = patiently(|| kube_kit::cluster_uid(&client)).await?;
    let installation_id = kubeopera_api::bind(database, &uid).await.map_err(|error| match error {
        BindError::AnotherCluster { bound } => anyhow::anyhow!(another_cluster(cluster, &uid, &bound)),
        other => other.into(),
    })?;
    welcome::step(&format!("Making sure that {cluster} has KubeOpera's resource definition and namespaces"));
    patiently(|| host_cluster_controller::install(&client)).await?;
    Ok((host, client, installation_id))
}

/// Why KubeOpera does not start with the records of one cluster on another.
fn another_cluster(cluster: &str, uid: &str, bound: &str) -> String {
    format!(
        "KubeOpera's data is about another cluster than {cluster}: the UID of its kube-system namespace is {bound}, and here \
         it is {uid}. Nothing was changed on {cluster}. Choose the cluster that the data is about with --context or \
         --kubeconfig; or begin anew on {cluster} with another folder for the data, --data (if there is a --database-url, \
         also with another database)."
    )
}

/// Finds the cluster, or starts a local one.
async fn host(options: &Options) -> anyhow::Result<Host> {
    let (given_flux, given_mirror) = (options.flux(), options.mirror()?);
    let found = if options.local {
        Found::Nowhere
    } else {
        own_cluster::find(options.kubeconfig.as_deref(), options.context.as_deref())?
    };
    if !matches!(found, Found::Nowhere) {
        return Ok(Host {
            config: found.configuration().await?,
            has_this_pod: matches!(found, Found::InCluster),
            words: found.words(),
            kubectl: found.kubectl(),
            flux: given_flux.map(|flux| from_mirror(flux, given_mirror.as_ref())),
            mirror: given_mirror,
        });
    }
    let name = options.local_name.as_str();
    welcome::step(&format!("Starting the local cluster {name}"));
    let local = local_cluster::ensure(options.local_program.as_deref(), name).await?;
    let found = own_cluster::find(Some(&local.kubeconfig), None)?;
    Ok(Host {
        config: found.configuration().await?,
        has_this_pod: false,
        words: format!("local cluster {name}"),
        kubectl: format!(" --kubeconfig {}", local.kubeconfig.display()),
        flux: given_flux.or(Some(local.flux)),
        mirror: given_mirror.or(Some(local.mirror)),
    })
}

/// Flux itself comes from the mirror as well. The nodes of a local cluster have its images and need no mirror for them.
fn from_mirror(flux: FluxConfig, mirror: Option<&Mirror>) -> FluxConfig {
    FluxConfig { image_registry: mirror.map(|mirror| mirror.registry(FLUX_IMAGES)), ..flux }
}

/// What `local-cluster` takes for a name, which is shorter than the name of a cluster elsewhere: it names network devices.
fn local_name(text: &str) -> Result<ClusterName, String> {
    let name: ClusterName = text.parse().map_err(|why| format!("{why}"))?;
    if text.len() > LONGEST_LOCAL_NAME {
        return Err(format!("the name of a local cluster has at most {LONGEST_LOCAL_NAME} characters"));
    }
    Ok(name)
}

/// Tries until the cluster answers; what it refuses ends the start.
async fn patiently<T, F: Future<Output = Result<T, Trouble>>>(attempt: impl Fn() -> F) -> anyhow::Result<T> {
    loop {
        match attempt().await {
            Ok(value) => return Ok(value),
            Err(trouble) if matches!(trouble.kind, TroubleKind::Transient | TroubleKind::Waiting) => {
                welcome::step(&format!("{trouble} Trying again; Ctrl-C stops."));
                tokio::time::sleep(BETWEEN_ATTEMPTS).await;
            }
            Err(trouble) => return Err(trouble.into()),
        }
    }
}

impl Options {
    /// cluster-provisioner, if there is an image for its Jobs.
    fn provisioner(
        &self,
        client: &kube::Client,
        kubeconfigs: KubeconfigOptions,
        auth: &Arc<AuthService>,
        prices: &Arc<prices::Table>,
    ) -> Option<Arc<Provisioner>> {
        let config = cluster_provisioner::Config {
            image: self.provisioner_image.clone()?,
            pull_policy: self.provisioner_pull_policy.clone(),
            prices: Arc::clone(prices),
            kubeconfigs,
        };
        Some(Arc::new(Provisioner::new(client.clone(), auth.clone(), config)))
    }

    async fn repository(
        &self,
        data: &DataFolder,
        client: &kube::Client,
        cluster: &kube::Config,
    ) -> anyhow::Result<TreeRepository> {
        if let (Some(url), Some(secret)) = (&self.git_url, &self.git_credentials_secret) {
            return TreeRepository::named(url.clone(), secret.clone())?.marked(client).await;
        }
        let address = match self.git_address {
            Some(address) => address,
            None => own_cluster::address_towards(&cluster.cluster_url)?,
        };
        TreeRepository::built_in(data, client, address, self.git_port).await
    }

    /// What clusters get unless somebody says otherwise.
    fn defaults(&self, repository: &TreeRepository) -> PlatformDefaults {
        PlatformDefaults {
            git_url: repository.url.clone(),
            git_credentials_secret: repository.credentials_secret.clone(),
            domain: self.domain.clone(),
            host_name: self.cluster_name.clone(),
        }
    }

    fn flux(&self) -> Option<FluxConfig> {
        let (manifest, sha256) = self.flux_manifest.clone().zip(self.flux_manifest_sha256.clone())?;
        Some(FluxConfig { manifest, sha256, image_registry: None, image_pull_secrets: Vec::new() })
    }

    fn mirror(&self) -> anyhow::Result<Option<Mirror>> {
        let mirror = self.mirror.as_deref().map(|host| Mirror::new(host, self.mirror_plain_http));
        mirror.transpose().map_err(|why| anyhow::anyhow!("--mirror: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_another_cluster_the_start_is_refused_with_both_ways_out() {
        let refusal = another_cluster("context two", "uid-of-two", "uid-of-one");

        assert!(
            ["context two", "uid-of-two", "uid-of-one", "--context", "--data"]
                .iter()
                .all(|word| refusal.contains(word))
        );
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_told_before_a_cluster_is_started() {
        use clap::Parser;
        let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = taken.local_addr().unwrap().to_string();
        let folder = tempfile::tempdir().unwrap();
        let (data, program) = (folder.path().join("data"), folder.path().join("missing"));
        let words = ["kubeopera", "up", "--local", "--listen", &listen, "--data", data.to_str().unwrap()];
        let words = words.into_iter().chain(["--local-program", program.to_str().unwrap()]);
        let crate::Command::Up(options) = crate::Command::parse_from(words) else { panic!("not up") };

        let refusal = format!("{:#}", Box::pin(run(*options)).await.unwrap_err());

        assert!(refusal.contains("--listen") && !refusal.contains("missing"), "{refusal}");
    }

    #[test]
    fn flux_comes_from_the_mirror_if_there_is_one() {
        let flux = FluxConfig {
            manifest: "install.yaml".into(),
            sha256: String::new(),
            image_registry: None,
            image_pull_secrets: Vec::new(),
        };
        let mirror = Mirror::new("mirror.acme.com:5000", false).unwrap();

        let mirrored = from_mirror(flux.clone(), Some(&mirror)).image_registry;

        assert_eq!(mirrored.unwrap(), "mirror.acme.com:5000/ghcr.io/fluxcd");
        assert_eq!(from_mirror(flux, None).image_registry, None);
    }

    #[test]
    fn a_name_that_local_cluster_would_refuse_is_refused_at_once() {
        assert!(local_name(&"a".repeat(30)).is_ok());
        assert!(local_name(&"a".repeat(31)).unwrap_err().contains("30"));
    }
}
