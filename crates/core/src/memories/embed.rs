//! Vectors, made by a server that the settings name: of a query while it is waited for, of records in the
//! background. Without an answer words alone count.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rookery_agent::services::{self, MOST_INPUTS, Service};
use rookery_store::{Embedded, Unembedded, VectorQuery};

use super::MemoryChoice;
use crate::rooms::Memories;

/// How long a query waits for its vector.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the server is asked again for the vectors of records, each time after twice the wait.
const ATTEMPTS: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The most characters of a text that a server is sent: models have a bound of their own.
const LONGEST: usize = 8_000;

impl Memories {
    /// The vector of a query, if a server makes some; and whether it should have been there and is not.
    pub(super) async fn vector_of(&self, text: &str) -> (Option<VectorQuery>, bool) {
        // Only an open database knows what was chosen.
        if self.with(|_| Ok(())).await.is_err() {
            return (None, false);
        }
        let Some(service) = self.usable_choice().and_then(|choice| self.service(&choice)) else {
            return (None, false);
        };
        let texts = [shortened(text)];
        let made = tokio::time::timeout(PATIENCE, services::embed(&service, &texts)).await;
        let why = match made {
            Ok(Ok(vectors)) => {
                let vector = vectors.first().and_then(|values| VectorQuery::new(values));
                return (vector, false);
            }
            Ok(Err(why)) => why,
            Err(_) => format!("it took longer than {} s", PATIENCE.as_secs()),
        };
        tracing::warn!(why, "the embedding server did not answer; results are by words only");
        (None, true)
    }

    fn service(&self, choice: &MemoryChoice) -> Option<Service> {
        let agents = &self.core.inner.agents;
        let settings = agents.settings();
        settings.memory.providers.get(&choice.provider).map(|set| agents.service(set))
    }

    /// Makes vectors for records that have none, unless that is being done.
    pub(super) fn embed_soon(&self) {
        if self.usable_choice().is_none() || !self.takes_embedding() {
            return;
        }
        let memories = self.clone();
        self.core.inner.runtime.spawn(async move {
            tokio::select! {
                () = memories.embed_all() => {}
                () = memories.core.stopping() => {}
            }
        });
    }

    async fn embed_all(&self) {
        loop {
            self.room().has_more.store(false, Ordering::Release);
            self.embed_rest().await;
            self.room().is_embedding.store(false, Ordering::Release);
            // Saved while the task was about to end: whoever comes first goes on.
            let has_more = self.room().has_more.load(Ordering::Acquire);
            if !has_more || self.room().is_embedding.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }

    /// Makes vectors until every record has one, or the server does not answer any more.
    async fn embed_rest(&self) {
        let (mut failures, mut wait) = (0, FIRST_WAIT);
        loop {
            let Some(choice) = self.usable_choice() else { return };
            let batch = self.with(|database| database.unembedded(MOST_INPUTS)).await;
            let done = match batch {
                Ok(batch) if batch.is_empty() => return,
                Ok(batch) => self.embed_batch(&choice, batch).await,
                Err(error) => Err(error.to_string()),
            };
            match done {
                Ok(()) => (failures, wait) = (0, FIRST_WAIT),
                Err(why) if failures + 1 >= ATTEMPTS => {
                    tracing::warn!(why, "memories have no vectors until the next one is saved");
                    return;
                }
                Err(_) => {
                    failures += 1;
                    tokio::time::sleep(wait).await;
                    wait *= 2;
                }
            }
        }
    }

    async fn embed_batch(
        &self,
        choice: &MemoryChoice,
        batch: Vec<Unembedded>,
    ) -> std::result::Result<(), String> {
        let service = self.service(choice).ok_or("the provider is gone from the settings")?;
        let texts: Vec<&str> = batch.iter().map(|record| shortened(&record.text)).collect();
        let vectors = services::embed(&service, &texts).await?;
        let made = batch.iter().zip(vectors).map(|(record, values)| Embedded {
            seq: record.seq,
            content_hash: record.content_hash.clone(),
            values,
        });
        let (made, from): (Vec<Embedded>, _) = (made.collect(), choice.clone().into());
        let kept = self.with(move |database| database.put_vectors(&from, &made)).await;
        kept.map(drop).map_err(|error| error.to_string())
    }
}

fn shortened(text: &str) -> &str {
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => &text[..end],
    }
}
