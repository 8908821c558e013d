//! The tables of memories. Their names are ours, so that they can stand beside those of another program
//! whose file was named.

use rusqlite::{Connection, TransactionBehavior};

/// The newest format that is known here.
pub(super) const FORMAT: i64 = 1;

/// How texts are cut into words: folded, in lower case, without diacritics and with a light stem.
pub(super) const TOKENIZER: &str = "porter unicode61 remove_diacritics 2";

const TABLES: &str = "
    CREATE TABLE rookery_memory (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        format INTEGER NOT NULL,
        -- Where vectors come from; none if they come from nowhere.
        provider TEXT,
        model TEXT
    ) STRICT;
    CREATE TABLE rookery_memory_scopes (
        ref INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE
    ) STRICT;
    CREATE TABLE rookery_memories (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        scope INTEGER NOT NULL REFERENCES rookery_memory_scopes (ref),
        -- The scope as it was spelled.
        scope_id TEXT NOT NULL,
        text TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        metadata TEXT NOT NULL,
        use_count INTEGER NOT NULL DEFAULT 0,
        last_used_at INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        is_deleted INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX rookery_memories_live ON rookery_memories (updated_at) WHERE is_deleted = 0;
    CREATE INDEX rookery_memories_scope ON rookery_memories (scope, updated_at)
        WHERE is_deleted = 0;
    CREATE INDEX rookery_memories_hash ON rookery_memories (scope, content_hash)
        WHERE is_deleted = 0;
    CREATE INDEX rookery_memories_gone ON rookery_memories (updated_at) WHERE is_deleted = 1;
    CREATE TABLE rookery_memory_vectors (
        seq INTEGER PRIMARY KEY REFERENCES rookery_memories (seq) ON DELETE CASCADE,
        -- Of length one, little endian, four bytes each.
        vector BLOB NOT NULL
    ) STRICT;
    CREATE VIEW rookery_memories_searched AS
        SELECT seq, text FROM rookery_memories WHERE is_deleted = 0;
    INSERT INTO rookery_memory (one, format) VALUES (1, 1);
";

/// The format of the tables that are there; none if there are none.
pub(super) fn format(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'rookery_memory'";
    let count: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    match count {
        0 => Ok(None),
        _ => connection
            .query_row("SELECT format FROM rookery_memory", [], |row| row.get(0))
            .map(Some),
    }
}

/// Makes the tables, all of them or none.
pub(super) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    // Only which record has which word: ranking needs neither places nor lengths.
    transaction.execute_batch(&format!(
        "CREATE VIRTUAL TABLE rookery_memory_words USING fts5(
            text, content = 'rookery_memories_searched', content_rowid = 'seq',
            detail = none, columnsize = 0, tokenize = '{TOKENIZER}');
         CREATE VIRTUAL TABLE rookery_memory_vocabulary
            USING fts5vocab(rookery_memory_words, 'instance');"
    ))?;
    transaction.commit()
}

/// Makes the list of words fit the records again, if it does not.
pub(super) fn mend_words(connection: &Connection) -> rusqlite::Result<()> {
    let check = "INSERT INTO rookery_memory_words (rookery_memory_words, rank) \
                 VALUES ('integrity-check', 1)";
    if let Err(error) = connection.execute(check, []) {
        tracing::warn!(%error, "the words of memories are indexed anew");
        let rebuild = "INSERT INTO rookery_memory_words (rookery_memory_words) VALUES ('rebuild')";
        connection.execute(rebuild, [])?;
    }
    Ok(())
}

/// What a connection needs to cut texts into words: tables of its own, in memory.
pub(super) fn prepare_reader(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE temp.cut USING fts5(
            text, content = '', columnsize = 0, tokenize = '{TOKENIZER}');
         CREATE VIRTUAL TABLE temp.cut_words USING fts5vocab(temp, cut, 'instance');"
    ))
}
