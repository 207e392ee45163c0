//! The Git repository for new clusters.

use base64::{Engine, engine::general_purpose::STANDARD};
use gitops_scaffolder_contract::{Answer, GitCredential, HostKey, Question, RepositoryCheck};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use vocabulary::Trouble;

use super::{World, elsewhere::kubeconfig, kubernetes::ApiServer, on_both_databases, world::Answer as HttpAnswer};
use crate::resources::{git_credentials, relay::relay_what_is_due};

on_both_databases! {
    the_repository_of_the_start_is_used_until_somebody_chooses_another
    a_credential_goes_to_the_secret_of_its_repository_and_leaves_only_as_what_is_not_secret
    clusters_stay_where_they_are_and_new_ones_go_to_the_chosen_repository
    another_credential_reaches_the_clusters_that_are_in_the_repository
    a_repository_is_the_same_under_each_of_its_urls
    without_a_credential_the_one_that_is_stored_is_used_and_never_for_another_server
    what_is_not_acceptable_is_refused_by_its_field_and_nothing_is_stored
    a_repository_is_tried_as_given_or_as_it_is_set
    what_a_check_found_is_told_question_by_question
    a_credential_that_nothing_names_any_more_goes
    changes_and_checks_are_written_down_without_the_credential
    of_two_who_change_what_they_both_saw_the_second_is_told
}

const PATH: &str = "/api/v1/settings/git";
const CHECK: &str = "/api/v1/settings/git/check";
const URL: &str = "https://git.acme.com/platform/clusters.git";
const HOST_KEY: &str = "git.acme.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
const HOST_KEY_FINGERPRINT: &str = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU";

fn token(password: &str) -> Value {
    json!({"type": "basic", "username": "bot", "password": password})
}

fn repository(password: &str) -> Value {
    json!({"url": URL, "branch": "live", "credential": token(password)})
}

/// A new private key in OpenSSH's form, and its fingerprint.
fn ssh_key(passphrase: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    let make = ["-q", "-t", "ed25519", "-C", "CANARY", "-N", passphrase, "-f"];
    assert!(std::process::Command::new("ssh-keygen").args(make).arg(&file).status().unwrap().success());
    let told = std::process::Command::new("ssh-keygen").args(["-l", "-f"]).arg(&file).output().unwrap();
    let fingerprint = String::from_utf8(told.stdout).unwrap().split(' ').nth(1).unwrap().to_owned();
    (std::fs::read_to_string(file).unwrap(), fingerprint)
}

impl World {
    async fn choose(&self, cookie: &str, body: &Value) -> HttpAnswer {
        self.change_seen("*", Method::PUT, PATH, cookie, body).await
    }

    async fn go_back(&self, cookie: &str) -> HttpAnswer {
        self.change_seen("*", Method::DELETE, PATH, cookie, &json!(null)).await
    }

    pub(super) async fn connect(&self, cookie: &str, name: &str) -> Value {
        let host = format!("{name}.acme.com");
        self.others.add(&host, &ApiServer::of_cluster(&format!("{name}-uid")));
        let kubeconfig = kubeconfig(&[(name, &host)]).to_string();
        let body = json!({"name": name, "provider": "aws", "region": "eu-north-1", "kubeconfig": kubeconfig});
        let connected = self.change(Method::POST, "/api/v1/clusters/connect", cookie, &body).await;
        assert_eq!(connected.status, StatusCode::CREATED, "{connected:?}");
        relay_what_is_due(&self.platform).await.unwrap();
        self.spec(name)
    }

    pub(super) fn spec(&self, name: &str) -> Value {
        let all = self.api_server.resources();
        let is_it = |resource: &&Value| resource["metadata"]["labels"]["kubeopera.io/cluster-name"] == name;
        all.iter().find(is_it).unwrap_or_else(|| panic!("no {name}"))["spec"].clone()
    }

    /// A Secret's keys as text.
    pub(super) fn secret(&self, name: &Value) -> Value {
        let secret = self.api_server.secrets().into_iter().find(|secret| secret["metadata"]["name"] == *name);
        let text = |value: &Value| String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap();
        let data = secret.unwrap_or_else(|| panic!("no Secret {name}"))["data"].clone();
        data.as_object().unwrap().iter().map(|(key, value)| (key.clone(), json!(text(value)))).collect()
    }

