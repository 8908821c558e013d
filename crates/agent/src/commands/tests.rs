//! Commands from the file to the message.

mod catalog;
mod command;
mod expand;
mod review;
