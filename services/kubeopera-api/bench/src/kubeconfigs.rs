//! The guard before every kubeconfig: of ordinary size, and made to take long.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use anyhow::ensure;
use kube_kit::{Kubeconfig, KubeconfigOptions};
use testkit_bench::{figure, heading, milliseconds, percentile, times};

/// Of each that is made to take long.
const HOSTILE: usize = 256 << 10;

pub(crate) fn measure() -> anyhow::Result<()> {
    heading("The guard before every kubeconfig");
    let ordinary = ordinary(10 << 10);
    ensure!(check(ordinary.as_bytes()), "an ordinary kubeconfig is refused");
    let mut ours = time(500, || check(ordinary.as_bytes()));
    let mut kubes = time(500, || kube::config::Kubeconfig::from_yaml(&ordinary));
    times("a kubeconfig of 10 KB", &mut ours, Some(1.0));
    figure("kube's own reading of it, which checks nothing, p50", milliseconds(percentile(&mut kubes, 50)), "ms", None);
    for (what, text) in hostile() {
        let mut took = time(20, || check(text.as_bytes()));
        times(&format!("hostile, 256 KiB: {what}"), &mut took, Some(250.0));
    }
    Ok(())
}

/// Whether the context that a file prefers may be used.
fn check(file: &[u8]) -> bool {
    Kubeconfig::read(file).is_ok_and(|file| {
        let context = file.preferred_context().map(str::to_owned);
        context.is_some_and(|context| file.usable(&context, KubeconfigOptions::default()).is_ok())
    })
}

fn time<T>(count: usize, mut work: impl FnMut() -> T) -> Vec<Duration> {
    let each = (0..count).map(|_| {
        let began = Instant::now();
        std::hint::black_box(work());
        began.elapsed()
    });
    each.collect()
}

/// Contexts, as many as fit.
fn ordinary(size: usize) -> String {
    let (mut contexts, mut clusters, mut users) = (String::new(), String::new(), String::new());
    for number in 0.. {
        if contexts.len() + clusters.len() + users.len() > size - 400 {
            break;
        }
        let _ = writeln!(contexts, "- name: c{number}\n  context:\n    cluster: c{number}\n    user: u{number}");
        let _ = writeln!(clusters, "- name: c{number}\n  cluster:\n    server: https://c{number}.acme.com:6443");
        let _ = writeln!(users, "- name: u{number}\n  user:\n    token: {}", "0123456789abcdef".repeat(20));
    }
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c0\ncontexts:\n{contexts}clusters:\n{clusters}users:\n{users}"
    )
}

fn hostile() -> Vec<(&'static str, String)> {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1.. {
        let before = level - 1;
        let _ = writeln!(bomb, "a{level}: &a{level} [{}]", vec![format!("*a{before}"); 10].join(", "));
        if bomb.len() > HOSTILE {
            break;
        }
    }
    let many = "- {name: x, context: {cluster: x, user: x}}\n";
    vec![
        ("aliases of aliases", bomb),
        ("nested lists", "[".repeat(HOSTILE)),
        ("nested maps", "{a: ".repeat(HOSTILE / 4)),
        ("one long line", format!("current-context: {}", "x".repeat(HOSTILE))),
        ("an unfinished text", format!("current-context: \"{}", "\\x41".repeat(HOSTILE / 4))),
        ("thousands of contexts", format!("contexts:\n{}", many.repeat(HOSTILE / many.len()))),
        ("contexts, all usable", ordinary(HOSTILE)),
        ("tags and anchors", "- !!str &a *a\n".repeat(HOSTILE / 14)),
        ("line ends", "\r\n".repeat(HOSTILE / 2)),
    ]
}
