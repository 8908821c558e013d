//! Holds a command to what it was allowed: it may read what is not secret, write only where it was
//! told, and speak to no process. Landlock guards files, seccomp guards what landlock cannot see.
//!
//! The program wraps a command with [`wrap`] and starts itself; that second life calls
//! [`enter_and_exec`], so the same fence holds for pipes and for terminals of another process.

mod calls;
mod limits;
mod quiet;
mod reads;
mod repository;
mod seal;
mod secrets;
mod support;
mod tables;
mod unattended;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};

pub use quiet::quiet_env;
use reads::Map;
pub use reads::Reads;
pub use seal::{SEAL_ARGUMENT, seal_and_exec, wrap_sealed};
pub use secrets::{Secrets, hidden_around};
pub use support::{Support, support};
pub use unattended::{UNATTENDED_ARGUMENT, leave_terminal_and_exec, wrap_unattended};

/// The first argument of a program that is to enter a sandbox instead of its usual life.
pub const SANDBOX_ARGUMENT: &str = "__sandbox";

/// The newest landlock we know. Older kernels get as much of it as they have.
const NEWEST: ABI = ABI::V9;

/// Devices that a command may write to even if it may write nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// What a command may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Nothing may be written, whatever `writable` says, no metadata changed, and no other process
    /// touched. Memory is bounded, and root has no powers but to read.
    pub read_only: bool,
    /// Files and directories that may be written to, with all that is beneath them.
    pub writable: Vec<PathBuf>,
    /// Whether it may open sockets of any sort.
    pub network: bool,
    /// With a network: whether it may also speak to programs of this machine, by sockets of the
    /// file system and abstract ones.
    pub local_sockets: bool,
    /// What may be read; everything by default.
    pub reads: Option<Reads>,
}

impl Sandbox {
    /// Reading only, and no network.
    pub fn reading() -> Self {
        Self { read_only: true, ..Self::default() }
    }

    fn options(&self) -> Vec<OsString> {
        let mut options: Vec<OsString> = Vec::new();
        for (is_set, flag) in self.flags() {
            options.extend(is_set.then(|| flag.into()));
        }
        let reads = self.reads.clone().unwrap_or_default();
        options.extend(self.reads.iter().map(|_| "--bounded-reads".into()));
        let lists = [
            ("--write", &self.writable),
            ("--home", &reads.home.iter().cloned().collect()),
            ("--read", &reads.open),
            ("--hide", &reads.hidden),
        ];
        for (name, paths) in lists {
            options.extend(paths.iter().flat_map(|path| [name.into(), path.into()]));
        }
        options
    }