    /// As whoever starts KubeOpera put it there.
    async fn credential_of_the_start(&self) {
        let credential = GitCredential::Basic {
            username: "start".into(),
            password: vocabulary::Secret::new("CANARY-start-0000-WXYZ"),
            certificate_authority: None,
        };
        let name = &self.platform.defaults.git_credentials_secret;
        git_credentials::keep(&self.platform.client, name, &self.platform.defaults.git_url, &credential).await.unwrap();
    }
}

async fn the_repository_of_the_start_is_used_until_somebody_chooses_another(world: World) {
    let administrator = world.log_in("administrator").await;
    let missing = world.get(PATH, &administrator).await.json();
    world.credential_of_the_start().await;

    let at_start = world.get(PATH, &administrator).await.json();
    let chosen = world.choose(&administrator, &repository("CANARY-token-of-acme-1234")).await.json();
    let world = world.restarted().await;
    let after_restart = world.get(PATH, &administrator).await.json();
    let back = world.go_back(&administrator).await.json();
    let again = world.go_back(&administrator).await.json();

    assert_eq!((&missing["credential"], &missing["is_chosen"]), (&json!(null), &json!(false)));
    assert_eq!(at_start["url"], "https://git.acme.com/gitops-iac.git");
    assert_eq!(at_start["credential"]["username"], "start");
    assert_eq!((&at_start["branch"], &at_start["changed_at"]), (&json!(null), &json!(null)));
    assert_eq!((&chosen["url"], &chosen["branch"], &chosen["is_chosen"]), (&json!(URL), &json!("live"), &json!(true)));
    assert_eq!(after_restart, chosen);
    assert_eq!((&back, &again), (&at_start, &at_start));
}

async fn a_credential_goes_to_the_secret_of_its_repository_and_leaves_only_as_what_is_not_secret(world: World) {
    let administrator = world.log_in("administrator").await;
    let (key, fingerprint) = ssh_key("");

    let basic = world.choose(&administrator, &repository("CANARY-token-of-acme-1234\n")).await;
    let short = world.choose(&administrator, &repository("CANARY-short")).await.json();
    let ssh = json!({"url": "git@git.acme.com:platform/clusters.git",
        "credential": {"type": "ssh", "private_key": key, "known_hosts": format!("# ours\n{HOST_KEY}\n")}});
    let ssh = world.choose(&administrator, &ssh).await;

    let seen = json!({"type": "basic", "username": "bot", "last_four": "1234", "has_certificate_authority": false});
    assert_eq!(basic.json()["credential"], seen);
    assert_eq!(short["credential"]["last_four"], json!(null));
    let host_key = json!({"algorithm": "ssh-ed25519", "fingerprint": HOST_KEY_FINGERPRINT, "known_hosts": HOST_KEY});
    let seen = json!({"type": "ssh", "key_fingerprint": fingerprint, "host_keys": [host_key]});
    assert_eq!(ssh.json()["credential"], seen);
    let said = format!("{basic:?}{short:?}{ssh:?}");
    assert!(!said.contains("CANARY") && !said.contains("PRIVATE KEY"), "{said}");

    let secrets = world.api_server.secrets();
    let names: Vec<_> = secrets.iter().map(|secret| secret["metadata"]["name"].clone()).collect();
    let is_for = |secret: &Value| secret["metadata"]["annotations"]["kubeopera.io/git-repository"].clone();
    let mut are_for: Vec<_> = secrets.iter().map(is_for).collect();
    are_for.sort_by_key(Value::to_string);
    assert_eq!(are_for, [URL, "ssh://git@git.acme.com/platform/clusters.git"]);
    assert_eq!(names.len(), 2, "one for each repository: {names:?}");
    for name in &names {
        assert!(name.as_str().unwrap().starts_with("git-credentials-"), "{name}");
        let data = world.secret(name);
        if data.get("identity").is_some() {
            assert_eq!(data, json!({"identity": key, "known_hosts": format!("# ours\n{HOST_KEY}\n")}));
        } else {
            assert_eq!(data, json!({"username": "bot", "password": "CANARY-short"}));
        }
    }
    for table in ["git_setting", "audit_entries"] {
        let rows = world.dump(table).await.concat();
        assert!(!rows.contains("CANARY") && !rows.contains("PRIVATE KEY"), "{table}: {rows}");
    }
}

