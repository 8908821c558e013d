//! Decides how a shell is started so that it loads its script, and leaves alone whatever it is unsure of.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::FOLDER;

/// What is on unless the user says otherwise.
const FEATURES: &str = "cwd,title,marks,prompt,ssh-env";

/// A start of a program: its arguments and what changes in its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables to set; none of them appears twice.
    pub set: Vec<(&'static str, OsString)>,
}

/// Looks a variable up in an environment.
type Look<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// How one shell loads its script.
struct Shell {
    name: &'static str,
    /// Files without which the shell is left alone.
    files: &'static [&'static str],
    /// Whether these arguments, without the program, start an interactive shell that reads its files.
    is_plain: fn(&[String]) -> bool,
    load: fn(&mut Prepared, Look<'_>, &Path),
}

const SHELLS: &[Shell] = &[
    Shell {
        name: "bash",
        files: &["roost.bash", "bash/start.bash"],
        is_plain: |args| args.iter().all(|arg| is_cluster(arg, |letter| "li".contains(letter))),
        load: load_bash,
    },
    Shell {
        name: "zsh",
        files: &["roost.zsh", "zsh/.zshenv"],
        is_plain: is_plain_zsh,
        load: load_zsh,
    },
    Shell { name: "fish", files: &["roost.fish"], is_plain: is_plain_fish, load: load_fish },
];

/// Prepares a start: what to run, and what to set in the environment, so that a shell loads its script.
///
/// `env` looks a variable up in the whole environment that the program will get otherwise.
/// A program that is not a shell we know, a shell that is to run a script or a command, or one whose
/// script is missing keeps its arguments; it is informed about the integration all the same, so that
/// a startup file may load a script by itself.
pub fn prepare(
    argv: Vec<String>,
    env: impl Fn(&str) -> Option<OsString>,
    resources: &Path,
) -> Prepared {
    let mut prepared = Prepared { argv, set: Vec::new() };
    prepared.set("ROOST_SHELL_INTEGRATION", "1");
    prepared.set("ROOST_RESOURCES_DIR", resources);
    if env("ROOST_SHELL_FEATURES").is_none() {
        prepared.set("ROOST_SHELL_FEATURES", FEATURES);
    }
    let folder = resources.join(FOLDER);
    if let Some((program, args)) = prepared.argv.split_first()
        && let Some(shell) = shell_of(program)
        && (shell.is_plain)(args)
        && shell.files.iter().all(|file| folder.join(file).is_file())
    {
        (shell.load)(&mut prepared, &env, &folder);
    }
    prepared
}

impl Prepared {
    fn set(&mut self, key: &'static str, value: impl AsRef<OsStr>) {
        self.set.push((key, value.as_ref().to_owned()));
    }
}

fn shell_of(program: &str) -> Option<&'static Shell> {
    // The bash that comes with macOS reads no ENV, so it would read nothing at all.
    if cfg!(target_os = "macos") && program == "/bin/bash" {
        return None;
    }
    let name = Path::new(program).file_name()?;
    SHELLS.iter().find(|shell| name == shell.name)
}

/// Whether an argument is a dash and letters that are all allowed.
fn is_cluster(arg: &str, is_allowed: impl Fn(char) -> bool) -> bool {
    arg.strip_prefix('-')
        .is_some_and(|letters| !letters.is_empty() && letters.chars().all(is_allowed))
}

/// With `--posix`, bash reads the file that ENV names and no other.
fn load_bash(start: &mut Prepared, env: Look<'_>, _folder: &Path) {
    // The user wants POSIX mode, in which bash reads none of the files that ours would.
    if env("POSIXLY_CORRECT").is_some() {
        return;
    }
    // Long options come first. ENV is expanded, so the folder may have any name.
    start.argv.insert(1, "--posix".to_owned());
    if let Some(own) = env("ENV") {
        start.set("ROOST_BASH_ENV", own);
    }
    start.set("ENV", "$ROOST_RESOURCES_DIR/shell-integration/bash/start.bash");
}

/// zsh reads `.zshenv` in the folder that ZDOTDIR names, before any other file of the user.
fn load_zsh(start: &mut Prepared, env: Look<'_>, folder: &Path) {
    let own = folder.join("zsh");
    if let Some(theirs) = env("ZDOTDIR").filter(|theirs| Path::new(theirs) != own) {
        start.set("ROOST_ZSH_ZDOTDIR", theirs);
    }
    start.set("ZDOTDIR", own);
}

/// fish runs a command after its startup files.
fn load_fish(start: &mut Prepared, _env: Look<'_>, _folder: &Path) {
    let script = "$ROOST_RESOURCES_DIR/shell-integration/roost.fish";
    start.argv.insert(1, format!("test -r \"{script}\"; and source \"{script}\""));
    start.argv.insert(1, "--init-command".to_owned());
}

/// Letters are options that neither bring a command, end the options, skip startup files nor drop rights.
fn is_plain_zsh(args: &[String]) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() && !"bcfops".contains(letter);
    args.iter().all(|arg| is_cluster(arg, is_letter) || arg == "--login" || arg == "--interactive")
}

