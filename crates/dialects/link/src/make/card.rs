//! Cards: everything that a decision is made by, whole and exact.

use rookery_core::Core;
use rookery_model::Words as _;
use rookery_model::{
    Asked, CheckpointId, HandoffId, Question, QueueItem, Related, Request, ReviewId, spelled,
};
use rookery_view::inbox;
use rookery_view::link::{self, Card, Choice};

use super::{blocks, line, lines, patch, request_state, summary};
use crate::ids::millis;
use crate::session::scene::{project_of, terminal_of, title_of};

/// The card of an item of the queue, or of a request, or of both.
pub(crate) fn card(core: &Core, item: Option<&QueueItem>, request: Option<&Request>) -> Card {
    let session = item.and_then(|item| item.session).or_else(|| request.and_then(Request::session));
    let mut card = Card {
        item: item.map(|item| item.id.to_string()),
        request: request.map(|request| request.id.to_string()),
        session: session.map(|session| session.to_string()).unwrap_or_default(),
        session_title: session.map(|session| title_of(core, session)).unwrap_or_default(),
        terminal: session.and_then(|session| terminal_of(core, session)),
        project: session.and_then(|session| project_of(core, session)).unwrap_or_default(),
        source: item.map_or("protocol", |item| item.source.word()).to_owned(),
        state: "pending".to_owned(),
        ..Card::default()
    };
    if let Some(item) = item {
        card.kind = inbox::Item { item, request }.kind().to_owned();
        card.title = line(&item.title);
        card.lines = lines(item.subtitle.as_deref().unwrap_or_default());
        card.at = millis(item.created_at);
        card.actions = ["later", "open"].map(str::to_owned).into();
        card.about = inbox::about_of(item);
        match item.related {
            Some(Related::Review(id)) => of_review(core, &mut card, id),
            Some(Related::Checkpoint(id)) => of_checkpoint(core, &mut card, id),
            Some(Related::Handoff(id)) => of_handoff(core, &mut card, id),
            Some(Related::Request(_) | Related::Task(_)) | None => {}
        }
    }
    if let Some(request) = request {
        fill(core, &mut card, request);
    }
    card
}

/// A review is decided where its diff is seen, so its card only says what changed.
fn of_review(core: &Core, card: &mut Card, id: ReviewId) {
    let Some(review) = core.reviews().list().into_iter().find(|review| review.id == id) else {
        return;
    };
    card.lines = lines(&review.summary);
    for file in &review.differences.files {
        let count = |sign: char, lines: Option<u64>| {
            lines.map_or_else(String::new, |lines| format!("  {sign}{lines}"))
        };
        let (added, removed) = (count('+', file.additions), count('-', file.deletions));
        card.lines.push(format!("{}{added}{removed}", spelled(&file.path)));
    }
    card.lines.extend(review.comments.iter().flat_map(|comment| lines(&comment.text)));
    card.actions = ["show", "open"].map(str::to_owned).into();
}

fn of_checkpoint(core: &Core, card: &mut Card, id: CheckpointId) {
    let Some(found) = core.checkpoints().list().into_iter().find(|found| found.id == id) else {
        return;
    };
    card.lines = lines(&found.title);
    card.lines.extend(lines(&found.summary));
    card.actions = ["show", "open"].map(str::to_owned).into();
}

fn of_handoff(core: &Core, card: &mut Card, id: HandoffId) {
    let Some(found) = core.handoffs().list().into_iter().find(|found| found.id == id) else {
        return;
    };
    card.lines = lines(&found.title);
    card.lines.extend(lines(&found.summary));
    card.lines.extend(found.risks.iter().map(|risk| format!("risk: {}", spelled(risk))));
    card.lines.extend(found.next_actions.iter().map(|next| format!("next: {}", spelled(next))));
    card.actions = ["accept", "open"].map(str::to_owned).into();
}

fn fill(core: &Core, card: &mut Card, request: &Request) {
    let (state, by, at) = request_state(request);
    (card.state, card.by, card.settled_at) = (state.to_owned(), by, at);
    card.kind = inbox::kind(&request.asked).to_owned();
    card.title = summary(request);
    card.tool = line(&request.tool);
    card.mode = core.threads().mode(request.thread()).word().to_owned();
    card.at = millis(request.asked_at);
    card.deadline = request.deadline.map(millis);
    card.digest = Some(core.requests().digest(request));
    card.lines = Vec::new();
    let mut actions = vec!["approve", "deny"];
    match &request.asked {
        Asked::Approval { kind, reason, input, argv, cwd, env, preview } => {
            card.reason = line(reason);
            (card.diff, card.lines) = match preview.as_deref().and_then(|it| patch(*kind, it)) {
                Some((files, rest)) => (Some(files), rest),
                None => (None, lines(preview.as_deref().unwrap_or(input))),
            };
            card.argv = argv.iter().map(|word| spelled(word)).collect();
            card.cwd = Some(spelled(&cwd.to_string_lossy()));
            let variable = |(name, value): &(String, Option<String>)| {
                (spelled(name), value.as_ref().map(|value| hidden(name, value)))
            };
            card.env = env.iter().map(variable).collect();
            actions.push("remember");
        }
        Asked::Input { questions } => {
            card.questions = questions.iter().map(question).collect();
            actions = vec!["answer"];
        }
        Asked::PlanExit(plan) => {
            card.plan = Some(blocks(&plan.summary));
            card.lines = lines(&plan.summary);
            card.lines.extend(plan.next_steps.iter().map(|step| format!("- {}", spelled(step))));
        }
        Asked::External(call) => {
            card.lines = lines(&call.arguments);
            actions.clear();
        }
        Asked::Permission { summary, action, scope, .. } => {
            card.reason = line(summary);
            card.lines = lines(action);
            card.cwd = scope.as_deref().map(spelled);
        }
        Asked::Dialog { text, .. } => card.lines = lines(text),
    }
    actions.extend(["later", "open"]);
    card.actions = actions.into_iter().map(str::to_owned).collect();
}

/// A value of a variable without secrets; its name is what makes many a value one.
fn hidden(name: &str, value: &str) -> String {
    let whole = format!("{name}={value}");
    let shown = rookery_term::redact::Policy::usual().redact(&whole);
    let value = shown.strip_prefix(&format!("{name}=")).unwrap_or(&shown);
    spelled(value)
}

fn question(question: &Question) -> link::Question {
    let choice = |option: &rookery_model::QuestionOption| Choice {
        label: spelled(&option.label),
        description: spelled(&option.description),
    };
    link::Question {
        id: question.id.clone(),
        title: line(&question.header),
        text: lines(&question.question).join("\n"),
        options: question.options.iter().map(choice).collect(),
        several: false,
        free: true,
    }
}
