//! What the console understands besides Lua.

pub(super) const HELP: &str = r#"At the prompt:
  call("session.list", {})        call a method of the server
  session.create{program="bash"}  the same, shorter; also server, adapter, plugin
  pp(value)                       print a value
  :help                           print this
  :quit, :q, :exit                exit, as do quit, exit and Ctrl-D"#;

/// A word of the console's own.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    Help,
    Quit,
    /// One that looks like ours, but is none.
    Unknown(&'a str),
}

impl Word<'_> {
    /// The word that an input is; none if it is Lua.
    pub(super) fn of(input: &str) -> Option<Word<'_>> {
        match input.trim() {
            ":help" => Some(Word::Help),
            ":quit" | ":q" | ":exit" | "quit" | "exit" => Some(Word::Quit),
            // Two colons begin a label.
            other if other.starts_with(':') && !other.starts_with("::") => {
                Some(Word::Unknown(other))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_inputs_and_the_rest_is_lua() {
        for word in [":quit", ":q\n", " :exit ", "quit", "exit\n"] {
            assert_eq!(Word::of(word), Some(Word::Quit), "{word:?}");
        }
        assert_eq!(Word::of(":help"), Some(Word::Help));
        assert_eq!(Word::of(":nothing x"), Some(Word::Unknown(":nothing x")));
        for lua in ["exit()", "quit = 1", "::label::", "x = 1\nexit", "", "help"] {
            assert_eq!(Word::of(lua), None, "{lua:?}");
        }
    }
}
