//! The size of a terminal, valid by construction.

use thiserror::Error;

/// Rows and columns of a terminal, both at least 1, and its pixel size if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    rows: u16,
    cols: u16,
    /// Width in pixels, 0 when unknown.
    pub pixel_width: u16,
    /// Height in pixels, 0 when unknown.
    pub pixel_height: u16,
}

/// Why a size was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} must be between 1 and {max}, not {got}")]
pub struct SizeError {
    /// The field at fault: `rows` or `cols`.
    pub field: &'static str,
    /// The largest value allowed.
    pub max: u16,
    /// The value that was asked for.
    pub got: u16,
}

impl Size {
    /// The most rows a terminal may have; a grid costs memory for each.
    pub const MAX_ROWS: u16 = 2_000;
    /// The most columns a terminal may have.
    pub const MAX_COLS: u16 = 2_000;
    /// The most cells a screen may have. Each is two hundred bytes in a reply that shows them all.
    pub const MAX_CELLS: u32 = 400_000;
    /// The default size of a terminal.
    pub const DEFAULT: Size = Size { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };

    /// Checks rows and columns; the pixel size starts unknown.
    pub fn new(rows: u16, cols: u16) -> Result<Size, SizeError> {
        if rows == 0 || rows > Self::MAX_ROWS {
            return Err(SizeError { field: "rows", max: Self::MAX_ROWS, got: rows });
        }
        if cols == 0 || cols > Self::MAX_COLS {
            return Err(SizeError { field: "cols", max: Self::MAX_COLS, got: cols });
        }
        let widest = Self::MAX_CELLS / u32::from(rows);
        if u32::from(cols) > widest {
            return Err(SizeError { field: "cols", max: widest as u16, got: cols });
        }
        Ok(Size { rows, cols, pixel_width: 0, pixel_height: 0 })
    }

    /// The same rows and columns with a pixel size.
    pub const fn with_pixels(self, pixel_width: u16, pixel_height: u16) -> Size {
        Size { pixel_width, pixel_height, ..self }
    }

    /// Number of rows, at least 1.
    pub const fn rows(self) -> u16 {
        self.rows
    }

    /// Number of columns, at least 1.
    pub const fn cols(self) -> u16 {
        self.cols
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_cells_of_a_screen_is_bounded() {
        assert!(Size::new(200, 2000).is_ok() && Size::new(2000, 200).is_ok());
        let refused = Size::new(2000, 201).unwrap_err().to_string();
        assert_eq!(refused, "cols must be between 1 and 200, not 201");
    }

    #[test]
    fn zero_and_huge_sizes_are_refused_by_name() {
        assert_eq!(
            Size::new(0, 80).unwrap_err().to_string(),
            "rows must be between 1 and 2000, not 0"
        );
        assert_eq!(Size::new(24, 2001).unwrap_err().field, "cols");
        assert_eq!(Size::new(1, 1).unwrap().cols(), 1);
    }
}
