//! The same over SSH, with a real server.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use gitops_scaffolder_contract::{Answer, Destination, GitCredential, GitOpsScaffolder, Question};
use vocabulary::{Secret, TroubleKind};

use crate::stage::{Stage, inputs};

const SSHD: &str = "/usr/sbin/sshd";

/// An SSH server on a local port, for one key. It ends with this.
struct Server {
    port: u16,
    process: Child,
    known_hosts: String,
    key: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn make_key(folder: &Path, name: &str) -> (String, String) {
    let path = folder.join(name);
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path).status().unwrap();
    assert!(made.success());
    (fs::read_to_string(&path).unwrap(), fs::read_to_string(path.with_extension("pub")).unwrap())
}

impl Server {
    async fn start(folder: &Path) -> Self {
        // As root, the server wants this folder to give up its rights in.
        let _ = fs::create_dir_all("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (key, public) = make_key(folder, "client");
        let (_, host) = make_key(folder, "host");
        fs::write(folder.join("authorized_keys"), public).unwrap();
        let at = folder.display();
        let settings = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {at}/host\nAuthorizedKeysFile {at}/authorized_keys\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nPidFile none\n"
        );
        fs::write(folder.join("sshd_config"), settings).unwrap();
        let process = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(folder.join("sshd_config"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            assert!(Instant::now() < deadline, "the SSH server did not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Self { port, process, known_hosts: format!("[127.0.0.1]:{port} {host}"), key }
    }

    fn destination(&self, stage: &Stage, key: &str, known_hosts: &str) -> Destination {
        let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let path = stage.repository.folder().display();
        let url = format!("ssh://{}@127.0.0.1:{}{path}", user.trim(), self.port).parse().unwrap();
        let credential = GitCredential::Ssh { private_key: Secret::new(key), known_hosts: known_hosts.to_owned() };
        Destination { url, branch: None, credential }
    }
}

#[tokio::test]
async fn a_tree_is_written_over_ssh_to_a_known_host_with_a_known_key_and_not_otherwise() {
    if !Path::new(SSHD).exists() {
        eprintln!("SKIPPED: there is no SSH server on this machine (Debian: openssh-server)");
        return;
    }
    let stage = Stage::new().await;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path()).await;
    let destination = server.destination(&stage, &server.key, &server.known_hosts);
    let (scaffolder, inputs) = (stage.scaffolder_at("a", &destination.url).await, inputs("prod"));
    let (wrong_key, wrong_host) = make_key(folder.path(), "wrong");
    let another_host = format!("[127.0.0.1]:{} {wrong_host}", server.port);

    for (key, hosts, reason) in [
        (&server.key, "", "GitHostKeyNotTrusted"),
        (&server.key, another_host.as_str(), "GitHostKeyChanged"),
        (&wrong_key, server.known_hosts.as_str(), "GitAuthenticationFailed"),
    ] {
        let refused = scaffolder.ensure_tree(&inputs, &server.destination(&stage, key, hosts)).await.unwrap_err();
        assert_eq!((refused.kind, refused.reason.as_str()), (TroubleKind::Rejected, reason), "{refused}");
    }
    let written = scaffolder.ensure_tree(&inputs, &destination).await.unwrap();

    assert_eq!(scaffolder.ensure_tree(&inputs, &destination).await.unwrap(), written);
    assert!(scaffolder.check(&destination).await.unwrap().is_usable());
    for hosts in ["", another_host.as_str()] {
        let found = scaffolder.check(&server.destination(&stage, &server.key, hosts)).await.unwrap();
        let [(Question::Reach, Answer::Yes), (Question::Identity, Answer::No(_)), ..] = &found.answers[..] else {
            panic!("{found:?}")
        };
        let [offered] = &found.offered_host_keys[..] else { panic!("{found:?}") };
        assert!(server.known_hosts.starts_with(&offered.known_hosts), "{offered:?}");
        let (host, fingerprint) = (folder.path().join("host.pub"), &offered.fingerprint);
        let told = Command::new("ssh-keygen").args(["-l", "-f"]).arg(host).output().unwrap().stdout;
        assert!(String::from_utf8_lossy(&told).contains(fingerprint.as_str()), "{fingerprint}");
        // What is offered is what makes the host known.
        let known = server.destination(&stage, &server.key, &offered.known_hosts);
        assert!(scaffolder.check(&known).await.unwrap().is_usable());
    }
    assert_eq!(stage.history("main"), ["Add the environment of prod"]);
    assert_eq!(fs::read_dir(stage.work_dir("a").join("access")).unwrap().count(), 0, "a key was left behind");
}
