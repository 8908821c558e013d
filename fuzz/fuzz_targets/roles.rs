//! Files of roles that any repository may have: understood or refused with a reason. What is understood
//! has a usable slug, each once, and each of its groups once.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use rookery_agent::roles::read_all;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (roles, warnings) = read_all(&text);
    assert!(warnings.iter().all(|warning| !warning.is_empty()));
    let mut slugs = HashSet::new();
    for role in &roles {
        let is_slug = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        assert!(!role.slug.is_empty() && role.slug.bytes().all(is_slug));
        assert!(slugs.insert(&role.slug));
        assert!(!role.name.trim().is_empty() && !role.definition.trim().is_empty());
        let sorts: HashSet<_> = role.groups.iter().map(|group| group.sort).collect();
        assert_eq!(sorts.len(), role.groups.len());
    }
});
