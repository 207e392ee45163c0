//! Text for people, made safe: one line, bounded, and a sentence.

/// Longest text that goes into a message, in characters. Longer ones are cut at a word. The commands have room that make a
/// kubeconfig which can be used: half of them would be of no use.
const LONGEST: usize = 1800;

/// One line of at most [`LONGEST`] characters that begins with a capital letter and ends with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut words = String::new();
    for word in one_line.split_whitespace() {
        if words.chars().count() + word.chars().count() + 1 > LONGEST {
            words.push_str(" …");
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&without_credentials(word));
    }
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return String::new() };
    let mut sentence: String = first.to_uppercase().chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

/// A word without what stands between `://` and `@`. Adapters leave credentials out; this is the second lock on the
/// door, because Git and HTTP clients like to repeat the URL they were given.
fn without_credentials(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..authority).and_then(|authority| authority.rfind('@')).and_then(|at| rest.get(at + 1..)) {
        Some(rest) => format!("{scheme}://{rest}"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_remote_server_says_becomes_one_bounded_line() {
        assert_eq!(sentence("the image\n\tcannot   be pulled"), "The image cannot be pulled.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence("\u{1b}[31mred"), "[31mred.");
        assert_eq!(sentence(""), "");
        let long = sentence(&"word ".repeat(1000));
        assert!(long.chars().count() <= LONGEST + 2 && long.ends_with('…'), "{long}");
        let endless = sentence(&"x".repeat(5000));
        assert!(endless.chars().count() <= LONGEST + 2, "{endless}");
    }

    #[test]
    fn credentials_in_a_url_are_left_out() {
        assert_eq!(
            sentence("cannot clone https://user:CANARY@git.acme.com/a@b (https://CANARY@x)"),
            "Cannot clone https://git.acme.com/a@b (https://x)."
        );
    }
}
