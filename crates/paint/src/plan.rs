//! A scene with everything at its place: made once a change, drawn and asked as often as needed.

use std::sync::Arc;

use rookery_view::scene::layout::{Bar, FieldOf, Hit, Layout, Point, Rect};
use rookery_view::scene::{Scene, Stage};

use crate::chrome::{self, Look};
use crate::flow;
use crate::shades::Shades;
use crate::sheet::{CardPlace, Scroll, Sheet};

/// A scene with everything at its place.
#[derive(Clone, Debug)]
pub struct Plan {
    scene: Arc<Scene>,
    layout: Layout,
    /// What lies below and beside terminals.
    pub(crate) below: Sheet,
    /// What lies above them.
    pub(crate) above: Sheet,
}

impl Plan {
    /// Places everything of a scene.
    pub fn of(scene: &Arc<Scene>) -> Arc<Plan> {
        let layout = Layout::of(scene);
        let look = Look { scene, layout: &layout, shades: Shades::of(&scene.theme) };
        let (mut below, mut above) = (Sheet::of(scene), Sheet::of(scene));
        chrome::sidebar(&look, &mut below);
        chrome::strip(&look, &mut below);
        chrome::pages::stage(&look, &mut below);
        chrome::status(&look, &mut below);
        if matches!(scene.stage, Stage::Panes(_)) {
            chrome::headers(&look, &mut above);
        }
        chrome::renames(&look, &mut above);
        chrome::drop_mark(&look, &mut above);
        chrome::overlays(&look, &mut above);
        if let Some(open) = &scene.menu {
            chrome::menu(&look, &mut above, open);
        }
        if let Some(lost) = &scene.lost {
            chrome::lost(&look, &mut above, lost);
        }
        Arc::new(Plan { scene: Arc::clone(scene), layout, below, above })
    }

    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// Where its great parts, its rows and its panes lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What is under a point, the uppermost thing first.
    pub fn hit(&self, point: Point) -> Hit {
        let scene = &self.scene;
        let floats = scene.lost.is_some() || scene.menu.is_some() || scene.dialog.is_some();
        let first = floats.then(|| at(&self.above, point)).flatten();
        let boxes = match self.layout.hit_above(point) {
            // Their fields are drawn, not laid out.
            Some(Hit::Nothing) => at(&self.above, point)
                .filter(|hit| matches!(hit, Hit::Field(FieldOf::Query, _)))
                .or(Some(Hit::Nothing)),
            other => other,
        };
        first
            .or(boxes)
            .or_else(|| at(&self.above, point))
            .or_else(|| self.layout.hit_around(point))
            .or_else(|| at(&self.below, point))
            .or_else(|| self.layout.hit_pane(point))
            .unwrap_or(Hit::Nothing)
    }

    /// Where a link of the page leads.
    pub fn link(&self, index: usize) -> Option<&str> {
        self.below.links.get(index).map(String::as_str)
    }

    /// How far something is scrolled.
    pub fn scroll(&self, bar: Bar) -> Option<Scroll> {
        let all = self.below.scrolls.iter().chain(&self.above.scrolls);
        all.rev().find(|(known, _)| *known == bar).map(|(_, scroll)| *scroll)
    }

    /// Where text is entered, for the windows of input methods; none if no field has the keyboard.
    pub fn caret(&self) -> Option<Rect> {
        self.above.caret.or(self.below.caret)
    }

    /// The card that is drawn; none if no part of one is in view.
    pub fn card(&self) -> Option<CardPlace> {
        self.below.card
    }

    /// Where something of the page lies that reacts, for keys that walk through it.
    pub fn place(&self, wanted: Hit) -> Option<Rect> {
        let mut all = self.above.hits.iter().chain(&self.below.hits);
        all.find(|(_, hit)| *hit == wanted).map(|(rect, _)| *rect)
    }

    /// Everything of the page that reacts, and where; what lies above comes last.
    pub fn places(&self) -> impl Iterator<Item = (Rect, Hit)> {
        self.below.hits.iter().chain(&self.above.hits).copied()
    }

    /// Where nothing may lie: what is typed into, what is pressed, and what is decided by.
    pub fn taken(&self) -> Vec<Rect> {
        let reacts = self.places().filter(|(_, hit)| {
            matches!(
                hit,
                Hit::Button(_)
                    | Hit::ItemButton(..)
                    | Hit::Choice(_)
                    | Hit::Field(..)
                    | Hit::Confirm
                    | Hit::Cancel
                    | Hit::Answer(_)
                    | Hit::MenuRow(_)
                    | Hit::PaneClose(_)
            )
        });
        let palette = self.layout.palette.as_ref().map(|open| open.frame);
        let card = self.below.card.map(|card| card.area);
        reacts.map(|(rect, _)| rect).chain(palette).chain(card).collect()
    }

    /// The texts that are drawn around terminals, from first to last: for tests and for those who
    /// cannot see them.
    pub fn texts(&self) -> Vec<&str> {
        let layers = self.below.layers.iter().chain(&self.above.layers);
        let ops = layers.flat_map(|layer| &layer.ops);
        ops.filter_map(crate::brush::Op::word).collect()
    }
}

fn at(sheet: &Sheet, point: Point) -> Option<Hit> {
    let (rect, hit) = sheet.hits.iter().rev().find(|(rect, _)| rect.contains(point))?;
    Some(match *hit {
        Hit::Bar(bar, _) => {
            Hit::Bar(bar, ((point.y - rect.y) / rect.height.max(1.0)).clamp(0.0, 1.0))
        }
        Hit::Field(of, _) => Hit::Field(of, byte(sheet, of, point)),
        hit => hit,
    })
}

/// The byte of a field that is nearest to a point.
fn byte(sheet: &Sheet, of: FieldOf, point: Point) -> usize {
    let apart = |rect: &Rect| (rect.y + rect.height / 2.0 - point.y).abs();
    let own = sheet.fields.iter().filter(|line| line.of == of);
    let nearest = own.min_by(|a, b| apart(&a.rect).total_cmp(&apart(&b.rect)));
    nearest
        .map_or(0, |line| line.start + flow::byte_at(&line.text, line.ink, point.x - line.rect.x))
}
