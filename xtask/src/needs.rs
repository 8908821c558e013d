//! The programs that tests need beyond Rust: what they are, where they come from, what fails without them.
//!
//! Installs them when it may (root, apt-get); otherwise says exactly what to install.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::process::Run;

/// A program that some part of the tests cannot do without.
#[derive(Debug)]
pub(crate) struct Need {
    /// Names under which it may be found, best first.
    pub(crate) programs: &'static [&'static str],
    /// The Debian package that brings it.
    pub(crate) package: &'static str,
    /// What happens without it.
    pub(crate) without: &'static str,
    /// Whether only the fuzz smoke run needs it.
    fuzz_only: bool,
}

/// Builds libFuzzer, which is C++.
pub(crate) const CXX: Need = Need {
    programs: &["c++", "g++", "clang++"],
    package: "g++",
    without: "the fuzz smoke run is skipped",
    fuzz_only: true,
};

/// Runs the example in Python of the documentation.
const PYTHON: Need = Need {
    programs: &["python3"],
    package: "python3",
    without: "the test of the example in Python fails",
    fuzz_only: false,
};

/// Runs the example in JavaScript of the documentation.
const NODE: Need = Need {
    programs: &["node"],
    package: "nodejs",
    without: "the test of the example in JavaScript fails",
    fuzz_only: false,
};

/// Runs the shell integration for zsh.
const ZSH: Need = Need {
    programs: &["zsh"],
    package: "zsh",
    without: "the tests of the shell integration for zsh fail",
    fuzz_only: false,
};

/// Runs the shell integration for fish.
const FISH: Need = Need {
    programs: &["fish"],
    package: "fish",
    without: "the tests of the shell integration for fish fail",
    fuzz_only: false,
};

/// A display without a screen, for the clipboard.
const XVFB: Need = Need {
    programs: &["Xvfb"],
    package: "xvfb",
    without: "the desktop's clipboard is not tested",
    fuzz_only: false,
};

/// Another program that uses the desktop's clipboard.
const XCLIP: Need = Need {
    programs: &["xclip"],
    package: "xclip",
    without: "the desktop's clipboard is not tested",
    fuzz_only: false,
};

/// A session bus, for banners.
const DBUS: Need = Need {
    programs: &["dbus-daemon"],
    package: "dbus",
    without: "desktop notifications are not tested",
    fuzz_only: false,
};

/// What agents have changed is asked of it.
const GIT: Need = Need {
    programs: &["git"],
    package: "git",
    without: "the tests of what agents changed fail",
    fuzz_only: false,
};

/// Another multiplexer around the TUI.
const TMUX: Need = Need {
    programs: &["tmux"],
    package: "tmux",
    without: "the TUI is not tested inside tmux",
    fuzz_only: false,
};

/// What the daemon starts and where it connects is seen by it.
const STRACE: Need = Need {
    programs: &["strace"],
    package: "strace",
    without: "the tests of hostile repositories and marketplaces fail",
    fuzz_only: false,
};

/// Keys and the mouse on a display without a screen.
const XDOTOOL: Need = Need {
    programs: &["xdotool"],
    package: "xdotool",
    without: "the window is not tested",
    fuzz_only: false,
};

/// A window manager, which gives windows the keyboard; with it come libraries that have no program.
const OPENBOX: Need = Need {
    programs: &["openbox"],
    package: "openbox libxkbcommon-x11-0 libx11-xcb1 libxcursor1 libxi6",
    without: "the window is not tested",
    fuzz_only: false,
};

/// What tells the class of a window.
const XPROP: Need = Need {
    programs: &["xprop"],
    package: "x11-utils",
    without: "the window is not tested",
    fuzz_only: false,
};

/// Layouts of the keyboard.
const SETXKBMAP: Need = Need {
    programs: &["setxkbmap"],
    package: "x11-xkb-utils",
    without: "the window is not tested",
    fuzz_only: false,
};

/// What reads the pixels of a window.
const XWD: Need = Need {
    programs: &["xwd"],
    package: "x11-apps",
    without: "the window is not tested",
    fuzz_only: false,
};

/// A compositor of Wayland without a screen.
const WESTON: Need = Need {
    programs: &["weston"],
    package: "weston",
    without: "the window is not tested on Wayland",
    fuzz_only: false,
};

/// A compositor of Wayland with a keyboard, a mouse and input methods.
const SWAY: Need = Need {
    programs: &["sway"],
    package: "sway",
    without: "keys and the mouse are not tested on Wayland",
    fuzz_only: false,
};

/// What reads the pixels of that compositor.
const GRIM: Need = Need {
    programs: &["grim"],
    package: "grim",
    without: "keys and the mouse are not tested on Wayland",
    fuzz_only: false,
};

