//! The request envelope: what counts as a request, and its id kept byte for byte.

use std::{borrow::Cow, fmt};

use memchr::memchr2_iter;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::RpcError;

/// Nesting at which a document is refused, the same as serde_json's own limit.
const DEPTH_LIMIT: usize = 128;

/// A request as it stands in its frame; other members are ignored.
///
/// A member that is `null` counts as absent.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// Must be `2.0`.
    pub jsonrpc: Option<Cow<'a, str>>,
    /// Absent in a notification.
    pub id: Option<&'a RawValue>,
    /// The method's name.
    pub method: Option<Cow<'a, str>>,
    /// The method's params.
    pub params: Option<&'a RawValue>,
}

impl<'a> Request<'a> {
    /// Reads one document that must be a JSON object with well-typed, unrepeated members.
    ///
    /// # Errors
    /// A parse error; arrays, and with them batches, are not requests.
    pub fn parse(text: &'a str) -> Result<Self, RpcError> {
        let request: Self = serde_json::from_str(text).map_err(RpcError::parse)?;
        check_depth(text)?;
        request.check_id()?;
        Ok(request)
    }
}

impl Request<'_> {
    /// An id is echoed as it was written, so it must be something that a strict reader takes:
    /// no half of a surrogate pair, no number beyond all floats.
    pub(super) fn check_id(&self) -> Result<(), RpcError> {
        let Some(id) = self.id.map(RawValue::get) else { return Ok(()) };
        if id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(());
        }
        serde_json::from_str::<serde_json::Value>(id).map(drop).map_err(RpcError::parse)
    }
}

/// Refuses what serde_json would refuse if it did not skip raw values without recursion.
///
/// `text` must be valid JSON.
pub(super) fn check_depth(text: &str) -> Result<(), RpcError> {
    let bytes = text.as_bytes();
    // Counting is much cheaper than following strings, and nearly every request has fewer brackets in all.
    if memchr2_iter(b'{', b'[', bytes).nth(DEPTH_LIMIT - 1).is_none() {
        return Ok(());
    }
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth >= DEPTH_LIMIT {
            let column = at + 1;
            return Err(RpcError::parse(format_args!(
                "recursion limit exceeded at line 1 column {column}"
            )));
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Request<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RequestVisitor)
    }
}

struct RequestVisitor;

impl<'de> Visitor<'de> for RequestVisitor {
    type Value = Request<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Request<'de>, A::Error> {
        let mut request = Request::default();
        let mut seen = [false; 4];
        while let Some(member) = map.next_key::<Member>()? {
            if let Some(seen) = seen.get_mut(member as usize) {
                if *seen {
                    let name = MEMBERS[member as usize];
                    return Err(serde::de::Error::duplicate_field(name));
                }
                *seen = true;
            }
            match member {
                Member::Jsonrpc => {
                    request.jsonrpc = map.next_value::<Option<Text<'_>>>()?.map(|text| text.0)
                }
                Member::Id => request.id = map.next_value()?,
                Member::Method => {
                    request.method = map.next_value::<Option<Text<'_>>>()?.map(|text| text.0)
                }
                Member::Params => request.params = map.next_value()?,
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(request)
    }
}

/// The names of the members that matter, by [`Member`].
pub(super) const MEMBERS: [&str; 4] = ["jsonrpc", "id", "method", "params"];

/// A member of a request.
#[derive(Clone, Copy)]
pub(super) enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Other,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;
        impl Visitor<'_> for MemberVisitor {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Member, E> {
                Ok(match name {
                    "jsonrpc" => Member::Jsonrpc,
                    "id" => Member::Id,
                    "method" => Member::Method,
                    "params" => Member::Params,
                    _ => Member::Other,
                })
            }
        }
        deserializer.deserialize_identifier(MemberVisitor)
    }
}

/// A string that is borrowed unless it has escapes, also inside an `Option`.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

const INLINE: usize = 22;

/// A request's id, kept exactly as the peer wrote it; short ones without allocation.
#[derive(Debug, Clone)]
pub struct Id(Repr);

#[derive(Debug, Clone)]
enum Repr {
    Inline { len: u8, bytes: [u8; INLINE] },
    Heap(Box<str>),
}

impl Id {
    /// Copies an id out of its request.
    #[must_use]
    pub fn new(raw: &RawValue) -> Self {
        let text = raw.get();
        let mut bytes = [0; INLINE];
        match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(len)) => {
                place.copy_from_slice(text.as_bytes());
                Self(Repr::Inline { len, bytes })
            }
            _ => Self(Repr::Heap(text.into())),
        }
    }

    /// The id as JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Inline { len, bytes } => std::str::from_utf8(&bytes[..usize::from(*len)])
                .expect("copied from a string as a whole"),
            Repr::Heap(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(depth: usize) -> String {
        format!(r#"{{"method":"x","params":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn depth_is_limited_like_serde_json_does() {
        for depth in [0, 1, 100, 126, 127, 128, 1000, 100_000] {
            let text = nested(depth);
            let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
            match (Request::parse(&text), value) {
                (Ok(_), Ok(_)) => {}
                (Err(ours), Err(theirs)) => assert_eq!(ours, RpcError::parse(theirs)),
                (ours, theirs) => panic!("{depth}: {ours:?} but {theirs:?}"),
            }
        }
    }

    #[test]
    fn brackets_in_strings_do_not_nest() {
        let text = format!(r#"{{"method":"x","params":{{"s":"{}\"[{{"}}}}"#, "[".repeat(500));
        assert!(Request::parse(&text).is_ok());
    }

    #[test]
    fn escaped_names_are_understood() {
        let request = Request::parse(r#"{"m\u0065thod":"\u0061b","jsonrpc":"2.0"}"#).unwrap();
        assert_eq!(request.method.unwrap(), "ab");
    }

    proptest! {
        #[test]
        fn ids_are_kept(text in "[a-zé0-9]{0,40}") {
            let json = serde_json::to_string(&text).unwrap();
            let raw: &RawValue = serde_json::from_str(&json).unwrap();
            let id = Id::new(raw);
            prop_assert_eq!(id.as_str(), json.as_str());
        }

        #[test]
        fn arbitrary_text_never_panics(text in "[{}\\[\\]\":,a-z0-9\\\\ ]{0,200}") {
            let _ = Request::parse(&text);
        }

        #[test]
        fn a_request_is_a_json_object(text in "\\{(\"(id|method|params|x)\":(1|null|\"a\"|\\[\\{\\}\\])[, ]?){0,5}\\}") {
            if Request::parse(&text).is_ok() {
                prop_assert!(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_ok());
            }
        }
    }
}
