//! Where a JSON value ends, found as its bytes come.

/// Looks for the end of one object, however its bytes are cut. Anything else ends at its first
/// byte: it is no request, and nothing that follows makes it one.
#[derive(Debug, Default, Clone, Copy)]
pub struct RequestEnd {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    has_begun: bool,
}

impl RequestEnd {
    /// Takes the next bytes; true if the value is over. Whether it is valid is not looked at: a
    /// quote, a bracket and a backslash are single bytes in UTF-8 and mean the same wherever they
    /// are.
    pub fn find(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().any(|byte| self.take(*byte))
    }

    fn take(&mut self, byte: u8) -> bool {
        if !self.has_begun {
            if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return false;
            }
            self.has_begun = true;
            self.depth = 1;
            return byte != b'{';
        }
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_object_ends_with_its_last_bracket() {
        let whole = r#" {"a":"}\"{","b":[{}]}"#;
        let mut end = RequestEnd::default();
        let ends: Vec<bool> = whole.bytes().map(|byte| end.find(&[byte])).collect();
        assert_eq!(ends.iter().position(|ends| *ends), Some(whole.len() - 1));
    }

    #[test]
    fn what_is_no_object_is_over_at_once() {
        for text in ["[", "1", "\"", "hello", "\u{feff}{"] {
            assert!(RequestEnd::default().find(&text.as_bytes()[..1]), "{text}");
        }
        assert!(!RequestEnd::default().find(b" \r\n\t"));
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            Just(serde_json::Value::Null),
        ];
        let value = leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        });
        prop::collection::btree_map(any::<String>(), value, 0..4)
            .prop_map(|map| serde_json::Value::Object(map.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn every_object_ends_at_its_end_and_not_before(value in json(), pretty: bool, tail: Vec<u8>) {
            let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) };
            let text = text.unwrap();
            let mut end = RequestEnd::default();
            prop_assert!(!end.find(&text[..text.len() - 1]));
            prop_assert!(end.find(&text[text.len() - 1..]));
            prop_assert!(RequestEnd::default().find(&[&text[..], &tail].concat()));
        }

        #[test]
        fn no_bytes_are_too_odd(bytes: Vec<u8>) {
            RequestEnd::default().find(&bytes);
        }
    }
}
