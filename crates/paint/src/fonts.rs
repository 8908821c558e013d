//! The fonts: what is built in, what the system has, and how wide text is in them.
//!
//! Built in are DejaVu Sans Mono in four styles for the terminal, Fira Sans in three for all else, DejaVu
//! Sans, icons of Nerd Fonts and Noto Emoji for what those lack. Fonts of the system come after them;
//! only emoji are the system's own first, where it has them in color.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Once, OnceLock};

use iced_core::font::{Family, Style, Weight};
use iced_core::text::{Alignment, LineHeight, Paragraph as _, Shaping, Text, Wrapping};
use iced_core::{Font, Pixels, Size, alignment};
use iced_graphics::text::{self, Paragraph};
use rookery_view::scene::layout::{ADVANCE, CellSize};

use crate::cost;

const MONO: &str = "DejaVu Sans Mono";

/// The font of everything but the terminal.
pub(crate) const SANS: Font = Font::with_name("Fira Sans");
/// The same for titles and what is bold in prose.
pub(crate) const BOLD: Font =
    Font { weight: Weight::Semibold, ..Font::with_name("Fira Sans SemiBold") };
/// The same for what is italic in prose.
pub(crate) const ITALIC: Font = Font { style: Style::Italic, ..Font::with_name("Fira Sans") };
/// Code outside of terminals.
pub(crate) const CODE: Font = Font::with_name(MONO);

/// Icons, cut out of Symbols Nerd Font.
static SYMBOLS: &[u8] = include_bytes!("../fonts/symbols.ttf");
static SANS_BOLD: &[u8] = include_bytes!("../fonts/FiraSans-SemiBold.ttf");
static SANS_ITALIC: &[u8] = include_bytes!("../fonts/FiraSans-Italic.ttf");

/// Fonts with emoji in color, the first that is installed counts.
const COLOR_EMOJI: [&str; 6] = [
    "Noto Color Emoji",
    "Apple Color Emoji",
    "Segoe UI Emoji",
    "Twitter Color Emoji",
    "Twemoji",
    "JoyPixels",
];

/// Entries of a cache of measured text before it is begun anew.
const MAX_MEASURED: usize = 16384;
/// Families a user can have chosen before further ones are not looked for.
const MAX_FAMILIES: usize = 64;

/// Makes the built-in fonts known to the renderer, once.
pub(crate) fn load() {
    static LOADED: Once = Once::new();
    LOADED.call_once(|| {
        let Ok(mut system) = text::font_system().write() else { return };
        for face in [
            dejavu::sans_mono::regular(),
            dejavu::sans_mono::bold(),
            dejavu::sans_mono::oblique(),
            dejavu::sans_mono::bold_oblique(),
            dejavu::sans::regular(),
            SANS_BOLD,
            SANS_ITALIC,
            SYMBOLS,
            epaint_default_fonts::NOTO_EMOJI_REGULAR,
        ] {
            system.load_font(Cow::Borrowed(face));
        }
        let faces = system.raw().db_mut();
        faces.set_monospace_family(MONO);
        faces.set_sans_serif_family("Fira Sans");
    });
}

/// The terminal's font at the size that fills a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mono {
    family: Family,
    /// Size at which its advance is a cell's width.
    pub(crate) size: f32,
    /// Height of a cell.
    pub(crate) line_height: f32,
}

impl Mono {
    /// The font of a family, or the built-in one if there is no such family.
    pub(crate) fn of(family: &str, cell: CellSize) -> Mono {
        load();
        let (family, advance) = chosen(family).unwrap_or((Family::Name(MONO), ADVANCE));
        Mono { family, size: cell.width / advance, line_height: cell.height }
    }

    pub(crate) fn face(&self, bold: bool, italic: bool) -> Font {
        Font {
            family: self.family,
            weight: if bold { Weight::Bold } else { Weight::Normal },
            style: match (italic, self.family) {
                (false, _) => Style::Normal,
                // The built-in face is slanted, not drawn anew.
                (true, Family::Name(MONO)) => Style::Oblique,
                (true, _) => Style::Italic,
            },
            ..Font::DEFAULT
        }
    }
}

