//! The world as the store has it.

use rookery_agent::policy::parse_mode;
use rookery_model::{Mode, ViewerId};
use rookery_store::Loaded;

use super::{Active, Handled, Shared, Table, Tabs, World};
use crate::core::CoreConfig;
use crate::queue::Items;
use crate::threads::ThreadState;
use crate::workspace::read_layout;

/// What was kept as text beside the tables.
pub(crate) struct StoredValues {
    pub(crate) mode: Option<String>,
    pub(crate) asking: Option<String>,
}

impl World {
    /// The world as it was stored.
    pub(crate) fn from_loaded(loaded: Loaded, config: &CoreConfig, words: StoredValues) -> World {
        let default = &config.agent.settings.policy.default;
        let kept = words.mode.as_deref().and_then(parse_mode);
        let mode = kept.unwrap_or(default.value);
        let spelled = [words.asking, words.mode, Some(default.spelling.to_owned())];
        let asking_spelling =
            spelled.into_iter().flatten().find(|word| parse_mode(word) == Some(Mode::Default));
        let terminals: Tabs = loaded.terminals.into_iter().collect();
        let selected = loaded.active.and_then(|id| terminals.get(&id));
        let project = selected.map(|terminal| terminal.project).or(loaded.active_project);
        let active = Active { project, terminal: loaded.active };
        let shown_on = terminals.values().flat_map(|terminal| {
            terminal.activity.requests.iter().map(|request| (*request, terminal.id))
        });
        let shown_on = shown_on.collect();
        let layouts = loaded.layouts.into_iter().map(|(id, text)| (id, read_layout(&text)));
        let mut world = World {
            projects: Shared::new(loaded.projects),
            terminals,
            active,
            viewers: Table::default(),
            last_viewer: ViewerId::new(0),
            desk: None,
            tab_history: Default::default(),
            window_focus: None,
            layouts: layouts.collect(),
            next_project: loaded.next_project,
            next_terminal: loaded.next_terminal,
            next_event: loaded.next_event,
            shares_ids: config.shares_ids,
            threads: loaded.threads.into_iter().map(|t| (t.id, ThreadState::new(t))).collect(),
            requests: loaded.requests.into_iter().collect(),
            shown_on,
            settled: loaded.settled.into_iter().map(|request| (request.id, request)).collect(),
            acted_on: Default::default(),
            queue: Items::default(),
            timeline: Table::default(),
            reviews: Default::default(),
            checkpoints: Table::default(),
            handoffs: Table::default(),
            handled: Handled::default(),
            tasks: loaded.tasks.into_iter().map(|task| (task.id, task)).collect(),
            unfinished: Shared::default(),
            last_order: 0,
            parked: Shared::default(),
            mode,
            client_modes: Shared::default(),
            asking_spelling,
        };
        for record in loaded.records {
            world.put(record);
        }
        world
    }
}
