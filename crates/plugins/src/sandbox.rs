//! The VM in which a plugin runs: what it can reach, and what it cannot.
//!
//! Whatever in Lua's libraries could run without being counted, reach the machine or get around a limit is
//! replaced: patterns by Rust ([`crate::pattern`]), the rest by `prelude.lua`, whose instructions are counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use mlua::{
    ChunkMode, IntoLuaMulti as _, Lua, LuaOptions, MultiValue, StdLib, Table, Value as LuaValue,
};

use crate::convert::to_lua;
use crate::error::{Failure, plain_text};
use crate::keys::KEY_NAMES;
use crate::limits::{Limit, Meter};
use crate::manifest::Manifest;
use crate::pattern::{Capture, Found, PatternError, Search, find_plain, is_plain, replace};
use crate::values::{Context, PredicateInput};

const PRELUDE: &str = include_str!("prelude.lua");
const KIT: &str = include_str!("kit.lua");

/// How many steps of a pattern cost as much as one instruction.
const STEPS_PER_INSTRUCTION: u64 = 8;

/// How many bytes looked at for a plain text cost as much as one instruction.
const BYTES_PER_INSTRUCTION: u64 = 128;

/// How many lines one call may log, and how long each may be, in bytes.
const MAX_LINES: u64 = 50;
const MAX_LINE: usize = 500;

/// The longest string that is built outside of Lua's own memory.
const MAX_BUILT: usize = 16 << 20;

/// Makes a VM that has only what a plugin may have.
pub(crate) fn build(manifest: &Manifest, meter: &Arc<Meter>) -> mlua::Result<Lua> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
    let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
    let native = lua.create_table()?;
    add_limits(&lua, &native, meter)?;
    add_patterns(&lua, &native, meter)?;
    add_log(&lua, &native, meter, &manifest.name)?;
    add_kit(&lua, &native, meter)?;
    let permissions = lua.create_table()?;
    for permission in &manifest.permissions {
        permissions.raw_set(permission.name(), true)?;
    }
    lua.load(PRELUDE).set_name("=sandbox").into_function()?.call::<()>((native, permissions))?;
    Ok(lua)
}

/// What looks at limits: paying for work in advance, and errors that were caught.
fn add_limits(lua: &Lua, native: &Table, meter: &Arc<Meter>) -> mlua::Result<()> {
    let counted = Arc::clone(meter);
    // Over the limit, the hook ends the call at the next instruction.
    let charge =
        lua.create_function(move |lua, cost: u64| Ok(counted.charge(lua, cost).is_ok()))?;
    native.raw_set("charge", charge)?;
    let watched = Arc::clone(meter);
    native.raw_set(
        "caught",
        lua.create_function(move |lua, problem: LuaValue| caught(lua, &watched, problem))?,
    )?;
    let get = lua.create_function(|_, table: Table| Ok(table.metatable()))?;
    native.raw_set("get_metatable", get)?;
    let set = lua.create_function(|_, (table, metatable): (Table, Option<Table>)| {
        table.set_metatable(metatable)
    })?;
    native.raw_set("set_metatable", set)
}

/// What a plugin sees of an error that it caught: a host's error as its text, and memory that ran out never.
fn caught(lua: &Lua, meter: &Arc<Meter>, problem: LuaValue) -> mlua::Result<LuaValue> {
    let exhausted = match &problem {
        LuaValue::Error(error) => Failure::from((**error).clone()) == Failure::Limit(Limit::Memory),
        LuaValue::String(text) => text.as_bytes() == b"not enough memory".as_slice(),
        _ => false,
    };
    if exhausted {
        meter.trip(lua, Limit::Memory)?;
        return Ok(LuaValue::Nil);
    }
    match &problem {
        LuaValue::Error(error) => Ok(LuaValue::String(lua.create_string(plain_text(error))?)),
        _ => Ok(problem),
    }
}

