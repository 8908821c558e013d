//! One file for each way to reach a model, and what they share.
