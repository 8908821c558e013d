//! The commands as rows of a table: those of the published client first, then those of the schema document,
//! then ours.

use std::future::Future;
use std::pin::Pin;

use rookery_wire::ids::Named;
use rookery_wire::names;
use rookery_wire::rights::Rights;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::context::Cx;
use crate::errors::Failure;
use crate::ops::{self, Outcome};
use crate::wire::{self, Data};

/// A command at work.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;

/// One row of the table.
pub struct Command {
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether the published client has it: then it is answered only if the client names its request.
    pub is_published: bool,
    /// What it asks of its caller.
    pub rights: Rights,
    /// Which members of it carry ids.
    pub names: &'static [Named],
    /// Describes what it says.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Reads what it says, without doing anything.
    pub check: fn(Option<Value>) -> Result<(), Failure>,
    pub(crate) start: fn(Cx, Option<Value>) -> Result<Work, Failure>,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A row: its name, whether the published client has it, what it asks of its caller, which members carry
/// ids, what it says, and `async fn(Cx, Data) -> Result<Outcome, Failure>`.
macro_rules! command {
    ($name:literal, $published:literal, $rights:ident, [$($names:tt)*], $data:ty => $function:path) => {
        Command {
            name: $name,
            is_published: $published,
            rights: Rights::$rights,
            names: names![$($names)*],
            schema: whole::<$data>,
            check: |data| <$data as Data>::read(data).map(drop),
            start: |cx, data| {
                let data = <$data as Data>::read(data)?;
                Ok(Box::pin($function(cx, data)))
            },
        }
    };
}

/// The whole of a command around what it says.
fn whole<D: Data>(generator: &mut SchemaGenerator) -> Schema {
    let data = D::schema(generator);
    json_schema!({ "type": "object", "properties": { "data": data } })
}

/// Every command.
pub static COMMANDS: &[Command] = &[
    command!("StartNewTask", true, FULL, [data.taskId: NoId], wire::StartNewTask => ops::tasks::start),
    command!("CancelTask", true, FULL, [data: Thread], wire::SomeTask => ops::tasks::cancel),
    command!("CloseTask", true, FULL, [data: Thread], wire::SomeTask => ops::tasks::close),
    command!("ResumeTask", true, FULL, [data: Thread], wire::OneTask => ops::tasks::resume),
    command!("SendMessage", true, DECIDE, [data.taskId: Thread], wire::SendMessage => ops::talk::send),
    command!("GetCommands", true, LOOK, [], wire::Nothing => ops::queries::commands),
    command!("GetModes", true, LOOK, [], wire::Nothing => ops::queries::modes),
    command!("GetModels", true, LOOK, [], wire::Nothing => ops::queries::models),
    command!("DeleteQueuedMessage", true, FULL, [], wire::OneText => ops::talk::unqueue),
    command!("GetCurrentTaskStack", false, LOOK, [], wire::Nothing => ops::tasks::stack),
    command!("ClearCurrentTask", false, FULL, [], wire::SomeText => ops::tasks::clear),
    command!("CancelCurrentTask", false, FULL, [], wire::Nothing => ops::tasks::cancel_current),
    command!("PressPrimaryButton", false, DECIDE, [data.taskId: Thread], wire::Press => ops::talk::press_primary),
    command!("PressSecondaryButton", false, DECIDE, [data.taskId: Thread], wire::Press => ops::talk::press_secondary),
    command!("SetConfiguration", false, OWN, [], wire::SetConfiguration => ops::profiles::configure),
    command!("GetConfiguration", false, LOOK, [], wire::Nothing => ops::profiles::configuration),
    command!("IsReady", false, LOOK, [], wire::Nothing => ops::queries::is_ready),
    command!("GetMessages", false, LOOK, [data: Thread], wire::OneTask => ops::queries::messages),
    command!("GetTokenUsage", false, LOOK, [data: Thread], wire::OneTask => ops::queries::usage),
    command!("Log", false, LOOK, [], wire::OneText => ops::queries::log),
    command!("IsTaskInHistory", false, LOOK, [data: Thread], wire::OneTask => ops::queries::is_in_history),
    command!("CreateProfile", false, OWN, [], wire::ProfileData => ops::profiles::create),
    command!("GetProfiles", false, LOOK, [], wire::Nothing => ops::profiles::list),
    command!("SetActiveProfile", false, OWN, [], wire::ProfileData => ops::profiles::activate),
    command!("getActiveProfile", false, LOOK, [], wire::Nothing => ops::profiles::active),
    command!("GetActiveProfile", false, LOOK, [], wire::Nothing => ops::profiles::active),
    command!("DeleteProfile", false, OWN, [], wire::ProfileData => ops::profiles::delete),
    command!("UpdateProfile", false, OWN, [], wire::ProfileData => ops::profiles::update),
    command!("GetProfile", false, LOOK, [], wire::ProfileData => ops::profiles::get),
    command!("GetTaskHistory", false, LOOK, [], wire::Nothing => ops::queries::history),
];

/// The command of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}
