#![allow(clippy::unwrap_used)]
mod addresses;

use super::*;

/// A kubeconfig with one cluster and one user, whose fields are given as lines of YAML.
fn kubeconfig(cluster: &str, user: &str) -> String {
    let indent = |lines: &str| format!("    {}\n", lines.replace('\n', "\n    "));
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: prod\ncontexts:\n- name: prod\n  context: {{cluster: c, user: u}}\n\
         clusters:\n- name: c\n  cluster:\n{}users:\n- name: u\n  user:\n{}",
        indent(cluster),
        indent(user)
    )
}

const SERVER: &str = "server: https://api.prod.acme.com:6443";
const TOKEN_LINE: &str = "token: CANARY";

fn parse(text: &str) -> Result<ValidKubeconfig, KubeconfigProblem> {
    ValidKubeconfig::parse(&Secret::new(text), KubeconfigOptions::default())
}

fn code(text: &str) -> &'static str {
    let problem = parse(text).unwrap_err();
    assert!(!problem.to_string().contains("CANARY"), "{problem}");
    problem.code
}

#[test]
fn a_kubeconfig_with_a_token_or_a_certificate_is_taken_in_yaml_and_in_json() {
    let certificate = "client-certificate-data: Y2VydA==\nclient-key-data: a2V5";
    let json = r#"{"current-context":"a","contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],
        "clusters":[{"name":"c","cluster":{"server":"https://10.1.2.3:6443/k8s/clusters/c-1"}}],
        "users":[{"name":"u","user":{"token":"CANARY"}}]}"#;

    for text in [&kubeconfig(SERVER, TOKEN_LINE), &kubeconfig(SERVER, certificate), json] {
        let valid = parse(text).unwrap();
        assert!(valid.server().as_str().starts_with("https://"));
        assert!(!format!("{valid:?}").contains("CANARY"));
    }
}

