//! The file: one JSON object a line. The first says what it is, the last that it is complete.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The layout that is written and read.
pub(super) const LAYOUT: u32 = 1;

/// What a backup says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) kubeopera_backup: u32,
    pub(super) made_at: jiff::Timestamp,
    /// UID of the kube-system namespace of the cluster that the database is about.
    pub(super) cluster: Option<String>,
    /// Migrations that the tables had, by the table that lists them.
    pub(super) migrations: BTreeMap<String, Vec<String>>,
    /// Names the encryption key that opens what is sealed.
    pub(super) key: String,
    /// Sealed with that key, in base64.
    pub(super) key_check: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Row {
        table: String,
        row: Map<String, Value>,
    },
    /// A Secret of the cluster, sealed.
    Secret {
        secret: String,
        sealed: String,
    },
    /// The last, with the number of those before it.
    End {
        lines: u64,
    },
}

/// A backup that is being written. It is not there before it is complete.
pub(super) struct Writing {
    half: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    lines: u64,
}

impl Writing {
    pub(super) fn begin(path: &Path, head: &Head) -> anyhow::Result<Self> {
        if path.exists() {
            bail!("{} is there already. Choose another name, or remove it first", path.display());
        }
        let half = path.with_extension("half-written");
        let open = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&half);
        let file = BufWriter::new(open.with_context(|| format!("writing {}", half.display()))?);
        let mut writing = Self { half, path: path.to_owned(), file, lines: 0 };
        writing.write(head)?;
        Ok(writing)
    }

    pub(super) fn add(&mut self, line: &Line) -> anyhow::Result<()> {
        self.lines += 1;
        self.write(line)
    }

    pub(super) fn finish(mut self) -> anyhow::Result<u64> {
        let lines = self.lines;
        self.write(&Line::End { lines })?;
        let file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error);
        file.and_then(|file| file.sync_all()).with_context(|| format!("writing {}", self.half.display()))?;
        fs::rename(&self.half, &self.path).with_context(|| format!("writing {}", self.path.display()))?;
        Ok(lines)
    }

    fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.file, line)?;
        self.file.write_all(b"\n").with_context(|| format!("writing {}", self.half.display()))
    }
}

/// What the head of a backup says, and its lines. That the file ends too early is an error of the last.
pub(super) fn read(path: &Path) -> anyhow::Result<(Head, impl Iterator<Item = anyhow::Result<Line>> + use<>)> {
    let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
    let mut lines = BufReader::new(file).lines();
    let no_backup = || format!("{} is not a backup of KubeOpera", path.display());
    let first = lines.next().transpose().ok().flatten().with_context(no_backup)?;
    let head: Head = serde_json::from_str(&first).with_context(no_backup)?;
    if head.kubeopera_backup != LAYOUT {
        bail!("{} was made by another version of KubeOpera, whose layout this one does not know", path.display());
    }
    let path = path.to_owned();
    let (mut count, mut is_over) = (0, false);
    let lines = std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let incomplete =
            || format!("{} is not complete: it ends or is damaged after line {}", path.display(), count + 1);
        let line = lines.next().transpose().ok().flatten();
        let line = line.and_then(|line| serde_json::from_str(&line).ok()).with_context(incomplete);
        match line {
            Ok(Line::End { lines }) => {
                is_over = true;
                (lines != count).then(|| Err(anyhow::anyhow!(incomplete())))
            }
            Ok(line) => {
                count += 1;
                Some(Ok(line))
            }
            Err(error) => {
                is_over = true;
                Some(Err(error))
            }
        }
    });
    Ok((head, lines))
}
