//! What an input method shows in a terminal before the text is entered. Kept beside the screen, under the
//! same lock.

use rookery_model::{Error, Result};

use super::handle::TerminalHandle;

/// Longest text an input method may show before it is entered, in bytes.
const MAX_PREEDIT: usize = 64 << 10;

/// Text that an input method shows but has not entered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preedit {
    pub text: String,
    /// Where its cursor begins and ends, if it has one.
    pub cursor: Option<(u32, u32)>,
}

/// What an input method is at.
#[derive(Default)]
pub(super) enum Composition {
    #[default]
    None,
    /// Text that is not entered yet.
    Shown(Preedit),
    /// It was called off. The input method may still enter the text; that is dropped.
    CalledOff,
}

impl TerminalHandle {
    /// An input method shows text that is not entered yet; no text takes back what it showed.
    pub fn set_preedit(&self, preedit: Preedit) -> Result<()> {
        if preedit.text.len() > MAX_PREEDIT {
            let message =
                format!("text must have at most {MAX_PREEDIT} bytes before it is entered");
            return Err(Error::invalid("text", message));
        }
        let composition = match preedit.text.is_empty() {
            true => Composition::None,
            false => Composition::Shown(preedit),
        };
        self.live().with_engine(|engine| engine.displays.of(self.seat()).composition = composition);
        Ok(())
    }

    /// An input method enters text. What it enters of a composition that was called off is dropped.
    pub fn enter_text(&self, text: &str) -> Result<()> {
        let was = self
            .live()
            .with_engine(|engine| std::mem::take(&mut engine.displays.of(self.seat()).composition));
        match was {
            Composition::CalledOff => Ok(()),
            Composition::None | Composition::Shown(_) => self.type_text(text),
        }
    }

    /// The keyboard goes elsewhere: what an input method shows is not entered any more.
    pub(crate) fn call_off_composition(&self) {
        self.live().with_engine(|engine| {
            let composition = &mut engine.displays.of(self.seat()).composition;
            if matches!(composition, Composition::Shown(_)) {
                *composition = Composition::CalledOff;
            }
        });
    }

    /// What an input method shows.
    pub fn preedit(&self) -> Option<Preedit> {
        self.live().with_engine(|engine| match &engine.displays.of(self.seat()).composition {
            Composition::Shown(preedit) => Some(preedit.clone()),
            Composition::None | Composition::CalledOff => None,
        })
    }
}
