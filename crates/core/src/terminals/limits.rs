//! Bounds on terminals, as the user sets them.

/// Bounds on terminals.
#[derive(Clone, Debug)]
pub struct TerminalLimits {
    /// Terminals at once, ended ones included.
    pub max_terminals: usize,
    /// Rows of scrollback of a terminal that asks for nothing else.
    pub scrollback: usize,
    /// Most rows of scrollback a terminal may ask for.
    pub max_scrollback: usize,
    /// Bytes of the ring of a terminal that asks for nothing else.
    pub ring_bytes: u64,
    /// Characters of transcript of a terminal that asks for nothing else.
    pub transcript_chars: usize,
    /// Ended terminals that are kept; beyond that the oldest is closed.
    pub keep_exited: usize,
    /// Bytes that a terminal sent to its child by itself, kept for those who check it; 0 for none.
    pub captured_input: usize,
}

impl Default for TerminalLimits {
    fn default() -> Self {
        TerminalLimits {
            max_terminals: 2_000,
            scrollback: 10_000,
            max_scrollback: 200_000,
            ring_bytes: 1 << 20,
            transcript_chars: 131_072,
            keep_exited: 200,
            captured_input: 0,
        }
    }
}