#[test]
fn a_line_feed_around_a_token_is_no_part_of_it_and_one_within_it_is_refused_without_quoting_it() {
    let token = |token: &str| parse(&kubeconfig(SERVER, &format!("token: {token}")));
    for file in [r#""CANARY\n""#, r#""\r\n CANARY \r\n""#, "|\n  CANARY"] {
        assert_eq!(token(file).unwrap().token().map(Secret::reveal), Some("CANARY"), "{file}");
    }
    let problem = token(r#""CANARY\nCANARY""#).unwrap_err();
    assert_eq!((problem.code, problem.field.as_str()), ("kubeconfig_malformed", "kubeconfig.users[0].user.token"));
    assert!(!problem.to_string().contains("CANARY"), "{problem}");
}

/// Two files pasted together, each with a user called admin: taking the first or the last would show one cluster's
/// credential to another.
#[test]
fn of_two_entries_with_one_name_none_is_taken_unless_no_context_means_them() {
    let users = "- name: u\n  user: {token: CANARY-one}\n- name: u\n  user: {token: CANARY-two}\n";
    let two = |context: &str| {
        format!(
            "current-context: {context}\ncontexts:\n- name: prod\n  context: {{cluster: c, user: u}}\n- name: other\n  \
             context: {{cluster: c, user: mine}}\nclusters:\n- name: c\n  cluster: {{{SERVER}}}\nusers:\n{users}- name: \
             mine\n  user: {{token: CANARY-mine}}\n"
        )
    };

    let problem = parse(&two("prod")).unwrap_err();

    let expected = ("kubeconfig_ambiguous_reference", "kubeconfig.users[1].name");
    assert_eq!((problem.code, problem.field.as_str()), expected);
    assert!(!problem.to_string().contains("CANARY"), "{problem}");
    assert_eq!(parse(&two("other")).unwrap().token().map(Secret::reveal), Some("CANARY-mine"));
    let contexts = two("prod").replace("- name: other", "- name: prod");
    assert_eq!(parse(&contexts).unwrap_err().field, "kubeconfig.contexts[1].name");
}

#[test]
fn whatever_would_act_on_this_machine_is_refused_by_name() {
    for (user, code, field) in [
        ("exec: {command: aws, args: [eks, get-token]}", "kubeconfig_exec_forbidden", "exec"),
        ("auth-provider: {name: gcp}", "kubeconfig_auth_provider_forbidden", "auth-provider"),
        ("tokenFile: /var/run/secrets/token", "kubeconfig_file_reference_forbidden", "tokenFile"),
        ("client-certificate: ../c.pem", "kubeconfig_file_reference_forbidden", "client-certificate"),
        ("client-key: k.pem", "kubeconfig_file_reference_forbidden", "client-key"),
        ("as: admin", "kubeconfig_impersonation_forbidden", "as"),
        ("as-uid: '1'", "kubeconfig_impersonation_forbidden", "as-uid"),
        ("as-groups: ['system:masters']", "kubeconfig_impersonation_forbidden", "as-groups"),
        ("as-user-extra: {a: [b]}", "kubeconfig_impersonation_forbidden", "as-user-extra"),
        ("username: admin", "kubeconfig_basic_auth_unsupported", "username"),
        ("password: CANARY", "kubeconfig_basic_auth_unsupported", "username"),
    ] {
        let problem = parse(&kubeconfig(SERVER, &format!("{TOKEN_LINE}\n{user}"))).unwrap_err();
        assert_eq!((problem.code, problem.field), (code, format!("kubeconfig.users[0].user.{field}")));
        assert!(problem.message.contains("`kubectl "), "{}", problem.message);
    }
    for (cluster, code, field) in [
        ("certificate-authority: /etc/passwd", "kubeconfig_file_reference_forbidden", "certificate-authority"),
        ("proxy-url: http://proxy:3128", "kubeconfig_proxy_forbidden", "proxy-url"),
        ("proxy-url: https://proxy:3128", "kubeconfig_proxy_forbidden", "proxy-url"),
        ("proxy-url: socks5://proxy", "kubeconfig_proxy_forbidden", "proxy-url"),
        ("insecure-skip-tls-verify: true", "kubeconfig_insecure_tls_forbidden", "insecure-skip-tls-verify"),
    ] {
        let problem = parse(&kubeconfig(&format!("{SERVER}\n{cluster}"), TOKEN_LINE)).unwrap_err();
        assert_eq!((problem.code, problem.field), (code, format!("kubeconfig.clusters[0].cluster.{field}")));
    }
}

#[test]
fn an_entry_that_no_context_uses_is_refused_all_the_same() {
    let text = format!("{}- name: other\n  user:\n    exec: {{command: sh}}\n", kubeconfig(SERVER, TOKEN_LINE));
    assert_eq!(parse(&text).unwrap_err().field, "kubeconfig.users[1].user.exec");
}

#[test]
fn a_file_that_is_no_kubeconfig_is_refused_without_quoting_it() {
    let syntax = kubeconfig(SERVER, "token: CANARY\n \t: [");
    let twice = kubeconfig(SERVER, "token: CANARY\ntoken: CANARY");
    let anchors: Vec<_> =
        (b'c'..b'z').map(|c| format!("{0}: &{0} [*{1},*{1},*{1},*{1}]", char::from(c), char::from(c - 1))).collect();
    let bomb = format!("a: &a [x,x]\nb: &b [*a,*a]\n{}", anchors.join("\n"));
    let no_context = kubeconfig(SERVER, TOKEN_LINE).replace("current-context: prod\n", "");
    let missing = kubeconfig(SERVER, TOKEN_LINE).replace("user: u}", "user: nobody}");
    let small = kubeconfig(SERVER, TOKEN_LINE);
    let of_size = |bytes: usize| format!("{small}{}", "#".repeat(bytes - small.len()));

    assert_eq!(code(&syntax), "kubeconfig_malformed");
    assert_eq!(code(&twice), "kubeconfig_malformed");
    assert_eq!(code(&bomb), "kubeconfig_malformed");
    assert_eq!(code("%PDF-1.7 CANARY"), "kubeconfig_malformed");
    assert_eq!(
        code(&kubeconfig(SERVER, "client-certificate-data: '!'\nclient-key-data: CANARY=!")),
        "kubeconfig_malformed"
    );
    assert_eq!(code(&kubeconfig(SERVER, "token: ''")), "kubeconfig_no_credential");
    assert_eq!(code(&no_context), "kubeconfig_no_current_context");
    assert_eq!(code("{}"), "kubeconfig_no_current_context");
    assert_eq!(code(&missing), "kubeconfig_unresolved_reference");
    assert_eq!(code(&of_size(1023 * 1024 + 1)), "kubeconfig_too_large");
    assert!(parse(&of_size(1023 * 1024)).is_ok());
}

#[test]
fn of_a_file_that_cannot_be_read_the_place_is_told_and_nothing_that_stands_there() {
    // The reader stops at what it cannot read, in line 15, or at the last thing that it could.
    for after in ["    as: [CANARY", "\ttoken: CANARY", "    as: \"CANARY", "    token: CANARY"] {
        let problem = parse(&format!("{}{after}\n", kubeconfig(SERVER, TOKEN_LINE))).unwrap_err();
        let place = problem.message.split_once("Look at line ").unwrap().1.split_once('.').unwrap().0;
        assert!(["14, column", "15, column", "16, column"].iter().any(|near| place.starts_with(near)), "{problem}");
        assert!(!problem.to_string().contains("CANARY"), "{problem}");
    }
}

/// kubectl, too, prefers the token. With both, whoever revokes one of them would think that access has ended.
#[test]
fn of_a_token_and_a_certificate_only_the_token_is_used_or_kept_for_use() {
    let both = format!("{TOKEN_LINE}\nclient-certificate-data: Y2VydA==\nclient-key-data: a2V5");

    let valid = parse(&kubeconfig(SERVER, &both)).unwrap();

    assert_eq!(valid.token().map(Secret::reveal), Some("CANARY"));
    assert!(!valid.minified().reveal().contains("client-"));
    let config = valid.config().unwrap();
    assert!(config.auth_info.client_certificate_data.is_none() && config.auth_info.client_key_data.is_none());
}

#[test]
fn garbage_in_a_secret_is_told_with_the_secret_and_not_quoted() {
    use std::collections::BTreeMap;

    use k8s_openapi::ByteString;

    let good = kubeconfig(SERVER, TOKEN_LINE);
    let data = |entries: &[(&str, &[u8])]| -> BTreeMap<_, _> {
        entries.iter().map(|(key, bytes)| ((*key).to_owned(), ByteString(bytes.to_vec()))).collect()
    };
    for (data, reason) in [
        (data(&[]), "KubeconfigMissing"),
        (data(&[("config", good.as_bytes())]), "KubeconfigMissing"),
        (data(&[("kubeconfig", b"")]), "KubeconfigRefused"),
        (data(&[("kubeconfig", b"\xc3\x28CANARY")]), "KubeconfigRefused"),
        (data(&[("kubeconfig", b"[CANARY")]), "KubeconfigRefused"),
        (data(&[("kubeconfig", good.as_bytes()), ("context", b"CANARY")]), "KubeconfigRefused"),
    ] {
        let trouble = ValidKubeconfig::in_secret("Secret a/b", &data, KubeconfigOptions::default()).unwrap_err();
        assert_eq!((trouble.kind, trouble.reason.as_str()), (vocabulary::TroubleKind::Rejected, reason));
        assert!(trouble.message.contains("Secret a/b") && !trouble.message.contains("CANARY"), "{trouble}");
    }
    let as_cluster_api_writes_it = data(&[("value", good.as_bytes())]);
    assert!(ValidKubeconfig::in_secret("Secret a/b", &as_cluster_api_writes_it, KubeconfigOptions::default()).is_ok());
}

#[test]
fn the_part_that_is_used_is_a_kubeconfig_of_its_own() {
    let cluster = format!("{SERVER}\ntls-server-name: api.internal\ncertificate-authority-data: Y2E=");
    let text = format!("{}- name: other\n  user:\n    token: OTHER\n", kubeconfig(&cluster, TOKEN_LINE));

    let minified = parse(&text).unwrap().minified();

    assert!(!minified.reveal().contains("OTHER"));
    let again = parse(minified.reveal()).unwrap();
    assert_eq!(again.server().as_str(), "https://api.prod.acme.com:6443/");
    assert_eq!(again.minified(), minified);
    assert_eq!(again.tls_server_name.as_deref(), Some("api.internal"));
    assert_eq!(again.certificate_authority.as_deref(), Some("ca".as_bytes()));
}

#[test]
fn a_file_is_read_whatever_editor_wrote_it() {
    let text = kubeconfig(SERVER, TOKEN_LINE);
    let utf16 = |unit: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        format!("{mark}{text}").encode_utf16().flat_map(unit).collect()
    };
    let crlf = text.replace('\n', "\r\n");

    for bytes in [
        format!("\u{feff}{text}").into_bytes(),
        crlf.clone().into_bytes(),
        format!("\u{feff}{crlf}").into_bytes(),
        format!("\n\n# from the laptop\n---\n{text}").into_bytes(),
        utf16(u16::to_le_bytes, "\u{feff}"),
        utf16(u16::to_be_bytes, "\u{feff}"),
        utf16(u16::to_le_bytes, ""),
        utf16(u16::to_be_bytes, ""),
    ] {
        let file = Kubeconfig::read(&bytes).unwrap();
        assert!(file.current(KubeconfigOptions::default()).is_ok(), "{:?}", bytes.get(..8));
    }
    for bytes in [&b"\xff\xfea"[..], b"\xff\xfe\x00\xd8", b"\xc3\x28", b"\x00\x01\x02"] {
        assert_eq!(Kubeconfig::read(bytes).err().unwrap().code, "kubeconfig_malformed", "{bytes:?}");
    }
}