async fn clusters_stay_where_they_are_and_new_ones_go_to_the_chosen_repository(world: World) {
    let administrator = world.log_in("administrator").await;
    let before = world.connect(&administrator, "before").await;
    world.choose(&administrator, &repository("CANARY-token-of-acme-1234")).await;
    relay_what_is_due(&world.platform).await.unwrap();

    let after = world.connect(&administrator, "after").await;
    let host = world.register(&administrator).await;
    relay_what_is_due(&world.platform).await.unwrap();

    assert_eq!(host.status, StatusCode::CREATED, "{host:?}");
    assert_eq!(world.spec("before"), before);
    assert_eq!(before["gitOpsRepoURL"], "https://git.acme.com/gitops-iac.git");
    assert_eq!(before.get("gitOpsBranch"), None);
    for spec in [&after, &world.spec("home")] {
        assert_eq!((&spec["gitOpsRepoURL"], &spec["gitOpsBranch"]), (&json!(URL), &json!("live")));
        assert_eq!(world.secret(&spec["gitCredentialsSecretRef"])["password"], "CANARY-token-of-acme-1234");
    }
}

async fn another_credential_reaches_the_clusters_that_are_in_the_repository(world: World) {
    let administrator = world.log_in("administrator").await;
    let of_start = world.connect(&administrator, "of-start").await;
    world.choose(&administrator, &repository("CANARY-token-of-acme-1234")).await;
    let chosen = world.connect(&administrator, "chosen").await;

    // Another credential for the repository that is chosen: the same Secret has it.
    world.choose(&administrator, &repository("CANARY-token-of-acme-5678")).await;
    relay_what_is_due(&world.platform).await.unwrap();
    assert_eq!(world.spec("chosen"), chosen);
    assert_eq!(world.secret(&chosen["gitCredentialsSecretRef"])["password"], "CANARY-token-of-acme-5678");

    // A credential for the repository of the start, whose Secret is somebody else's to write: its clusters get another.
    let url = &of_start["gitOpsRepoURL"];
    let for_start = json!({"url": url, "credential": token("CANARY-token-of-start-9999")});
    assert_eq!(world.choose(&administrator, &for_start).await.status, StatusCode::OK);
    relay_what_is_due(&world.platform).await.unwrap();
    let moved = world.spec("of-start");
    assert_ne!(moved["gitCredentialsSecretRef"], of_start["gitCredentialsSecretRef"]);
    assert_eq!(world.secret(&moved["gitCredentialsSecretRef"])["password"], "CANARY-token-of-start-9999");
    assert_eq!((&moved["gitOpsRepoURL"], &moved["gitOpsPath"]), (url, &of_start["gitOpsPath"]));
    assert_eq!(world.spec("chosen"), chosen, "its repository is another");
}

async fn a_repository_is_the_same_under_each_of_its_urls(world: World) {
    let administrator = world.log_in("administrator").await;
    world.choose(&administrator, &repository("CANARY-token-of-acme-1234")).await;
    world.connect(&administrator, "north").await;
    world.others.add("south.acme.com", &ApiServer::of_cluster("south-uid"));
    let south = json!({"name": "south", "provider": "aws", "region": "eu-north-1", "git_path": "fluxcd/clusters/north",
        "kubeconfig": kubeconfig(&[("south", "south.acme.com")]).to_string()});
    let (private_key, _) = ssh_key("");
    let deploy_key = json!({"type": "ssh", "private_key": private_key, "known_hosts": HOST_KEY});

    for (url, credential) in [
        ("https://GIT.acme.com/platform/clusters/", token("CANARY-token-of-acme-1234")),
        ("git@git.acme.com:platform/clusters.git", deploy_key),
    ] {
        let chosen = world.choose(&administrator, &json!({"url": url, "credential": credential})).await;
        assert_eq!(chosen.status, StatusCode::OK, "{chosen:?}");
        let refused = world.change(Method::POST, "/api/v1/clusters/connect", &administrator, &south).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "git_path_in_use"), "{url}");
    }

    let another = json!({"url": "https://git.acme.com/platform/others.git", "credential": token("CANARY-token-1234")});
    world.choose(&administrator, &another).await;
    let connected = world.change(Method::POST, "/api/v1/clusters/connect", &administrator, &south).await;
    assert_eq!(connected.status, StatusCode::CREATED, "{connected:?}");
}

