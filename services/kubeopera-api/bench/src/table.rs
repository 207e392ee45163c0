//! Figures beside their goals.

use std::time::Duration;

/// Prints a heading.
pub(crate) fn heading(text: &str) {
    println!("\n{text}");
}

/// Prints a figure, and whether it is within its goal.
pub(crate) fn figure(what: &str, value: f64, unit: &str, goal: Option<f64>) {
    let verdict = goal.map_or(String::new(), |goal| {
        format!("goal {goal:>8} {unit:<4} {}", if value <= goal { "met" } else { "MISSED" })
    });
    println!("  {what:<62} {value:>10.2} {unit:<4}  {verdict}");
}

/// Prints how long something took: mostly, and at its slowest but for one in a hundred, which is held against the goal.
pub(crate) fn times(what: &str, times: &mut [Duration], goal: Option<f64>) {
    times.sort();
    let typical = milliseconds(percentile(times, 50));
    figure(
        &format!("{what}: p99 (p50 {typical:.2} ms, {} times)", times.len()),
        milliseconds(percentile(times, 99)),
        "ms",
        goal,
    );
}

/// The time below which so many of a hundred of all lie. They have to be sorted.
pub(crate) fn percentile(times: &[Duration], of_hundred: usize) -> Duration {
    let at = (times.len() * of_hundred / 100).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default()
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