#[test]
fn each_context_is_judged_by_itself_and_a_broken_one_spoils_no_other() {
    let text = kubeconfig(SERVER, TOKEN_LINE).replace(
        "clusters:\n",
        "- name: arn:aws:eks:eu-north-1:1:cluster/x\n  context: {cluster: c, user: u}\n\
         - name: lost\n  context: {cluster: c, user: nobody}\n\
         - name: laptop\n  context: {cluster: kind, user: u}\nclusters:\n\
         - name: kind\n  cluster: {server: 'https://127.0.0.1:40001'}\n",
    );
    let file = Kubeconfig::read(text.as_bytes()).unwrap();

    let verdicts: Vec<_> = file
        .contexts()
        .map(|context| {
            let verdict = file.usable(context.name, KubeconfigOptions::default());
            (context.name, context.is_current, verdict.err().map(|problem| (problem.code, problem.field)))
        })
        .collect();

    let refused = |code: &'static str, field: &str| Some((code, field.to_owned()));
    assert_eq!(
        verdicts,
        [
            ("prod", true, None),
            ("arn:aws:eks:eu-north-1:1:cluster/x", false, None),
            ("lost", false, refused("kubeconfig_unresolved_reference", "kubeconfig.contexts[2].context.user")),
            ("laptop", false, refused("cluster_address_forbidden", "kubeconfig.clusters[0].cluster.server")),
        ]
    );
    assert_eq!(file.preferred_context(), Some("prod"));
    assert!(file.usable("gone", KubeconfigOptions::default()).is_err());
}

