//! What a new turn is given beside what is said: words of hooks, memories that fit, and images that wait.

use futures_util::future::BoxFuture;
use rookery_agent::turn::Message;
use rookery_imports::HookEvent;
use rookery_model::{Error, ErrorKind, Result, Thread};

use crate::imports::HookInput;
use crate::memories::Recalled;
use crate::rooms::Threads;

/// What a new turn is given beside what is said.
#[derive(Default)]
pub(super) struct Extras {
    /// What hooks say.
    pub(super) context: Vec<String>,
    /// Memories that fit.
    pub(super) recalled: Option<Recalled>,
    /// Images that waited, and the artifacts that they are of.
    pub(super) images: Vec<String>,
    pub(super) attached: Vec<String>,
    /// What teammates answered while no turn ran.
    pub(super) from_team: Vec<Message>,
}

impl Threads {
    /// What a new turn is given beside what is said: words of hooks, memories that fit, and images that wait.
    pub(super) fn extras<'a>(
        &'a self,
        thread: &'a Thread,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Extras>> {
        Box::pin(self.extras_inner(thread, message))
    }

    async fn extras_inner(&self, thread: &Thread, message: &Message) -> Result<Extras> {
        let context = self.hooked_prompt(thread, &message.text).await?;
        let attached = self.attached(thread.id).await;
        Ok(Extras {
            context,
            recalled: self.core.memories().recall(thread, &message.text).await,
            images: self.core.media().images(&attached).await,
            attached: attached.to_vec(),
            from_team: Vec::new(),
        })
    }

    /// What hooks of imports add to a prompt. A child's prompt is not a user's.
    async fn hooked_prompt(&self, thread: &Thread, prompt: &str) -> Result<Vec<String>> {
        if thread.child.is_some() {
            return Ok(Vec::new());
        }
        let (imports, mode) = (self.core.imports(), self.mode(Some(thread.id)));
        let mut said = Vec::new();
        for event in [HookEvent::SessionStart, HookEvent::UserPromptSubmit] {
            if event == HookEvent::SessionStart && thread.message_count > 0 {
                continue;
            }
            let happened = HookInput { prompt: Some(prompt), ..HookInput::of(event) };
            let end = imports.run_event_hooks(thread, mode, happened).await;
            if let Some(reason) = end.blocked.filter(|_| event == HookEvent::UserPromptSubmit) {
                let message = format!("a hook denied the prompt: {reason}");
                return Err(Error::new(ErrorKind::Denied, message));
            }
            said.extend(end.context.into_iter().map(|text| format!("[context:hook]\n{text}")));
        }
        Ok(said)
    }
}
