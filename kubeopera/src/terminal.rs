//! Text for a terminal: tables, and words of clusters without what a terminal would obey.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

/// Prints what was asked for. Whoever reads may have read enough, as `head` has.
#[allow(clippy::print_stdout, reason = "this is what commands print with")]
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Rows under headings, each column as wide as its widest cell; the last one as it comes.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let headings = headings.iter().map(|&heading| heading.to_owned()).collect::<Vec<_>>();
    let all = || std::iter::once(&headings).chain(rows);
    let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<_> = (0..headings.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in all() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A text of a cluster's in one line: what would move the cursor or colour the terminal is not passed on.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A document for programs. What would move the cursor is escaped, which JSON allows in its texts.
pub(crate) fn json(document: &impl serde::Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| escaped(&text))
}

/// A document for programs, in one line.
pub(crate) fn json_line(document: &impl serde::Serialize) -> serde_json::Result<String> {
    serde_json::to_string(document).map(|text| escaped(&text))
}

fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if c.is_control() && c != '\n' {
            _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text + "\n"
}

/// A cell of a CSV file, which a spreadsheet takes for text and never for a formula.
pub(crate) fn csv_cell(text: &str) -> String {
    let text = plain(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if is_formula { format!("'{text}") } else { text };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["longer".to_owned(), String::new()]];
        assert_eq!(table(&["NAME", "N"], &rows), "NAME    N\na       1\nlonger\n");
    }

    #[test]
    fn a_document_says_the_same_without_what_a_terminal_would_obey() {
        let document = serde_json::json!({"name": "a\u{9b}2J\x1b[2Jb\n"});

        for text in [json(&document).unwrap(), json_line(&document).unwrap()] {
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
        }
        assert_eq!(json_line(&document).unwrap().lines().count(), 1);
    }

    #[test]
    fn a_cluster_cannot_move_the_cursor_or_bring_a_formula() {
        assert_eq!(plain("a\x1b[2Jb\nc"), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(csv_cell("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
        assert_eq!(csv_cell("-1.5"), "-1.5");
    }
}
