//! Running a few lines of Lua as a plugin would.

use std::time::Duration;

use rookery_plugins::{Instance, Kind, Limits, Manifest, Permission, Plugin, PluginError, Runtime};
use serde_json::{Value, json};

pub(crate) fn manifest(permissions: &[Permission]) -> Manifest {
    Manifest {
        name: "x".into(),
        kind: Kind::Adapter,
        version: "1".into(),
        runtime: Some(Runtime::Lua),
        entrypoint: Some("plugin.lua".into()),
        permissions: permissions.to_vec(),
        default_target: None,
    }
}

pub(crate) fn start(source: &str) -> Instance {
    let plugin = Plugin::from_source(manifest(&Permission::ALL), source).unwrap();
    Instance::start(&plugin, limits()).unwrap()
}

/// Room enough for a slow build to hit the limit that is meant.
pub(crate) fn limits() -> Limits {
    Limits { time: Duration::from_secs(60), ..Limits::default() }
}

/// A plugin with one function, whose body is given and whose results come back as a list.
pub(crate) fn vm(body: &str) -> Instance {
    start(&format!(
        "local function body(p)\n{body}\nend\n\
         return {{ f = function(p) return {{ type = 'x', value = table.pack(body(p)) }} end,\n\
         g = function() return {{ type = 'x', value = {{ n = 1, [1] = 'alive' }} }} end }}"
    ))
}

pub(crate) fn call(vm: &mut Instance) -> Result<Vec<Value>, PluginError> {
    let value = vm.matcher("f", &json!({}))?["value"].take();
    let count = value["n"].as_u64().unwrap();
    Ok((1..=count).map(|index| value[index.to_string()].clone()).collect())
}

/// What the body returns.
pub(crate) fn run(body: &str) -> Vec<Value> {
    call(&mut vm(body)).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// How the body fails; afterwards the VM must still work.
pub(crate) fn fails(body: &str) -> String {
    let mut vm = vm(body);
    let error = call(&mut vm).expect_err(body).to_string();
    assert_eq!(vm.matcher("g", &json!({})).unwrap()["value"]["1"], json!("alive"));
    error
}
