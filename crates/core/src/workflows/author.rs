//! A script that the model writes for a run that names none. It is read as any other before it is used, and
//! what is no valid script is left alone: one agent is asked then.

use std::time::Duration;

use rookery_agent::provider::{Entry, EntryBody, ModelEvent, ModelRequest, ToolChoice};
use rookery_model::Choice;
use rookery_scripts::Script;

use super::plan::NewRun;
use crate::core::blocking;
use crate::rooms::Workflows;

/// How long the model may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest answer that is looked at, in bytes.
const MAX_ANSWER: usize = 256 << 10;
/// How the model is instructed to write a script.
const INSTRUCTIONS: &str = include_str!("author.txt");

impl Workflows {
    /// The script that the model writes for a prompt; none if no model was chosen, or what it answers is no
    /// script that can be run with these arguments.
    pub(super) async fn authored(&self, new: &NewRun) -> Option<String> {
        let choice = self.author(new)?;
        let answer = match tokio::time::timeout(PATIENCE, self.ask_author(new, choice)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => {
                tracing::info!(why, "the model wrote no workflow; one agent is asked instead");
                return None;
            }
            Err(_) => {
                tracing::info!("the model took too long to write a workflow; one agent is asked");
                return None;
            }
        };
        let text = unfenced(&answer).to_owned();
        let read = text.clone();
        let script = match blocking(move || Script::read(&read)).await.ok()? {
            Ok(script) => script,
            Err(error) => {
                tracing::info!(%error, "the model wrote no valid workflow; one agent is asked instead");
                return None;
            }
        };
        let fits =
            script.check_arguments(&new.arguments).is_ok() && self.limits_for(&script).is_ok();
        fits.then_some(text)
    }

    /// The model that is asked: the one of the run's thread, or the chosen one. A program that is an agent
    /// itself would do the work instead of planning it, and is not asked.
    fn author(&self, new: &NewRun) -> Option<Choice> {
        let agents = &self.core.inner.agents;
        let of_thread = new.thread.and_then(|id| self.core.threads().get(id));
        let usual = self.core.agents().default_choice();
        let is_chosen = agents.has_chosen_provider();
        let choice = match of_thread.map(|seen| seen.thread.choice) {
            Some(choice) if is_chosen || choice.provider != usual.provider => choice,
            _ if is_chosen => usual,
            _ => return None,
        };
        let is_lent = new.keys.iter().any(|key| key.provider() == choice.provider);
        let can = agents.info(&choice.provider)?.is_authenticated || is_lent;
        (can && !agents.registry.is_program(&choice.provider)).then_some(choice)
    }

    async fn ask_author(&self, new: &NewRun, choice: Choice) -> Result<String, String> {
        let provider = self.core.inner.agents.provider(&choice.provider);
        let provider = provider.ok_or("the provider is gone")?;
        let choice = self.core.agents().settle_model(choice, &new.keys).await;
        let body = EntryBody::User { text: new.prompt.clone(), images: Vec::new() };
        let request = ModelRequest {
            model: choice.model,
            instructions: vec![INSTRUCTIONS.to_owned()],
            entries: vec![Entry { step: 1, body, opaque: None }],
            tool_choice: ToolChoice::None,
            keys: new.keys.clone(),
            ..ModelRequest::default()
        };
        let mut stream = provider.call(request);
        let mut answer = String::new();
        while let Some(event) = stream.events.recv().await {
            match event {
                ModelEvent::Text { text, .. } => answer.push_str(&text),
                ModelEvent::Done { .. } => return Ok(answer),
                ModelEvent::Failed(failure) => return Err(failure.message),
                _ => {}
            }
            if answer.len() > MAX_ANSWER {
                return Err(format!("its answer is longer than {MAX_ANSWER} bytes"));
            }
        }
        Err("its answer was cut off".to_owned())
    }
}

/// The first fenced block of an answer, or all of it.
fn unfenced(answer: &str) -> &str {
    let block = answer.split_once("```").and_then(|(_, rest)| {
        let (_, body) = rest.split_once('\n')?;
        let (body, _) = body.split_once("```")?;
        Some(body)
    });
    block.unwrap_or(answer).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_with_and_without_a_fence() {
        for answer in ["x()", " x()\n", "```js\nx()\n```", "Here:\n\n```\nx()\n```\nThat is it."] {
            assert_eq!(unfenced(answer), "x()", "{answer}");
        }
        for answer in ["```", "```js", "```js\nx()", "``` ```"] {
            assert_eq!(unfenced(answer), answer);
        }
    }

    #[test]
    fn the_example_that_the_model_is_shown_is_a_script() {
        let example = unfenced(INSTRUCTIONS);
        assert_eq!(Script::read(example).unwrap().name, "review-changes");
    }
}
