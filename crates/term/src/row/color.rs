//! Colors of cells as compact bytes.

use alacritty_terminal::vte::ansi::{Color, NamedColor, Rgb};

use crate::bin::{Damaged, Read, Reader, Writer};

pub(crate) fn write_color(writer: &mut Writer<'_>, color: Color) {
    match color {
        Color::Named(name) => {
            writer.u8(0);
            writer.uint(name as u64);
        }
        Color::Indexed(index) => {
            writer.u8(1);
            writer.u8(index);
        }
        Color::Spec(Rgb { r, g, b }) => {
            writer.u8(2);
            writer.0.extend([r, g, b]);
        }
    }
}

pub(crate) fn read_color(reader: &mut Reader<'_>) -> Read<Color> {
    Ok(match reader.u8()? {
        0 => Color::Named(named_color(reader.uint()?)?),
        1 => Color::Indexed(reader.u8()?),
        2 => Color::Spec(Rgb { r: reader.u8()?, g: reader.u8()?, b: reader.u8()? }),
        _ => return Err(Damaged),
    })
}

fn named_color(number: u64) -> Read<NamedColor> {
    use NamedColor::{
        Background, Black, Blue, BrightBlack, BrightBlue, BrightCyan, BrightForeground,
        BrightGreen, BrightMagenta, BrightRed, BrightWhite, BrightYellow, Cursor, Cyan, DimBlack,
        DimBlue, DimCyan, DimForeground, DimGreen, DimMagenta, DimRed, DimWhite, DimYellow,
        Foreground, Green, Magenta, Red, White, Yellow,
    };
    [
        Black,
        Red,
        Green,
        Yellow,
        Blue,
        Magenta,
        Cyan,
        White,
        BrightBlack,
        BrightRed,
        BrightGreen,
        BrightYellow,
        BrightBlue,
        BrightMagenta,
        BrightCyan,
        BrightWhite,
        Foreground,
        Background,
        Cursor,
        DimBlack,
        DimRed,
        DimGreen,
        DimYellow,
        DimBlue,
        DimMagenta,
        DimCyan,
        DimWhite,
        BrightForeground,
        DimForeground,
    ]
    .into_iter()
    .find(|name| *name as u64 == number)
    .ok_or(Damaged)
}
