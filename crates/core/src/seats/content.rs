//! The facts behind each frame of the palette.

use rookery_host::git_metrics;
use rookery_model::{Owner, Terminal, TerminalId};
use rookery_view::palette::{AgentInput, Content, Frame, InboxEntry, Metrics};

use crate::clock;
use crate::rooms::Seats;

impl Seats {
    /// What a frame shows now. None for frames that others fill.
    pub(super) async fn content(&self, frame: Frame) -> Option<Content> {
        // Launcher and providers come from a file that the user may just have saved.
        if matches!(frame, Frame::Launcher | Frame::Custom | Frame::Commands) {
            self.reload_settings().await;
        }
        Some(match frame {
            Frame::Commands => Content::Commands {
                notifications: self.core.workspace().inbox().len(),
                has_providers: !self.providers().await.is_empty(),
            },
            Frame::Launcher => {
                Content::Launcher(self.core.inner.seats.state.lock().settings.commands.clone())
            }
            Frame::Custom => Content::Custom(self.providers().await),
            Frame::Themes => {
                let state = self.core.inner.seats.state.lock();
                let active = state.themes.get(&state.settings.theme).name;
                Content::Themes { names: state.themes.names(), active }
            }
            Frame::Fonts => self.fonts().await,
            Frame::Notifications => self.notifications(),
            Frame::Agents => {
                self.change_seat(|seat| seat.metrics.clear());
                self.agent_rows()
            }
            Frame::Present | Frame::Provider(_) => return None,
        })
    }

    async fn fonts(&self) -> Content {
        let mut families = match self.core.inner.seats.config.fonts {
            Some(find) => tokio::task::spawn_blocking(find).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let active =
            self.core.inner.seats.state.lock().settings.font_family.clone().unwrap_or_default();
        if !active.is_empty() && !families.contains(&active) {
            families.push(active.clone());
        }
        families.sort_by_key(|family| family.to_lowercase());
        families.dedup();
        Content::Fonts { families, active }
    }

    fn notifications(&self) -> Content {
        let rows =
            self.core.workspace().inbox().into_iter().map(|(project, tab, pending)| InboxEntry {
                tab: tab.id,
                project: project.name,
                tab_title: tab.title().into_owned(),
                body: pending.text.body,
            });
        Content::Notifications(rows.collect())
    }

    fn agent_rows(&self) -> Content {
        self.find_metrics();
        let metrics = self.look_at_seat(|seat| seat.metrics.clone());
        let known = |tab: TerminalId| metrics.get(&tab).copied().flatten();
        Content::Agents { tabs: self.agent_inputs(known), now: clock::wall() }
    }

    /// Every tab as the lists of agents want it.
    pub(super) fn agent_inputs(
        &self,
        metrics: impl Fn(TerminalId) -> Option<Metrics>,
    ) -> Vec<AgentInput> {
        let workspace = self.core.workspace().tree();
        let inputs = workspace.projects.into_iter().flat_map(|group| {
            let metrics = &metrics;
            let (name, position) = (group.project.name, group.project.position);
            group.tabs.into_iter().map(move |tab| AgentInput {
                tab: tab.id,
                project: name.clone(),
                project_position: i64::from(position),
                tab_position: i64::from(tab.position),
                tab_title: tab.title().into_owned(),
                metrics: metrics(tab.id),
                activity: tab.activity,
            })
        });
        inputs.collect()
    }

    /// Finds out what agents have changed, each once; what is found shows with the next look.
    fn find_metrics(&self) {
        let tabs = self.core.workspace().tree().projects.into_iter().flat_map(|group| group.tabs);
        let is_agent = |tab: &Terminal| tab.activity.owner.as_ref().is_some_and(Owner::is_agent);
        for tab in tabs.filter(is_agent).take(MOST_METRICS) {
            if self.look_at_seat(|seat| seat.metrics.contains_key(&tab.id)) {
                continue;
            }
            self.change_seat(|seat| seat.metrics.insert(tab.id, None));
            let seats = self.clone();
            self.core.inner.runtime.spawn(async move {
                let found = git_metrics::changes(tab.cwd()).await;
                let metrics = found.map_or(Metrics::Nothing, |changes| Metrics::Changed {
                    files: changes.files,
                    added: changes.added,
                    removed: changes.deleted,
                });
                seats.change_seat(|seat| seat.metrics.insert(tab.id, Some(metrics)));
            });
        }
    }

    /// Brings frames that show the world up to date.
    pub(super) fn refresh_palette(&self) {
        let (has_agents, has_notifications) = self.look_at_seat(|seat| {
            (seat.palette.has(Frame::Agents), seat.palette.has(Frame::Notifications))
        });
        let agents = has_agents.then(|| self.agent_rows());
        let notifications = has_notifications.then(|| self.notifications());
        for content in [agents, notifications].into_iter().flatten() {
            // Rows of the world change nothing that must be carried out.
            // They are no news either: whoever shows them heard of the change before.
            let seat = self.seat();
            let mut state = self.core.inner.seats.state.lock_quietly();
            drop(state.seat_mut(seat).palette.refresh(&content));
        }
    }
}

/// Repositories looked at for one list.
const MOST_METRICS: usize = 64;
