//! The tables that are saved: how their rows look in the file, and how they are written again.

use rusqlite::types::Value;

use crate::encode;

/// What a column holds.
#[derive(Clone, Copy)]
enum Column {
    /// The number of the row, which is not among its values.
    RowId,
    Integer,
    IntegerOrNull,
    Text,
    TextOrNull,
    /// An id of 16 bytes.
    Id,
    IdOrNull,
    Bytes,
}

/// A table, its columns in the order in which they are stored: the key first.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Whether rows have numbers of their own.
    pub(super) has_numbers: bool,
    /// How many of the last columns rows lack that an older format wrote.
    added: usize,
    columns: &'static [(&'static str, Column)],
}

use Column::{Bytes, Id, IdOrNull, Integer, IntegerOrNull, RowId, Text, TextOrNull};

/// Their rows tell by themselves where they belong, but for events and projects, whose bodies do.
pub(super) const TABLES: &[Table] = &[
    Table {
        name: "world",
        has_numbers: true,
        added: 0,
        columns: &[
            ("one", RowId),
            ("next_event", Integer),
            ("next_project", Integer),
            ("next_terminal", Integer),
            ("active", IntegerOrNull),
        ],
    },
    Table {
        name: "projects",
        has_numbers: true,
        added: 1,
        columns: &[("id", RowId), ("position", Integer), ("body", Text), ("layout", TextOrNull)],
    },
    Table {
        name: "terminals",
        has_numbers: true,
        added: 1,
        columns: &[
            ("id", RowId),
            ("project", Integer),
            ("position", Integer),
            ("body", Text),
            ("noted", IntegerOrNull),
        ],
    },
    Table {
        name: "events",
        has_numbers: true,
        added: 0,
        columns: &[("seq", RowId), ("at", Integer), ("body", Text)],
    },
    Table {
        name: "meta",
        has_numbers: false,
        added: 0,
        columns: &[("key", Text), ("value", Text)],
    },
    Table {
        name: "damaged_rows",
        has_numbers: true,
        added: 0,
        columns: &[
            ("source", Text),
            ("row", Integer),
            ("content", Bytes),
            ("reason", Text),
            ("at", Integer),
        ],
    },
    Table {
        name: "threads",
        has_numbers: false,
        added: 2,
        columns: &[("id", Id), ("body", Text), ("attached", TextOrNull), ("queued", TextOrNull)],
    },
    Table {
        name: "turns",
        has_numbers: false,
        added: 1,
        columns: &[
            ("thread", Id),
            ("id", Id),
            ("is_open", Integer),
            ("body", Text),
            ("steers", TextOrNull),
        ],
    },
    Table {
        name: "items",
        has_numbers: false,
        added: 0,
        columns: &[("thread", Id), ("position", Integer), ("turn", Id), ("body", Text)],
    },
    Table {
        name: "traces",
        has_numbers: false,
        added: 0,
        columns: &[("thread", Id), ("id", Id), ("turn", Id), ("body", Text)],
    },
    Table {
        name: "changes",
        has_numbers: false,
        added: 0,
        columns: &[
            ("thread", Id),
            ("number", Integer),
            ("kind", Text),
            ("turn", IdOrNull),
            ("body", Text),
        ],
    },
    Table {
        name: "decisions",
        has_numbers: true,
        added: 0,
        columns: &[("seq", RowId), ("at", Integer), ("thread", IdOrNull), ("body", Text)],
    },
    Table {
        name: "records",
        has_numbers: false,
        added: 0,
        columns: &[("kind", Text), ("id", Id), ("body", Text)],
    },
    Table {
        name: "tasks",
        has_numbers: false,
        added: 0,
        columns: &[("id", Id), ("is_over", Integer), ("body", Text), ("log", Text)],
    },
    Table {
        name: "requests",
        has_numbers: false,
        added: 0,
        columns: &[
            ("id", Id),
            ("thread", IdOrNull),
            ("turn", IdOrNull),
            ("is_pending", Integer),
            ("body", Text),
        ],
    },
];

impl Table {
    /// The table of this name, if its rows are saved.
    pub(super) fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Whether a row looks like one of this table.
    pub(super) fn fits(&self, number: Option<i64>, values: &[Value]) -> bool {
        self.has_numbers == number.is_some()
            && (self.columns.len() - self.added..=self.columns.len()).contains(&values.len())
            && self.columns.iter().zip(values).all(|((_, column), value)| column.fits(value))
    }

    /// The table that a row of unknown origin belongs to.
    pub(super) fn of(number: Option<i64>, values: &[Value]) -> Option<&'static Table> {
        let mut fitting = TABLES.iter().filter(|table| table.fits(number, values));
        let first = fitting.next()?;
        let Some(second) = fitting.next() else { return Some(first) };
        let is_project = match values.get(2) {
            Some(Value::Text(body)) => encode::project_from_json(body).is_ok(),
            _ => false,
        };
        [first, second].into_iter().find(|table| (table.name == "projects") == is_project)
    }

    /// The statement that writes a row again; one that is there already stays.
    pub(super) fn insert(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let places: Vec<String> = (1..=names.len()).map(|place| format!("?{place}")).collect();
        let (names, places) = (names.join(", "), places.join(", "));
        format!("INSERT OR IGNORE INTO {} ({names}) VALUES ({places})", self.name)
    }

    /// What is written for a row.
    pub(super) fn values(&self, number: Option<i64>, mut values: Vec<Value>) -> Vec<Value> {
        if let (Some((_, RowId)), Some(number)) = (self.columns.first(), number) {
            values[0] = Value::Integer(number);
        }
        values.resize(self.columns.len(), Value::Null);
        values
    }
}

impl Column {
    fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (RowId, Value::Null)
            | (Integer | IntegerOrNull, Value::Integer(_))
            | (IntegerOrNull | IdOrNull | TextOrNull, Value::Null)
            | (Text | TextOrNull, Value::Text(_))
            | (Bytes, Value::Blob(_)) => true,
            (Id | IdOrNull, Value::Blob(bytes)) => bytes.len() == 16,
            _ => false,
        }
    }
}
