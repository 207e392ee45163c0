//! Where a kubeconfig may lead, with real connections on loopback.
#![allow(clippy::unwrap_used, reason = "a test says what it expects and stops where it is not so")]

use ipnet::IpNet;
use kube_kit::{Attempt, KubeconfigOptions, Limits, OwnRanges, ValidKubeconfig, trouble};
use tokio::net::TcpListener;
use vocabulary::{Secret, Trouble};

/// What comes of calling an API server at `localhost` by who may connect to these ranges only and is a Pod of a cluster with
/// those of its own, and whether anybody came.
async fn called(ranges: &[&str], own: &[&str]) -> (Trouble, bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = format!(
        "current-context: a\ncontexts:\n- name: a\n  context: {{cluster: c, user: u}}\nclusters:\n- name: c\n  cluster: \
         {{server: 'https://localhost:{port}'}}\nusers:\n- name: u\n  user: {{token: CANARY}}\n"
    );
    let ranges: Vec<IpNet> = ranges.iter().map(|range| range.parse().unwrap()).collect();
    let own: OwnRanges = own.iter().map(|range| range.parse().unwrap()).collect();
    let own_ranges: Option<&'static OwnRanges> = Some(Box::leak(Box::new(own)));
    let options = KubeconfigOptions { allow_loopback: true, allowed_targets: ranges.leak(), own_ranges };
    let kubeconfig = ValidKubeconfig::parse(&Secret::new(file), options).unwrap();
    let client = kubeconfig.client(Limits::default()).unwrap();
    // Whoever comes is sent away, so that a call ends at once either way.
    let came = tokio::spawn(async move { listener.accept().await.is_ok() });

    let error = client.apiserver_version().await.unwrap_err();

    let came_by_now = came.is_finished();
    came.abort();
    (trouble(Attempt("look"), &error), came_by_now)
}

#[tokio::test]
async fn a_name_that_leads_out_of_the_allowed_ranges_is_not_connected_to_and_the_setting_is_named() {
    let (refused, came) = called(&["10.0.0.0/8", "2001:db8::/32"], &[]).await;

    assert_eq!((refused.reason.as_str(), came), ("ClusterAddressForbidden", false));
    assert!(refused.message.contains("--allowed-target-cidr"), "{refused}");
}

#[tokio::test]
async fn a_name_that_leads_into_an_allowed_range_is_connected_to() {
    for ranges in [&["10.0.0.0/8", "127.0.0.0/8", "::1/128"][..], &[]] {
        let (broken_off, came) = called(ranges, &["10.0.0.0/8"]).await;

        assert!(came, "{broken_off}");
        assert_ne!(broken_off.reason, "ClusterAddressForbidden");
    }
}

#[tokio::test]
async fn a_name_that_leads_to_the_cluster_this_is_a_pod_of_is_not_connected_to_and_the_other_way_is_told() {
    let (refused, came) = called(&[], &["127.0.0.0/8", "::1/128"]).await;

    assert_eq!((refused.reason.as_str(), came), ("ClusterAddressForbidden", false));
    assert!(refused.message.contains("Register This Cluster"), "{refused}");
}
