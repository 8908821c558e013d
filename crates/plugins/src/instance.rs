//! A running plugin: one VM, called one function at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mlua::{Function, Lua, Table, Value as LuaValue};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::convert::{to_json, to_lua};
use crate::error::{Failure, PluginError};
use crate::limits::{Limit, Limits, Meter};
use crate::load::Plugin;
use crate::manifest::Permission;
use crate::sandbox;
use crate::values::{Context, Description, Intent, PredicateInput, State, Verdict};

/// Which permission a returned action needs.
const ACTIONS: [(&str, Permission); 10] = [
    ("text", Permission::InputWrite),
    ("paste", Permission::InputWrite),
    ("bracketed_paste", Permission::InputWrite),
    ("key", Permission::InputWrite),
    ("interrupt", Permission::InputWrite),
    ("eof", Permission::InputWrite),
    ("mark_transcript", Permission::InputWrite),
    ("resize", Permission::SessionResize),
    ("kill", Permission::SessionKill),
    ("signal", Permission::SessionKill),
];

/// One VM that runs one plugin; what the code keeps in its variables lives as long.
///
/// Calls block for at most about [`Limits::time`]. After an error the next call starts with a fresh budget.
#[derive(Debug)]
pub struct Instance {
    plugin: Plugin,
    lua: Lua,
    meter: Arc<Meter>,
    module: Option<Table>,
    broken: bool,
}

impl Instance {
    /// Makes a VM and runs the plugin's code in it; it must return a table.
    pub fn start(plugin: &Plugin, limits: Limits) -> Result<Self, PluginError> {
        let failed = |failure| PluginError::new(&plugin.manifest().name, failure);
        let meter = Meter::new(limits);
        let lua = sandbox::build(plugin.manifest(), &meter).map_err(|error| failed(error.into()))?;
        lua.set_memory_limit(limits.memory).map_err(|error| failed(error.into()))?;
        let mut instance = Self { plugin: plugin.clone(), lua, meter, module: None, broken: false };
        let module = instance.call(|instance| {
            let chunk = instance.lua.load(instance.plugin.source()).set_name(instance.chunk_name());
            Ok(chunk.set_mode(mlua::ChunkMode::Text).into_function()?.call::<Table>(())?)
        })?;
        instance.module = Some(module);
        Ok(instance)
    }

    /// Asks what state the program is in.
    pub fn classify(&mut self, context: &Context<'_>) -> Result<State, PluginError> {
        self.call(|instance| {
            let argument = sandbox::context_table(&instance.lua, context)?;
            decode(to_json(&instance.run("classify", argument)?)?)
        })
    }

    /// Asks what to do for an intent.
    pub fn intent(&mut self, name: &str, params: &Value) -> Result<Intent, PluginError> {
        self.call(|instance| {
            let argument = to_lua(&instance.lua, params)?;
            let intent: Intent = decode(to_json(&instance.run(name, argument)?)?)?;
            intent.actions.iter().try_for_each(|action| instance.check_action(action))?;
            Ok(intent)
        })
    }

    /// Asks what to wait for.
    pub fn matcher(&mut self, name: &str, params: &Value) -> Result<Value, PluginError> {
        self.call(|instance| {
            let argument = to_lua(&instance.lua, params)?;
            let mut matcher = to_json(&instance.run(name, argument)?)?;
            if !matcher.is_object() {
                return Err(Failure::decode("a wait function must return a matcher"));
            }
            mend_lists(&mut matcher);
            Ok(matcher)
        })
    }

    /// Asks whether something holds.
    pub fn predicate(&mut self, name: &str, input: &PredicateInput<'_>) -> Result<Verdict, PluginError> {
        self.call(|instance| {
            let argument = sandbox::predicate_table(&instance.lua, input)?;
            match instance.run(name, argument)? {
                LuaValue::Nil => Ok(Verdict::default()),
                LuaValue::Boolean(matched) => Ok(Verdict { matched, ..Verdict::default() }),
                other => decode(to_json(&other)?),
            }
        })
    }

    /// Asks what the plugin offers, or finds out by the names of its functions.
    pub fn describe(&mut self) -> Result<Description, PluginError> {
        self.call(|instance| match instance.module()?.raw_get("describe")? {
            LuaValue::Function(describe) => decode(to_json(&describe.call(())?)?),
            _ => instance.describe_by_names(),
        })
    }

    fn describe_by_names(&self) -> Result<Description, Failure> {
        let mut names = Vec::new();
        for pair in self.module()?.pairs::<LuaValue, LuaValue>() {
            if let (LuaValue::String(name), LuaValue::Function(_)) = pair? {
                names.push(name.to_string_lossy());
            }
        }
        names.sort_unstable();
        names.retain(|name| name != "classify");
        let (matchers, intents): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name.ends_with("_matcher"));
        let named = |names: Vec<String>| names.into_iter().map(|name| json!({ "name": name })).collect();
        Ok(Description { intents: named(intents), wait_matchers: named(matchers), states: Vec::new() })
    }

    fn module(&self) -> Result<&Table, Failure> {
        self.module.as_ref().ok_or_else(|| Failure::message("the plugin has not been started"))
    }

    fn run(&self, name: &str, argument: LuaValue) -> Result<LuaValue, Failure> {
        match self.module()?.raw_get::<LuaValue>(name)? {
            LuaValue::Function(function) => Ok(Function::call(&function, argument)?),
            other => Err(Failure::message(format!("error converting Lua {} to function", other.type_name()))),
        }
    }

    fn check_action(&self, action: &Value) -> Result<(), Failure> {
        let kind = action.get("type").and_then(Value::as_str).unwrap_or_default();
        match ACTIONS.iter().find(|(name, _)| *name == kind) {
            Some((_, permission)) if !self.plugin.manifest().allows(*permission) => {
                Err(Failure::Denied { action: kind.to_owned(), permission: *permission })
            }
            _ => Ok(()),
        }
    }

    /// Runs one call with a budget of its own. Nothing that happens in it ends the process.
    fn call<T>(&mut self, work: impl FnOnce(&Self) -> Result<T, Failure>) -> Result<T, PluginError> {
        let name = &self.plugin.manifest().name;
        if self.broken {
            return Err(PluginError::new(name, Failure::message("the plugin broke down in an earlier call")));
        }
        let outcome = match self.meter.begin(&self.lua) {
            Ok(()) => catch_unwind(AssertUnwindSafe(|| work(self))),
            Err(error) => Ok(Err(error.into())),
        };
        let failure = match outcome {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(failure)) => self.meter.tripped().map_or(failure, Failure::Limit),
            Err(_) => {
                self.broken = true;
                Failure::message("the plugin broke down")
            }
        };
        if failure == Failure::Limit(Limit::Memory) && !self.broken && self.lua.gc_collect().is_err() {
            self.broken = true;
        }
        Err(PluginError::new(name, failure))
    }

    /// The file's name as Lua shows it in front of messages.
    fn chunk_name(&self) -> String {
        format!("@{}", self.plugin.manifest().entrypoint.as_deref().unwrap_or("plugin.lua"))
    }
}

fn decode<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(Failure::decode)
}

/// `any{}` and `all{}` are lists, although an empty table does not look like one.
fn mend_lists(matcher: &mut Value) {
    let listed = matches!(matcher.get("type").and_then(Value::as_str), Some("any" | "all"));
    let Some(value) = matcher.get_mut("value") else { return };
    match value {
        Value::Object(map) if listed && map.is_empty() => *value = json!([]),
        Value::Array(items) if listed => items.iter_mut().for_each(mend_lists),
        _ => {}
    }
}
