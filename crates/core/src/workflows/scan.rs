//! Reading many scripts within a time, whatever they do: what was read once is not read again.
//!
//! Reading a script may run what stands at its top, so that a folder of them could hold up whoever lists it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rookery_scripts::{Script, hash};

/// How long a scan may take; what is left over then is not looked at.
const WHOLE: Duration = Duration::from_secs(5);
/// How long what stands at the top of one script may run in a scan.
const EACH: Duration = Duration::from_millis(500);
/// How long it is kept that a script cannot be read: the machine may have been busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// Scripts that are kept.
const MOST: usize = 1_000;
/// What is said of a script that was not looked at.
const LEFT_OVER: &str = "not looked at: the scripts before it took too long; list them again";

/// What came of reading a script, and when.
struct Known {
    read: Result<Script, String>,
    at: Instant,
}

/// Scripts that were read, by the hash of their text.
#[derive(Default)]
pub(super) struct Scripts(Mutex<HashMap<String, Known>>);

/// One look at all scripts.
pub(super) struct Scan<'a> {
    known: &'a Scripts,
    until: Instant,
}

impl Scripts {
    pub(super) fn scan(&self) -> Scan<'_> {
        Scan { known: self, until: Instant::now() + WHOLE }
    }
}

impl Scan<'_> {
    /// Whether there is no more time.
    pub(super) fn check(&self) -> Result<(), String> {
        if Instant::now() < self.until { Ok(()) } else { Err(LEFT_OVER.to_owned()) }
    }

    /// Reads a script, or says what is known of it.
    pub(super) fn read(&self, text: &str) -> Result<Script, String> {
        let name = hash(text.as_bytes());
        if let Some(known) = self.known.0.lock().get(&name)
            && (known.read.is_ok() || known.at.elapsed() < PATIENCE)
        {
            return known.read.clone();
        }
        self.check()?;
        let read = Script::read_within(text, EACH).map_err(|error| error.to_string());
        let mut all = self.known.0.lock();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(name, Known { read: read.clone(), at: Instant::now() });
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "export const meta = { name: 'a', description: 'd' }\nreturn 'x'";
    const ENDLESS: &str = "while (true) {}; workflow.define({ name: 'b' }, () => 'x')";

    #[test]
    fn a_script_that_does_not_end_is_looked_at_once() {
        let scripts = Scripts::default();
        let scan = scripts.scan();
        let why = scan.read(ENDLESS).unwrap_err();
        assert!(why.contains("ran for 0.5 s"), "{why}");
        assert_eq!(scan.read(ENDLESS).unwrap_err(), why);
        assert_eq!(scan.read(GOOD).unwrap().name, "a");
        // Without time, what is known is said all the same.
        let late = Scan { known: &scripts, until: Instant::now() };
        assert_eq!(late.read(GOOD).unwrap().name, "a");
        assert_eq!(late.read(ENDLESS).unwrap_err(), why);
        assert_eq!(late.read(&format!("{GOOD} ")).unwrap_err(), LEFT_OVER);
    }
}
