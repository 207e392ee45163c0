//! Bytes as people and programs write digests.

use std::fmt::Write as _;

/// Lower-case hex digits, two for each byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_byte_is_two_digits() {
        assert_eq!(super::hex(&[0, 10, 255]), "000aff");
        assert_eq!(super::hex(&[]), "");
    }
}
