//! The one palette: opened, filtered, acted upon.

use rookery_model::{Error, Result};
use rookery_view::palette::{Effect, Frame, PaletteState};

use crate::rooms::Seats;

impl Seats {
    /// What the palette shows.
    pub fn palette(&self) -> PaletteState {
        self.refresh_palette();
        self.look_at_seat(|seat| seat.palette.state())
    }

    /// Opens a frame in place of whatever is open.
    pub async fn open_palette(&self, frame: Frame) -> Result<PaletteState> {
        let Some(content) = self.content(frame).await else {
            return Err(Error::invalid("kind", format!("{frame} cannot be opened")));
        };
        self.put_questions_away();
        self.leave_terminal(self.place().terminal);
        let effects = self.change_seat(|seat| seat.palette.open(&content));
        self.carry_out(effects).await?;
        Ok(self.palette())
    }

    /// Filters the frame on top.
    pub async fn query_palette(&self, query: &str) -> Result<PaletteState> {
        let effects = self.change_seat(|seat| seat.palette.query(query));
        self.carry_out(effects).await?;
        Ok(self.palette())
    }

    /// Acts on a visible row. When this returns, it is done; a script that fills a list is begun.
    pub async fn activate_in_palette(&self, id: &str) -> Result<PaletteState> {
        self.refresh_palette();
        let effects = self.change_seat(|seat| seat.palette.activate(id));
        let effects = effects
            .map_err(|_| Error::not_found(format!("no row {id:?} is shown in the palette")))?;
        self.carry_out(effects).await?;
        Ok(self.palette())
    }

    /// Selects another row, by steps.
    pub async fn move_in_palette(&self, rows: i64) -> Result<()> {
        let rows = isize::try_from(rows).unwrap_or(0);
        let effects = self.change_seat(|seat| seat.palette.move_by(rows));
        self.carry_out(effects).await
    }

    /// Selects a row by its place.
    pub async fn select_in_palette(&self, place: usize) -> Result<()> {
        let effects = self.change_seat(|seat| seat.palette.select(place));
        self.carry_out(effects).await
    }

    /// Acts on a row by its place, or on the selected one.
    pub async fn activate_row(&self, place: Option<usize>) -> Result<()> {
        self.refresh_palette();
        if let Some(place) = place {
            self.select_in_palette(place).await?;
        }
        let effects = self.change_seat(|seat| seat.palette.activate_selected());
        let effects = effects.map_err(|_| Error::not_found("no row is selected in the palette"))?;
        self.carry_out(effects).await
    }

    /// Goes back to the frame before, or puts the palette away.
    pub async fn back_in_palette(&self) -> Result<()> {
        let effects = self.change_seat(|seat| seat.palette.back());
        self.carry_out(effects).await
    }

    /// Puts the palette away.
    pub async fn dismiss_palette(&self) -> Result<PaletteState> {
        self.put_questions_away();
        let effects = self.change_seat(|seat| seat.palette.dismiss());
        self.carry_out(effects).await?;
        Ok(self.palette())
    }

    /// Does what the palette asks for, in order.
    pub(super) async fn carry_out(&self, effects: Vec<Effect>) -> Result<()> {
        for effect in effects {
            match effect {
                Effect::Run(action) => Box::pin(self.run_action(action)).await?,
                Effect::Drill { frame, ticket } => {
                    if let Some(content) = self.content(frame).await {
                        self.change_seat(|seat| seat.palette.push(ticket, &content));
                    }
                }
                Effect::ApplyTheme(name) => {
                    self.show_theme(&name);
                    name.clone_into(&mut self.core.inner.seats.state.lock().settings.theme);
                    self.write_setting("theme", name).await?;
                }
                Effect::ApplyFont(family) => {
                    self.show_font(&family);
                    let chosen = Some(family.clone()).filter(|family| !family.is_empty());
                    self.core.inner.seats.state.lock().settings.font_family = chosen;
                    self.write_setting("font-family", family).await?;
                }
                Effect::FocusTab(tab) => self.jump_to(tab).await?,
                Effect::Launch(command) => drop(self.launch(&command).await?),
                Effect::RunProvider(call) => self.run_provider(*call),
                quick => self.carry_out_quick(vec![quick]),
            }
        }
        Ok(())
    }

    /// Does what needs no waiting; anything else is not for whoever has no time.
    pub(super) fn carry_out_quick(&self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::PreviewTheme(name) | Effect::RevertTheme(name) => self.show_theme(&name),
                Effect::PreviewFont(family) | Effect::RevertFont(family) => self.show_font(&family),
                Effect::Picked { session, id } => self.answer(session, Some(id)),
                Effect::Dismissed { session } => self.answer(session, None),
                Effect::Run(_)
                | Effect::Drill { .. }
                | Effect::ApplyTheme(_)
                | Effect::ApplyFont(_)
                | Effect::FocusTab(_)
                | Effect::Launch(_)
                | Effect::RunProvider(_) => {}
            }
        }
    }

    fn answer(&self, session: u64, chosen: Option<String>) {
        let asker = self.core.inner.seats.state.lock().askers.remove(&(self.seat(), session));
        if let Some(asker) = asker {
            let _ = asker.send(chosen);
        }
    }

    fn show_theme(&self, name: &str) {
        name.clone_into(&mut self.core.inner.seats.state.lock().theme);
        self.show_colors();
    }

    fn show_font(&self, family: &str) {
        let family = Some(family.to_owned()).filter(|family| !family.is_empty());
        self.core.inner.seats.state.lock().font = family;
    }
}
