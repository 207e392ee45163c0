//! The tables: comma-separated values without quotes, with lines of notes that begin with `#` and one line of headings.

/// A table that is part of the executable is broken, which its tests would have found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of {table} is not readable: {what}")]
pub struct NotReadable {
    /// Which table.
    pub table: &'static str,
    /// Which of its lines, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// A line of a table.
pub(crate) struct Row {
    table: &'static str,
    line: usize,
    cells: Vec<&'static str>,
}

/// The lines of a table, which has these headings.
pub(crate) fn rows(table: &'static str, text: &'static str, headings: &[&str]) -> Result<Vec<Row>, NotReadable> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let row = |(line, text): (usize, &'static str)| Row { table, line: line + 1, cells: text.split(',').collect() };
    let head = lines.next().map(row).ok_or(NotReadable { table, line: 1, what: "there are no headings" })?;
    if head.cells != headings {
        return Err(head.fault("the headings are others"));
    }
    lines
        .map(row)
        .map(|row| if row.cells.len() == headings.len() { Ok(row) } else { Err(row.fault("a cell is missing")) })
        .collect()
}

impl Row {
    pub(crate) const fn fault(&self, what: &'static str) -> NotReadable {
        NotReadable { table: self.table, line: self.line, what }
    }

    pub(crate) fn cell(&self, column: usize) -> Result<&'static str, NotReadable> {
        self.cells.get(column).copied().ok_or_else(|| self.fault("a cell is missing"))
    }

    /// A cell as one of our types; an empty cell is none.
    pub(crate) fn parsed<T: std::str::FromStr>(&self, column: usize) -> Result<Option<T>, NotReadable> {
        match self.cell(column)? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| self.fault("a cell holds something else than it should")),
        }
    }

    /// A cell that must not be empty.
    pub(crate) fn required<T: std::str::FromStr>(&self, column: usize) -> Result<T, NotReadable> {
        self.parsed(column)?.ok_or_else(|| self.fault("a cell is empty"))
    }
}
