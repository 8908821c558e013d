//! The escapes of `tab send --bytes`.

/// The bytes that a text with escapes stands for. What is no escape stands for itself.
pub(super) fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        let (byte, length) = escape(rest.as_bytes()).unwrap_or((b'\\', 1));
        bytes.push(byte);
        rest = &rest[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// The byte of the escape at the beginning, and how long it is written.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let byte = match text.get(1)? {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'0' => 0,
        quoted @ (b'\\' | b'"' | b'\'') => *quoted,
        b'x' => {
            let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
            return Some((u8::try_from(digit(2)? * 16 + digit(3)?).ok()?, 4));
        }
        _ => return None,
    };
    Some((byte, 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_become_bytes_and_the_rest_stays() {
        let cases: &[(&str, &[u8])] = &[
            ("", b""),
            ("ls -la\\n", b"ls -la\n"),
            (r#"\r\t\0\\\"\'"#, b"\r\t\0\\\"'"),
            (r"\x1b[A\xFF\x00", b"\x1b[A\xff\x00"),
            (r"\q\x\x1\xg1\x1g\", br"\q\x\x1\xg1\x1g\"),
            (r"\\n", br"\n"),
            ("é\\nü\\é", "é\nü\\é".as_bytes()),
        ];
        for (text, bytes) in cases {
            assert_eq!(decode(text), *bytes, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_written_in_hexadecimal(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let text: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
            prop_assert_eq!(decode(&text), bytes);
        }

        #[test]
        fn text_without_a_backslash_stays(text in "[^\\\\]*") {
            prop_assert_eq!(decode(&text), text.as_bytes());
        }

        #[test]
        fn doubled_backslashes_protect_any_text(text in any::<String>()) {
            prop_assert_eq!(decode(&text.replace('\\', "\\\\")), text.as_bytes());
        }

        #[test]
        fn nothing_panics_and_nothing_grows(text in r#"(\\|x|[0-9a-fn]|é|"){0,40}"#) {
            prop_assert!(decode(&text).len() <= text.len());
        }
    }
}
