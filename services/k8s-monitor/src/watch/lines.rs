//! The lines of an answer that lasts.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use kube::client::Body;

/// Longer lines are passed over: etcd takes no object above 1.5 MiB.
pub(super) const LONGEST: usize = 2 << 20;
/// An idle watch keeps no more of its buffer than this.
const KEPT: usize = 16 << 10;

/// A line of the answer, without its end.
pub(super) enum Line {
    Whole(Bytes),
    /// It was longer than [`LONGEST`] and was not kept.
    TooLong,
}

pub(super) struct Lines {
    body: Body,
    buffer: BytesMut,
    /// So much of the buffer is known to hold no line end.
    looked_at: usize,
    is_too_long: bool,
}

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self { body, buffer: BytesMut::new(), looked_at: 0, is_too_long: false }
    }

    /// The next line that is there already.
    pub(super) fn ready(&mut self) -> Option<Line> {
        let Some(at) = self.buffer.get(self.looked_at..).and_then(|rest| memchr::memchr(b'\n', rest)) else {
            self.looked_at = self.buffer.len();
            if self.looked_at > LONGEST {
                self.is_too_long = true;
                self.buffer.clear();
                self.looked_at = 0;
            }
            return None;
        };
        let line = self.buffer.split_to(self.looked_at + at).freeze();
        let _ = self.buffer.split_to(1);
        self.looked_at = 0;
        Some(if std::mem::take(&mut self.is_too_long) { Line::TooLong } else { Line::Whole(line) })
    }

    /// Waits for more of the answer: how many bytes came, none at its end. What comes after the last line end is dropped.
    pub(super) async fn more(&mut self) -> Result<Option<usize>, kube::Error> {
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT {
            self.buffer = BytesMut::new();
        }
        loop {
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            if let Ok(data) = frame?.into_data() {
                self.buffer.extend_from_slice(&data);
                return Ok(Some(data.len()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    async fn lines(text: Vec<u8>) -> Vec<Option<usize>> {
        let mut lines = Lines::new(Body::from(text));
        let mut seen = Vec::new();
        loop {
            while let Some(line) = lines.ready() {
                seen.push(match line {
                    Line::Whole(line) => Some(line.len()),
                    Line::TooLong => None,
                });
            }
            if lines.more().await.unwrap().is_none() {
                return seen;
            }
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_read() {
        let mut text = b"one\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', LONGEST + 1));
        assert_eq!(lines(text.clone()).await, [Some(3)]);

        text.extend(b"\nthree\n\nnot ended");
        let seen = lines(text).await;
        assert_eq!(seen.first(), Some(&Some(3)));
        assert_eq!(seen.get(2..), Some(&[Some(5), Some(0)][..]));
    }
}