/// A family the user chose and its advance, if there is such a family.
fn chosen(name: &str) -> Option<(Family, f32)> {
    type Families = HashMap<String, Option<(Family, f32)>>;
    thread_local! {
        static FAMILIES: RefCell<Families> = RefCell::default();
    }
    if name.is_empty() || name.eq_ignore_ascii_case(MONO) {
        return None;
    }
    FAMILIES.with_borrow_mut(|families| {
        if let Some(found) = families.get(name) {
            return *found;
        }
        if families.len() >= MAX_FAMILIES {
            return None;
        }
        let found = installed(name).map(|family| {
            let font = Font { family, ..Font::DEFAULT };
            (family, measure("MMMMMMMMMM", font, 100.0) / 1000.0)
        });
        // A face without a usable advance would not stay on the grid.
        let found = found.filter(|(_, advance)| (0.3..1.2).contains(advance));
        families.insert(name.to_owned(), found);
        found
    })
}

/// Whether a terminal can be shown in a family, built in or installed.
pub fn has(family: &str) -> bool {
    load();
    family.is_empty() || family.eq_ignore_ascii_case(MONO) || chosen(family).is_some()
}

/// The family of a name, whatever its case, if a font of the system has it.
fn installed(name: &str) -> Option<Family> {
    let mut system = text::font_system().write().ok()?;
    let faces = system.raw().db();
    let spelled = faces
        .faces()
        .flat_map(|face| face.families.iter())
        .find(|(family, _)| family.eq_ignore_ascii_case(name))
        .map(|(family, _)| family.clone())?;
    // The renderer wants names that live for ever; there are at most MAX_FAMILIES of them a thread.
    Some(Family::Name(String::leak(spelled)))
}

fn paragraph(content: &str, font: Font, size: f32) -> Paragraph {
    load();
    Paragraph::with_text(Text {
        content,
        bounds: Size::INFINITE,
        size: Pixels(size),
        line_height: LineHeight::Relative(1.2),
        font,
        align_x: Alignment::Left,
        align_y: alignment::Vertical::Top,
        shaping: Shaping::Auto,
        wrapping: Wrapping::None,
    })
}

fn measure(content: &str, font: Font, size: f32) -> f32 {
    paragraph(content, font, size).min_bounds().width
}

/// The font that has emoji in color, if one is installed.
pub(crate) fn emoji() -> Option<Font> {
    static FOUND: OnceLock<Option<Font>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        load();
        let mut system = text::font_system().write().ok()?;
        let faces = system.raw().db();
        let has = |name: &&str| {
            faces.faces().any(|face| face.families.iter().any(|(family, _)| family == name))
        };
        COLOR_EMOJI.into_iter().find(has).map(Font::with_name)
    })
}

/// Whether a cluster is one that is shown in color where that can be: pictures, flags, and signs that
/// ask for it.
pub(crate) fn is_emoji(cluster: &str, is_wide: bool) -> bool {
    let asks = cluster.contains('\u{fe0f}');
    match cluster.chars().next() {
        Some('\u{1f1e6}'..='\u{1f1ff}') => true,
        Some('\u{1f000}'..='\u{1faff}' | '\u{231a}'..='\u{27bf}' | '\u{2b1b}'..='\u{2b55}') => {
            is_wide || asks
        }
        _ => asks && is_wide,
    }
}

/// How a character fits the cells it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    /// Size at which it fits.
    pub(crate) size: f32,
    /// How far from the left edge it begins, so that it stands in the middle.
    pub(crate) left: f32,
    /// Whether no font has it.
    pub(crate) is_missing: bool,
    /// Whether it is a letter whose marks would stand beside it.
    pub(crate) has_marks_beside: bool,
}

/// The letter of a cluster that is a letter with marks.
pub(crate) fn marked_letter(cluster: &str) -> Option<&str> {
    let mut chars = cluster.char_indices();
    let (_, first) = chars.next()?;
    let (at, _) = chars.next()?;
    // A digit on a key is a sign of its own.
    let is_key = cluster.contains(['\u{fe0f}', '\u{20e3}']);
    (first.is_alphanumeric() && !is_key).then(|| &cluster[..at])
}

/// A picture of a person without the tone of its skin; none if it has none.
pub(crate) fn without_tone(cluster: &str) -> Option<String> {
    let is_tone = |c: char| ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
    let plain = cluster.replace(is_tone, "");
    (!plain.is_empty() && plain.len() < cluster.len()).then_some(plain)
}

