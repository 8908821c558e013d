//! Other tools that this program can be, by the name it is called by. A further one is a row here,
//! a module, and a command in `args.rs`.

pub(crate) mod idx0;
pub(crate) mod idx0_notify;
pub(crate) mod ptywright;
pub(crate) mod roder;
pub(crate) mod roostctl;

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::ExitCode,
};

/// A tool that this program can be.
pub(crate) struct Persona {
    /// The name it is called by.
    pub(crate) name: &'static str,
    /// Its `main`, with the arguments behind its name.
    pub(crate) run: fn(Vec<OsString>) -> ExitCode,
}

/// All of them.
pub(crate) const PERSONAS: &[Persona] = &[
    Persona { name: idx0::NAME, run: idx0::main },
    Persona { name: idx0_notify::NAME, run: idx0_notify::main },
    Persona { name: ptywright::NAME, run: ptywright::main },
    Persona { name: roder::NAME, run: roder::main },
    Persona { name: roostctl::NAME, run: roostctl::main },
];

/// The tool that a program of this path is, if it is none of ours.
pub(crate) fn called_as(program: &OsStr) -> Option<&'static Persona> {
    let name = Path::new(program).file_name()?;
    PERSONAS.iter().find(|persona| name == persona.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_part_of_the_path_counts() {
        let named = |path: &str| called_as(path.as_ref()).map(|persona| persona.name);
        assert_eq!(named("/usr/bin/ptywright"), Some("ptywright"));
        assert_eq!(named("ptywright"), Some("ptywright"));
        for other in ["rookery", "/opt/ptywright/rookery", "ptywright2", ""] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
