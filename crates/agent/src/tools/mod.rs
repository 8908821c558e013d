//! One file for each built-in tool, and the table of them all.
