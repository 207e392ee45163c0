//! The log of a cluster's runs: the last of what they said, which outlives their Pods.

use std::io::{Read, Write};

use cluster_provisioner_contract::LogPart;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use jiff::Timestamp;

/// So much of the end of the log is kept, in bytes.
const LONGEST: usize = 128 * 1024;
/// Of a line no more is kept, in bytes.
const LONGEST_LINE: usize = 4 * 1024;
/// What is packed is smaller than this, even what cannot be packed.
const LARGEST_UNPACKED: u64 = 2 * LONGEST as u64;

/// What was said, of all runs one after the other. Bytes are counted from the very first, so that they stay what they are
/// though the beginning is no longer kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// The byte that `text` begins with.
    from: u64,
    /// Whole lines, each with its line end.
    text: String,
}

impl Log {
    /// Adds a line.
    pub(crate) fn push(&mut self, line: &str, now: Timestamp) {
        let mut end = line.len().min(LONGEST_LINE);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let line = line.get(..end).unwrap_or_default();
        self.text.extend([&format!("{now:.0}"), " ", line, "\n"]);
        if self.text.len() > LONGEST {
            let surplus = self.text.len() - LONGEST;
            let cut = self.text.bytes().skip(surplus).position(|byte| byte == b'\n').map_or(0, |end| surplus + end + 1);
            self.text.drain(..cut);
            self.from += cut as u64;
        }
    }

    /// The byte after the last.
    pub(crate) const fn end(&self) -> u64 {
        self.from + self.text.len() as u64
    }

    /// What was said from a byte on. One that is within a line is taken for the beginning of the next; of one that was
    /// never said, the log is another than it was.
    pub(crate) fn part(&self, from: u64, is_live: bool) -> LogPart {
        let from = if from > self.end() { 0 } else { from };
        let wanted = usize::try_from(from.saturating_sub(self.from)).unwrap_or(usize::MAX).min(self.text.len());
        let is_beginning = wanted == 0 || self.text.as_bytes().get(wanted - 1) == Some(&b'\n');
        let rest = self.text.as_bytes().get(wanted..).unwrap_or_default();
        let skipped = if is_beginning {
            0
        } else {
            rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1)
        };
        let begins = wanted + skipped;
        let text = self.text.get(begins..).unwrap_or_default().to_owned();
        LogPart { from: self.from + begins as u64, next: self.end(), text, is_live }
    }

    /// Gzip of the first byte's number and the text.
    pub(crate) fn pack(&self) -> std::io::Result<Vec<u8>> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&self.from.to_be_bytes())?;
        packed.write_all(self.text.as_bytes())?;
        packed.finish()
    }

    /// Reads what [`Log::pack`] wrote.
    pub(crate) fn unpack(packed: &[u8]) -> Option<Self> {
        let mut unpacked = Vec::new();
        GzDecoder::new(packed).take(LARGEST_UNPACKED).read_to_end(&mut unpacked).ok()?;
        let (from, text) = unpacked.split_first_chunk::<8>()?;
        Some(Self { from: u64::from_be_bytes(*from), text: String::from_utf8(text.to_vec()).ok()? })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn said(lines: impl IntoIterator<Item = String>) -> Log {
        let mut log = Log::default();
        for line in lines {
            log.push(&line, Timestamp::UNIX_EPOCH);
        }
        log
    }

    #[test]
    fn whoever_asks_with_what_comes_next_reads_each_line_once() {
        let mut log = said(["one".to_owned()]);
        let first = log.part(0, true);
        log.push("two", Timestamp::UNIX_EPOCH);
        let second = log.part(first.next, false);

        assert_eq!((first.text.as_str(), first.from), ("1970-01-01T00:00:00Z one\n", 0));
        assert_eq!(
            (second.text.as_str(), second.from, second.is_live),
            ("1970-01-01T00:00:00Z two\n", first.next, false)
        );
        assert_eq!(log.part(second.next, true).text, "");
        assert_eq!(log.part(u64::MAX, true), log.part(0, true), "of another log");
        assert_eq!(log.part(3, true).text, second.text, "within a line");
    }

    #[test]
    fn the_end_of_a_long_log_is_kept_and_its_bytes_keep_their_numbers() {
        let whole: Vec<_> = (0..20_000).map(|number| format!("line {number}")).collect();
        let log = said(whole.clone());

        assert!(log.text.len() <= LONGEST && log.text.len() > LONGEST / 2, "{}", log.text.len());
        let length: u64 = whole.iter().map(|line| line.len() as u64 + 22).sum();
        assert_eq!(log.end(), length);
        let part = log.part(0, true);
        assert_eq!((part.from, part.text.len() as u64), (log.from, log.end() - log.from));
        assert!(part.text.starts_with("1970-01-01T00:00:00Z line ") && part.text.ends_with("line 19999\n"));
    }

    #[test]
    fn a_line_without_end_is_cut_between_characters() {
        let log = said(["é".repeat(LONGEST)]);
        assert!(log.text.len() <= LONGEST_LINE + 22 && log.text.ends_with("é\n"));
    }

    #[test]
    fn what_is_packed_is_unpacked_and_what_is_not_is_nothing() {
        let log = said((0..20_000).map(|number| format!("line {number}")));
        let packed = log.pack().unwrap();
        assert_eq!(Log::unpack(&packed), Some(log));
        for broken in [&packed[..packed.len() / 2], b"", b"no gzip"] {
            assert_eq!(Log::unpack(broken), None);
        }
    }
}
