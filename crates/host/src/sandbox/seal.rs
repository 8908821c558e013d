//! Keeps sockets out of the reach of commands that are not held to anything else: what was approved
//! works as it does in a shell, but cannot speak to the daemon.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use landlock::{
    AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
};

use super::reads::Map;
use super::{SandboxError, all, chain, exec, give_up_new_privileges, support};

/// The first argument of a program that is to seal itself off and become a command.
pub const SEAL_ARGUMENT: &str = "__seal";

/// The command that runs `argv` without a way to the sockets at and below these paths: `exe` is our
/// own program. Only for kernels whose [`super::Support::seals_sockets`]; on others nothing is run.
pub fn wrap_sealed(exe: &Path, sealed: &[PathBuf], argv: &[String]) -> Vec<String> {
    let mut wrapped = vec![exe.to_string_lossy().into_owned(), SEAL_ARGUMENT.to_owned()];
    wrapped.extend(sealed.iter().map(|path| path.to_string_lossy().into_owned()));
    wrapped.push("--".to_owned());
    wrapped.extend_from_slice(argv);
    wrapped
}

/// Does what [`wrap_sealed`] wrote behind [`SEAL_ARGUMENT`]. Comes back only if it failed; then nothing
/// was run.
pub fn seal_and_exec(args: &[OsString]) -> SandboxError {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (sealed, rest) = args.split_at(end);
    let argv = rest.get(1..).unwrap_or_default();
    if argv.is_empty() {
        return SandboxError::Arguments("no command");
    }
    let sealed: Vec<PathBuf> = sealed.iter().map(PathBuf::from).collect();
    match seal(&sealed) {
        Ok(()) => exec(argv),
        Err(error) => error,
    }
}

fn seal(sealed: &[PathBuf]) -> Result<(), SandboxError> {
    if !support().seals_sockets() {
        let missing = "this kernel cannot restrict access to sockets (landlock 9 is needed)";
        return Err(SandboxError::Unsupported(missing.to_owned()));
    }
    give_up_new_privileges()?;
    restrict(sealed).map_err(|error| SandboxError::Landlock(chain(&error)))
}

fn restrict(sealed: &[PathBuf]) -> Result<(), landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::ResolveUnix)?
        .create()?
        .add_rules(all(&Map::without(sealed), AccessFs::ResolveUnix))?
        .restrict_self()
        .map(drop)
}
