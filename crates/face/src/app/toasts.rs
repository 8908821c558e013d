//! Short messages at the edge of a terminal: what asks for attention elsewhere. They go by themselves,
//! when what they tell is settled, and never stand where something is typed.

use rookery_view::link::{NewNotice, Notice, Urgency};

use super::App;
use crate::words::line;

/// How long one is shown, in milliseconds.
const SHOWN: u64 = 6000;
/// How many are shown at once.
const MOST: usize = 3;

/// A message at the edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    id: u64,
    pub text: String,
    /// Whether someone waits.
    pub is_urgent: bool,
    until: u64,
}

impl App {
    /// Shows what is new at the edge, and takes away what is settled.
    pub(super) fn toast(&mut self, notice: &Notice, now: u64) {
        match notice {
            Notice::Gone { gone } => self.toasts.retain(|toast| toast.id != *gone),
            Notice::New(NewNotice { id, urgency, title, body, .. }) => {
                let (title, body) = (line(title), line(body));
                let text = if body.is_empty() { title } else { format!("{title}: {body}") };
                let is_urgent = *urgency == Urgency::High;
                self.toasts.retain(|toast| toast.id != *id);
                self.toasts.push(Aside { id: *id, text, is_urgent, until: now + SHOWN });
                let excess = self.toasts.len().saturating_sub(MOST);
                self.toasts.drain(..excess);
            }
        }
    }

    /// What is shown at the edge.
    pub fn toasts(&self) -> &[Aside] {
        &self.toasts
    }

    /// When the next of them goes.
    pub fn next_toast_end(&self) -> Option<u64> {
        self.toasts.iter().map(|toast| toast.until).min()
    }

    /// Those whose time is over go.
    pub fn end_toasts(&mut self, now: u64) {
        self.toasts.retain(|toast| toast.until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Environment;

    fn notice(id: u64) -> Notice {
        Notice::New(NewNotice {
            id,
            urgency: Urgency::High,
            title: format!("n{id}\x1b"),
            body: String::new(),
            page: None,
            at: 0,
        })
    }

    fn texts(app: &App) -> Vec<&str> {
        app.toasts().iter().map(|toast| toast.text.as_str()).collect()
    }

    #[test]
    fn a_few_are_shown_for_a_while_or_until_they_are_settled() {
        let mut app = App::new((80, 24), Environment::default());
        for id in 1..=4 {
            app.notices(&[notice(id)], id * 100);
        }
        assert_eq!(texts(&app), ["n2", "n3", "n4"]);
        app.notices(&[Notice::Gone { gone: 3 }], 500);
        assert_eq!(texts(&app), ["n2", "n4"]);
        assert_eq!(app.next_toast_end(), Some(200 + SHOWN));
        app.end_toasts(200 + SHOWN);
        assert_eq!(texts(&app), ["n4"]);
        app.end_toasts(400 + SHOWN);
        assert_eq!(app.next_toast_end(), None);
        let mut window =
            App::new((80, 24), Environment { is_window: true, ..Environment::default() });
        window.notices(&[notice(1)], 0);
        assert!(window.toasts().is_empty(), "a window has its own");
    }
}
