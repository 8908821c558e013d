//! `rookery man`: the manual, made from the command line's own description.

use std::path::Path;

use clap::CommandFactory as _;

use crate::{
    args::Cli,
    commands::done,
    failure::{Failure, Outcome},
    output,
};

pub(super) fn run(dir: Option<&Path>) -> Outcome {
    match dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut page)
                .map_err(Failure::doing("cannot write the manual page"))?;
            output::write(&page)?;
        }
        Some(dir) => {
            let written = std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), dir));
            written.map_err(|error| {
                Failure::new(format!("cannot write manual pages to {}: {error}", dir.display()))
            })?;
        }
    }
    done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_gets_a_page() {
        let dir = tempfile::tempdir().unwrap();
        run(Some(dir.path())).unwrap();
        let command = Cli::command();
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let page = dir.path().join(format!("rookery-{}.1", sub.get_name()));
            assert!(page.exists(), "{}", page.display());
        }
        assert!(dir.path().join("rookery.1").exists());
    }
}
