//! From bytes to text: editors and shells of some systems write UTF-16, or a byte order mark before UTF-8.

use vocabulary::Secret;

/// The text without its byte order mark; `None` if the bytes are no text.
pub(super) fn text(bytes: &[u8]) -> Option<Secret> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        // Without a mark: a kubeconfig begins with a letter, a brace or a comment, which have one byte of zero.
        [_, 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, _, ..] => utf16(bytes, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Option<Secret> {
    std::str::from_utf8(bytes).ok().map(Secret::new)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Secret> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect();
    text.ok().filter(|_| rest.is_empty()).map(Secret::new)
}
