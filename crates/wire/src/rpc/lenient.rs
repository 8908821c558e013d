//! The lenient way to read a request: what is JSON but no request gets its id back with the refusal,
//! and clients that leave the version out are served.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Id, Request, RpcError,
    envelope::{MEMBERS, Member, check_depth},
};

/// Why there is no request.
pub(super) enum Refused {
    /// It is no JSON.
    Unreadable(RpcError),
    /// It is JSON, but nothing that could be answered by its id.
    NoObject(RpcError),
    /// It is an object, but no request, and so no notification either: without an id it is answered
    /// to none.
    Invalid {
        /// What is answered to.
        id: Option<Id>,
        /// What is wrong with it.
        error: RpcError,
    },
}

/// Reads one document that should be a request.
pub(super) fn parse(text: &str) -> Result<Request<'_>, Refused> {
    let unreadable = |error: serde_json::Error| Refused::Unreadable(RpcError::parse(error));
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(text).map_err(unreadable)?;
        return Err(Refused::NoObject(no_object(text)));
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(unreadable)?;
    check_depth(text).map_err(Refused::Unreadable)?;
    let mut request = Request { id: members.0[Member::Id as usize], ..Request::default() };
    request.check_id().map_err(Refused::Unreadable)?;
    if request.id.is_some_and(|id| !is_plain(id.get())) {
        let message = "id must be a string, an integer or null";
        return Err(Refused::NoObject(RpcError::invalid_request(message)));
    }
    let invalid = |message: &str| Refused::Invalid {
        id: request.id.map(Id::new),
        error: RpcError::invalid_request(message),
    };
    let version = members.0[Member::Jsonrpc as usize];
    if version.is_some_and(|version| string(version).as_deref() != Some("2.0")) {
        return Err(invalid("jsonrpc must be \"2.0\""));
    }
    let Some(method) = members.0[Member::Method as usize] else {
        return Err(invalid("method is required"));
    };
    let method = string(method).ok_or_else(|| invalid("method must be a string"))?;
    request.jsonrpc = Some(Cow::Borrowed("2.0"));
    request.method = Some(method);
    request.params = members.0[Member::Params as usize].filter(|params| params.get() != "null");
    Ok(request)
}

/// Whether an id, which is valid JSON, is one that clients find again: a string, an integer or null.
fn is_plain(id: &str) -> bool {
    match id.as_bytes() {
        [b'"', ..] | b"null" => true,
        [b'-' | b'0'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn no_object(text: &str) -> RpcError {
    RpcError::invalid_request(match text.trim_start().starts_with('[') {
        true => "batches are not supported",
        false => "not a request object",
    })
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    match serde_json::from_str::<&str>(raw.get()) {
        Ok(plain) => Some(Cow::Borrowed(plain)),
        Err(_) => serde_json::from_str(raw.get()).ok().map(Cow::Owned),
    }
}

/// The four members as they stand, `null` among them.
#[derive(Default)]
struct Members<'a>([Option<&'a RawValue>; 4]);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a request object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Members::default();
                while let Some(member) = map.next_key::<Member>()? {
                    let Some(place) = members.0.get_mut(member as usize) else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    if place.is_some() {
                        let name = MEMBERS[member as usize];
                        return Err(serde::de::Error::duplicate_field(name));
                    }
                    *place = Some(map.next_value()?);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}
