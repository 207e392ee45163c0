//! Which addresses a kubeconfig may name.
#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn addresses_of_this_machine_this_cluster_and_metadata_services_are_refused_in_every_spelling() {
    for host in [
        "127.0.0.1",
        "127.1",
        "localhost",
        "api.localhost",
        "localhost.",
        "0.0.0.0",
        "[::]",
        "[::1]",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "169.254.169.254.",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "[fd00:ec2::254]",
        "[fd00:ec2::23]",
        "[fd20:ce::254]",
        "[fd00:c1::a9fe:a9fe]",
        "[fd00:42::42]",
        "[fe80::1]",
        "[ff02::1]",
        "224.0.0.1",
        "[::ffff:169.254.169.254]",
        "[::ffff:0:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::a9fe:a9fe]",
        "[64:ff9b:1:7::127.0.0.1]",
        "[2002:a9fe:a9fe::1]",
        "[::127.0.0.1]",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "１２７.0.0.1",
        "metadata.google.internal",
        "metadata.google.internal.",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "KUBERNETES.DEFAULT.SVC.cluster.local",
        "kubeopera-api.kubeopera.svc",
    ] {
        let text = kubeconfig(&format!("server: 'https://{host}:6443'"), TOKEN_LINE);
        assert_eq!(code(&text), "cluster_address_forbidden", "{host}");
    }
    for host in
        ["10.0.0.1", "192.168.1.1", "172.16.0.1", "203.0.113.7", "[2001:db8::1]", "svc.acme.com", "notlocalhost"]
    {
        assert!(parse(&kubeconfig(&format!("server: 'https://{host}:6443'"), TOKEN_LINE)).is_ok(), "{host}");
    }
}

#[test]
fn loopback_is_for_local_starts_only_and_opens_nothing_else() {
    let local = KubeconfigOptions { allow_loopback: true, allowed_targets: &[], own_ranges: None };
    let parse = |host: &str| {
        let text = kubeconfig(&format!("server: 'https://{host}:6443'"), TOKEN_LINE);
        ValidKubeconfig::parse(&Secret::new(text), local)
    };

    for host in ["127.0.0.1", "localhost", "[::1]"] {
        assert!(parse(host).is_ok(), "{host}");
    }
    for host in ["0.0.0.0", "169.254.169.254", "kubernetes.default.svc"] {
        assert!(parse(host).is_err(), "{host}");
    }
}

#[test]
fn only_addresses_in_the_allowed_ranges_are_taken_where_there_are_any_and_they_open_nothing_else() {
    let ranges: Vec<IpNet> =
        ["10.1.0.0/16", "203.0.113.7/32", "2001:db8::/32", "169.254.0.0/16"].map(|range| range.parse().unwrap()).into();
    let options = KubeconfigOptions { allow_loopback: false, allowed_targets: ranges.leak(), own_ranges: None };
    let parse = |host: &str| {
        let text = kubeconfig(&format!("server: 'https://{host}:6443'"), TOKEN_LINE);
        ValidKubeconfig::parse(&Secret::new(text), options)
    };

    // A name is judged when it is looked up.
    for host in ["10.1.2.3", "203.0.113.7", "[2001:DB8::7]", "[::ffff:10.1.2.3]", "api.acme.com"] {
        assert!(parse(host).is_ok(), "{host}");
    }
    for host in ["10.2.0.1", "203.0.113.8", "192.168.1.1", "[2001:db9::7]", "[::ffff:10.2.0.1]", "[64:ff9b::a01:203]"] {
        let problem = parse(host).unwrap_err();
        assert_eq!(
            (problem.code, problem.field.as_str()),
            ("cluster_address_forbidden", "kubeconfig.clusters[0].cluster.server"),
            "{host}"
        );
        assert!(problem.message.contains("--allowed-target-cidr"), "{problem}");
    }
    assert!(parse("169.254.169.254").unwrap_err().message.contains("metadata service"));
}

