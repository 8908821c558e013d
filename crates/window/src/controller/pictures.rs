//! Pictures: the one that is shown next, and those that others ask for through the daemon, such as a
//! script that wants to see what the person sees.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rookery_face::app::Ask;
use rookery_face::driver::cx;
use rookery_paint::Painter;
use rookery_view::link::{self, Shoot, bound, method};

use super::{Controller, facts, utc_offset};
use crate::compose;
use crate::picture::Picture;

/// Pictures that others asked for.
#[derive(Default)]
pub(super) struct Shots {
    /// Draws them; started for the first.
    painter: Option<Painter>,
    /// Those of a hidden window, each with the number of the input that its frame has to have.
    hidden: Vec<(Shoot, u64)>,
}

impl Controller {
    /// Everything that is visible now.
    pub(super) fn compose(&mut self) -> Picture {
        let cx = cx(&self.driver.face, self.driver.now());
        self.own.utc_offset = utc_offset(cx.wall);
        let scene = compose::scene(&self.driver.app, &cx, &self.own, &mut self.rows);
        let facts = facts(&self.driver.app, &cx);
        let (n, input) = (self.driver.face.mirror().last(), self.driver.face.mirror().input());
        let types = self.driver.app.is_typing_into_program(&cx);
        let mut picture = Picture::new(scene, n, input, facts);
        picture.facts.takes_text = types || picture.plan.caret().is_some();
        self.made += 1;
        picture.made = self.made;
        let shown = self.driver.face.mirror().scene();
        let toasts = compose::toasts(shown, &self.own);
        picture.with_toasts(toasts)
    }

    /// A picture is asked for. A hidden window is not told what changes, so it looks first.
    pub(super) async fn shoot(&mut self, shoot: Shoot) {
        if self.driver.is_visible {
            return self.give_picture(shoot);
        }
        let looks = link::Focus { n: 0, has: false, visible: true };
        if let Ok(number) = self.driver.face.focus(looks).await {
            self.shots.hidden.push((shoot, number));
        }
    }

    /// Gives the pictures of a hidden window that knows by now what there is to see.
    pub(super) async fn shoot_hidden(&mut self) {
        let input = self.driver.face.mirror().input();
        let (ready, waiting): (Vec<_>, Vec<_>) =
            self.shots.hidden.drain(..).partition(|(_, number)| *number <= input);
        self.shots.hidden = waiting;
        if ready.is_empty() {
            return;
        }
        for (shoot, _) in ready {
            self.give_picture(shoot);
        }
        if self.shots.hidden.is_empty() && !self.driver.is_visible {
            let _ = self.driver.face.focus(link::Focus { n: 0, has: false, visible: false }).await;
        }
    }

    /// What was asked for over a connection that is gone is asked for anew.
    pub(super) fn forget_shots(&mut self) {
        self.shots.hidden.clear();
    }

    fn give_picture(&mut self, shoot: Shoot) {
        let Some(client) = self.driver.face.client() else { return };
        let scene = self.compose().scene;
        let is_open = self.own.window.width >= 1.0;
        let painter = match self.shots.painter.take() {
            Some(painter) => Ok(painter),
            None => Painter::start().map_err(|error| error.to_string()),
        };
        self.shots.painter = painter.as_ref().ok().cloned();
        let job = Box::pin(async move {
            let drawn = async {
                if !is_open {
                    return Err("the window is not open yet".to_owned());
                }
                let drawn = painter?.screenshot(scene, shoot.scale).await;
                let drawn = drawn.map_err(|error| error.to_string())?;
                let png = BASE64_STANDARD.encode(drawn.png);
                if png.len() > bound::PICTURE_BYTES {
                    return Err("the picture is too large".to_owned());
                }
                Ok(link::Picture { png, width: drawn.width, height: drawn.height, ..named(shoot) })
            };
            let error = |why| link::Picture { error: Some(why), ..named(shoot) };
            let given = drawn.await.unwrap_or_else(error);
            // Whoever asked may not wait any more.
            let _ = client.call::<_, link::PictureTaken>(method::PICTURE.name, &given).await;
            Ok(())
        });
        self.driver.calls.job(job, Ask::Quiet);
    }
}

fn named(shoot: Shoot) -> link::Picture {
    link::Picture { ask: shoot.ask, ..link::Picture::default() }
}
