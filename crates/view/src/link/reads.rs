//! Params of every method of the link, by the method's name: what is read of them, written again.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::method;

/// What a method's params are read as, as JSON again; none if the link has no such method.
///
/// # Errors
/// If they cannot be read.
pub fn reread(name: &str, params: &[u8]) -> Option<serde_json::Result<Vec<u8>>> {
    let method = method::ALL.iter().find(|method| method.name == name)?;
    Some((method.reread)(params))
}

pub(super) fn as_type<T: Serialize + DeserializeOwned>(
    params: &[u8],
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&serde_json::from_slice::<T>(params)?)
}