#[test]
fn addresses_of_the_cluster_this_is_a_pod_of_are_refused_in_every_spelling_and_with_the_other_way() {
    let own: OwnRanges = ["10.244.0.0/16", "fd00:10::/64"].iter().map(|range| range.parse().unwrap()).collect();
    let options = KubeconfigOptions { own_ranges: Some(Box::leak(Box::new(own))), ..KubeconfigOptions::default() };
    let parse = |host: &str| {
        let text = kubeconfig(&format!("server: 'https://{host}:6443'"), TOKEN_LINE);
        ValidKubeconfig::parse(&Secret::new(text), options)
    };

    for host in ["10.244.3.7", "183763719", "0xa.244.3.7", "[fd00:10::7]", "[::ffff:10.244.3.7]", "[64:ff9b::af4:307]"]
    {
        let problem = parse(host).unwrap_err();
        assert_eq!(problem.code, "cluster_address_forbidden", "{host}");
        assert!(problem.message.contains("Register This Cluster"), "{problem}");
    }
    for host in ["10.245.3.7", "[fd00:11::7]", "api.acme.com"] {
        assert!(parse(host).is_ok(), "{host}");
    }
}

#[tokio::test]
async fn a_name_is_taken_for_all_of_the_addresses_that_it_leads_to() {
    let seen = async |name: &str, options: KubeconfigOptions| {
        let found = tower::Service::call(&mut address::Judged(options), name.parse().unwrap()).await;
        found.map(|addresses| addresses.map(|address| address.ip()).collect::<Vec<_>>())
    };
    let here = KubeconfigOptions { allow_loopback: true, allowed_targets: &[], own_ranges: None };

    let refused = seen("localhost", KubeconfigOptions::default()).await.unwrap_err();
    let unknown = seen("a..b", here).await.unwrap_err();

    assert_eq!(refused.downcast_ref(), Some(&Refused::Inward));
    assert!(unknown.is::<NoAddress>(), "{unknown}");
    assert!(seen("localhost", here).await.unwrap().iter().all(std::net::IpAddr::is_loopback));
}

#[test]
fn an_ipv6_address_has_one_spelling_and_no_zone() {
    for (server, spelling) in [
        ("https://[FD00:0:0::1]:6443", Some("https://[fd00::1]:6443/")),
        ("https://[2001:DB8::A]", Some("https://[2001:db8::a]/")),
        ("https://[::ffff:10.1.2.3]:6443", Some("https://[::ffff:a01:203]:6443/")),
        ("https://[fe80::1%25eth0]:6443", None),
        ("https://[fd00::1%eth0]:6443", None),
        ("https://fd00::1:6443", None),
    ] {
        let parsed = parse(&kubeconfig(&format!("server: '{server}'"), TOKEN_LINE));
        match spelling {
            Some(spelling) => {
                let parsed = parsed.unwrap();
                assert_eq!(parsed.server().as_str(), spelling);
                assert!(parsed.minified().reveal().contains(spelling));
                assert_eq!(parsed.config().unwrap().cluster_url.to_string(), spelling);
            }
            None => assert_eq!(parsed.unwrap_err().code, "cluster_url_invalid", "{server}"),
        }
    }
}

#[test]
fn an_address_that_is_no_https_address_is_refused() {
    for (server, code_) in [
        ("http://api.acme.com", "kubeconfig_server_scheme"),
        ("file:///etc/passwd", "kubeconfig_server_scheme"),
        ("https://user@api.acme.com", "cluster_url_invalid"),
        ("https://user:CANARY@api.acme.com", "cluster_url_invalid"),
        ("https://api.acme.com:0", "cluster_url_invalid"),
        ("https://api.acme.com/?a=b", "cluster_url_invalid"),
        ("https://api.acme.com/#a", "cluster_url_invalid"),
        ("api.acme.com", "cluster_url_invalid"),
        ("", "cluster_url_invalid"),
    ] {
        assert_eq!(code(&kubeconfig(&format!("server: '{server}'"), TOKEN_LINE)), code_, "{server}");
    }
}
