//! Judges what a tool wants to do: allowed, asked for or denied, and why. Parses and does not guess.
