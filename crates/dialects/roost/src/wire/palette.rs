//! The palette.

use super::{agent::Lifecycle, calls, shapes, words};
use crate::errors::{Code, Error};

words! {
    /// What to open.
    Kind {
        Commands,
        /// The configured commands.
        Launcher,
        /// The providers.
        Custom,
        /// The agents at work.
        Agents,
    }
}

shapes! {
    /// A row of the palette.
    Item {
        /// What it is activated by.
        id: String,
        /// What it shows.
        title: String,
        /// What it shows beneath.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subtitle: Option<String>,
        /// The agent it stands for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentRow>,
    }
    /// A row that is to be presented; other keys are ignored.
    PresentItem {
        /// What the answer calls it.
        id: String,
        /// What it shows.
        title: String,
        /// What it shows beneath.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subtitle: Option<String>,
    }
    AgentRow {
        /// How far along it is.
        effective_lifecycle: Lifecycle,
        /// Name of its project.
        project: String,
        /// Its name.
        name: String,
        /// What it does, for people.
        status_text: String,
        /// How long ago it was heard of, for people.
        time_text: String,
        /// What it changed, for people; absent while unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metrics_text: Option<String>,
    }
    PaletteState {
        /// Whether it is open.
        open: bool,
        /// The frame on top.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frame: Option<String>,
        /// The filter.
        #[serde(default)]
        query: String,
        /// The selected row among the filtered ones.
        #[serde(default)]
        selection: u32,
        /// The filtered rows.
        #[serde(default)]
        items: Vec<Item>,
        /// Whether the selected row can be seen, if the server knows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        selected_in_view: Option<bool>,
    }
    /// What the user did with a presented list.
    Presented {
        /// The row picked; absent on dismissal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        selected_id: Option<String>,
        /// Whether it was dismissed.
        dismissed: bool,
    }
}

calls! {
    /// Opens the palette.
    "palette.open" PaletteOpen -> PaletteState [PaletteOpen::known] {
        /// What to open: a [`Kind`], or nothing for the commands.
        #[serde(default)]
        kind: String,
    }
    /// Reads the palette.
    "palette.state" PaletteRead -> PaletteState {}
    /// Filters the frame on top.
    "palette.query" PaletteQuery -> PaletteState {
        /// The filter.
        query: String,
    }
    /// Acts on a visible row.
    "palette.activate" PaletteActivate -> PaletteState {
        /// The row.
        id: String,
    }
    /// Closes the palette.
    "palette.dismiss" PaletteDismiss -> PaletteState {}
    /// Shows a list and waits for the user's choice.
    "palette.present" PalettePresent -> Presented [PalettePresent::something] {
        /// What the list is about.
        #[serde(default)]
        title: String,
        /// What the empty input shows.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        placeholder: String,
        /// The rows; at least one.
        items: Vec<PresentItem>,
    }
}

impl PaletteOpen {
    /// What to open.
    ///
    /// # Errors
    /// `invalid-param` for a word that is none.
    pub fn kind(&self) -> Result<Kind, Error> {
        Ok(match self.kind.as_str() {
            "" | "commands" => Kind::Commands,
            "launcher" => Kind::Launcher,
            "custom" => Kind::Custom,
            "agents" => Kind::Agents,
            other => {
                let other = super::scalar::shortened(other);
                let wanted = r#"want "commands", "launcher", "custom", or "agents""#;
                let message = format!("unknown palette kind \"{other}\" ({wanted})");
                return Err(Error::new(Code::InvalidParam, message));
            }
        })
    }

    fn known(&self) -> Result<(), Error> {
        self.kind().map(|_| ())
    }
}

impl PalettePresent {
    fn something(&self) -> Result<(), Error> {
        if self.items.is_empty() {
            return Err(Error::invalid("items", "must not be empty"));
        }
        Ok(())
    }
}
