//! Slash commands: prompts with arguments and included context, from files.
