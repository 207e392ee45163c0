//! The script that machines of a vanilla cluster boot with, run as it is, with stand-ins for what it calls. Each machine has
//! an /etc of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/modules/vanilla_kubeadm/boot/node.sh");
const STUB: &str = include_str!("boot/stub.sh");
const PROGRAMS: [&str; 10] =
    ["aws", "containerd", "curl", "dnf", "kubeadm", "kubectl", "modprobe", "swapoff", "sysctl", "systemctl"];
const PARAMETERS: &str = "/kubeopera/7e9d3a1b";

struct Cluster {
    folder: TempDir,
    control_planes: usize,
}

impl Cluster {
    fn new(control_planes: usize) -> Self {
        let cluster = Self { folder: tempfile::tempdir().unwrap(), control_planes };
        let path = cluster.folder.path();
        for folder in ["bin", "store/parameters"] {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        fs::write(path.join("bin/stub"), STUB).unwrap();
        fs::set_permissions(path.join("bin/stub"), PermissionsExt::from_mode(0o755)).unwrap();
        for program in PROGRAMS {
            symlink("stub", path.join("bin").join(program)).unwrap();
        }
        let status = (0..control_planes).map(|index| format!("status/control-plane-{index}"));
        for name in ["kubeconfig", "join/control-plane", "join/worker"].map(str::to_owned).into_iter().chain(status) {
            fs::write(cluster.file(&name), "not yet\n").unwrap();
        }
        cluster
    }

    fn store(&self) -> std::path::PathBuf {
        self.folder.path().join("store")
    }

    fn file(&self, parameter: &str) -> std::path::PathBuf {
        self.store().join("parameters").join(format!("{PARAMETERS}/{parameter}").replace('/', "_"))
    }

    fn parameter(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap().trim_end().to_owned()
    }

    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.store().join("log")).unwrap_or_default();
        let worth = ["init", "join", "failed-join", "reset", "OVERLAP"];
        let of_interest = |line: &&str| line.split(' ').nth(1).is_some_and(|word| worth.contains(&word));
        text.lines().filter(of_interest).map(str::to_owned).collect()
    }

    /// A machine boots, or does so again.
    fn boots(&self, role: &str, index: usize, arguments: &[&str]) -> Child {
        let host = if role == "worker" { format!("worker-{index}") } else { format!("cp-{index}") };
        let etc = self.folder.path().join(&host);
        for folder in ["containerd", "kubeopera", "kubernetes", "modules-load.d", "sysctl.d", "yum.repos.d", "ssl"] {
            fs::create_dir_all(etc.join(folder)).unwrap();
        }
        for file in ["passwd", "group", "hosts", "ssl/openssl.cnf"] {
            if !etc.join(file).exists() {
                drop(fs::copy(Path::new("/etc").join(file), etc.join(file)));
            }
        }
        fs::write(etc.join("kubeopera/addons.yaml"), "network: @POD_CIDR@\nname: @CLUSTER_NAME@\n").unwrap();
        let path = format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap());
        // Whatever it waits for, not for ever.
        Command::new("timeout")
            .args([
                "90",
                "unshare",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                r#"mount --bind "$0" /etc && exec bash "$@""#,
            ])
            .arg(&etc)
            .arg(SCRIPT)
            .args(arguments)
            .envs([
                ("PATH", path.as_str()),
                ("STORE", &self.store().display().to_string()),
                ("HOST", &host),
                ("ROLE", role),
                ("INDEX", &index.to_string()),
                ("CONTROL_PLANE_COUNT", &self.control_planes.to_string()),
                ("CLUSTER_NAME", "north-7e9d3a1b"),
                ("KUBERNETES_VERSION", "1.35.9"),
                ("API_ENDPOINT", "ko-7e9d3a1b.elb.eu-north-1.amazonaws.com"),
                ("API_PUBLIC", "ko-7e9d3a1b.elb.eu-north-1.amazonaws.com"),
                ("POD_CIDR", "10.244.0.0/16"),
                ("SERVICE_CIDR", "10.96.0.0/16"),
                ("PARAMETERS", PARAMETERS),
                ("PAUSE", "0.1"),
                ("PREDECESSOR_SECONDS", "30"),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("timeout and unshare are needed for this test")
    }
}

