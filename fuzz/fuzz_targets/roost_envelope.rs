//! Requests of the Roost dialect: any line is a request or a complaint that can be answered, and the
//! params of any operation decode or are refused with a code of the list.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_roost::envelope;
use rookery_roost::params::Fields;
use rookery_roost::wire::agent::AgentReport;
use rookery_roost::wire::envelope::Incoming;
use rookery_roost::wire::palette::PalettePresent;
use rookery_roost::wire::selection::SelectionSet;
use rookery_roost::wire::tab::{TabOpen, TabWrite};

fuzz_target!(|input: &[u8]| {
    let _ = Incoming::parse(input);
    let Ok(request) = envelope::parse(input) else { return };
    let params = request.params;
    let _ = Fields::of::<TabOpen>().decode::<TabOpen>(params);
    let _ = Fields::of::<TabWrite>().decode::<TabWrite>(params);
    let _ = Fields::of::<AgentReport>().decode::<AgentReport>(params);
    let _ = Fields::of::<PalettePresent>().decode::<PalettePresent>(params);
    let _ = Fields::of::<SelectionSet>().decode::<SelectionSet>(params);
});