async fn without_a_credential_the_one_that_is_stored_is_used_and_never_for_another_server(world: World) {
    let administrator = world.log_in("administrator").await;
    world.choose(&administrator, &repository("CANARY-token-of-acme-1234")).await;

    let other_branch = world.choose(&administrator, &json!({"url": URL, "branch": "next"})).await.json();
    let other_repository = world.choose(&administrator, &json!({"url": "https://git.acme.com/other.git"})).await.json();
    let spec = world.connect(&administrator, "north").await;
    assert_eq!(other_branch["branch"], "next");
    assert_eq!(other_repository["credential"]["last_four"], "1234");
    assert_eq!(spec["gitOpsRepoURL"], "https://git.acme.com/other.git");
    assert_eq!(world.secret(&spec["gitCredentialsSecretRef"])["password"], "CANARY-token-of-acme-1234");

    for url in
        ["https://git.evil.com/clusters.git", "https://git.acme.com:8443/other.git", "ssh://git@git.acme.com/other.git"]
    {
        let stolen = json!({"url": url});
        for answer in [
            world.choose(&administrator, &stolen).await,
            world.change(Method::POST, CHECK, &administrator, &json!({"repository": stolen})).await,
        ] {
            assert_eq!((answer.status.as_u16(), answer.code().as_str()), (422, "git_credential_required"), "{url}");
            assert_eq!(answer.json()["field"], "credential");
        }
    }
    assert!(world.git.tried().is_empty(), "no server was called");
    assert_eq!(world.get(PATH, &administrator).await.json(), other_repository);
}

async fn what_is_not_acceptable_is_refused_by_its_field_and_nothing_is_stored(world: World) {
    let administrator = world.log_in("administrator").await;
    let ssh_url = "ssh://git@git.acme.com:2222/platform/clusters.git";
    let (key, _) = ssh_key("");
    let (locked, _) = ssh_key("CANARY-passphrase");
    let ssh = |key: &str, hosts: &str| json!({"type": "ssh", "private_key": key, "known_hosts": hosts});
    let at_port = HOST_KEY.replace("git.acme.com", "[git.acme.com]:2222");
    let authority = |text: &str| json!({"type": "basic", "password": "CANARY", "certificate_authority": text});

    for (url, branch, credential, code, field) in [
        ("http://git.acme.com/x.git", "", token("CANARY"), "git_url_invalid", "url"),
        ("https://169.254.169.254/x.git", "", token("CANARY"), "git_url_invalid", "url"),
        ("https://CANARY@git.acme.com/x.git", "", token("CANARY"), "git_url_has_credentials", "url"),
        (URL, "--upload-pack=id", token("CANARY"), "git_branch_invalid", "branch"),
        (URL, "", token(""), "git_credential_invalid", "credential.password"),
        (URL, "", token("CANARY\nCANARY"), "git_credential_invalid", "credential.password"),
        (URL, "", token(&"CANARY".repeat(1000)), "git_credential_invalid", "credential.password"),
        (
            URL,
            "",
            json!({"type": "basic", "username": "a:b", "password": "CANARY"}),
            "git_credential_invalid",
            "credential.username",
        ),
        (URL, "", authority("CANARY"), "git_credential_invalid", "credential.certificate_authority"),
        (URL, "", authority(&key), "git_credential_invalid", "credential.certificate_authority"),
        (URL, "", ssh(&key, HOST_KEY), "git_credential_invalid", "credential.type"),
        (ssh_url, "", token("CANARY"), "git_credential_invalid", "credential.type"),
        (ssh_url, "", ssh("CANARY", &at_port), "git_credential_invalid", "credential.private_key"),
        (ssh_url, "", ssh(&locked, &at_port), "git_credential_invalid", "credential.private_key"),
        (ssh_url, "", ssh(&key, ""), "git_credential_invalid", "credential.known_hosts"),
        (ssh_url, "", ssh(&key, "CANARY"), "git_credential_invalid", "credential.known_hosts"),
        (ssh_url, "", ssh(&key, HOST_KEY), "git_credential_invalid", "credential.known_hosts"),
    ] {
        let body = json!({"url": url, "branch": branch, "credential": credential});
        let refused = world.choose(&administrator, &body).await;
        assert_eq!(
            (refused.status.as_u16(), refused.code().as_str()),
            (422, code),
            "{url} {branch} {field}: {refused:?}"
        );
        assert_eq!(refused.json()["field"], field, "{refused:?}");
        assert!(!refused.text.contains("CANARY"), "{refused:?}");
    }
    assert!(world.api_server.secrets().is_empty());
    assert!(world.dump("git_setting").await.is_empty());
    let good = json!({"url": ssh_url, "branch": "", "credential": ssh(&key, &at_port)});
    assert_eq!(world.choose(&administrator, &good).await.status, StatusCode::OK, "one thing was wrong at a time");
}

