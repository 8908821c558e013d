//! Vectors: conversations as data, one JSON object per line, held with the real stack.
//!
//! The first line is `{"name": …, "endpoint": "rookery"}`. Then, each a line of its own:
//! `{"send": JSON}` or `{"send": "raw text"}`, `{"expect": PATTERN}`,
//! `{"expect_unordered": [PATTERN, …]}`, `{"until": {"send": JSON, "expect": PATTERN}}`,
//! `{"expect_eof": true}`, `{"disconnect": true}` and `{"comment": "…"}`.
//! With `"on": 1` beside it a step is done on another connection. `"test_mode": true` in the first
//! line allows operations for tests.
//! What a pattern may be is said in [`pattern`]. `$home` stands for the home of the daemon, `$here`
//! for the folder of the script.

mod coverage;
pub mod pattern;
mod run;
mod script;
mod viewers;

pub use coverage::{Coverage, Verdict};
pub use run::{Message, Record, record, run, run_before_viewers};
pub use script::{Script, Step, StepKind};
