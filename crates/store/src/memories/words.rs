//! Texts cut into words by the same tokenizer that indexes records, and where in a text a word stands.

use std::collections::HashMap;

use rusqlite::Connection;

/// The words of a text in the form that is indexed, each with its first place among all words.
pub(super) fn cut(connection: &Connection, text: &str) -> rusqlite::Result<HashMap<String, usize>> {
    let forget = "INSERT INTO temp.cut (cut) VALUES ('delete-all')";
    connection.prepare_cached(forget)?.execute([])?;
    connection
        .prepare_cached("INSERT INTO temp.cut (rowid, text) VALUES (1, ?1)")?
        .execute([text])?;
    let mut statement = connection.prepare_cached("SELECT term, offset FROM temp.cut_words")?;
    let mut rows = statement.query([])?;
    let mut words: HashMap<String, usize> = HashMap::new();
    while let Some(row) = rows.next()? {
        let place = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
        let first = words.entry(row.get(0)?).or_insert(place);
        *first = (*first).min(place);
    }
    Ok(words)
}

/// The different words of a query, in the order in which they first stand there; at most `most`.
pub(super) fn terms(
    connection: &Connection,
    text: &str,
    most: usize,
) -> rusqlite::Result<Vec<String>> {
    let mut words: Vec<(String, usize)> = cut(connection, text)?.into_iter().collect();
    words.sort_by(|one, two| one.1.cmp(&two.1).then_with(|| one.0.cmp(&two.0)));
    words.truncate(most);
    Ok(words.into_iter().map(|(word, _)| word).collect())
}

/// Where in a text the first of these words begins, in bytes; at its beginning if none is there. The
/// tokenizer counts words; where they stand is found by the same rule, which may differ for scripts that
/// write marks of their own.
pub(super) fn first_match(
    connection: &Connection,
    text: &str,
    terms: &[String],
) -> rusqlite::Result<usize> {
    let words = cut(connection, text)?;
    let first = terms.iter().filter_map(|term| words.get(term)).min();
    Ok(first.and_then(|place| begins(text).nth(*place)).unwrap_or(0))
}

/// Where words begin.
fn begins(text: &str) -> impl Iterator<Item = usize> {
    let mut is_inside = false;
    text.char_indices().filter_map(move |(at, letter)| {
        let was_inside = std::mem::replace(&mut is_inside, letter.is_alphanumeric());
        (!was_inside && is_inside).then_some(at)
    })
}
