//! The stored form of assignments.

use rookery_model::{Assignment, Bounds, Prices, Reach, Role, ToolGroup, ToolSort, Unasked};

use super::thread::{maybe, texts, thread_id};
use super::*;

fn role() -> impl Strategy<Value = Role> {
    use ToolSort::*;
    let sort = prop::sample::select(vec![Read, Edit, Command, Mcp, Roles]);
    let group = (sort, maybe()).prop_map(|(sort, files)| ToolGroup { sort, files });
    (text(), text(), text(), maybe(), maybe(), vec(group, 0..3)).prop_map(
        |(slug, name, definition, instructions, when_to_use, groups)| Role {
            slug,
            name,
            definition,
            instructions,
            when_to_use,
            groups,
        },
    )
}

fn unasked() -> impl Strategy<Value = Unasked> {
    let reach = || prop::sample::select(vec![Reach::Nowhere, Reach::Workspace, Reach::Anywhere]);
    let limits = any::<[Option<u64>; 3]>();
    (any::<[bool; 6]>(), reach(), reach(), texts(), texts(), limits).prop_map(
        |(may, reads, writes, allowed_commands, denied_commands, limits)| Unasked {
            is_on: may[0],
            reads,
            writes,
            protected_writes: may[1],
            mcp: may[2],
            roles: may[3],
            delegations: may[4],
            commands: may[5],
            allowed_commands,
            denied_commands,
            answers_after: limits[0],
            max_calls: limits[1],
            max_cost: limits[2],
        },
    )
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let numbers = (option::of(any::<u64>()), option::of(any::<u64>()), option::of(any::<u64>()));
    (texts(), any::<bool>(), texts(), numbers).prop_map(
        |(disabled_tools, no_mcp, long_commands, numbers)| Bounds {
            disabled_tools,
            no_mcp,
            command_seconds: numbers.0,
            long_commands,
            failures_in_a_row: numbers.1,
            between_calls: numbers.2,
        },
    )
}

pub(super) fn assignment() -> impl Strategy<Value = Assignment> {
    let prices = any::<[u64; 4]>().prop_map(|[input, output, cached, cache_creation]| Prices {
        input,
        output,
        cached,
        cache_creation,
    });
    let roles = (option::of(role()), vec(role(), 0..3));
    let texts = (maybe(), text());
    (roles, unasked(), bounds(), option::of(thread_id()), option::of(prices), texts).prop_map(
        |((role, roles), unasked, bounds, lead, prices, (instructions, settings))| Assignment {
            role,
            roles,
            unasked,
            bounds,
            lead,
            prices,
            instructions,
            settings,
        },
    )
}

/// Stored by released versions: this line must be readable for ever.
#[test]
fn the_format_of_assignments_is_stable() {
    let thread = concat!(
        r#"{"id":"0192d3c4-0000-7abc-8def-0123456789ab","created_at":1,"updated_at":2,"#,
        r#""choice":{"provider":"mock","model":"m"},"cwd":"/a","root":"/a","#,
        r#""assignment":{"role":{"slug":"s","groups":[{"sort":"edit","files":"x"}]},"#,
        r#""unasked":{"is_on":true,"reads":"workspace","max_cost":3},"#,
        r#""lead":"0192d3c4-0001-7abc-8def-0123456789ab","settings":"{}","later":1}}"#,
    );
    let set = thread_from_json(thread).unwrap().assignment.unwrap();
    let role = set.role.unwrap();
    let groups = [ToolGroup { sort: ToolSort::Edit, files: Some("x".to_owned()) }];
    assert_eq!((role.slug.as_str(), role.groups.as_slice()), ("s", groups.as_slice()));
    let unasked =
        Unasked { is_on: true, reads: Reach::Workspace, max_cost: Some(3), ..Unasked::default() };
    assert_eq!(set.unasked, unasked);
    assert_eq!(set.bounds, Bounds::default(), "it is older than bounds");
    assert_eq!(set.lead.unwrap().to_string(), "0192d3c4-0001-7abc-8def-0123456789ab");
    assert_eq!(set.settings, "{}");
}
