//! Figures beside their goals.

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

/// The value below which this part of all lies.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index")]
pub(crate) fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = ((values.len() as f64) * part) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or_default()
}
