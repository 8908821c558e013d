//! The link: what faces (TUI, window, browser) look through, `rookery/view/*`.
//!
//! A connection that opens a viewer gets frames: the newest state of all that it shows and that changed,
//! two at a time at most, each acknowledged after it was painted. [`METHODS`] is the whole dialect as a
//! table; its types are [`rookery_view::link`]. It knows no socket and no other dialect, and keeps
//! nothing that outlives its connection.

#![deny(clippy::wildcard_enum_match_arm)]

mod context;
mod errors;
mod ids;
mod make;
mod ops;
mod session;

use rookery_wire::{method, rpc::Method};

pub use context::{CloseReason, Cx};
pub use errors::{Error, code, refused};
pub use session::notice_of;

/// Every method of this dialect.
///
/// An endpoint that serves them must not write queued messages before replies (`outbox_first`): the
/// reply to `open` comes before the first frame.
pub static METHODS: &[Method<Cx>] = &[
    method!("rookery/view/open", LOOK, [place.terminal: Terminal, place.item: QueueItem, place.thread: Thread, place.review: Review, place.session: Session] => ops::open::open),
    method!("rookery/view/ack", LOOK, [] => ops::open::ack),
    method!("rookery/view/resync", LOOK, [] => ops::open::resync),
    method!("rookery/view/go", LOOK, [terminal: Terminal, item: QueueItem, thread: Thread, review: Review, session: Session] => ops::place::go),
    method!("rookery/view/act", FULL, [] => ops::place::act),
    method!("rookery/view/key", FULL, [t: Terminal] => ops::input::key),
    method!("rookery/view/text", FULL, [t: Terminal] => ops::input::text),
    method!("rookery/view/preedit", FULL, [t: Terminal] => ops::input::preedit),
    method!("rookery/view/mouse", FULL, [t: Terminal] => ops::input::mouse),
    method!("rookery/view/focus", LOOK, [] => ops::open::focus),
    method!("rookery/view/resize", LOOK, [] => ops::open::resize),
    method!("rookery/view/paste", FULL, [t: Terminal] => ops::input::paste),
    method!("rookery/view/scroll", LOOK, [t: Terminal] => ops::terminal::scroll),
    method!("rookery/view/rows", LOOK, [t: Terminal] => ops::terminal::rows),
    method!("rookery/view/find", LOOK, [t: Terminal] => ops::terminal::find),
    method!("rookery/view/select", LOOK, [t: Terminal] => ops::terminal::select),
    method!("rookery/view/copy", LOOK, [t: Terminal] => ops::terminal::copy),
    method!("rookery/view/linkAt", LOOK, [t: Terminal] => ops::terminal::link_at),
    method!("rookery/view/palette", FULL, [] => ops::place::palette),
    method!("rookery/view/edit", FULL, [] => ops::place::edit),
    method!("rookery/view/confirm", FULL, [] => ops::place::confirm),
    method!("rookery/view/pane", FULL, [t: Terminal, move: Terminal, to: Terminal, break: Terminal] => ops::place::pane),
    method!("rookery/view/picture", FULL, [] => ops::place::picture),
    method!("rookery/view/inbox", LOOK, [] => ops::place::inbox),
    method!("rookery/view/card", LOOK, [item: QueueItem, request: Request] => ops::cards::card),
    method!("rookery/view/diff", LOOK, [review: Review, checkpoint: Checkpoint, with: Checkpoint, request: Request, thread: Thread, item: Item] => ops::cards::differences),
    method!("rookery/view/item", LOOK, [thread: Thread, item: Item] => ops::threads::item),
    method!("rookery/view/prefs", LOOK, [] => ops::place::prefs),
    method!("rookery/view/settings", FULL, [] => ops::place::settings),
    method!("rookery/view/thread/open", LOOK, [thread: Thread] => ops::threads::open),
    method!("rookery/view/thread/older", LOOK, [thread: Thread, before: Item] => ops::threads::older),
    method!("rookery/view/thread/new", DECIDE, [project: Project] => ops::threads::new),
    method!("rookery/view/thread/send", DECIDE, [thread: Thread] => ops::threads::send),
    method!("rookery/view/thread/stop", DECIDE, [thread: Thread] => ops::threads::stop),
    method!("rookery/view/thread/set", FULL, [thread: Thread] => ops::threads::set),
    method!("rookery/view/thread/fork", FULL, [thread: Thread, at: Item] => ops::threads::fork),
    method!("rookery/view/thread/list", LOOK, [after: NoId] => ops::threads::list),
    method!("rookery/view/thread/models", LOOK, [] => ops::threads::models),
    method!("rookery/view/thread/commands", LOOK, [thread: Thread] => ops::threads::commands),
];

#[cfg(test)]
mod tests {
    use rookery_view::link::method;
    use schemars::SchemaGenerator;

    use super::*;

    /// Faces call by that table, so that it has what is served, with the same types.
    #[test]
    fn the_table_of_faces_is_that_of_the_daemon() {
        let names: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
        assert_eq!(names, method::ALL.iter().map(|shapes| shapes.name).collect::<Vec<_>>());
        for (row, shapes) in METHODS.iter().zip(method::ALL) {
            let mut generators = [SchemaGenerator::default(), SchemaGenerator::default()];
            let [served, called] = &mut generators;
            // What takes nothing ignores what it is sent.
            if row.name != method::THREAD_MODELS.name {
                let params = (row.params_schema)(served);
                assert_eq!(params, (shapes.params)(called), "{}", row.name);
            }
            assert_eq!((row.result_schema)(served), (shapes.result)(called), "{}", row.name);
            let [served, called] = generators.each_mut().map(|it| it.take_definitions(true));
            let known =
                |name: &String| row.name != method::THREAD_MODELS.name || served.contains_key(name);
            for (name, shape) in called.iter().filter(|(name, _)| known(name)) {
                assert_eq!(served.get(name), Some(shape), "{}: {name}", row.name);
            }
        }
    }
}