/// As much of a letter with marks as a font has in one piece, and the marks that are left.
pub(crate) fn composed(cluster: &str, font: Font, size: f32) -> (&str, &str) {
    let Some(letter) = marked_letter(cluster) else { return (cluster, "") };
    let ends = cluster.char_indices().map(|(start, _)| start).skip(2).chain([cluster.len()]);
    let is_whole = |end: &usize| {
        let shaped = paragraph(&cluster[..*end], font, size);
        shaped.buffer().layout_runs().map(|run| run.glyphs.len()).sum::<usize>() == 1
    };
    let end = ends.take_while(is_whole).last().unwrap_or(letter.len());
    cluster.split_at(end)
}

/// Where the pixels of a mark are, seen from the point where it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) left: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// Whether it stands over letters, not under them.
    pub(crate) is_above: bool,
}

/// How a mark is drawn by itself; none if it leaves no trace.
pub(crate) fn drawn(mark: &str, font: Font, size: f32) -> Option<Drawn> {
    thread_local! {
        static DRAWN: RefCell<HashMap<(String, Font, u32), Option<Drawn>>> = RefCell::default();
    }
    let key = (mark.to_owned(), font, size.to_bits());
    DRAWN.with_borrow_mut(|all| {
        *remembered(all, key, || {
            let shaped = paragraph(mark, font, size);
            let glyph =
                shaped.buffer().layout_runs().find_map(|run| run.glyphs.first().cloned())?;
            let physical = glyph.physical((0.0, 0.0), 1.0);
            let mut system = text::font_system().write().ok()?;
            let mut cache = text::cosmic_text::SwashCache::new();
            let image = cache.get_image_uncached(system.raw(), physical.cache_key)?;
            let place = image.placement;
            let (top, height) = (place.top as f32, place.height as f32);
            Some(Drawn {
                left: physical.x as f32 + place.left as f32,
                width: place.width as f32,
                height,
                is_above: top - height / 2.0 > size * 0.2,
            })
        })
    })
}

/// Whether a character is a mark that simply stands over, under or through any letter.
fn is_plain_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// How a character or cluster fits a width.
pub(crate) fn fit(cluster: &str, font: Font, size: f32, width: f32) -> Fit {
    thread_local! {
        static FITS: RefCell<HashMap<(String, Font, u32, u32), Fit>> = RefCell::default();
    }
    let key = (cluster.to_owned(), font, size.to_bits(), width.to_bits());
    FITS.with_borrow_mut(|fits| {
        *remembered(fits, key, || {
            let shaped = paragraph(cluster, font, size);
            let whole = shaped.min_bounds().width;
            let glyphs: Vec<_> =
                shaped.buffer().layout_runs().flat_map(|run| run.glyphs.iter()).collect();
            let is_missing = whole <= 0.0 || glyphs.iter().any(|glyph| glyph.glyph_id == 0);
            // A mark that another font draws beside its letter does not make the letter smaller.
            let is_marked = marked_letter(cluster).is_some();
            let natural = match marked_letter(cluster) {
                Some(letter) => measure(letter, font, size).min(whole),
                None => whole,
            };
            // A hair too wide is still the grid's own face.
            let shrink = if natural > width + 0.1 { width / natural } else { 1.0 };
            let left = ((width - natural * shrink) / 2.0).max(0.0);
            // One that takes no room of its own may still be drawn behind its letter.
            let has_marks = cluster.chars().skip(1).all(is_plain_mark);
            let has_marks_beside =
                whole > natural + 0.5 || (has_marks && is_marked && glyphs.len() > 1);
            Fit { size: size * shrink, left, is_missing, has_marks_beside }
        })
    })
}

/// How wide a text of the chrome is.
pub(crate) fn width(content: &str, font: Font, size: f32) -> f32 {
    thread_local! {
        static WIDTHS: RefCell<HashMap<(String, Font, u32), f32>> = RefCell::default();
    }
    if font == CODE && content.is_ascii() {
        return size * ADVANCE * content.len() as f32;
    }
    let key = (content.to_owned(), font, size.to_bits());
    WIDTHS.with_borrow_mut(|widths| *remembered(widths, key, || measure(content, font, size)))
}

/// How far two words stand apart.
pub(crate) fn space(font: Font, size: f32) -> f32 {
    // Blanks at an end may not count.
    width("n n", font, size) - width("nn", font, size)
}