/// The functions behind `string.find` and its relatives.
///
/// They answer `true` and what was found, nothing, or `false` and what is wrong: raising the error is left to
/// the prelude, which knows the plugin's line.
fn add_patterns(lua: &Lua, native: &Table, meter: &Arc<Meter>) -> mlua::Result<()> {
    type Text = mlua::String;
    let paid = Arc::clone(meter);
    let find = lua.create_function(
        move |lua, (text, pattern, from, plain): (Text, Text, usize, bool)| {
            let (bytes, pattern) = (text.as_bytes(), pattern.as_bytes());
            if from > bytes.len() {
                return Ok(MultiValue::new());
            }
            let found = if plain || is_plain(&pattern) {
                find_exactly(lua, &paid, &bytes, &pattern, from)
            } else {
                search(lua, &paid, &bytes, &pattern, |search| search.find(from))
            };
            answer(lua, &bytes, found, Shape::Place)
        },
    )?;
    native.raw_set("find", find)?;

    let paid = Arc::clone(meter);
    let first = lua.create_function(move |lua, (text, pattern, from): (Text, Text, usize)| {
        let (bytes, pattern) = (text.as_bytes(), pattern.as_bytes());
        if from > bytes.len() {
            return Ok(MultiValue::new());
        }
        let found = search(lua, &paid, &bytes, &pattern, |search| search.find(from));
        answer(lua, &bytes, found, Shape::Values)
    })?;
    native.raw_set("match", first)?;

    let paid = Arc::clone(meter);
    type Step = (Text, Text, usize, Option<usize>, bool, bool);
    let step = lua.create_function(
        move |lua, (text, pattern, from, last, anchored, first_only): Step| {
            let (bytes, pattern) = (text.as_bytes(), pattern.as_bytes());
            let found =
                search(lua, &paid, &bytes, &pattern, |search| search.next(from, last, anchored));
            answer(
                lua,
                &bytes,
                found,
                if first_only { Shape::PlaceAndFirst } else { Shape::PlaceAndValues },
            )
        },
    )?;
    native.raw_set("step", step)?;

    let paid = Arc::clone(meter);
    let replaced =
        lua.create_function(move |lua, (text, pattern, by, most): (Text, Text, Text, i64)| {
            let (bytes, pattern, by) = (text.as_bytes(), pattern.as_bytes(), by.as_bytes());
            let most = u64::try_from(most).unwrap_or(0);
            match search(lua, &paid, &bytes, &pattern, |search| {
                replace(search, &by, most, MAX_BUILT)
            }) {
                Ok((text, count)) => (true, lua.create_string(text)?, count).into_lua_multi(lua),
                Err(why) => (false, why).into_lua_multi(lua),
            }
        })?;
    native.raw_set("replace", replaced)
}

/// Lets a search run on what is left of the budget, and takes off what it used.
fn search<T>(
    lua: &Lua,
    meter: &Arc<Meter>,
    text: &[u8],
    pattern: &[u8],
    work: impl FnOnce(&mut Search<'_>) -> Result<T, PatternError>,
) -> Result<T, String> {
    let steps = meter.left().saturating_mul(STEPS_PER_INSTRUCTION);
    let late = || meter.late();
    let mut search = Search::new(text, pattern, steps, &late);
    let outcome = work(&mut search);
    let used = (steps - search.steps_left()) / STEPS_PER_INSTRUCTION;
    let limit = match outcome {
        Ok(value) => match meter.charge(lua, used) {
            Ok(()) => return Ok(value),
            Err(limit) => limit,
        },
        Err(PatternError::Malformed(why)) => return Err(why),
        Err(PatternError::Budget) => Limit::Instructions,
        Err(PatternError::Late) => Limit::Time,
        Err(PatternError::TooLong) => Limit::Memory,
    };
    meter.trip(lua, limit).map_err(|error| error.to_string())?;
    Err(limit.to_string())
}

/// Finds a text that is no pattern; linear, so it is cheap.
fn find_exactly(
    lua: &Lua,
    meter: &Arc<Meter>,
    text: &[u8],
    needle: &[u8],
    from: usize,
) -> Result<Option<Found>, String> {
    let found = find_plain(text, needle, from);
    let seen = found.unwrap_or(text.len()) - from;
    meter.charge(lua, seen as u64 / BYTES_PER_INSTRUCTION).map_err(|limit| limit.to_string())?;
    Ok(found.map(|start| Found { start, end: start + needle.len(), captures: Vec::new() }))
}

/// What is reported of a match.
#[derive(Clone, Copy)]
enum Shape {
    /// Where it is, counted from 1, and the captures if there are any.
    Place,
    /// The captures, or the whole match.
    Values,
    /// Where it is, counted from 0, and the captures or the whole match.
    PlaceAndValues,
    /// The same with the first capture only.
    PlaceAndFirst,
}

fn answer(
    lua: &Lua,
    text: &[u8],
    found: Result<Option<Found>, String>,
    shape: Shape,
) -> mlua::Result<MultiValue> {
    let found = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(MultiValue::new()),
        Err(why) => return (false, why).into_lua_multi(lua),
    };
    let mut values = vec![LuaValue::Boolean(true)];
    match shape {
        Shape::Place => values.extend([number(found.start + 1), number(found.end)]),
        Shape::PlaceAndValues | Shape::PlaceAndFirst => {
            values.extend([number(found.start), number(found.end)])
        }
        Shape::Values => {}
    }
    let shown = match shape {
        Shape::Place => found.captures.len(),
        Shape::Values | Shape::PlaceAndValues => found.captures.len().max(1),
        Shape::PlaceAndFirst => 1,
    };
    for capture in (0..shown).filter_map(|index| found.value(index)) {
        values.push(match capture {
            Capture::Span(start, end) => LuaValue::String(lua.create_string(&text[start..end])?),
            Capture::Position(at) => number(at + 1),
            Capture::Open(_) => return (false, "unfinished capture").into_lua_multi(lua),
        });
    }
    Ok(MultiValue::from_vec(values))
}

