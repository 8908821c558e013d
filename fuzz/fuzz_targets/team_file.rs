//! Files of teams, which other programs may write: understood or refused with a reason. What is understood
//! is the same after it was written and read again, and its first member is its lead.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_teams::{Role, file};

fuzz_target!(|input: &[u8]| {
    match file::read(input) {
        Ok(team) => {
            assert_eq!(team.members[0].role, Role::Lead);
            assert_eq!(team.members[0].thread, team.lead);
            let written = file::write(&team).unwrap();
            assert_eq!(file::read(&written), Ok(team));
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
});