async fn a_repository_is_tried_as_given_or_as_it_is_set(world: World) {
    let administrator = world.log_in("administrator").await;
    let check = async |body: Value| {
        let answer = world.change(Method::POST, CHECK, &administrator, &body).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        assert!(answer.json()["is_usable"].as_bool().unwrap());
        let [tried] = &world.git.tried()[..] else { panic!("not tried once") };
        let GitCredential::Basic { password, .. } = &tried.credential else { panic!("{tried:?}") };
        let branch = tried.branch.as_ref().map(ToString::to_string);
        (tried.url.to_string(), branch.unwrap_or_default(), password.reveal().to_owned())
    };
    world.credential_of_the_start().await;
    let at_start = check(json!({})).await;
    let given = check(json!({"repository": repository("CANARY-given")})).await;
    assert!(world.dump("git_setting").await.is_empty(), "what is tried is not stored");
    world.choose(&administrator, &repository("CANARY-token-of-acme-1234")).await;
    let chosen = check(json!({})).await;
    let other_branch = check(json!({"repository": {"url": URL, "branch": "next"}})).await;

    let of = |url: &str, branch: &str, password: &str| (url.to_owned(), branch.to_owned(), password.to_owned());
    assert_eq!(at_start, of("https://git.acme.com/gitops-iac.git", "", "CANARY-start-0000-WXYZ"));
    assert_eq!(given, of(URL, "live", "CANARY-given"));
    assert_eq!(chosen, of(URL, "live", "CANARY-token-of-acme-1234"));
    assert_eq!(other_branch, of(URL, "next", "CANARY-token-of-acme-1234"));
}

async fn what_a_check_found_is_told_question_by_question(world: World) {
    let administrator = world.log_in("administrator").await;
    let trouble = Trouble::rejected("GitHostKeyNotTrusted", "The host key is not known.");
    world.git.answer(RepositoryCheck {
        answers: vec![
            (Question::Reach, Answer::Yes),
            (Question::Identity, Answer::No(trouble)),
            (Question::Repository, Answer::NotAsked),
            (Question::Branch, Answer::NotAsked),
            (Question::Push, Answer::NotAsked),
        ],
        branch: None,
        is_empty: None,
        offered_host_keys: vec![HostKey {
            algorithm: "ssh-ed25519".to_owned(),
            fingerprint: HOST_KEY_FINGERPRINT.to_owned(),
            known_hosts: HOST_KEY.to_owned(),
        }],
    });
    let (key, _) = ssh_key("");
    let url = "ssh://git@git.acme.com/platform/clusters.git";

    // Whoever does not know the host key yet leaves it out and is told.
    let body = json!({"repository": {"url": url, "credential": {"type": "ssh", "private_key": key}}});
    let found = world.change(Method::POST, CHECK, &administrator, &body).await.json();

    let not_asked =
        |question: &str| json!({"question": question, "answer": "not_asked", "reason": null, "message": null});
    assert_eq!(
        found,
        json!({
            "is_usable": false,
            "findings": [
                {"question": "reach", "answer": "yes", "reason": null, "message": null},
                {"question": "identity", "answer": "no", "reason": "GitHostKeyNotTrusted",
                    "message": "The host key is not known."},
                not_asked("repository"),
                not_asked("branch"),
                not_asked("push"),
            ],
            "branch": null,
            "is_empty": null,
            "offered_host_keys":
                [{"algorithm": "ssh-ed25519", "fingerprint": HOST_KEY_FINGERPRINT, "known_hosts": HOST_KEY}],
        })
    );
}

