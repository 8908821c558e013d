//! Images of four types, decoded within bounds: how large they are, and their pixels.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gif::{ColorOutput, DecodeOptions, MemoryLimit};
use image_webp::WebPDecoder;
use png::{ColorType, Limits, Transformations};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::artifact::Dimensions;
use crate::sniff::sniff;

/// The most pixels of an image that is decoded: four bytes each.
const MOST_PIXELS: u64 = 40_000_000;
/// The longest side of an image that is decoded.
const LONGEST_SIDE: usize = 65_535;
/// What a decoder may use beside the pixels.
const DECODER_MEMORY: usize = 256 << 20;

/// An image: red, green, blue and opacity of every pixel, row by row.
pub(crate) struct Pixels {
    pub(crate) size: Dimensions,
    pub(crate) bytes: Vec<u8>,
}

/// How large an image is, by its own header; none if it is no image of a type that is known.
pub fn dimensions(bytes: &[u8]) -> Option<Dimensions> {
    // A decoder of others that gives up must not take us with it.
    catch_unwind(AssertUnwindSafe(|| header(bytes))).ok().flatten()
}

fn header(bytes: &[u8]) -> Option<Dimensions> {
    let (width, height) = match sniff(bytes).mime_type {
        "image/png" => {
            let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits());
            let info = decoder.read_header_info().ok()?;
            (info.width, info.height)
        }
        "image/jpeg" => {
            let mut decoder = jpeg(bytes);
            decoder.decode_headers().ok()?;
            let info = decoder.info()?;
            (u32::from(info.width), u32::from(info.height))
        }
        "image/gif" => {
            let decoder = gif_options().read_info(Cursor::new(bytes)).ok()?;
            (u32::from(decoder.width()), u32::from(decoder.height()))
        }
        "image/webp" => WebPDecoder::new(Cursor::new(bytes)).ok()?.dimensions(),
        _ => return None,
    };
    (width > 0 && height > 0).then_some(Dimensions { width, height })
}

/// The pixels of an image; of several the first.
pub(crate) fn pixels(bytes: &[u8]) -> Result<Pixels, String> {
    let size = dimensions(bytes).ok_or("it is no image of a type that can be shown")?;
    if u64::from(size.width) * u64::from(size.height) > MOST_PIXELS {
        return Err(format!("it has more than {MOST_PIXELS} pixels"));
    }
    let decode = || match sniff(bytes).mime_type {
        "image/png" => of_png(bytes),
        "image/jpeg" => of_jpeg(bytes, size),
        "image/gif" => of_gif(bytes, size),
        _ => of_webp(bytes, size),
    };
    let broken = "its decoder gave up".to_owned();
    let pixels = catch_unwind(AssertUnwindSafe(decode)).unwrap_or(Err(broken))?;
    match pixels.bytes.len() == pixels.size.width as usize * pixels.size.height as usize * 4 {
        true => Ok(pixels),
        false => Err("its decoder gave pixels of another size".to_owned()),
    }
}

fn limits() -> Limits {
    Limits { bytes: DECODER_MEMORY }
}

fn of_png(bytes: &[u8]) -> Result<Pixels, String> {
    let wrong = |error: png::DecodingError| error.to_string();
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits());
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let length = reader.output_buffer_size().ok_or("it is too large")?;
    let mut frame = vec![0; length];
    let info = reader.next_frame(&mut frame).map_err(wrong)?;
    frame.truncate(info.buffer_size());
    let bytes = match info.color_type {
        ColorType::Rgba => frame,
        ColorType::GrayscaleAlpha => {
            frame.chunks_exact(2).flat_map(|two| [two[0], two[0], two[0], two[1]]).collect()
        }
        ColorType::Rgb => with_opacity(&frame),
        ColorType::Grayscale => frame.iter().flat_map(|&one| [one, one, one, 255]).collect(),
        ColorType::Indexed => return Err("its colors cannot be told".to_owned()),
    };
    Ok(Pixels { size: Dimensions { width: info.width, height: info.height }, bytes })
}

fn jpeg(bytes: &[u8]) -> JpegDecoder<ZCursor<&[u8]>> {
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_max_width(LONGEST_SIDE)
        .set_max_height(LONGEST_SIDE);
    JpegDecoder::new_with_options(ZCursor::new(bytes), options)
}

fn of_jpeg(bytes: &[u8], size: Dimensions) -> Result<Pixels, String> {
    let mut decoder = jpeg(bytes);
    let frame = decoder.decode().map_err(|error| error.to_string())?;
    let count = size.width as usize * size.height as usize;
    let bytes = match count.checked_mul(3) == Some(frame.len()) {
        true => with_opacity(&frame),
        // Shades of gray stay what they are.
        false => frame.iter().flat_map(|&one| [one, one, one, 255]).collect(),
    };
    Ok(Pixels { size, bytes })
}

fn gif_options() -> DecodeOptions {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    if let Some(limit) = std::num::NonZeroU64::new(DECODER_MEMORY as u64) {
        options.set_memory_limit(MemoryLimit::Bytes(limit));
    }
    options
}

/// The first picture of an animation, in its place.
fn of_gif(bytes: &[u8], size: Dimensions) -> Result<Pixels, String> {
    let wrong = |error: gif::DecodingError| error.to_string();
    let mut decoder = gif_options().read_info(Cursor::new(bytes)).map_err(wrong)?;
    let frame = decoder.read_next_frame().map_err(wrong)?.ok_or("it has no picture")?;
    let (width, height) = (size.width as usize, size.height as usize);
    let mut canvas = vec![0; width * height * 4];
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let line = usize::from(frame.width) * 4;
    for (row, pixels) in frame.buffer.chunks_exact(line.max(1)).enumerate() {
        let count = pixels.len().min(width.saturating_sub(left) * 4);
        let begin = ((top + row) * width + left) * 4;
        if let Some(target) = canvas.get_mut(begin..begin + count) {
            target.copy_from_slice(&pixels[..count]);
        }
    }
    Ok(Pixels { size, bytes: canvas })
}

fn of_webp(bytes: &[u8], size: Dimensions) -> Result<Pixels, String> {
    let wrong = |error: image_webp::DecodingError| error.to_string();
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(wrong)?;
    decoder.set_memory_limit(DECODER_MEMORY);
    let mut frame = vec![0; decoder.output_buffer_size().ok_or("it is too large")?];
    decoder.read_image(&mut frame).map_err(wrong)?;
    let bytes = if decoder.has_alpha() { frame } else { with_opacity(&frame) };
    Ok(Pixels { size, bytes })
}

fn with_opacity(rgb: &[u8]) -> Vec<u8> {
    rgb.chunks_exact(3).flat_map(|three| [three[0], three[1], three[2], 255]).collect()
}
