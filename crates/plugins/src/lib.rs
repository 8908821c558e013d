//! Plugins: what reads a program's screen and says what state it is in and what to type.