fn well(machine: Child) {
    let ended = machine.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn control_planes_join_one_at_a_time_in_whatever_order_they_boot() {
    let cluster = Cluster::new(3);
    let machines = [("worker", 0), ("control-plane", 2), ("control-plane", 1), ("control-plane", 0)];
    let machines = machines.map(|(role, index)| cluster.boots(role, index, &[]));
    machines.into_iter().for_each(well);

    let log = cluster.log();
    let place = |words: &str| log.iter().position(|line| line.starts_with(words)).unwrap_or_else(|| panic!("{log:?}"));
    assert!(place("cp-0 init") < place("cp-1 join") && place("cp-1 join") < place("cp-2 join"), "{log:?}");
    assert!(place("cp-0 init") < place("worker-0 join") && !log.concat().contains("OVERLAP"), "{log:?}");
    for index in 0..3 {
        assert_eq!(cluster.parameter(&format!("status/control-plane-{index}")), "ready");
    }
    let kubeconfig = cluster.parameter("kubeconfig");
    assert!(kubeconfig.contains("server: https://ko-7e9d3a1b.elb.eu-north-1.amazonaws.com:6443"), "{kubeconfig}");
    let addons = fs::read_to_string(cluster.store().join("addons.yaml")).unwrap();
    assert_eq!(addons, "network: 10.244.0.0/16\nname: north-7e9d3a1b\n");
    let init = fs::read_to_string(cluster.store().join("init.yaml")).unwrap();
    for words in [
        "encryptionAlgorithm: ECDSA-P256",
        "kubernetesVersion: 1.35.9",
        "ControlPlaneKubeletLocalMode: true",
        "value: aws:///eu-north-1a/i-cp-0",
    ] {
        assert!(init.contains(words), "{words}: {init}");
    }
    let join = fs::read_to_string(cluster.store().join("join-cp-1.yaml")).unwrap();
    assert!(join.contains("certificateKey: ") && join.contains("caCertHashes: [sha256:"), "{join}");
}

#[test]
fn a_control_plane_that_fails_to_join_says_so_holds_up_the_next_and_joins_the_next_time() {
    let cluster = Cluster::new(3);
    well(cluster.boots("control-plane", 0, &[]));
    fs::write(cluster.store().join("fails-cp-1"), "").unwrap();
    let waiting = cluster.boots("control-plane", 2, &[]);

    let failed = cluster.boots("control-plane", 1, &[]).wait_with_output().unwrap();

    assert!(!failed.status.success());
    let said = cluster.parameter("status/control-plane-1");
    assert!(said.starts_with("failed: joining") && !said.contains("abcdef"), "{said}");
    assert!(!cluster.log().iter().any(|line| line.starts_with("cp-2 join")));
    // As systemd starts it again.
    well(cluster.boots("control-plane", 1, &[]));
    well(waiting);
    let log = cluster.log();
    let place = |words: &str| log.iter().position(|line| line.starts_with(words)).unwrap_or_else(|| panic!("{log:?}"));
    assert!(place("cp-1 failed-join") < place("cp-1 reset") && place("cp-1 reset") < place("cp-1 join"), "{log:?}");
    assert!(place("cp-1 join") < place("cp-2 join"), "{log:?}");
}

#[test]
fn a_worker_that_comes_a_day_later_joins_with_a_new_token() {
    let cluster = Cluster::new(1);
    well(cluster.boots("control-plane", 0, &[]));
    let first = cluster.parameter("join/worker");

    well(cluster.boots("control-plane", 0, &["publish"]));
    well(cluster.boots("worker", 0, &[]));

    let second = cluster.parameter("join/worker");
    assert_ne!(first, second, "the timer makes another");
    let token = second.split(' ').next().unwrap();
    assert_eq!(cluster.log().last().unwrap(), &format!("worker-0 join {token}"));
    assert_eq!(cluster.parameter("join/control-plane"), "not yet", "nobody else is to join");
}

#[test]
fn a_machine_that_boots_again_after_it_has_made_the_cluster_makes_no_other() {
    let cluster = Cluster::new(1);
    well(cluster.boots("control-plane", 0, &[]));
    well(cluster.boots("control-plane", 0, &[]));
    assert_eq!(cluster.log(), ["cp-0 init"]);
}

#[test]
fn no_program_is_called_with_a_secret_where_every_process_could_read_it() {
    let cluster = Cluster::new(3);
    well(cluster.boots("control-plane", 0, &[]));
    let words = cluster.parameter("join/control-plane");
    well(cluster.boots("control-plane", 1, &[]));

    let called = fs::read_to_string(cluster.store().join("called")).unwrap();

    assert!(called.contains("aws ssm put-parameter --name /kubeopera/7e9d3a1b/kubeconfig"), "{called}");
    assert!(called.contains("kubeadm init phase upload-certs"), "{called}");
    let [token, _, key] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
    let kubeconfig = cluster.parameter("kubeconfig");
    for secret in [token, key, kubeconfig.lines().next().unwrap()] {
        assert!(secret.len() > 8 && !called.contains(secret), "{secret}: {called}");
    }
}