    fn flags(&self) -> [(bool, &'static str); 3] {
        [
            (self.read_only, "--read-only"),
            (self.network, "--network"),
            (self.local_sockets, "--local-sockets"),
        ]
    }

    /// Reads what [`wrap`] wrote: the sandbox and the command behind `--`.
    fn parse(args: &[OsString]) -> Result<(Self, &[OsString]), SandboxError> {
        let mut sandbox = Self::default();
        let mut rest = args.iter().enumerate();
        while let Some((at, arg)) = rest.next() {
            match arg.to_str() {
                Some("--read-only") => sandbox.read_only = true,
                Some("--network") => sandbox.network = true,
                Some("--local-sockets") => sandbox.local_sockets = true,
                Some("--bounded-reads") => drop(sandbox.reads.get_or_insert_default()),
                Some("--") => return Ok((sandbox, args.get(at + 1..).unwrap_or_default())),
                Some(name) => {
                    let (_, path) = rest.next().ok_or(SandboxError::Arguments("no path"))?;
                    sandbox.take(name, path.into())?;
                }
                None => return Err(SandboxError::Arguments("an unknown option")),
            }
        }
        Err(SandboxError::Arguments("no command"))
    }

    fn take(&mut self, name: &str, path: PathBuf) -> Result<(), SandboxError> {
        let reads = |sandbox: &mut Self| sandbox.reads.take().unwrap_or_default();
        match name {
            "--write" => self.writable.push(path),
            "--home" => self.reads = Some(Reads { home: Some(path), ..reads(self) }),
            "--read" => self.reads.get_or_insert_default().open.push(path),
            "--hide" => self.reads.get_or_insert_default().hidden.push(path),
            _ => return Err(SandboxError::Arguments("an unknown option")),
        }
        Ok(())
    }
}

/// Why a command could not be put into a sandbox. It did not run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The arguments are not those that [`wrap`] writes.
    #[error("sandbox: wrong arguments: {0}")]
    Arguments(&'static str),
    /// The kernel lacks something without which the fence has holes.
    #[error("sandbox: {0}")]
    Unsupported(String),
    /// Landlock refused the rules.
    #[error("sandbox: landlock: {0}")]
    Landlock(String),
    /// Seccomp refused the filter.
    #[error("sandbox: seccomp: {0}")]
    Seccomp(String),
    /// Limits or powers could not be set.
    #[error("sandbox: {0}")]
    Limits(String),
    /// The command could not be started.
    #[error("{program}: {error}")]
    Exec {
        /// What was to be run.
        program: String,
        /// Why it was not.
        error: std::io::Error,
    },
}

impl SandboxError {
    /// The exit status that shells give for the same: 127 for a program that is not there.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Exec { error, .. } if error.kind() == std::io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

/// The command that runs `argv` inside the sandbox: `exe` is our own program.
pub fn wrap(exe: &Path, sandbox: &Sandbox, argv: &[String]) -> Vec<String> {
    let mut wrapped = vec![exe.to_string_lossy().into_owned(), SANDBOX_ARGUMENT.to_owned()];
    wrapped.extend(sandbox.options().iter().map(|option| option.to_string_lossy().into_owned()));
    wrapped.push("--".to_owned());
    wrapped.extend_from_slice(argv);
    wrapped
}

/// Enters the sandbox that `args` describe (those behind [`SANDBOX_ARGUMENT`]) and becomes the
/// command behind `--`. Comes back only if it failed; then nothing was run.
pub fn enter_and_exec(args: &[OsString]) -> SandboxError {
    let (sandbox, argv) = match Sandbox::parse(args) {
        Ok(parsed) => parsed,
        Err(error) => return error,
    };
    if argv.is_empty() {
        return SandboxError::Arguments("no command");
    }
    match enter(&sandbox) {
        Ok(()) => exec(argv),
        Err(error) => error,
    }
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the command, none is started")]
fn exec(argv: &[OsString]) -> SandboxError {
    let Some((program, arguments)) = argv.split_first() else {
        return SandboxError::Arguments("no command");
    };
    let error = Command::new(program).args(arguments).exec();
    SandboxError::Exec { program: program.to_string_lossy().into_owned(), error }
}

/// Puts the calling thread, and every process it starts from now on, into the sandbox for ever.
///
/// Fails without having let anything run if the kernel cannot hold a command to it.
pub fn enter(sandbox: &Sandbox) -> Result<(), SandboxError> {
    let support = support();
    if let Some(missing) = support.missing() {
        return Err(SandboxError::Unsupported(missing));
    }
    if sandbox.read_only {
        limits::set()?;
        limits::give_up_powers()?;
    }
    give_up_new_privileges()?;
    restrict_files(sandbox).map_err(|error| SandboxError::Landlock(chain(&error)))?;
    calls::restrict(sandbox)
}

/// Programs that would gain privileges run without them from now on; the kernel wants that before rules.
fn give_up_new_privileges() -> Result<(), SandboxError> {
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| SandboxError::Seccomp(format!("no_new_privs: {error}")))
}

fn restrict_files(sandbox: &Sandbox) -> Result<(), landlock::RulesetError> {
    let writing = AccessFs::from_write(NEWEST);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if sandbox.reads.is_some() {
        rules = rules.handle_access(AccessFs::ReadFile)?;
    }
    let mut rules = rules.create()?;
    let device = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    for path in DEVICES.iter().map(PathBuf::from).chain(own_terminals()) {
        rules = beneath(rules, &path, device)?;
    }
    if sandbox.network && sandbox.local_sockets {
        rules = rules.add_rules(all(&Map::without(&[]), AccessFs::ResolveUnix))?;
    }
    if let Some(reads) = &sandbox.reads {
        let map = Map::of(reads, own_terminals());
        rules = rules.add_rules(all(&map, AccessFs::ReadFile))?;
    }
    if !sandbox.read_only {
        for path in &sandbox.writable {
            rules = beneath(rules, path, writing & !AccessFs::ResolveUnix)?;
        }
    }
    rules.restrict_self()?;
    Ok(())
}

/// A rule for everything that is open on a map.
fn all(
    map: &Map,
    access: AccessFs,
) -> impl Iterator<Item = Result<PathBeneath<OwnedFd>, landlock::RulesetError>> {
    map.grants().map(move |file| Ok(PathBeneath::new(file, access)))
}

/// Adds a rule; a path that is not there needs none.
fn beneath(
    rules: landlock::RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, landlock::RulesetError> {
    let Ok(file) = PathFd::new(path) else { return Ok(rules) };
    let is_directory = fs::metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let access = if is_directory { access } else { access & AccessFs::from_file(NEWEST) };
    rules.add_rule(PathBeneath::new(file, access))
}

/// The pseudo-terminals we were started on: a command may open its own again by name.
fn own_terminals() -> impl Iterator<Item = PathBuf> {
    (0..3)
        .filter_map(|fd| fs::read_link(format!("/proc/self/fd/{fd}")).ok())
        .filter(|path| path.starts_with("/dev/pts"))
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    struct Chain<'a>(&'a dyn std::error::Error);
    impl fmt::Display for Chain<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", self.0)?;
            let mut source = self.0.source();
            while let Some(error) = source {
                write!(f, ": {error}")?;
                source = error.source();
            }
            Ok(())
        }
    }
    Chain(error).to_string()
}

#[cfg(test)]
mod tests;