/// A text that fits a width, with an ellipsis if its end was cut.
pub(crate) fn elided(content: &str, font: Font, size: f32, room: f32) -> String {
    /// Longer than any text that could be seen.
    const MAX_CHARS: usize = 512;
    thread_local! {
        static ELIDED: RefCell<HashMap<(String, Font, u32, u32), String>> = RefCell::default();
    }
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let content: String = content.chars().take(MAX_CHARS).map(visible).collect();
    let key = (content.clone(), font, size.to_bits(), room.to_bits());
    ELIDED.with_borrow_mut(|texts| {
        let fitting = || {
            if measure(&content, font, size) <= room {
                return content;
            }
            let ends: Vec<usize> = content.char_indices().map(|(start, _)| start).collect();
            let cut = |end: &usize| format!("{}…", content[..*end].trim_end());
            let fitting = ends.partition_point(|end| measure(&cut(end), font, size) <= room);
            fitting.checked_sub(1).map_or_else(String::new, |last| cut(&ends[last]))
        };
        remembered(texts, key, || cost::eliding(fitting)).clone()
    })
}

/// A cached value. Text comes from outside, so a full cache is begun anew instead of growing.
fn remembered<K: Eq + Hash, V>(
    cache: &mut HashMap<K, V>,
    key: K,
    make: impl FnOnce() -> V,
) -> &mut V {
    if cache.len() >= MAX_MEASURED {
        cache.clear();
    }
    match cache.entry(key) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(make()),
    }
}

/// Families whose letters are all of one width, the built-in one among them. Looks through the
/// fonts of the system, which takes a moment.
pub fn families() -> Vec<String> {
    load();
    let Ok(mut system) = text::font_system().write() else { return vec![MONO.to_owned()] };
    let faces = system.raw().db().faces();
    // Monospaced as well, but not meant for text.
    let is_symbols = |name: &str| name.contains("Emoji") || name.contains("Symbols");
    let mono = faces
        .filter(|face| face.monospaced && !face.families.iter().any(|(name, _)| is_symbols(name)));
    let mut found: Vec<String> =
        mono.filter_map(|face| Some(face.families.first()?.0.clone())).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mono() -> Mono {
        let cell = CellSize::of(&rookery_view::scene::FontChoice::default());
        Mono::of("", cell)
    }

    #[test]
    fn words_of_the_built_in_face_stay_on_the_grid() {
        let mono = mono();
        for (bold, italic) in [(false, false), (true, false), (false, true), (true, true)] {
            let width = measure("abcdefghij", mono.face(bold, italic), mono.size);
            assert!((width - 80.0).abs() < 0.05, "{bold} {italic}: {width}");
        }
    }

    #[test]
    fn an_unknown_family_becomes_the_built_in_one() {
        let cell = CellSize::of(&rookery_view::scene::FontChoice::default());
        assert_eq!(Mono::of("No Such Font At All", cell), mono());
    }

    #[test]
    fn wide_characters_fit_two_cells_and_unknown_ones_are_reported() {
        let mono = mono();
        let face = mono.face(false, false);
        let rocket = fit("🚀", face, mono.size, 16.0);
        assert!(!rocket.is_missing);
        assert!(measure("🚀", face, rocket.size) + rocket.left <= 16.1);
        assert!(fit("\u{10fffd}", face, mono.size, 16.0).is_missing);
    }

    #[test]
    fn a_long_text_ends_in_an_ellipsis_and_fits() {
        let long = "a rather long title that could never ever be shown in full";
        let cut = elided(long, SANS, 13.0, 100.0);
        assert!(cut.ends_with('…') && cut.len() > 8, "{cut}");
        assert!(measure(&cut, SANS, 13.0) <= 100.0);
        assert_eq!(elided("short", SANS, 13.0, 100.0), "short");
        assert_eq!(elided(long, SANS, 13.0, 1.0), "");
        assert_eq!(elided("two\nlines", SANS, 13.0, 200.0), "two lines");
    }

    #[test]
    fn a_text_is_cut_once_for_its_room() {
        load();
        cost::take();
        for _ in 0..3 {
            elided("a text that is cut", SANS, 13.0, 50.0);
        }
        assert_eq!(cost::take().elided, 1);
        elided("a text that is cut", SANS, 13.0, 60.0);
        elided("another text", SANS, 13.0, 50.0);
        assert_eq!((cost::take().elided, cost::take()), (2, cost::Cost::default()));
    }
}