/// A browser, for the page.
const CHROMIUM: Need = Need {
    programs: &["chromium", "chromium-browser", "google-chrome"],
    package: "chromium",
    without: "the tests of the page in a browser fail",
    fuzz_only: false,
};

/// What drives the browser.
const CHROMEDRIVER: Need = Need {
    programs: &["chromedriver"],
    package: "chromium-driver",
    without: "the tests of the page in a browser fail",
    fuzz_only: false,
};

/// An editor in the TUI.
const VIM: Need = Need {
    programs: &["vim"],
    package: "vim",
    without: "no editor is tried in the TUI",
    fuzz_only: false,
};

/// A pager in the TUI.
const LESS: Need = Need {
    programs: &["less"],
    package: "less",
    without: "no pager is tried in the TUI",
    fuzz_only: false,
};

/// A monitor in the TUI.
const HTOP: Need = Need {
    programs: &["htop"],
    package: "htop",
    without: "no monitor is tried in the TUI",
    fuzz_only: false,
};

/// Everything the test command needs; a row here is all it takes to add a program.
const ALL: &[Need] = &[
    CXX,
    PYTHON,
    NODE,
    ZSH,
    FISH,
    XVFB,
    XCLIP,
    DBUS,
    GIT,
    TMUX,
    VIM,
    LESS,
    HTOP,
    STRACE,
    XDOTOOL,
    OPENBOX,
    XPROP,
    XWD,
    SETXKBMAP,
    WESTON,
    SWAY,
    GRIM,
    CHROMIUM,
    CHROMEDRIVER,
];

impl Need {
    /// Where the program is, if it is anywhere on the path.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        find_program(self.programs)
    }
}

fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    find_in(names, std::env::split_paths(&path))
}

/// Installs what is missing if `install` is set and it may be done, and prints what remains missing.
/// With `fuzz`, that includes what only the fuzz smoke run needs.
pub(crate) fn provide(root: &Path, fuzz: bool, install: bool) {
    let missing_now = || -> Vec<_> { needed(fuzz).filter(|need| need.find().is_none()).collect() };
    let mut missing = missing_now();
    if missing.is_empty() {
        return;
    }
    if install && may_install() {
        let packages: Vec<_> =
            missing.iter().flat_map(|need| need.package.split_whitespace()).collect();
        println!("installing {}", packages.join(" "));
        if let Err(error) = apt_install(root, &packages) {
            println!("{error:#}");
        }
        missing = missing_now();
    }
    for need in missing {
        println!("{}", complaint(need));
    }
}

fn needed(fuzz: bool) -> impl Iterator<Item = &'static Need> {
    ALL.iter().filter(move |need| fuzz || !need.fuzz_only)
}

fn complaint(need: &Need) -> String {
    format!(
        "missing: {} (Debian package {}); without it {}; to install: apt-get install {}",
        need.programs.join(" or "),
        need.package,
        need.without,
        need.package
    )
}

fn find_in(programs: &[&str], dirs: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let dirs: Vec<_> = dirs.collect();
    programs
        .iter()
        .flat_map(|program| dirs.iter().map(move |dir| dir.join(program)))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn may_install() -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    is_root && find_program(&["apt-get"]).is_some()
}

fn apt_install(root: &Path, packages: &[&str]) -> anyhow::Result<()> {
    let apt = || Run::new("apt-get", root).env("DEBIAN_FRONTEND", "noninteractive");
    let install =
        apt().args(["install", "--yes", "--no-install-recommends"]).args(packages.iter().copied());
    // A fresh container has no package lists, and a stale list names files that are gone.
    install.status().or_else(|_| {
        apt().arg("update").status()?;
        install.status()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_in_order_of_preference() {
        let dirs = || ["/nonexistent", "/usr/bin", "/bin"].iter().map(PathBuf::from);
        let found = find_in(&["no-such-shell", "sh"], dirs()).unwrap();
        assert!(found.ends_with("sh"), "{found:?}");
        assert_eq!(find_in(&["no-such-shell"], dirs()), None);
    }

    #[test]
    fn a_directory_is_no_program() {
        assert_eq!(find_in(&["bin"], std::iter::once(PathBuf::from("/usr"))), None);
    }

    #[test]
    fn a_run_without_fuzz_asks_for_no_compiler() {
        let packages = |fuzz| needed(fuzz).map(|need| need.package).collect::<Vec<_>>();
        assert!(packages(true).contains(&"g++"));
        assert!(!packages(false).contains(&"g++"));
    }

    #[test]
    fn a_complaint_says_program_package_and_consequence() {
        assert_eq!(
            complaint(&CXX),
            "missing: c++ or g++ or clang++ (Debian package g++); without it the fuzz smoke run \
             is skipped; to install: apt-get install g++"
        );
    }
}
