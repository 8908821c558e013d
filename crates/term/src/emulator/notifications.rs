//! Notifications in kitty's form, which come in parts, put together to whole ones.

use crate::osc::{KittyNotify, Osc};

/// Bytes of a title or a body that are kept.
const MAX_TEXT: usize = 4096;

/// The notification whose parts are coming in. Only the latest is: programs do not interleave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notification {
    id: String,
    title: String,
    body: String,
}

impl Notification {
    /// Takes a part; gives the whole once its last part is there. Questions, buttons and icons are no
    /// text, so that a notification of them alone is none.
    pub(crate) fn take(&mut self, part: KittyNotify) -> Option<Osc> {
        if part.id != self.id {
            *self = Self { id: part.id, ..Self::default() };
        }
        let text = match part.part.as_str() {
            "title" => Some(&mut self.title),
            "body" => Some(&mut self.body),
            _ => None,
        };
        if let Some(text) = text {
            text.push_str(&part.payload);
            text.truncate(text.floor_char_boundary(MAX_TEXT));
        }
        if !part.done {
            return None;
        }
        let Self { title, body, .. } = std::mem::take(self);
        let is_empty = title.is_empty() && body.is_empty();
        (!is_empty).then_some(Osc::Notify { title, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notified(sequences: &[&str]) -> Vec<(String, String)> {
        let mut notification = Notification::default();
        let parts = sequences.iter().flat_map(|sequence| Osc::parse(sequence.as_bytes()));
        let whole = parts.filter_map(|osc| match osc {
            Osc::KittyNotify(part) => notification.take(part),
            other => panic!("{other:?}"),
        });
        whole
            .map(|osc| match osc {
                Osc::Notify { title, body } => (title, body),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn text(title: &str, body: &str) -> (String, String) {
        (title.to_owned(), body.to_owned())
    }

    #[test]
    fn parts_are_put_together() {
        let parts = ["99;i=1:d=0;Build ", "99;i=1:d=0;done", "99;i=1:d=1:p=body;all tests pass"];
        assert_eq!(notified(&parts), [text("Build done", "all tests pass")]);
        assert_eq!(notified(&["99;;Only"]), [text("Only", "")]);
        let lost = ["99;i=1:d=0;lost", "99;i=2:p=body;kept"];
        assert_eq!(notified(&lost), [text("", "kept")]);
    }

    #[test]
    fn a_question_or_an_icon_is_no_notification() {
        for query in ["99;i=q:p=?;", "99;i=q:p=alive;", "99;i=q:p=close;", "99;p=icon:e=1;QUJD"] {
            assert_eq!(notified(&[query]), [], "{query}");
        }
        let with_icon = ["99;i=1:d=0;Mail", "99;i=1:p=icon:e=1;QUJD"];
        assert_eq!(notified(&with_icon), [text("Mail", "")]);
    }

    #[test]
    fn endless_parts_are_bounded() {
        let part = format!("99;i=1:d=0;{}", "é".repeat(1000));
        let mut all = vec![part.as_str(); 50];
        all.push("99;i=1;");
        assert_eq!(notified(&all)[0].0.len(), MAX_TEXT);
    }
}
