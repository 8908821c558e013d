//! The image of the provider that makes images without a server.

/// A PNG of one pixel, always the same.
pub fn fake_image() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    // Written to memory, where nothing can go wrong.
    if let Ok(mut writer) = encoder.write_header() {
        let _ = writer.write_image_data(&[0, 0, 0, 255]);
        let _ = writer.finish();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use crate::decode::{dimensions, pixels};

    #[test]
    fn the_image_is_one_pixel() {
        let bytes = super::fake_image();
        let size = dimensions(&bytes).unwrap();
        assert_eq!((size.width, size.height), (1, 1));
        assert_eq!(pixels(&bytes).unwrap().bytes, [0, 0, 0, 255]);
    }
}
