//! The ranking of memories against its definition, written down once more without any database.

use std::collections::{HashMap, HashSet};

use rookery_model::{MemoryScope, Timestamp};
use rookery_store::{Embedded, Memories, MemoryDraft, MemoryProvider, MemoryQuery, VectorQuery};

/// Records of the corpus.
const RECORDS: usize = 10_000;

/// Words of the corpus by their stem: forms of one line are one word.
const WORDS: &[&[&str]] = &[
    &["deploy", "deploys", "deployed", "Deploying", "DEPLOY"],
    &["release", "releases", "released", "releasing"],
    &["café", "Cafe", "CAFÉ", "cafés"],
    &["test", "tests", "tested", "testing"],
    &["naïve", "naive"],
    &["branch", "branches"],
    &["fix", "fixes", "fixed"],
    &["Straße", "straße"],
    &["v2"],
    &["the", "THE"],
    &["token", "tokens"],
    &["запуск", "ЗАПУСК"],
];

/// A record as the definition sees it.
struct Record {
    id: String,
    scope: MemoryScope,
    words: HashSet<usize>,
    text: String,
    use_count: u64,
    updated_at: i64,
}

/// Numbers that look drawn, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) as usize) % end
    }
}

/// The definition.
fn ranked<'a>(
    records: &'a [Record],
    query: &[usize],
    scopes: Option<&[MemoryScope]>,
    limit: usize,
) -> Vec<(&'a str, f64)> {
    ranked_in(records, query, scopes, limit, 1.0)
}

/// The same, where a word that no record has counts for this share of its weight: one in a query, a tenth in a
/// text that was not written as one.
fn ranked_in<'a>(
    records: &'a [Record],
    query: &[usize],
    scopes: Option<&[MemoryScope]>,
    limit: usize,
    share_of_unknown: f64,
) -> Vec<(&'a str, f64)> {
    let is_wanted = |record: &&Record| {
        scopes.is_none_or(|scopes| scopes.iter().any(|scope| scope.key() == record.scope.key()))
    };
    let collection: Vec<&Record> = records.iter().filter(is_wanted).collect();
    let size = collection.len().max(1_000) as f64;
    let idf = |word: &usize| {
        let found = collection.iter().filter(|record| record.words.contains(word)).count();
        let having = found.max(1) as f64;
        let weight = (1.0 + (size - having + 0.5) / (having + 0.5)).ln();
        if found == 0 { weight * share_of_unknown } else { weight }
    };
    let weights: Vec<(usize, f64)> = query.iter().map(|word| (*word, idf(word))).collect();
    let sum = |wanted: &dyn Fn(&usize) -> bool| -> f64 {
        weights.iter().filter(|(word, _)| wanted(word)).map(|(_, weight)| weight).sum()
    };
    let all = sum(&|_| true);
    let mut scored: Vec<(&Record, f64)> = collection
        .into_iter()
        .map(|record| (record, sum(&|word| record.words.contains(word)) / all))
        .filter(|(_, score)| *score > 0.0)
        .collect();
    scored.sort_by(|one, two| {
        two.1
            .total_cmp(&one.1)
            .then(two.0.use_count.cmp(&one.0.use_count))
            .then(two.0.updated_at.cmp(&one.0.updated_at))
            .then_with(|| one.0.id.cmp(&two.0.id))
    });
    scored.truncate(limit);
    scored.into_iter().map(|(record, score)| (record.id.as_str(), score)).collect()
}

fn scopes() -> [MemoryScope; 4] {
    [
        MemoryScope::Global,
        MemoryScope::Project("/a".into()),
        MemoryScope::Workspace("/a".into()),
        MemoryScope::User("ada".into()),
    ]
}

fn corpus(draw: &mut Draw) -> Vec<Record> {
    let record = |number: usize, draw: &mut Draw| {
        // A few words of the list, some of them several times, among others that no query has.
        let count = 1 + draw.below(6);
        let chosen: Vec<usize> = (0..count).map(|_| draw.below(WORDS.len())).collect();
        let mut text = format!("[{number}]");
        for word in &chosen {
            text +=
                &format!(", {} filler{}", WORDS[*word][draw.below(WORDS[*word].len())], number % 7);
        }
        Record {
            id: format!("m{:05}", draw.below(90_000) * RECORDS + number),
            scope: scopes()[draw.below(4)].clone(),
            words: chosen.into_iter().collect(),
            text,
            use_count: draw.below(3) as u64,
            updated_at: draw.below(500) as i64,
        }
    };
    (0..RECORDS).map(|number| record(number, draw)).collect()
}

