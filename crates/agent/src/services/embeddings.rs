//! Vectors of texts.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Service, json_body};

/// Texts that are sent at once.
pub const MOST_INPUTS: usize = 64;

/// How long the server may be silent.
const IDLE: Duration = Duration::from_secs(30);
/// The longest answer: as many numbers as may be, each of some twenty digits.
const ANSWER_LIMIT: usize = 32 << 20;
/// The most numbers of a vector.
const MOST_VALUES: usize = 16_384;

/// A vector for each text, in their order.
///
/// # Errors
/// If the server cannot be asked, or its answer is no list of vectors of one size.
pub async fn embed(service: &Service, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
    let mut wanted = json!({ "model": service.settings.model, "input": texts });
    if let Some(dimensions) = service.settings.dimensions {
        wanted["dimensions"] = dimensions.into();
    }
    let answer = service.ask("/embeddings", json_body(&wanted), ANSWER_LIMIT, IDLE).await?;
    read(&answer, texts.len(), service.settings.dimensions)
}

/// The vectors of an answer, which may come in any order.
fn read(answer: &Value, count: usize, size: Option<u32>) -> Result<Vec<Vec<f32>>, String> {
    let wrong = |why: &str| format!("its answer is not a list of vectors: {why}");
    let data = answer["data"].as_array().ok_or_else(|| wrong("there is no data"))?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (place, entry) in data.iter().enumerate() {
        let index =
            entry["index"].as_u64().map_or(Some(place), |index| usize::try_from(index).ok());
        let slot = index.and_then(|index| vectors.get_mut(index));
        let slot = slot.ok_or_else(|| wrong("an index is too large"))?;
        let values = entry["embedding"].as_array().filter(|list| list.len() <= MOST_VALUES);
        let values = values.ok_or_else(|| wrong("a vector is missing or too long"))?;
        let number = |value: &Value| value.as_f64().map(|value| value as f32);
        let values: Option<Vec<f32>> = values.iter().map(number).collect();
        *slot = Some(values.ok_or_else(|| wrong("a vector has an element that is not a number"))?);
    }
    let vectors: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
    let vectors = vectors.ok_or_else(|| wrong("one is missing"))?;
    let size = size.map(|size| size as usize).or(vectors.first().map(Vec::len));
    match vectors.iter().all(|vector| Some(vector.len()) == size && !vector.is_empty()) {
        true => Ok(vectors),
        false => Err(wrong("they do not have the size that was wanted")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_put_in_order_and_checked() {
        let answer = json!({"data": [
            {"index": 1, "embedding": [3, 4.5]},
            {"index": 0, "embedding": [1, 2]},
        ]});
        let vectors = vec![vec![1.0, 2.0], vec![3.0, 4.5]];
        assert_eq!(read(&answer, 2, None), Ok(vectors.clone()));
        assert_eq!(read(&answer, 2, Some(2)), Ok(vectors));
        for (answer, count, size) in [
            (json!({}), 1, None),
            (answer.clone(), 3, None),
            (answer.clone(), 1, None),
            (answer, 2, Some(3)),
            (json!({"data": [{"embedding": []}]}), 1, None),
            (json!({"data": [{"embedding": ["x"]}]}), 1, None),
            (json!({"data": [{"embedding": "AAAA"}]}), 1, None),
            (json!({"data": [{"index": u64::MAX, "embedding": [1]}]}), 1, None),
            (json!({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}), 2, None),
        ] {
            assert!(read(&answer, count, size).is_err(), "{answer}");
        }
    }
}
