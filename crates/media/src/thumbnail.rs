//! A small picture of an image: PNG, its longest side at most so long, and never larger than the image.

use crate::artifact::Dimensions;
use crate::decode::{Pixels, pixels};

/// The longest side of a thumbnail, in pixels.
pub const LONGEST_SIDE: u32 = 256;

/// The thumbnail of an image, as PNG.
///
/// # Errors
/// If it is no image that can be decoded, with the reason.
pub fn thumbnail(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let image = pixels(bytes)?;
    let size = fitted(image.size);
    let small = if size == image.size { image } else { shrunk(&image, size) };
    encode(&small)
}

/// The size of a thumbnail: the same proportions, and no side without a pixel.
fn fitted(size: Dimensions) -> Dimensions {
    let longest = size.width.max(size.height);
    if longest <= LONGEST_SIDE {
        return size;
    }
    let side = |side: u32| {
        let exact = u64::from(side) * u64::from(LONGEST_SIDE);
        let rounded = (exact + u64::from(longest) / 2) / u64::from(longest);
        u32::try_from(rounded).unwrap_or(LONGEST_SIDE).max(1)
    };
    Dimensions { width: side(size.width), height: side(size.height) }
}

/// Each pixel is the mean of those that lie under it; what is not opaque counts for less.
fn shrunk(image: &Pixels, size: Dimensions) -> Pixels {
    let (width, height) = (image.size.width as usize, image.size.height as usize);
    let span = |place: usize, from: usize, to: usize| {
        let begin = place * from / to;
        let end = ((place + 1) * from).div_ceil(to).min(from);
        begin..end.max(begin + 1)
    };
    let mut bytes = Vec::with_capacity(size.width as usize * size.height as usize * 4);
    for row in 0..size.height as usize {
        let rows = span(row, height, size.height as usize);
        for column in 0..size.width as usize {
            let columns = span(column, width, size.width as usize);
            let (mut sums, mut opacity, mut count) = ([0_u64; 3], 0_u64, 0_u64);
            for y in rows.clone() {
                let line =
                    &image.bytes[(y * width + columns.start) * 4..(y * width + columns.end) * 4];
                for pixel in line.chunks_exact(4) {
                    let weight = u64::from(pixel[3]);
                    for (sum, value) in sums.iter_mut().zip(pixel) {
                        *sum += u64::from(*value) * weight;
                    }
                    opacity += weight;
                    count += 1;
                }
            }
            let mean = |sum: u64, of: u64| u8::try_from((sum + of / 2) / of.max(1)).unwrap_or(255);
            bytes.extend(sums.map(|sum| mean(sum, opacity)));
            bytes.push(mean(opacity, count));
        }
    }
    Pixels { size, bytes }
}

fn encode(image: &Pixels) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.size.width, image.size.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let wrong = |error: png::EncodingError| error.to_string();
    let mut writer = encoder.write_header().map_err(wrong)?;
    writer.write_image_data(&image.bytes).map_err(wrong)?;
    writer.finish().map_err(wrong)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decode::dimensions;
    use crate::fake::fake_image;

    fn image(width: u32, height: u32, color: impl Fn(u32, u32) -> [u8; 4]) -> Vec<u8> {
        let size = Dimensions { width, height };
        let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let bytes = rows.flat_map(|(x, y)| color(x, y)).collect();
        encode(&Pixels { size, bytes }).unwrap()
    }

    #[test]
    fn a_large_image_is_shrunk_and_a_small_one_stays() {
        for ((width, height), (small_width, small_height)) in [
            ((512, 256), (256, 128)),
            ((100, 1000), (26, 256)),
            ((2000, 1), (256, 1)),
            ((256, 256), (256, 256)),
            ((3, 7), (3, 7)),
            ((257, 10), (256, 10)),
        ] {
            let bytes = thumbnail(&image(width, height, |_, _| [9, 8, 7, 255])).unwrap();
            let size = Dimensions { width: small_width, height: small_height };
            assert_eq!(dimensions(&bytes), Some(size), "{width}x{height}");
            assert_eq!(pixels(&bytes).unwrap().bytes[..4], [9, 8, 7, 255]);
        }
    }

    #[test]
    fn colors_are_means_and_what_cannot_be_seen_has_none() {
        let half = image(512, 512, |x, _| if x < 256 { [200, 0, 0, 255] } else { [0, 0, 100, 0] });
        let small = pixels(&thumbnail(&half).unwrap()).unwrap();
        assert_eq!(small.bytes[..4], [200, 0, 0, 255]);
        assert_eq!(small.bytes[255 * 4..256 * 4][3], 0);
        let mixed =
            image(512, 1, |x, _| if x % 2 == 0 { [100, 0, 0, 255] } else { [200, 0, 0, 255] });
        assert_eq!(pixels(&thumbnail(&mixed).unwrap()).unwrap().bytes[..4], [150, 0, 0, 255]);
    }

    #[test]
    fn images_of_all_four_types_are_decoded() {
        for (name, bytes, size) in [
            ("png", &include_bytes!("../tests/images/gray.png")[..], (5, 3)),
            ("palette", include_bytes!("../tests/images/palette.png"), (5, 3)),
            ("jpeg", include_bytes!("../tests/images/photo.jpg"), (320, 200)),
            ("gray jpeg", include_bytes!("../tests/images/gray.jpg"), (17, 9)),
            ("gif", include_bytes!("../tests/images/moving.gif"), (40, 30)),
            ("webp", include_bytes!("../tests/images/lossy.webp"), (64, 48)),
            ("lossless webp", include_bytes!("../tests/images/lossless.webp"), (33, 21)),
        ] {
            let wanted = Dimensions { width: size.0, height: size.1 };
            assert_eq!(dimensions(bytes), Some(wanted), "{name}");
            let small = thumbnail(bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(dimensions(&small), Some(fitted(wanted)), "{name}");
        }
    }

    #[test]
    fn what_is_no_image_has_no_thumbnail() {
        for bytes in
            [&b""[..], b"text", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"BM"]
        {
            assert!(thumbnail(bytes).is_err(), "{bytes:?}");
        }
        // One that claims to be larger than anything.
        let mut huge = fake_image();
        huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        assert!(thumbnail(&huge).is_err());
    }

    proptest! {
        #[test]
        fn damaged_images_are_errors_and_no_more(at in 0_usize..4000, value: u8, cut in 0_usize..4000) {
            for bytes in [
                &include_bytes!("../tests/images/photo.jpg")[..],
                include_bytes!("../tests/images/moving.gif"),
                include_bytes!("../tests/images/lossy.webp"),
                include_bytes!("../tests/images/palette.png"),
            ] {
                let mut bytes = bytes.to_vec();
                let length = bytes.len();
                bytes[at % length] = value;
                bytes.truncate(length - cut % length);
                if let Ok(small) = thumbnail(&bytes) {
                    let size = dimensions(&small).unwrap();
                    prop_assert!(size.width.max(size.height) <= LONGEST_SIDE);
                }
            }
        }
    }
}
