//! Background tasks: submitted, queued, run by an executor, kept with the end of what they wrote.
//!
//! What may follow from what is the machine of `rookery-tasks`; this room is its records (the world and
//! the store), its queue (in memory, made anew from the records at each start) and its one node. It
//! knows no wire. What a task does is its executor's business, see [`executors`].

mod course;
mod executors;
mod follow;
mod lifetimes;
mod log_ring;
mod output;
mod permit;
mod records;
mod restore;
mod room;
mod submit;
mod table;
mod view;

pub use executors::ExecutorInfo;
pub(crate) use room::Room;
pub use room::USUAL_RUNNING_TASKS;
pub use submit::{NewTask, Submitted, TaskSite};
pub(crate) use table::TaskTable;
pub use view::{TaskCancel, TaskPage, TaskQuery};

/// This daemon among nodes; it is the only one.
const NODE: &str = "local";
/// The variable that names a task to its programs.
const ID_VARIABLE: &str = "ROOKERY_TASK_ID";
