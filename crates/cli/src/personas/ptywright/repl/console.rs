//! The Lua side of the console: what it can call, and how values are shown.

use mlua::{Lua, LuaSerdeExt as _, MultiValue, SerializeOptions, Value};
use rookery_wire::{Client, ClientError, client::Notification};
use tokio::{runtime::Handle, sync::mpsc};

use crate::{failure::Outcome, output};

/// Sugar: `session.create{...}` is `call("session.create", {...})`.
const PRELUDE: &str = r#"
local function family(name)
  return setmetatable({}, { __index = function(_, method)
    return function(params) return call(name .. "." .. method, params) end
  end })
end
for _, name in ipairs{"server", "session", "adapter", "plugin"} do _G[name] = family(name) end
"#;

/// Notifications shown after one input; the rest waits for the next.
const SHOWN_AT_ONCE: usize = 100;

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputOutcome {
    /// It needs more lines.
    Incomplete,
    /// Its results were printed.
    Worked,
    /// What is wrong was printed.
    Failed,
}

/// A Lua state that is connected to a server.
pub(super) struct Console {
    lua: Lua,
    notifications: std::cell::RefCell<Option<mpsc::Receiver<Notification>>>,
}

impl Console {
    pub(super) fn new(client: Client, runtime: Handle) -> mlua::Result<Self> {
        let lua = Lua::new();
        let notifications = std::cell::RefCell::new(client.notifications());
        let call = lua.create_function(move |lua, (method, params): (String, Value)| {
            let params = match params {
                Value::Nil => serde_json::json!({}),
                params => lua.from_value(params)?,
            };
            let reply = runtime.block_on(client.call::<_, serde_json::Value>(&method, params));
            lua.to_value_with(&reply.map_err(lua_error)?, plain())
        })?;
        lua.globals().set("call", call)?;
        let print = lua.create_function(|_, values: MultiValue| {
            let words: mlua::Result<Vec<String>> = values.iter().map(Value::to_string).collect();
            print_line(&words?.join("\t"))
        })?;
        lua.globals().set("print", print)?;
        let pp = lua.create_function(|lua, values: MultiValue| {
            values.iter().try_for_each(|value| print_line(&pretty(lua, value)?))
        })?;
        lua.globals().set("pp", pp)?;
        lua.load(PRELUDE).set_name("=prelude").exec()?;
        Ok(Self { lua, notifications })
    }

    /// Runs an input and prints what comes of it.
    pub(super) fn take(&self, input: &str) -> Outcome<InputOutcome> {
        let Some(function) = self.compile(input).transpose() else {
            return Ok(InputOutcome::Incomplete);
        };
        let result = function.and_then(|function| function.call::<MultiValue>(()));
        let took = match result {
            Ok(values) => {
                for value in &values {
                    let text = pretty(&self.lua, value);
                    output::line(text.unwrap_or_else(|error| format!("({error})")))?;
                }
                InputOutcome::Worked
            }
            Err(error) => {
                output::note(format!("error: {}", first_words(&error)));
                InputOutcome::Failed
            }
        };
        self.show_notifications()?;
        Ok(took)
    }

    /// An input as an expression, whose values are shown, else as it is; none if it needs more lines.
    fn compile(&self, input: &str) -> mlua::Result<Option<mlua::Function>> {
        let load = |code: &str| self.lua.load(code).set_name("=input").into_function();
        let is_incomplete = |error: &mlua::Error| {
            matches!(error, mlua::Error::SyntaxError { incomplete_input: true, .. })
        };
        let as_expression = match load(&format!("return {input}")) {
            Ok(function) => return Ok(Some(function)),
            Err(error) => error,
        };
        match load(input) {
            Ok(function) => Ok(Some(function)),
            Err(error) if is_incomplete(&error) || is_incomplete(&as_expression) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn show_notifications(&self) -> Outcome<()> {
        let mut notifications = self.notifications.borrow_mut();
        let Some(notifications) = notifications.as_mut() else { return Ok(()) };
        for _ in 0..SHOWN_AT_ONCE {
            let Ok(notification) = notifications.try_recv() else { break };
            output::line(format!("<- {} {}", notification.method, notification.params.get()))?;
        }
        Ok(())
    }
}

/// Absent values are `nil`, so that they can be tested for.
fn plain() -> SerializeOptions {
    SerializeOptions::new().serialize_none_to_null(false).serialize_unit_to_null(false)
}

fn lua_error(error: ClientError) -> mlua::Error {
    let text = match error {
        ClientError::Rpc(error) => format!("{} ({})", error.message, error.code),
        other => other.to_string(),
    };
    mlua::Error::runtime(text)
}

/// The error without the stack, which shows nothing but the console itself.
fn first_words(error: &mlua::Error) -> String {
    match error {
        mlua::Error::CallbackError { cause, .. } => first_words(cause),
        other => {
            let text = other.to_string();
            text.split("\nstack traceback").next().unwrap_or_default().to_owned()
        }
    }
}

/// Tables as JSON where they can be, everything else as Lua writes it.
fn pretty(lua: &Lua, value: &Value) -> mlua::Result<String> {
    if let Value::Table(_) = value
        && let Ok(json) = lua.from_value::<serde_json::Value>(value.clone())
        && let Ok(text) = serde_json::to_string_pretty(&json)
    {
        return Ok(text);
    }
    value.to_string()
}

fn print_line(text: &str) -> mlua::Result<()> {
    output::line(text).map_err(|_| mlua::Error::runtime("the output was closed"))
}
