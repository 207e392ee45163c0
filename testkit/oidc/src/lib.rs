//! Identity providers on this machine: a real one that does everything by the book, and one that lies on demand.

mod liar;
mod real;

pub use liar::{Liar, Signature};
pub use real::{CLIENT_ID, CLIENT_SECRET, RealProvider};
