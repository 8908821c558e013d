//! What hooks and agents say about the terminal they run in.

use std::collections::BTreeMap;

use rookery_model::{
    Activity, Event, Lifecycle, NotificationText, Owner, Result, RunState, Source, Terminal,
    TerminalId, Timestamp,
};

use crate::clock;
use crate::rooms::Workspace;
use crate::secrets;
use crate::world::Tx;

/// What a report does about who speaks for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnershipAction {
    /// The reporter speaks for it from now on, whoever did before.
    Claim,
    /// Only the owner may speak.
    Preserve,
    /// The owner gives it back.
    Release,
}

/// What a report does about the user's attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attention {
    /// The user should look.
    Set(NotificationText),
    /// Nothing waits to be seen any more.
    Clear,
    /// As it was.
    Preserve,
}

/// What an agent says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentReport {
    /// Kind of agent.
    pub source: String,
    pub session: String,
    /// Whether it takes, keeps or gives back the terminal.
    pub ownership: OwnershipAction,
    /// How far its turn is; as it was if not said.
    pub lifecycle: Option<Lifecycle>,
    /// Whether the user should look.
    pub attention: Attention,
    /// A word on what it does; empty leaves the last one.
    pub detail: String,
    /// Further facts, laid over those known.
    pub metadata: BTreeMap<String, String>,
}

impl Workspace {
    /// Sets what a terminal looks like by hand.
    pub async fn set_run_state(&self, id: TerminalId, state: RunState) -> Result<()> {
        self.core.check_report(id)?;
        self.core
            .transact_durably(|tx| tx.change_activity(id, |now, at| now.set_state(state, at)))
            .await
    }

    /// A hook takes a terminal or gives it back.
    pub async fn set_hooked(&self, id: TerminalId, is_hooked: bool) -> Result<()> {
        self.core.check_report(id)?;
        self.core
            .transact_durably(|tx| tx.change_activity(id, |now, at| now.set_hooked(is_hooked, at)))
            .await
    }

    /// Takes an agent's report, in one step. False if another source speaks for the terminal.
    pub async fn report_agent(
        &self,
        id: TerminalId,
        report: AgentReport,
    ) -> Result<(bool, Terminal)> {
        self.core.check_report(id)?;
        self.core
            .transact_durably(|tx| {
                let tab = tx.living(id)?;
                if !report.is_accepted(&tab.activity) {
                    return Ok((false, tab.clone()));
                }
                if let Some(activity) = tx.put_activity(id, |now, at| report.apply(now, at))? {
                    tx.emit(Event::AgentReported { id, activity: activity.1 });
                }
                match report.attention {
                    Attention::Set(text) => tx.raise_attention(id, text, Source::Report)?,
                    Attention::Clear => tx.lower_attention(id)?,
                    Attention::Preserve => {}
                }
                Ok((true, tx.world.terminal(id)?.clone()))
            })
            .await
    }
}

impl AgentReport {
    fn is_accepted(&self, activity: &Activity) -> bool {
        let is_owner = activity
            .owner
            .as_ref()
            .is_some_and(|owner| owner.source == self.source && owner.session == self.session);
        self.ownership == OwnershipAction::Claim || is_owner
    }

    fn apply(&self, activity: &mut Activity, at: Timestamp) {
        if self.ownership == OwnershipAction::Release {
            activity.release();
            return;
        }
        if self.ownership == OwnershipAction::Claim {
            let (source, session) = (self.source.clone(), self.session.clone());
            activity.owner = Some(Owner { source, session, ..Owner::default() });
        }
        if let Some(owner) = &mut activity.owner {
            if !self.detail.is_empty() {
                self.detail.clone_into(&mut owner.detail);
            }
            owner.metadata.extend(self.metadata.clone());
            owner.last_event_at = at;
        }
        if let Some(lifecycle) = self.lifecycle {
            activity.lifecycle = lifecycle;
        }
        activity.has_spoken = true;
    }
}

impl Tx<'_> {
    /// A terminal whose child lives.
    pub(crate) fn living(&self, id: TerminalId) -> Result<&Terminal> {
        let terminal = self.world.terminal(id)?;
        if terminal.is_alive() { Ok(terminal) } else { Err(crate::world::no_terminal(id)) }
    }

    /// Changes what goes on in a terminal and says what can be seen of it. Of agents everything is
    /// said, so that who follows events knows what they are at; of others only their state.
    pub(crate) fn change_activity(
        &mut self,
        id: TerminalId,
        change: impl FnOnce(&mut Activity, Timestamp),
    ) -> Result<()> {
        let is_agent = |activity: &Activity| activity.owner.as_ref().is_some_and(Owner::is_agent);
        if let Some((before, activity)) = self.put_activity(id, change)?
            && (is_agent(&before) || is_agent(&activity))
        {
            self.emit(Event::AgentReported { id, activity });
        }
        Ok(())
    }

    /// The same without a word on agents. Before and after, if anything but the time changed.
    fn put_activity(
        &mut self,
        id: TerminalId,
        change: impl FnOnce(&mut Activity, Timestamp),
    ) -> Result<Option<(Activity, Activity)>> {
        let before = self.living(id)?.activity.clone();
        let activity = &mut self.world.terminal_mut(id)?.activity;
        change(activity, clock::wall());
        secrets::hide_in_activity(activity);
        let after = activity.clone();
        if before != after {
            self.save_terminal(id);
        }
        if before.state() != after.state() {
            self.emit(Event::TerminalStateChanged { id, state: after.state() });
        }
        if before.is_hooked() != after.is_hooked() {
            self.emit(Event::TerminalHooked { id, is_hooked: after.is_hooked() });
        }
        if before.lifecycle != after.lifecycle && after.lifecycle == Lifecycle::Working {
            self.observe_work(id);
        }
        let is_news = record(&before) != record(&after);
        Ok(is_news.then_some((before, after)))
    }
}

/// What others see of an activity, apart from when its owner last spoke.
fn record(activity: &Activity) -> Activity {
    let mut record = activity.clone();
    record.has_spoken = false;
    if let Some(owner) = &mut record.owner {
        owner.last_event_at = Timestamp::default();
    }
    record
}
