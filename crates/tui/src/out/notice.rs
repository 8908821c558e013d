//! Notices as sequences of the outer terminal.

/// What tells a notice: by the OSC of a number (9, 99 or 777), or by the bell.
pub fn notice(text: &str, setting: &str, in_tmux: bool, osc: u16) -> Option<Vec<u8>> {
    let text = text.replace(';', ",");
    let sequence = match (setting, osc) {
        ("off", _) => return None,
        // Tmux hands the bell on, and nothing else of these.
        ("bell", _) => "\x07".to_owned(),
        _ if in_tmux => "\x07".to_owned(),
        (_, 777) => format!("\x1b]777;notify;Rookery;{text}\x1b\\"),
        (_, 99) => format!("\x1b]99;;{text}\x1b\\"),
        _ => format!("\x1b]9;{text}\x1b\\"),
    };
    Some(sequence.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_go_the_way_that_the_terminal_takes() {
        let sent = |setting, in_tmux, osc| {
            let bytes = notice("a: b;c", setting, in_tmux, osc);
            bytes.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(sent("osc", false, 9).as_deref(), Some("\x1b]9;a: b,c\x1b\\"));
        assert_eq!(sent("osc", false, 99).as_deref(), Some("\x1b]99;;a: b,c\x1b\\"));
        assert_eq!(
            sent("osc", false, 777).as_deref(),
            Some("\x1b]777;notify;Rookery;a: b,c\x1b\\")
        );
        assert_eq!(sent("osc", true, 777).as_deref(), Some("\x07"));
        assert_eq!(sent("bell", false, 9).as_deref(), Some("\x07"));
        assert_eq!(sent("off", false, 9), None);
    }
}