fn number(value: usize) -> LuaValue {
    LuaValue::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// `print` goes to the log of the host, a few short lines in each call.
fn add_log(lua: &Lua, native: &Table, meter: &Arc<Meter>, plugin: &str) -> mlua::Result<()> {
    let (meter, plugin) = (Arc::clone(meter), plugin.to_owned());
    let log = lua.create_function(move |_, line: mlua::String| {
        if meter.may_log(MAX_LINES) {
            let bytes = line.as_bytes();
            let start = &bytes[..bytes.len().min(MAX_LINE)];
            let text = String::from_utf8_lossy(start).replace(char::is_control, " ");
            tracing::debug!(target: "plugin", plugin, "{text}");
        }
        Ok(())
    })?;
    native.raw_set("log", log)
}

/// What gives `ptywright.kit` the first time a plugin asks for it, so that a VM without it starts as quickly.
///
/// Compiling runs outside of Lua, so it is paid for by length, like `load`.
fn add_kit(lua: &Lua, native: &Table, meter: &Arc<Meter>) -> mlua::Result<()> {
    let meter = Arc::clone(meter);
    let kit = lua.create_function(move |lua, (action, matcher): (Table, Table)| {
        meter.charge(lua, KIT.len() as u64).map_err(mlua::Error::runtime)?;
        let key_names = lua.create_table_from(KEY_NAMES.map(|name| (name, true)))?;
        let kit = lua.load(KIT).set_name("=kit").set_mode(ChunkMode::Text).into_function()?;
        kit.call::<Table>((action, matcher, key_names))
    })?;
    native.raw_set("kit", kit)
}

/// The argument of `classify`.
pub(crate) fn context_table(lua: &Lua, context: &Context<'_>) -> Result<LuaValue, Failure> {
    let table = lua.create_table()?;
    table.raw_set("screen", context.screen)?;
    table.raw_set("body_text", context.body_text)?;
    table.raw_set("status_text", context.status_text)?;
    table.raw_set("transcript", context.transcript)?;
    table.raw_set("sequence", context.sequence)?;
    table.raw_set("completed_turn_stable_ms", context.completed_turn_stable_ms)?;
    table.raw_set("markers", markers(lua, context.markers)?)?;
    table.raw_set("cursor", context.cursor)?;
    table.raw_set("last_intent", context.last_intent)?;
    table.raw_set("stable_ms", context.stable_ms)?;
    table.raw_set("exited", context.exited)?;
    table.raw_set("last_event_seq", context.last_event_seq)?;
    let blocks = lua.create_table_with_capacity(context.blocks.len(), 0)?;
    for (index, block) in context.blocks.iter().enumerate() {
        let shown = lua.create_table()?;
        shown.raw_set("kind", block.kind.name())?;
        shown.raw_set("exit_code", block.exit_code)?;
        blocks.raw_set(index + 1, shown)?;
    }
    table.raw_set("blocks", blocks)?;
    Ok(LuaValue::Table(table))
}

/// The argument of a predicate.
pub(crate) fn predicate_table(lua: &Lua, input: &PredicateInput<'_>) -> Result<LuaValue, Failure> {
    let table = lua.create_table()?;
    table.raw_set("screen", input.screen)?;
    table.raw_set("transcript", input.transcript)?;
    table.raw_set("sequence", input.sequence)?;
    table.raw_set("stable_ms", input.stable_ms)?;
    table.raw_set("process_exited", input.process_exited)?;
    table.raw_set("markers", markers(lua, input.markers)?)?;
    table.raw_set("cursor", input.cursor)?;
    table.raw_set("params", to_lua(lua, input.params)?)?;
    Ok(LuaValue::Table(table))
}

fn markers(lua: &Lua, markers: &BTreeMap<String, u64>) -> mlua::Result<Table> {
    lua.create_table_from(markers.iter().map(|(label, cursor)| (label.as_str(), *cursor)))
}
