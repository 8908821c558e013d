//! Scripts of the first form, whose metadata is what their top computes: read or refused with a reason, within
//! the time that is given, without running an agent.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rookery_scripts::{Form, Limits, Script};

/// How long what stands at the top may run.
const LONGEST: Duration = Duration::from_millis(20);

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    // Most inputs would define nothing: they are what the metadata and the top consist of as well.
    let defined = format!("workflow.define({{ name: 'x', {text} }}, async (ctx) => ctx.run.id)");
    for source in [text.as_ref(), defined.as_str()] {
        match Script::read_within(source, LONGEST) {
            Ok(script) => {
                assert!(!script.name.trim().is_empty());
                assert!(script.phases.iter().all(|phase| !phase.title.trim().is_empty()));
                assert!(Limits::default().lowered(script.limits.as_ref()).is_ok());
                assert!(script.form == Form::Defined || source.trim_start().starts_with("export"));
            }
            Err(error) => assert!(!error.message.is_empty()),
        }
    }
});