async fn a_credential_that_nothing_names_any_more_goes(world: World) {
    let administrator = world.log_in("administrator").await;
    let at = |url: &str| json!({"url": url, "credential": token("CANARY-token-of-acme-1234")});
    world.choose(&administrator, &at("https://git.acme.com/of-a-cluster.git")).await;
    let used = world.connect(&administrator, "north").await["gitCredentialsSecretRef"].clone();
    world.choose(&administrator, &at("https://git.acme.com/of-nobody.git")).await;
    world.choose(&administrator, &at(URL)).await;
    world.start();
    super::world::until("the resources are seen", async || world.platform.observed.all()).await;
    let names = || -> Vec<Value> {
        let all = world.api_server.secrets().into_iter().map(|secret| secret["metadata"]["name"].clone());
        all.filter(|name| name.as_str().unwrap().starts_with("git-credentials-")).collect()
    };
    let (mut unused, now) = (git_credentials::Unused::default(), jiff::Timestamp::now());

    git_credentials::sweep(&world.platform, &mut unused, now).await.unwrap();
    assert_eq!(names().len(), 3, "a request may be about to name it");
    git_credentials::sweep(&world.platform, &mut unused, now + jiff::SignedDuration::from_mins(11)).await.unwrap();

    let left = names();
    assert!(left.len() == 2 && left.contains(&used), "{left:?}");
    assert!(world.get(PATH, &administrator).await.json()["credential"].is_object(), "the chosen one stays");
}

async fn changes_and_checks_are_written_down_without_the_credential(world: World) {
    let administrator = world.log_in("administrator").await;
    let operator = world.log_in("operator").await;
    world.choose(&administrator, &repository("CANARY-token-of-acme-1234")).await;
    world.change(Method::POST, CHECK, &administrator, &json!({})).await;
    world.go_back(&administrator).await;
    assert_eq!(world.choose(&operator, &repository("CANARY")).await.code(), "forbidden");

    let rows = world.told().await;
    let of = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(of(&["|change_git_setting|", URL, "|done|"]), 1, "{rows:?}");
    assert_eq!(of(&["|check_git_setting|", URL, "|done|"]), 1, "{rows:?}");
    assert_eq!(of(&["|change_git_setting|", "gitops-iac.git", "|done|"]), 1, "{rows:?}");
    assert_eq!(of(&["operator", "|change_git_setting|", "|denied|"]), 1, "{rows:?}");
    assert!(!rows.concat().contains("CANARY"), "{rows:?}");
}

async fn of_two_who_change_what_they_both_saw_the_second_is_told(world: World) {
    let administrator = world.log_in("administrator").await;
    world.credential_of_the_start().await;
    let mine = repository("CANARY-token-of-acme-1234");
    let theirs = json!({"url": "https://git.acme.com/other.git", "credential": token("CANARY-token-of-other-56")});

    for method in [Method::PUT, Method::DELETE] {
        let without = world.change(method, PATH, &administrator, &mine).await;
        assert_eq!((without.status.as_u16(), without.code().as_str()), (428, "if_match_required"));
    }
    let seen = world.tag(PATH, &administrator).await;
    let first = world.change_seen(&seen, Method::PUT, PATH, &administrator, &theirs).await;
    assert_eq!(first.status, StatusCode::OK, "{first:?}");
    let secrets = world.api_server.secrets();
    for method in [Method::PUT, Method::DELETE] {
        let second = world.change_seen(&seen, method, PATH, &administrator, &mine).await;
        assert_eq!((second.status.as_u16(), second.code().as_str()), (412, "changed_meanwhile"));
    }
    assert_eq!(world.api_server.secrets(), secrets, "nothing was stored for who was refused");
    let now = world.get(PATH, &administrator).await;
    assert_eq!(now.json(), first.json());
    assert_eq!(now.headers["etag"], first.headers["etag"]);

    let seen = now.headers["etag"].to_str().unwrap().to_owned();
    let back = world.change_seen(&seen, Method::DELETE, PATH, &administrator, &json!(null)).await;
    assert_eq!((back.status, &back.json()["is_chosen"]), (StatusCode::OK, &json!(false)));
    let mine =
        world.change_seen(&world.tag(PATH, &administrator).await, Method::PUT, PATH, &administrator, &mine).await;
    assert_eq!(mine.status, StatusCode::OK);

    let tag = world.tag(PATH, &administrator).await;
    let bodies: Vec<_> = (0..6).map(|n| json!({"url": URL, "branch": format!("b{n}")})).collect();
    let at_once = bodies.iter().map(|body| world.change_seen(&tag, Method::PUT, PATH, &administrator, body));
    let answers = futures::future::join_all(at_once).await;
    let of = |status: u16| answers.iter().filter(|answer| answer.status.as_u16() == status).count();
    assert_eq!((of(200), of(412)), (1, 5), "{answers:?}");
}
