//! How a launcher's command becomes an argument list.

use crate::settings::Command;

/// `[shell, "-i", "-c", inner]`: the variables, the command, and a shell after it if it shall hold.
pub fn argv(command: &Command, shell: &str) -> Vec<String> {
    let mut inner = String::new();
    for (key, value) in &command.env {
        inner.push_str(&format!("export {key}={}; ", quote(value)));
    }
    inner.push_str(&command.run);
    if command.hold {
        inner.push_str(&format!("; exec {} -i", word(shell)));
    }
    vec![shell.to_owned(), "-i".to_owned(), "-c".to_owned(), inner]
}

/// One word for a shell, whatever is in it.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Like [`quote`], but plain words stay plain.
fn word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._+-".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) { text.to_owned() } else { quote(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(line: &str) -> String {
        let argv = argv(&Command::parse(line).unwrap(), "/bin/zsh");
        assert_eq!(argv[..3], ["/bin/zsh", "-i", "-c"]);
        assert_eq!(argv.len(), 4);
        argv[3].clone()
    }

    #[test]
    fn a_command_runs_in_an_interactive_shell() {
        assert_eq!(inner(r#"label=a run="ls -l""#), "ls -l");
    }

    #[test]
    fn variables_are_exported_before_it() {
        assert_eq!(
            inner(r#"label=a run=make env="A=1 B=it's""#),
            r"export A='1'; export B='it'\''s'; make"
        );
    }

    #[test]
    fn hold_leaves_a_shell() {
        assert_eq!(inner("label=a run=make hold"), "make; exec /bin/zsh -i");
    }

    #[test]
    fn odd_shells_are_quoted() {
        let command = Command::parse("label=a run=x hold").unwrap();
        assert_eq!(argv(&command, "/my shell")[3], "x; exec '/my shell' -i");
    }
}
