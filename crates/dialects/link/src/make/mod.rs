//! Nouns of the world as faces read them: everything is made safe and cut to its bounds here.

mod card;
mod edits;
mod text;
mod thread;

use rookery_core::{Face, Fit, ViewerRights};
use rookery_model::{Answer, Asked, Request, RequestState};
use rookery_view::link;

pub(crate) use card::card;
pub(crate) use edits::Edits;
pub(crate) use text::{blocks, files, line, lines, patch};
pub(crate) use thread::{
    Ends, grows, head, item, may_edit, text_of, thread_mood, thread_status, thread_title,
    tool_output,
};

use crate::ids::millis;

pub(crate) fn face(face: Face) -> link::Face {
    match face {
        Face::Tui => link::Face::Tui,
        Face::Window => link::Face::Window,
        Face::Web => link::Face::Web,
        Face::Other => link::Face::Other,
    }
}

pub(crate) fn core_face(face: link::Face) -> Face {
    match face {
        link::Face::Tui => Face::Tui,
        link::Face::Window => Face::Window,
        link::Face::Web => Face::Web,
        link::Face::Other => Face::Other,
    }
}

pub(crate) fn core_rights(rights: link::Rights) -> ViewerRights {
    match rights {
        link::Rights::Look => ViewerRights::Look,
        link::Rights::Decide => ViewerRights::Decide,
        link::Rights::Full => ViewerRights::Full,
    }
}

pub(crate) fn core_fit(fit: link::Fit) -> Fit {
    match fit {
        link::Fit::Own => Fit::Own,
        link::Fit::Follow => Fit::Follow,
    }
}

/// About how many bytes something takes on its way.
pub(crate) fn weight(of: &impl serde::Serialize) -> usize {
    serde_json::to_string(of).map_or(0, |text| text.len())
}

/// What is asked, in a line.
pub(crate) fn summary(request: &Request) -> String {
    let said = match &request.asked {
        Asked::Approval { preview, input, .. } => preview.as_deref().unwrap_or(input),
        Asked::Input { questions } => questions.first().map_or("", |asked| asked.question.as_str()),
        Asked::PlanExit(plan) => &plan.summary,
        Asked::External(call) => &call.arguments,
        Asked::Permission { title, .. } | Asked::Dialog { title, .. } => title,
    };
    let mut lines = said.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    // The head of a patch says which file it is about.
    let first = first.strip_prefix("--- ").map_or(first, |file| file.trim_start_matches("a/"));
    match request.tool.is_empty() {
        true => line(first),
        false => line(&format!("{}: {first}", request.tool)),
    }
}

/// Whether a request waits, or how, by whom and when it was settled.
pub(crate) fn request_state(request: &Request) -> (&'static str, Option<String>, Option<i64>) {
    let settled = match &request.state {
        RequestState::Pending => return ("pending", None, None),
        RequestState::Settled(settled) => settled,
    };
    let state = match settled.answer {
        Answer::Approved { .. } => "approved",
        Answer::Denied { .. } => "denied",
        Answer::Given(_) | Answer::Output { .. } | Answer::AtTerminal => "answered",
        Answer::Cancelled => "cancelled",
        Answer::TimedOut => "timed_out",
    };
    (state, Some(settled.by.clone()), Some(millis(settled.at)))
}
