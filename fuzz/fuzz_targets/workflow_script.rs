//! Workflow scripts that any repository may have: read or refused with a reason, without running an
//! agent. What is read has a name, short phases, and the same metadata when it is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_scripts::{Limits, Script};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    // What stands at the top of the first form is run, which takes too long here.
    if text.contains("workflow.define") {
        return;
    }
    match Script::read(&text) {
        Ok(script) => {
            assert!(!script.name.trim().is_empty());
            assert!(script.phases.iter().all(|phase| !phase.title.trim().is_empty()));
            assert!(Limits::default().lowered(script.limits.as_ref()).is_ok());
            assert_eq!(Script::read(&text).map(|again| again.hash), Ok(script.hash));
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
});
