//! Shapes of the mouse pointer that a program may ask for, by their W3C names.

/// The shape of the pointer over a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PointerShape(u8);

/// The W3C's names. A checkpoint stores places in this list, so it may only grow at its end.
const NAMES: [&str; 35] = [
    "default",
    "none",
    "context-menu",
    "help",
    "pointer",
    "progress",
    "wait",
    "cell",
    "crosshair",
    "text",
    "vertical-text",
    "alias",
    "copy",
    "move",
    "no-drop",
    "not-allowed",
    "grab",
    "grabbing",
    "all-scroll",
    "col-resize",
    "row-resize",
    "n-resize",
    "e-resize",
    "s-resize",
    "w-resize",
    "ne-resize",
    "nw-resize",
    "se-resize",
    "sw-resize",
    "ew-resize",
    "ns-resize",
    "nesw-resize",
    "nwse-resize",
    "zoom-in",
    "zoom-out",
];

impl PointerShape {
    /// The shape of this name; the default shape if there is none.
    pub fn named(name: &str) -> PointerShape {
        let place = NAMES.iter().position(|known| *known == name);
        PointerShape(place.unwrap_or(0) as u8)
    }

    /// Its W3C name.
    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or("default")
    }

    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// Of a number that no list has, the default.
    pub(crate) fn from_number(number: u8) -> PointerShape {
        if usize::from(number) < NAMES.len() { PointerShape(number) } else { PointerShape(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_come_back_and_others_are_the_default() {
        for name in NAMES {
            assert_eq!(PointerShape::named(name).name(), name);
            assert_eq!(PointerShape::from_number(PointerShape::named(name).number()).name(), name);
        }
        for name in ["", "Pointer", "hand2", "xterm", "é"] {
            assert_eq!(PointerShape::named(name), PointerShape::default(), "{name:?}");
        }
        assert_eq!(PointerShape::from_number(200).name(), "default");
        assert_eq!(PointerShape::default().name(), "default");
    }
}
