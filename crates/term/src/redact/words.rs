//! Redaction of the words of a command.

use std::ops::Range;

use super::{Policy, edits};

impl Policy {
    /// The words of a command without their secrets.
    ///
    /// The word before a secret may be what says that it is one (`--password VALUE`), so they are
    /// judged as one line, and each by itself as well.
    pub fn redact_words(&self, words: &[impl AsRef<str>]) -> Vec<String> {
        let mut line = String::new();
        let mut places: Vec<Range<usize>> = Vec::new();
        for word in words {
            if !places.is_empty() {
                line.push(' ');
            }
            let start = line.len();
            line.push_str(word.as_ref());
            places.push(start..line.len());
        }
        let spans = self.redact_spans(&line);
        let words = words.iter().map(AsRef::as_ref);
        words.zip(&places).map(|(word, place)| self.hidden_word(word, place, &spans)).collect()
    }

    /// A word without what is secret in it, given what is in the line around it.
    fn hidden_word(&self, word: &str, place: &Range<usize>, spans: &[Range<usize>]) -> String {
        let inside = |span: &Range<usize>| {
            let (start, end) = (span.start.max(place.start), span.end.min(place.end));
            (start < end).then(|| start - place.start..end - place.start)
        };
        let mut found: Vec<Range<usize>> = spans.iter().filter_map(inside).collect();
        found.extend(self.redact_spans(word));
        if found.is_empty() {
            return word.to_owned();
        }
        edits::apply(word, &edits::union(self.replacing(found), &self.replacement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_judged_alone_and_together() {
        let policy = Policy::strict();
        let shown = |words: &[&str]| policy.redact_words(words).join("|");
        assert_eq!(shown(&["tool", "--password", "hunter22"]), "tool|--password|[REDACTED]");
        assert_eq!(shown(&["curl", "-u", "me:s3cret99", "x"]), "curl|-u|me:[REDACTED]|x");
        assert_eq!(shown(&["a", "https://me:hunter2@h/", ""]), "a|https://me:[REDACTED]@h/|");
        let key = format!("ghp_{}", "a1B2".repeat(9));
        assert_eq!(shown(&["echo", &key, "-n"]), "echo|[REDACTED]|-n");
        // A secret ends with its word, whatever follows.
        assert_eq!(shown(&[&key, "tail"]), "[REDACTED]|tail");
        assert_eq!(shown(&["sh", "-c", "echo hi"]), "sh|-c|echo hi");
        assert_eq!(shown(&[]), "");
    }

    #[test]
    fn what_is_hidden_stays_as_it_is() {
        let policy = Policy::strict();
        let once = policy.redact_words(&[
            "x",
            "--token",
            "abcdefgh1",
            "Authorization: Bearer abcdefghijkl",
        ]);
        assert_eq!(policy.redact_words(&once), once);
    }
}