/// The corpus in a store, with what draws the queries.
fn stored() -> (Draw, Vec<Record>, Memories) {
    let mut draw = Draw(20_261_118);
    let records = corpus(&mut draw);
    let memories = Memories::in_memory().unwrap();
    let drafts: Vec<MemoryDraft> = records
        .iter()
        .map(|record| MemoryDraft {
            id: record.id.clone(),
            scope: record.scope.clone(),
            text: record.text.clone(),
            content_hash: record.id.clone(),
            metadata: "null".into(),
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(record.updated_at),
            use_count: record.use_count,
        })
        .collect();
    assert_eq!(memories.import(&drafts).unwrap(), RECORDS);
    (draw, records, memories)
}

fn drawn_scopes(draw: &mut Draw) -> Option<Vec<MemoryScope>> {
    match draw.below(3) {
        0 => None,
        1 => Some(vec![scopes()[draw.below(4)].clone()]),
        _ => Some(vec![scopes()[1].clone(), MemoryScope::Global]),
    }
}

/// What a search finds, to be compared with what is expected.
fn compare(
    memories: &Memories,
    query: (&str, bool),
    wanted: Option<&[MemoryScope]>,
    expected: &[(&str, f64)],
    limit: usize,
) {
    let (text, is_prose) = query;
    let keys: Option<Vec<String>> =
        wanted.map(|scopes| scopes.iter().map(MemoryScope::key).collect());
    let query = MemoryQuery { text, scopes: keys.as_deref(), limit, is_prose, vector: None };
    let found = memories.search(&query).unwrap();
    let found: Vec<(&str, f64)> =
        found.iter().map(|found| (found.memory.id.as_str(), found.score)).collect();
    assert_eq!(found, expected, "{text:?} in {wanted:?}");
}

#[test]
fn ten_thousand_records_are_ranked_as_defined() {
    let (mut draw, records, memories) = stored();
    let mut compared = 0;
    for _ in 0..200 {
        let mut query: Vec<usize> =
            (0..1 + draw.below(5)).map(|_| draw.below(WORDS.len())).collect();
        let forms = query.iter().map(|word| WORDS[*word][draw.below(WORDS[*word].len())]);
        let text = forms.collect::<Vec<_>>().join(" - ");
        let mut seen = HashSet::new();
        query.retain(|word| seen.insert(*word));
        let wanted = drawn_scopes(&mut draw);
        let limit = [1, 5, 10, 100][draw.below(4)];
        let expected = ranked(&records, &query, wanted.as_deref(), limit);
        compare(&memories, (&text, false), wanted.as_deref(), &expected, limit);
        compared += expected.len();
    }
    assert!(compared > 2_000, "{compared}");
}

#[test]
fn in_a_prompt_words_that_no_record_has_weigh_a_tenth() {
    const NOT_A_QUERY: f64 = 0.1;
    let (mut draw, records, memories) = stored();
    let (mut compared, mut with_unknown) = (0, 0);
    for _ in 0..200 {
        // Some of the words are in no record: their numbers are behind those of the list.
        let mut query: Vec<usize> =
            (0..2 + draw.below(20)).map(|_| draw.below(3 * WORDS.len())).collect();
        let forms = query.iter().map(|word| match WORDS.get(*word) {
            Some(forms) => forms[draw.below(forms.len())].to_owned(),
            None => format!("unheard{word}"),
        });
        let text = forms.collect::<Vec<_>>().join(" ");
        let mut seen = HashSet::new();
        query.retain(|word| seen.insert(*word));
        let wanted = drawn_scopes(&mut draw);
        let limit = [1, 5, 10, 100][draw.below(4)];
        let expected = ranked_in(&records, &query, wanted.as_deref(), limit, NOT_A_QUERY);
        compare(&memories, (&text, true), wanted.as_deref(), &expected, limit);
        compared += expected.len();
        with_unknown += usize::from(query.iter().any(|word| *word >= WORDS.len()));
    }
    assert!(compared > 2_000 && with_unknown > 150, "{compared} {with_unknown}");
}

/// The cosine as the definition has it, between vectors of length one as they are kept.
fn cosine(one: &[f32], two: &[f32]) -> f64 {
    let unit = |values: &[f32]| -> Vec<f32> {
        let length = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        values.iter().map(|value| (f64::from(*value) / length) as f32).collect()
    };
    unit(one).iter().zip(unit(two)).map(|(a, b)| f64::from(*a) * f64::from(b)).sum()
}