fn is_plain_fish(args: &[String]) -> bool {
    let is_letter = |letter: char| "liP".contains(letter);
    let is_word = |arg: &str| matches!(arg, "--login" | "--interactive" | "--private");
    args.iter().all(|arg| is_cluster(arg, is_letter) || is_word(arg))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_integration::install;

    type Variables = Vec<(&'static str, String)>;

    /// The arguments, and the variables besides those that are always set.
    fn start(resources: &Path, line: &str, env: &[(&str, &str)]) -> (String, Variables) {
        let look = |key: &str| env.iter().find(|(name, _)| *name == key).map(|(_, v)| v.into());
        let argv = line.split_whitespace().map(str::to_owned).collect();
        let prepared = prepare(argv, look, resources);
        let always = ["ROOST_SHELL_INTEGRATION", "ROOST_RESOURCES_DIR", "ROOST_SHELL_FEATURES"];
        let set = prepared.set.into_iter().filter(|(key, _)| !always.contains(key));
        let set = set.map(|(key, value)| (key, value.into_string().unwrap())).collect();
        (prepared.argv.join(" "), set)
    }

    #[test]
    fn shells_that_are_started_plainly_load_their_script() {
        let dir = tempfile::tempdir().unwrap();
        let resources = install(dir.path()).unwrap();
        let env = ("ENV", "$ROOST_RESOURCES_DIR/shell-integration/bash/start.bash".to_owned());
        let zdotdir = resources.join("shell-integration/zsh").to_str().unwrap().to_owned();
        let zsh = ("ZDOTDIR", zdotdir.clone());
        for (line, prepared, set) in [
            ("bash", "bash --posix", vec![env.clone()]),
            ("/bin/x/bash -l -i", "/bin/x/bash --posix -l -i", vec![env.clone()]),
            ("bash -il", "bash --posix -il", vec![env.clone()]),
            ("zsh", "zsh", vec![zsh.clone()]),
            ("/usr/bin/zsh -l", "/usr/bin/zsh -l", vec![zsh.clone()]),
            ("zsh -ix --login", "zsh -ix --login", vec![zsh.clone()]),
        ] {
            assert_eq!(start(&resources, line, &[]), (prepared.to_owned(), set), "{line}");
        }
        let (fish, set) = start(&resources, "fish --login", &[]);
        assert!(fish.starts_with("fish --init-command test -r"), "{fish}");
        assert!(fish.ends_with(" --login"), "{fish}");
        assert_eq!(set, []);

        let (_, set) = start(&resources, "bash", &[("ENV", "mine")]);
        assert_eq!(set, [("ROOST_BASH_ENV", "mine".to_owned()), env]);
        let (_, set) = start(&resources, "zsh", &[("ZDOTDIR", "mine")]);
        assert_eq!(set, [("ROOST_ZSH_ZDOTDIR", "mine".to_owned()), zsh.clone()]);
        let (_, set) = start(&resources, "zsh", &[("ZDOTDIR", &zdotdir)]);
        assert_eq!(set, [zsh], "ours is not the user's");
    }

    #[test]
    fn any_other_start_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let resources = install(dir.path()).unwrap();
        for line in [
            "",
            "vim",
            "sh",
            "dash -i",
            "-bash",
            "bash -",
            "bash -c ls",
            "bash script.sh",
            "bash --norc",
            "bash --posix",
            "bash -l -- x",
            "bash -lx",
            "zsh -f",
            "zsh -if",
            "zsh -c ls",
            "zsh -o norcs",
            "zsh script",
            "zsh +i",
            "zsh --emulate sh",
            "fish -c ls",
            "fish -N",
            "fish --no-config",
            "fish script.fish",
            "fish --init-command x",
        ] {
            let untouched = line.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(start(&resources, line, &[]), (untouched, Vec::new()), "{line}");
        }
        let posix = start(&resources, "bash", &[("POSIXLY_CORRECT", "")]);
        assert_eq!(posix, ("bash".to_owned(), Vec::new()));
    }

    #[test]
    fn a_missing_script_leaves_the_shell_alone() {
        let dir = tempfile::tempdir().unwrap();
        for line in ["bash", "zsh", "fish"] {
            assert_eq!(start(dir.path(), line, &[]), (line.to_owned(), Vec::new()));
        }
        let resources = install(dir.path()).unwrap();
        std::fs::remove_file(resources.join("shell-integration/bash/start.bash")).unwrap();
        assert_eq!(start(&resources, "bash", &[]), ("bash".to_owned(), Vec::new()));
    }

    #[test]
    fn the_features_that_the_user_has_chosen_stay() {
        let chosen = |env: Option<&str>| {
            let env = env.map(OsString::from);
            prepare(vec!["vim".to_owned()], |_| env.clone(), Path::new("/r")).set
        };
        let told = ("ROOST_SHELL_INTEGRATION", OsString::from("1"));
        let place = ("ROOST_RESOURCES_DIR", OsString::from("/r"));
        let all = ("ROOST_SHELL_FEATURES", OsString::from(FEATURES));
        assert_eq!(chosen(None), [told.clone(), place.clone(), all]);
        assert_eq!(chosen(Some("no-cwd")), [told, place]);
    }
}
