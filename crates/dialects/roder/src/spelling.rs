//! Members of params as this dialect spells them, where core speaks of them in an error.

/// What core calls a member, and what it is called on the wire.
const MEMBERS: &[(&str, &str)] = &[
    ("api_key", "apiKey"),
    ("artifact_id", "artifactId"),
    ("bytes_base64", "bytesBase64"),
    ("destination_id", "destinationId"),
    ("provider_id", "providerId"),
    ("read_roots", "readRoots"),
    ("default_root_path", "defaultRootPath"),
    ("disable_output_cap", "disableOutputCap"),
    ("disable_timeout", "disableTimeout"),
    ("expected_turn_id", "expectedTurnId"),
    ("from_turn_id", "fromTurnId"),
    ("item_id", "itemId"),
    ("display_name", "displayName"),
    ("marketplace_id", "marketplaceId"),
    ("memory_id", "memoryId"),
    ("num_turns", "numTurns"),
    ("output_bytes_cap", "outputBytesCap"),
    ("process_id", "processId"),
    ("replacement_markdown", "replacementMarkdown"),
    ("run_id", "runId"),
    ("input.run_id", "input.runId"),
    ("input.thread_id", "input.threadId"),
    ("input.turn_id", "input.turnId"),
    ("input.start_paused", "input.startPaused"),
    ("input.script.script_id", "input.script.scriptId"),
    ("input.script.host_api_version", "input.script.hostApiVersion"),
    ("script_id", "scriptId"),
    ("stream_stdin", "streamStdin"),
    ("stream_stdout_stderr", "streamStdoutStderr"),
    ("timeout_ms", "timeoutMs"),
    ("thread_id", "threadId"),
    ("tool_allowlist", "toolAllowlist"),
    ("turn_id", "turnId"),
];

/// A message of core with its members in our spelling. What follows a colon is the client's own, and
/// stays as it is.
pub(crate) fn spelled(message: &str) -> String {
    let (ours, theirs) = message.split_at(message.find(':').unwrap_or(message.len()));
    let word = |word: &str| {
        let known = MEMBERS.iter().find(|(name, _)| *name == word);
        known.map_or_else(|| word.to_owned(), |(_, spelling)| (*spelling).to_owned())
    };
    let words: Vec<String> = ours.split(' ').map(word).collect();
    words.join(" ") + theirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_spelled_and_nothing_else_is() {
        for (message, shown) in [
            ("num_turns must be at least 1", "numTurns must be at least 1"),
            ("disable_timeout excludes timeout_ms", "disableTimeout excludes timeoutMs"),
            ("unknown process_id: process_id", "unknown processId: process_id"),
            ("no tool exit_plan_mode", "no tool exit_plan_mode"),
            ("", ""),
        ] {
            assert_eq!(spelled(message), shown);
        }
    }

    #[test]
    fn each_member_is_spelled_as_the_rest_of_the_dialect_is() {
        for (name, spelling) in MEMBERS {
            let mut words = name.split('_');
            let first = words.next().unwrap_or_default().to_owned();
            let rest = words.map(|word| word[..1].to_uppercase() + &word[1..]);
            assert_eq!(rest.fold(first, |all, word| all + &word), **spelling);
        }
    }
}
