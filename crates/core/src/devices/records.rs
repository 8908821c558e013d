//! What is written down of devices, and how it is read again.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rookery_model::Timestamp;
use serde_json::{Value, json};

use super::secret::Digest;
use super::{MAX_DEVICES, Paired};
use crate::seats::ViewerRights;

/// The words of rights.
const RIGHTS: &[(ViewerRights, &str)] =
    &[(ViewerRights::Look, "look"), (ViewerRights::Decide, "decide"), (ViewerRights::Full, "full")];

/// The devices as a text; none if there is nothing to write down.
pub(super) fn write(devices: &mut BTreeMap<String, Paired>) -> Option<String> {
    if devices.is_empty() {
        return None;
    }
    let one = |(id, it): (&String, &mut Paired)| {
        it.saved();
        let rights = RIGHTS.iter().find(|(rights, _)| *rights == it.rights);
        json!({
            "id": id,
            "name": it.name,
            "rights": rights.map(|(_, word)| *word),
            "sha256": URL_SAFE_NO_PAD.encode(it.digest.0),
            "created": it.created_at.as_micros(),
            "seen": it.seen_at.as_micros(),
        })
    };
    let all: Vec<Value> = devices.iter_mut().map(one).collect();
    Some(Value::from(all).to_string())
}

/// The devices of a text. What cannot be read is left out.
pub(super) fn read(text: &str) -> BTreeMap<String, Paired> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let list = value.as_array().into_iter().flatten();
    list.filter_map(device).take(MAX_DEVICES).collect()
}

fn device(value: &Value) -> Option<(String, Paired)> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let time = |name: &str| value.get(name).and_then(Value::as_i64).map(Timestamp::from_micros);
    let word = text("rights")?;
    let (rights, _) = RIGHTS.iter().find(|(_, known)| *known == word)?;
    let digest = URL_SAFE_NO_PAD.decode(text("sha256")?).ok()?;
    let (created_at, seen_at) = (time("created")?, time("seen")?);
    let paired = Paired {
        name: text("name")?.to_owned(),
        rights: *rights,
        digest: Digest(digest.try_into().ok()?),
        created_at,
        seen_at,
        saved_at: seen_at,
        visitors: Vec::new(),
    };
    Some((text("id")?.to_owned(), paired))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_what_is_damaged_is_left_out() {
        let at = Timestamp::from_micros(5);
        let paired = Paired {
            name: "phone".to_owned(),
            rights: ViewerRights::Decide,
            digest: Digest::of("secret"),
            created_at: at,
            seen_at: at,
            saved_at: at,
            visitors: Vec::new(),
        };
        let text = write(&mut BTreeMap::from([("ab".to_owned(), paired)])).unwrap();
        assert!(!text.contains("secret"), "{text}");
        let again = read(&text);
        let again = &again["ab"];
        assert_eq!((again.name.as_str(), again.rights), ("phone", ViewerRights::Decide));
        assert!(again.digest.is_of("secret"));
        for text in ["", "{}", "[{}]", "[7]", &text.replace("decide", "rule")] {
            assert!(read(text).is_empty(), "{text}");
        }
    }
}