#[test]
fn with_vectors_half_of_the_score_is_the_cosine() {
    const SOME: usize = 2_000;
    const SIZE: usize = 8;
    let mut draw = Draw(7);
    let mut records = corpus(&mut draw);
    records.truncate(SOME);
    let memories = Memories::in_memory().unwrap();
    let draft = |record: &Record| MemoryDraft {
        id: record.id.clone(),
        scope: record.scope.clone(),
        text: record.text.clone(),
        content_hash: record.id.clone(),
        metadata: "null".into(),
        created_at: Timestamp::from_micros(0),
        updated_at: Timestamp::from_micros(record.updated_at),
        use_count: record.use_count,
    };
    assert_eq!(memories.import(&records.iter().map(draft).collect::<Vec<_>>()).unwrap(), SOME);
    let provider = MemoryProvider { provider: "house".into(), model: "tiny".into() };
    memories.set_provider(Some(&provider)).unwrap();
    let vector = |draw: &mut Draw| -> Vec<f32> {
        (0..SIZE).map(|_| draw.below(2_001) as f32 / 1_000.0 - 1.0 + 0.000_1).collect()
    };
    // Every fifth record has none, as while vectors are still made.
    let mut vectors: HashMap<String, Vec<f32>> = HashMap::new();
    let mut embedded = Vec::new();
    for one in memories.unembedded(SOME).unwrap() {
        if one.seq % 5 != 0 {
            let values = vector(&mut draw);
            vectors.insert(one.content_hash.clone(), values.clone());
            embedded.push(Embedded { seq: one.seq, content_hash: one.content_hash, values });
        }
    }
    assert_eq!(memories.put_vectors(&provider, &embedded).unwrap(), embedded.len());
    for _ in 0..50 {
        let word = draw.below(WORDS.len());
        let asked = vector(&mut draw);
        let lexical: HashMap<&str, f64> =
            ranked(&records, &[word], None, SOME).into_iter().collect();
        let score = |record: &Record| {
            let words = lexical.get(record.id.as_str()).copied().unwrap_or(0.0);
            let like = vectors.get(&record.id).map_or(0.0, |values| cosine(values, &asked));
            0.5 * words + 0.5 * like.clamp(0.0, 1.0)
        };
        let mut expected: Vec<(&Record, f64)> = records.iter().map(|it| (it, score(it))).collect();
        expected.retain(|(_, score)| *score > 0.0);
        expected.sort_by(|one, two| {
            two.1
                .total_cmp(&one.1)
                .then(two.0.use_count.cmp(&one.0.use_count))
                .then(two.0.updated_at.cmp(&one.0.updated_at))
                .then_with(|| one.0.id.cmp(&two.0.id))
        });
        expected.truncate(20);
        let vector = VectorQuery::new(&asked);
        let query = MemoryQuery {
            text: WORDS[word][0],
            limit: 20,
            vector: vector.as_ref(),
            ..MemoryQuery::default()
        };
        let found = memories.search(&query).unwrap();
        let found: Vec<(&str, f64)> =
            found.iter().map(|it| (it.memory.id.as_str(), it.score)).collect();
        let expected: Vec<(&str, f64)> =
            expected.iter().map(|(record, score)| (record.id.as_str(), *score)).collect();
        assert_eq!(found, expected, "{}", WORDS[word][0]);
    }
}

#[test]
fn a_record_with_every_word_scores_one_and_one_with_none_is_left_out() {
    let memories = Memories::in_memory().unwrap();
    let mut number = 0;
    let mut save = |text: &str| {
        number += 1;
        let draft = MemoryDraft {
            id: format!("m{number}"),
            scope: MemoryScope::Global,
            text: text.to_owned(),
            content_hash: text.to_owned(),
            metadata: "null".into(),
            created_at: Timestamp::from_micros(number),
            updated_at: Timestamp::from_micros(number),
            use_count: 0,
        };
        memories.save(&draft).unwrap();
    };
    save(&format!("alpha {} beta", "padding ".repeat(500)));
    save("alpha alpha alpha alpha");
    save("gamma");
    let scores = |text: &str| -> Vec<(String, f64, usize)> {
        let query = MemoryQuery { text, limit: 10, ..MemoryQuery::default() };
        let found = memories.search(&query).unwrap();
        found.into_iter().map(|it| (it.memory.id, it.score, it.first_match)).collect()
    };
    let found = scores("alpha beta");
    assert_eq!((found.len(), found[0].0.as_str(), found[0].1), (2, "m1", 1.0));
    assert!(found[1].1 > 0.3 && found[1].1 < 0.7, "{found:?}");
    // Words that no record has do not drown those that one has.
    let found = scores("what do we know of alpha");
    assert!(found.iter().all(|(_, score, _)| *score > 0.15 && *score < 0.25), "{found:?}");
    // In a prompt they count for little.
    let query = MemoryQuery {
        text: "what do we know of alpha",
        limit: 10,
        is_prose: true,
        ..MemoryQuery::default()
    };
    let found = memories.search(&query).unwrap();
    assert!(found.iter().all(|it| it.score > 0.6 && it.score < 0.7), "{found:?}");
    assert_eq!(scores("beta")[0].2, "alpha  ".len() + 500 * "padding ".len());
    assert_eq!(scores("delta"), []);
    // Only 64 words of a query count: those that stand first.
    let many: Vec<String> = (0..64).map(|number| format!("unheard{number}")).collect();
    assert_eq!(scores(&format!("{} gamma", many.join(" "))), []);
    assert_eq!(scores(&format!("{} gamma", many[1..].join(" "))).len(), 1);
}
