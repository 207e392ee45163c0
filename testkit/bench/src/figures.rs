//! Figures beside their goals.

use std::time::Duration;

/// Prints a heading.
pub fn heading(text: &str) {
    println!("\n{text}");
}

/// Prints a figure, and whether it is within its goal. `tools/bench` counts the verdicts by their words.
pub fn figure(what: &str, value: f64, unit: &str, goal: Option<f64>) {
    verdict(what, value, unit, goal.map(|goal| ("<=", goal, value <= goal)));
}

/// The same where more is better.
pub fn figure_of_at_least(what: &str, value: f64, unit: &str, goal: f64) {
    verdict(what, value, unit, Some((">=", goal, value >= goal)));
}

fn verdict(what: &str, value: f64, unit: &str, goal: Option<(&str, f64, bool)>) {
    let verdict = goal.map_or(String::new(), |(than, goal, is_met)| {
        format!("goal {than} {goal:>8} {unit:<4} {}", if is_met { "met" } else { "MISSED" })
    });
    println!("  {what:<66} {value:>10.2} {unit:<4}  {verdict}");
}

/// Prints how long something took: mostly, and at its slowest but for one in a hundred, which is held against the goal.
pub fn times(what: &str, times: &mut [Duration], goal: Option<f64>) {
    let typical = milliseconds(percentile(times, 50));
    let what = format!("{what}: p99 (p50 {typical:.2} ms, {} times)", times.len());
    figure(&what, milliseconds(percentile(times, 99)), "ms", goal);
}

/// The time below which so many of a hundred of all lie.
pub fn percentile(times: &mut [Duration], of_hundred: usize) -> Duration {
    times.sort_unstable();
    let at = (times.len() * of_hundred / 100).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default()
}

/// A time as it is printed.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
