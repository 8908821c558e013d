//! Reading unasked: keys, our own files, and what other processes know.

use std::os::unix::fs::symlink;

use libtest_mimic::{Failed, Trial};
use rookery_host::sandbox::{Reads, Sandbox};

use super::{Ground, attackers, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for user in attackers() {
        let who = user.map_or("this_user", |_| "another_user");
        let kept = move || secrets_are_kept(user);
        trials.push(trial(format!("secrets_are_kept_from_{who}"), kept));
        let open = move || an_open_home_keeps_secrets(user);
        trials.push(trial(format!("an_open_home_keeps_secrets_from_{who}"), open));
        let git = move || git_works_in_a_linked_tree(user);
        trials.push(trial(format!("git_works_in_a_linked_tree_of_{who}"), git));
    }
    trials
}

fn home(ground: &Ground) -> Reads {
    for (name, text) in [
        ("home/.ssh/id_rsa", "SECRET"),
        ("home/.config/rookery/config.toml", "SECRET"),
        ("home/.cargo/credentials.toml", "SECRET"),
        ("home/.netrc", "SECRET"),
        ("home/notes.txt", "SECRET-NOTES"),
        ("home/.gitconfig", "[user]\n name = user\n"),
        ("home/ours/state.db", "SECRET"),
        ("home/work/kept", "kept"),
    ] {
        ground.file(name, text);
    }
    let at = |name: &str| ground.at(name);
    symlink(at("home/.ssh/id_rsa"), at("home/work/key")).expect("a link");
    symlink(at("home/.ssh"), at("home/work/keys")).expect("a link");
    Reads { home: Some(at("home")), open: vec![at("home/work")], hidden: vec![at("home/ours")] }
}

fn shell(ground: &Ground, reads: &Reads, script: &str) -> String {
    let sandbox = Sandbox { reads: Some(reads.clone()), ..Sandbox::reading() };
    let home = ground.at("home");
    let script =
        format!("cd {}/work; HOME={}; export HOME; {script}", home.display(), home.display());
    let out = ground.run(Some(&sandbox), &["sh", "-c", &script]);
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// Ways to the same few secrets.
fn ways(victim: u32) -> Vec<String> {
    let mut ways: Vec<String> = [
        "cat ~/.ssh/id_rsa",
        "cat ../.ssh/id_rsa",
        "cat key",
        "cat keys/id_rsa",
        "cat /proc/self/cwd/../.ssh/id_rsa",
        "cat /proc/self/root$HOME/.ssh/id_rsa",
        "grep -r SECRET ~/.ssh",
        "cat ~/.config/rookery/config.toml",
        "cat ~/.cargo/credentials.toml",
        "cat ~/.netrc",
        "cat ~/ours/state.db",
        "cd ~/.ssh && cat id_rsa",
        "head -c 100 < ~/.ssh/id_rsa",
        "cat /dev/vda /dev/sda /dev/nvme0n1 2>/dev/null | head -c 1 | grep -q . && echo SECRET",
        "cat /etc/shadow 2>/dev/null | grep -q . && echo SECRET",
    ]
    .map(str::to_owned)
    .into();
    ways.push(format!("tr '\\0' '\\n' < /proc/{victim}/environ | grep hunter2 && echo SECRET"));
    ways.push(format!("cat /proc/{victim}/root$HOME/.ssh/id_rsa"));
    ways.push(format!("cat /proc/{victim}/cwd/../home/.ssh/id_rsa"));
    ways
}

fn secrets_are_kept(user: Option<u32>) -> Result<(), Failed> {
    let ground = Ground::new(user);
    let reads = home(&ground);
    let victim = ground.victim();
    for way in ways(victim.pid()).iter().map(String::as_str).chain(["cat ~/notes.txt"]) {
        let said = shell(&ground, &reads, way);
        assert!(!said.contains("SECRET"), "{way}: {said}");
    }
    // The same from outside, so that the ways are known to lead there.
    let script = format!(
        "cd {0}/work && HOME={0} && cat key keys/id_rsa ~/.netrc",
        ground.at("home").display()
    );
    let out = ground.run(None, &["sh", "-c", &script]);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "SECRETSECRETSECRET", "{out:?}");
    // What is needed to work is there, and names can be seen.
    assert_eq!(shell(&ground, &reads, "cat kept"), "kept");
    assert_eq!(shell(&ground, &reads, "git config user.name"), "user\n");
    assert_eq!(shell(&ground, &reads, "ls ~ | grep notes"), "notes.txt\n");
    assert_eq!(shell(&ground, &reads, "head -1 /etc/passwd | cut -d: -f1"), "root\n");
    assert_eq!(shell(&ground, &reads, "echo a | cat - /dev/null"), "a\n");
    Ok(())
}

fn an_open_home_keeps_secrets(user: Option<u32>) -> Result<(), Failed> {
    let ground = Ground::new(user);
    let mut reads = home(&ground);
    reads.open.push(ground.at("home"));
    let victim = ground.victim();
    for way in ways(victim.pid()) {
        let said = shell(&ground, &reads, &way);
        assert!(!said.contains("SECRET"), "{way}: {said}");
    }
    assert_eq!(shell(&ground, &reads, "cat ~/notes.txt"), "SECRET-NOTES");
    Ok(())
}

fn git_works_in_a_linked_tree(user: Option<u32>) -> Result<(), Failed> {
    let ground = Ground::new(user);
    let reads = home(&ground);
    let main = ground.dir("home/main");
    let script = format!(
        "cd {} && git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one \
         && git worktree add -q ../tree",
        main.display()
    );
    let out = ground.run(None, &["sh", "-c", &script]);
    assert!(out.status.success(), "{out:?}");
    let reads = Reads { open: vec![ground.at("home/tree")], ..reads };
    let log = shell(&ground, &reads, "cd ../tree && git log --format=%s && git status --short");
    assert_eq!(log, "one\n");
    Ok(())
}