#[test]
fn a_file_is_refused_for_an_entry_that_acts_even_if_the_chosen_context_is_good() {
    let text = format!("{}- name: other\n  user:\n    exec: {{command: sh}}\n", kubeconfig(SERVER, TOKEN_LINE));

    let problem = Kubeconfig::read(text.as_bytes()).unwrap().usable("prod", KubeconfigOptions::default()).unwrap_err();

    assert_eq!((problem.code, problem.field.as_str()), ("kubeconfig_exec_forbidden", "kubeconfig.users[1].user.exec"));
    assert!(problem.message.contains("--minify"), "{}", problem.message);
}

#[test]
fn without_a_current_context_the_only_one_is_preferred_and_of_several_none() {
    let one = kubeconfig(SERVER, TOKEN_LINE).replace("current-context: prod\n", "");
    let two = one.replace("clusters:\n", "- name: b\n  context: {cluster: c, user: u}\nclusters:\n");

    assert_eq!(Kubeconfig::read(one.as_bytes()).unwrap().preferred_context(), Some("prod"));
    assert_eq!(Kubeconfig::read(two.as_bytes()).unwrap().preferred_context(), None);
}

#[test]
fn a_credential_tells_when_it_ends() {
    // {"exp": 1800000000} between two parts that are not looked at.
    let jwt = kubeconfig(SERVER, "token: e30.eyJleHAiOiAxODAwMDAwMDAwfQ.c2ln");
    // The smallest certificate there can be, valid until 2032-01-01: made by openssl, its key thrown away.
    let certificate = base64::engine::general_purpose::STANDARD.encode(CERTIFICATE);
    let certified = kubeconfig(SERVER, &format!("client-certificate-data: {certificate}\nclient-key-data: a2V5"));
    let end = |text: &str| parse(text).unwrap().expires_at().map(|at| at.to_string());

    assert_eq!(end(&jwt).as_deref(), Some("2027-01-15T08:00:00Z"));
    assert_eq!(end(&certified).as_deref(), Some("2032-01-01T00:00:00Z"));
    assert_eq!(end(&kubeconfig(SERVER, TOKEN_LINE)), None);
    assert_eq!(end(&kubeconfig(SERVER, "token: a.b.c")), None);
}

