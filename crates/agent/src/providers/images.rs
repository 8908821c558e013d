//! Addresses of images, as far as APIs take them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Image<'a> {
    /// In the address itself.
    Data {
        media_type: &'a str,
        base64: &'a str,
        whole: &'a str,
    },
    Web(&'a str),
}

/// What the model gets in place of an image that no API accepts.
pub(crate) const LEFT_OUT: &str = "(an image that cannot be sent was left out)";

impl<'a> Image<'a> {
    /// Reads an address; none if it is neither base64 data nor on the web.
    pub(crate) fn parse(address: &'a str) -> Option<Self> {
        if address.starts_with("http://") || address.starts_with("https://") {
            return Some(Self::Web(address));
        }
        let (head, base64) = address.strip_prefix("data:")?.split_once(',')?;
        let media_type = head.strip_suffix(";base64")?.split(';').next()?;
        (media_type.starts_with("image/") && !base64.is_empty()).then_some(Self::Data {
            media_type,
            base64,
            whole: address,
        })
    }

    pub(crate) fn address(self) -> &'a str {
        match self {
            Self::Data { whole, .. } => whole,
            Self::Web(address) => address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_data_or_on_the_web() {
        let address = "data:image/png;charset=x;base64,AAA=";
        let Some(Image::Data { media_type, base64, .. }) = Image::parse(address) else {
            panic!("no image in {address}");
        };
        assert_eq!((media_type, base64), ("image/png", "AAA="));
        assert_eq!(
            Image::parse("https://a.b/c.png").map(Image::address),
            Some("https://a.b/c.png")
        );
        for bad in [
            "data:image/png,AAA",
            "data:text/plain;base64,AA",
            "data:image/png;base64,",
            "file:///x",
            "",
        ] {
            assert_eq!(Image::parse(bad), None, "{bad}");
        }
    }
}
