//! The tables, and how a database of an older format is brought up to date.

use rusqlite::{Connection, TransactionBehavior};

/// One step per format; step `n` (from 1) turns format `n - 1` into format `n`. Steps are
/// never edited once released, only added.
const STEPS: &[&str] = &[
    "
    -- Exactly one row, written at the end of the first open; until then the store is new.
    CREATE TABLE world (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        next_event INTEGER NOT NULL,
        next_project INTEGER NOT NULL,
        next_terminal INTEGER NOT NULL,
        active INTEGER
    ) STRICT;
    CREATE TABLE projects (
        id INTEGER PRIMARY KEY,
        position INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE terminals (
        id INTEGER PRIMARY KEY,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX terminals_by_project ON terminals (project);
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- Rows that could not be read, kept for a human to look at.
    CREATE TABLE damaged_rows (
        source TEXT NOT NULL,
        row INTEGER NOT NULL,
        content BLOB NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
",
    "
    -- Ids of 16 bytes, big endian. What belongs to a thread lies together and is read in one go.
    CREATE TABLE threads (
        id BLOB PRIMARY KEY CHECK (length(id) = 16),
        body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE turns (
        thread BLOB NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
        id BLOB NOT NULL CHECK (length(id) = 16),
        is_open INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (thread, id)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX turns_by_id ON turns (id);
    CREATE INDEX turns_open ON turns (thread) WHERE is_open = 1;
    CREATE TABLE items (
        thread BLOB NOT NULL,
        position INTEGER NOT NULL,
        turn BLOB NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (thread, position),
        FOREIGN KEY (thread, turn) REFERENCES turns (thread, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX items_by_turn ON items (thread, turn);
    CREATE TABLE requests (
        id BLOB PRIMARY KEY CHECK (length(id) = 16),
        thread BLOB NOT NULL,
        turn BLOB NOT NULL,
        is_pending INTEGER NOT NULL,
        body TEXT NOT NULL,
        FOREIGN KEY (thread, turn) REFERENCES turns (thread, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX requests_by_turn ON requests (thread, turn);
    CREATE INDEX requests_pending ON requests (thread) WHERE is_pending = 1;
",
    "
    -- What the policy decided, in order. A record stays when what it tells of is gone.
    CREATE TABLE decisions (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        thread BLOB CHECK (length(thread) = 16),
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX decisions_by_thread ON decisions (thread, seq) WHERE thread IS NOT NULL;
",
    "
    -- What supervision keeps: the queue, reviews, checkpoints, handoffs, the timeline, and which
    -- events of agents were taken.
    CREATE TABLE records (
        kind TEXT NOT NULL,
        id BLOB NOT NULL CHECK (length(id) = 16),
        body TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    ) STRICT, WITHOUT ROWID;
    -- Sessions ask as well; their requests have neither thread nor turn.
    CREATE TABLE new_requests (
        id BLOB PRIMARY KEY CHECK (length(id) = 16),
        thread BLOB,
        turn BLOB,
        is_pending INTEGER NOT NULL,
        body TEXT NOT NULL,
        FOREIGN KEY (thread, turn) REFERENCES turns (thread, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    INSERT INTO new_requests SELECT id, thread, turn, is_pending, body FROM requests;
    DROP TABLE requests;
    ALTER TABLE new_requests RENAME TO requests;
    CREATE INDEX requests_by_turn ON requests (thread, turn);
    CREATE INDEX requests_pending ON requests (thread) WHERE is_pending = 1;
",
    "
    -- Background tasks, each with the end of what it wrote.
    CREATE TABLE tasks (
        id BLOB PRIMARY KEY CHECK (length(id) = 16),
        is_over INTEGER NOT NULL,
        body TEXT NOT NULL,
        log TEXT NOT NULL DEFAULT ''
    ) STRICT, WITHOUT ROWID;
",
    "
    -- What child agents did for a turn. Ids begin with the time, so that they are in order.
    CREATE TABLE traces (
        thread BLOB NOT NULL,
        id BLOB NOT NULL CHECK (length(id) = 16),
        turn BLOB NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (thread, id),
        FOREIGN KEY (thread, turn) REFERENCES turns (thread, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX traces_by_turn ON traces (thread, turn);
",
    "
    -- What tools and commands changed in files, numbered in each thread. What a client did has no turn.
    CREATE TABLE changes (
        thread BLOB NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        kind TEXT NOT NULL,
        turn BLOB,
        body TEXT NOT NULL,
        PRIMARY KEY (thread, number),
        FOREIGN KEY (thread, turn) REFERENCES turns (thread, id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX changes_by_turn ON changes (thread, turn);
",
    "
    -- What belongs to a row stands in it and goes with it; see MOVE_VALUES.
    ALTER TABLE projects ADD COLUMN layout TEXT;
    ALTER TABLE terminals ADD COLUMN noted INTEGER;
    ALTER TABLE threads ADD COLUMN attached TEXT;
    ALTER TABLE threads ADD COLUMN queued TEXT;
    ALTER TABLE turns ADD COLUMN steers TEXT;
",
];

/// The step behind which values of rows are moved.
const WITH_VALUES: usize = 8;

/// Values of single projects, terminals, threads and turns, which formats before the eighth kept by
/// name: to their rows. Harmless where there are none.
const MOVE_VALUES: &str = "
    UPDATE projects SET layout = meta.value FROM meta
        WHERE meta.key GLOB 'layout/*' AND projects.id = CAST(substr(meta.key, 8) AS INTEGER);
    UPDATE terminals SET noted = CAST(meta.value AS INTEGER) FROM meta
        WHERE meta.key GLOB 'noted/*' AND terminals.id = CAST(substr(meta.key, 7) AS INTEGER);
    UPDATE threads SET attached = meta.value FROM meta
        WHERE meta.key GLOB 'attached/*'
        AND threads.id = unhex(replace(substr(meta.key, 10), '-', ''));
    UPDATE threads SET queued = meta.value FROM meta
        WHERE meta.key GLOB 'queued/*'
        AND threads.id = unhex(replace(substr(meta.key, 8), '-', ''));
    UPDATE turns SET steers = meta.value FROM meta
        WHERE meta.key GLOB 'steers/*'
        AND turns.id = unhex(replace(substr(meta.key, 8), '-', ''));
    DELETE FROM meta WHERE key GLOB 'layout/*' OR key GLOB 'noted/*' OR key GLOB 'attached/*'
        OR key GLOB 'queued/*' OR key GLOB 'steers/*';
";

/// The newest format known here.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// The format of this database; 0 if it is empty.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Takes the steps that are missing, each in a transaction of its own.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let have = usize::try_from(version(connection)?).unwrap_or(0);
    for (index, step) in STEPS.iter().enumerate().skip(have) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        if index + 1 == WITH_VALUES {
            move_values(&transaction)?;
        }
        transaction.pragma_update(None, "user_version", index as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Moves what older formats kept by name to the rows that it belongs to.
pub(crate) fn move_values(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(MOVE_VALUES)
}