#[test]
fn a_credential_tells_since_when_it_counts_where_it_does() {
    // {"iat": 1700000000, "exp": 1800000000} between two parts that are not looked at.
    let jwt = kubeconfig(SERVER, "token: e30.eyJpYXQiOiAxNzAwMDAwMDAwLCAiZXhwIjogMTgwMDAwMDAwMH0.c2ln");
    let without = kubeconfig(SERVER, "token: e30.eyJleHAiOiAxODAwMDAwMDAwfQ.c2ln");
    let certificate = base64::engine::general_purpose::STANDARD.encode(CERTIFICATE);
    let certified = kubeconfig(SERVER, &format!("client-certificate-data: {certificate}\nclient-key-data: a2V5"));
    let from = |text: &str| parse(text).unwrap().validity().unwrap().from.map(|at| at.to_string());

    assert_eq!(from(&jwt).as_deref(), Some("2023-11-14T22:13:20Z"));
    assert_eq!(from(&without), None);
    assert!(from(&certified).is_some());
}

const CERTIFICATE: &str = include_str!("client-certificate.pem");

#[test]
fn a_large_file_is_read_in_little_time_and_a_hostile_one_as_well() {
    let contexts: Vec<_> =
        (0..2_000).map(|n| format!("- name: c{n}\n  context: {{cluster: c, user: u{n}}}\n")).collect();
    let users: Vec<_> =
        (0..2_000).map(|n| format!("- name: u{n}\n  user:\n    token: {}\n", "x".repeat(330))).collect();
    let many = kubeconfig(SERVER, TOKEN_LINE).replace("clusters:\n", &format!("{}clusters:\n", contexts.concat()))
        + &users.concat();
    let deep = format!("a: {}", "[".repeat(250_000));
    let wide = format!("a: &a [{}]\nb: [{}]", "x,".repeat(60_000), "*a,".repeat(40_000));
    let begin = std::time::Instant::now();

    let file = Kubeconfig::read(many.as_bytes()).unwrap();
    let good =
        file.contexts().filter(|context| file.usable(context.name, KubeconfigOptions::default()).is_ok()).count();
    let hostile = [deep, wide].map(|text| Kubeconfig::read(text.as_bytes()).err().map(|problem| problem.code));

    assert!(many.len() > 800_000);
    assert_eq!(good, 2_001);
    assert_eq!(hostile, [Some("kubeconfig_malformed"); 2]);
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
}

proptest::proptest! {
    /// The file's text never comes back in a message, whatever is around the token.
    #[test]
    fn whatever_stands_around_a_token_it_is_never_quoted(before in "\\PC{0,60}", after in "(\\PC|\n|\t){0,60}", at in 0..8_usize) {
        let mut lines: Vec<_> = kubeconfig(SERVER, TOKEN_LINE).lines().map(str::to_owned).collect();
        let at = at.min(lines.len());
        lines.insert(at, format!("{before}CANARY{after}"));

        if let Err(problem) = parse(&lines.join("\n")) {
            proptest::prop_assert!(!problem.to_string().contains("CANARY"), "{problem}");
        }
    }
}
