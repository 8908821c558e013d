//! The turn as a pure machine: events in, effects out.
