//! A marketplace that means harm: listed, fetched, searched, previewed and installed from, with none of its
//! programs started and no connection made for it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rookery_testkit::{TestDaemon, git};
use serde_json::{Value, json};

use crate::marketplaces::{contents, repository, write};
use crate::traced::Traced;

/// What is left when a program of the marketplace runs, and who hears it when it connects.
struct Trap {
    program: PathBuf,
    sprung: PathBuf,
    listener: TcpListener,
}

impl Trap {
    fn set(dir: &Path) -> Trap {
        let (program, sprung) = (dir.join("trap.sh"), dir.join("sprung"));
        write(&program, &format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", sprung.display()));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Trap { program, sprung, listener }
    }

    fn command(&self) -> String {
        self.program.display().to_string()
    }

    fn url(&self) -> String {
        format!("http://{}/x", self.listener.local_addr().unwrap())
    }

    #[track_caller]
    fn assert_unsprung(&self) {
        assert!(!self.sprung.exists(), "{}", fs::read_to_string(&self.sprung).unwrap());
        assert!(self.listener.accept().is_err(), "a connection was made");
    }
}

/// Entries of every hostile kind.
fn plugins(trap: &Trap, url: &str) -> Value {
    let (command, address) = (trap.command(), trap.url());
    json!([
        {"name": "armed", "source": "./armed", "version": "../../../../tmp/x", "homepage": address,
         "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]},
         "mcpServers": {"a": {"command": command, "args": ["--x"]}, "b": {"url": address}},
         "lspServers": {"l": {"command": command}}, "apps": {"p": {"cmd": command}}},
        {"name": "links", "source": "./links"},
        {"name": "linked", "source": "./linked"},
        {"name": "pipe", "source": "./pipe"},
        {"name": "up", "source": "../../../etc"},
        {"name": "root", "source": "/etc"},
        {"name": "ext", "source": {"source": "url", "url": format!("ext::{command}")}},
        {"name": "option", "source": {"source": "url", "url": format!("--upload-pack={command}")}},
        {"name": "ssh", "source": {"source": "url", "url": format!("ssh://-oProxyCommand={command}/x")}},
        {"name": "host", "source": {"source": "url", "url": format!("git@-oProxyCommand={command}:x")}},
        {"name": "ref", "source": {"source": "git", "url": url, "ref": format!("--upload-pack={command}")}},
        {"name": "sub", "source": {"source": "git-subdir", "url": url, "path": "../../etc"}},
        {"name": "far", "source": {"source": "git-subdir", "url": url, "path": "good"}},
        {"name": "web", "source": {"source": "http", "url": address}},
        {"name": "npm", "source": {"source": "npm", "package": format!("{address}/x.tgz")}},
        {"name": "huge", "source": "./huge"},
        {"name": "many", "source": "./many"},
        {"name": "../../escape", "source": "./armed"},
        {"name": "\u{1b}[31mred\u{0}\n", "source": "./armed"},
        {"name": "$(touch /tmp/x)", "source": "./armed"},
        {"name": "ARMED", "source": "./good"},
        {"name": "good", "source": "./good"},
        {"name": ""}, {}, 7, null, [[]],
    ])
}

fn fill(root: &Path, trap: &Trap, url: &str) {
    let catalog = json!({"owner": {"name": "\u{1b}]0;x\u{7}"}, "plugins": plugins(trap, url)});
    write(&root.join(".claude-plugin/marketplace.json"), &catalog.to_string());
    write(&root.join("good/skills/s/SKILL.md"), "good");
    write(
        &root.join("armed/.mcp.json"),
        &json!({"mcpServers": {"f": {"command": trap.command()}}}).to_string(),
    );
    write(
        &root.join("armed/hooks/hooks.json"),
        &json!({"hooks": {"Stop": [{"command": trap.command()}]}}).to_string(),
    );
    fs::copy(&trap.program, root.join("armed/postinstall")).unwrap();
    write(
        &root.join("armed/package.json"),
        &json!({"scripts": {"postinstall": trap.command()}}).to_string(),
    );
    write(&root.join("armed/.claude-plugin/plugin.json"), &"[".repeat(100_000));
    write(&root.join("links/skills/s/SKILL.md"), "x");
    symlink("/etc/passwd", root.join("links/passwd")).unwrap();
    symlink("../..", root.join("linked")).unwrap();
    write(&root.join("huge/large"), "");
    fs::File::options()
        .write(true)
        .open(root.join("huge/large"))
        .unwrap()
        .set_len(60 << 20)
        .unwrap();
    for number in 0..5001 {
        write(&root.join(format!("many/{number}")), "");
    }
    write(&root.join(".gitattributes"), "* filter=f diff=d merge=m\n");
    let modules = format!(
        "[submodule \"s\"]\n\tpath = s\n\turl = {}\n\tupdate = !{}\n",
        trap.url(),
        trap.command()
    );
    write(&root.join(".gitmodules"), &modules);
}

/// Hooks and settings of the repository that is fetched from.
fn arm(repository: &Path, trap: &Trap) {
    let hooks = repository.join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "post-checkout",
        "pre-receive",
        "post-update",
        "reference-transaction",
        "post-index-change",
    ] {
        fs::copy(&trap.program, hooks.join(name)).unwrap();
    }
    let command = trap.command();
    let config = fs::read_to_string(repository.join("config")).unwrap();
    let more = format!(
        "[core]\n\tfsmonitor = {command}\n\tsshCommand = {command}\n\tpager = {command}\n\tgitProxy = {command}\n\
         [filter \"f\"]\n\tsmudge = {command}\n\tclean = {command}\n\tprocess = {command}\n\trequired = true\n\
         [uploadpack]\n\tpackObjectsHook = {command}\n[credential]\n\thelper = !{command}\n"
    );
    fs::write(repository.join("config"), config + &more).unwrap();
}

/// Entries that have nothing in common but their name.
fn alike() -> Vec<Value> {
    let entry = |number: usize| json!({"name": "x", "id": format!("a{number}"), "author": format!("u{number}"), "source": "./x"});
    (0..5000).map(entry).collect()
}

/// Looks at everything and installs all that can be; gives what was installed.
fn use_everything(daemon: &TestDaemon, id: &str, trap: &Trap) -> Vec<String> {
    let client = daemon.client();
    let failed = client.refused("marketplaces/refresh", json!({"marketplaceId": id}));
    assert!(failed.message.contains("duplicate plugin"), "{}", failed.message);
    client.call("marketplaces/list", json!({}));
    let found = client.call("marketplaces/search", json!({}));
    let rows = found["plugins"].as_array().unwrap();
    assert!(rows.len() >= 18, "{}", rows.len());
    let mut installed = Vec::new();
    for row in rows {
        let own = row["variants"]
            .as_array()
            .unwrap()
            .iter()
            .find(|variant| variant["marketplaceId"] == id);
        let Some(plugin) = own.and_then(|own| own["pluginId"].as_str()) else { continue };
        let params = json!({"marketplaceId": id, "pluginId": plugin});
        client.call("marketplaces/plugin", params.clone());
        let preview = client.call("plugins/preview_install", params.clone());
        if plugin == "armed" {
            let lines = preview["preview"]["commands"].to_string();
            assert!(lines.matches(&trap.command()).count() >= 4, "{lines}");
            assert!(preview["preview"]["warnings"].to_string().contains(&trap.url()));
        }
        // What is elsewhere is fetched for a preview.
        if plugin == "far" {
            assert_eq!(preview["preview"]["files"], json!(["skills/s/SKILL.md"]));
        }
        if let Ok(done) = client.try_call("plugins/install", params) {
            assert!(done["plugin"]["installPath"].as_str().unwrap().contains("/plugins/cache/"));
            installed.push(plugin.to_owned());
        }
        trap.assert_unsprung();
    }
    installed
}

#[test]
fn a_hostile_marketplace_is_traced_and_nothing_but_git_starts_and_nothing_connects() {
    let traced = Traced::start();
    let trap = Trap::set(&traced.daemon.home().join("traps"));
    let work = traced.daemon.home().join("work");
    let bare = traced.daemon.home().join("bare.git");
    let url = format!("file://{}", bare.display());
    fill(&work, &trap, &url);
    repository(&work);
    let (from, to) = (work.to_str().unwrap(), bare.to_str().unwrap());
    git(traced.daemon.home().path(), &["clone", "-q", "--bare", from, to]);
    arm(&bare, &trap);
    arm(&work.join(".git"), &trap);
    let client = traced.daemon.client();
    client.call("marketplaces/list", json!({}));
    traced.begin();
    for (id, source) in [
        ("folder", json!({"kind": "localPath", "path": work})),
        ("remote", json!({"kind": "git", "url": url})),
    ] {
        client.call("marketplaces/add", json!({"id": id, "kind": "claude", "source": source}));
        use_everything(&traced.daemon, id, &trap);
        let seen = traced.seen_beside_git();
        assert_eq!(seen, [] as [&str; 0], "{id}");
        traced.begin();
    }
    client.call("marketplaces/search", json!({}));
    client.call("plugins/list_installed", json!({}));
    assert_eq!(traced.seen(), [] as [&str; 0]);
}

#[test]
fn a_hostile_marketplace_starts_nothing_and_connects_to_nothing() {
    let daemon = TestDaemon::start();
    let trap = Trap::set(&daemon.home().join("traps"));
    let work = daemon.home().join("work");
    let bare = daemon.home().join("bare.git");
    let url = format!("file://{}", bare.display());
    fill(&work, &trap, &url);
    repository(&work);
    git(
        daemon.home().path(),
        &["clone", "-q", "--bare", work.to_str().unwrap(), bare.to_str().unwrap()],
    );
    arm(&bare, &trap);
    arm(&work.join(".git"), &trap);
    // A pipe, which no repository can hold.
    rustix::fs::mkfifoat(rustix::fs::CWD, work.join("pipe"), rustix::fs::Mode::RWXU).unwrap();

    let client = daemon.client();
    for (id, source) in [
        ("folder", json!({"kind": "localPath", "path": work})),
        ("remote", json!({"kind": "git", "url": url})),
    ] {
        client.call("marketplaces/add", json!({"id": id, "kind": "claude", "source": source}));
        let installed = use_everything(&daemon, id, &trap);
        assert!(
            installed.contains(&"good".to_owned()) && installed.contains(&"armed".to_owned()),
            "{installed:?}"
        );
        for refused in [
            "links", "linked", "pipe", "up", "root", "ext", "option", "ssh", "host", "ref", "sub",
            "web", "npm", "huge", "many",
        ] {
            assert!(!installed.contains(&refused.to_owned()), "{id}: {refused} was installed");
        }
    }
    for path in contents(daemon.home()) {
        assert!(
            !path.ends_with("passwd") && !path.display().to_string().contains(".git/"),
            "{}",
            path.display()
        );
    }
    for source in [
        json!({"kind": "git", "url": format!("ext::{}", trap.command())}),
        json!({"kind": "git", "url": format!("--upload-pack={}", trap.command())}),
        json!({"kind": "git", "url": format!("ssh://-oProxyCommand={}/x", trap.command())}),
        json!({"kind": "localPath", "path": "/etc/../etc"}),
        json!({"kind": "github", "repo": "../../x"}),
    ] {
        let failed = client.refused("marketplaces/add", json!({"id": "evil", "source": source}));
        assert_eq!(failed.code, -32602);
    }
    for (id, bomb) in [
        ("deep", "[".repeat(1 << 20)),
        ("wide", format!("{{\"plugins\": [{}7]}}", "{},".repeat(600_000))),
        ("alike", json!({"plugins": alike()}).to_string()),
    ] {
        let file = daemon.home().join(id);
        write(&file, &bomb);
        let source = json!({"kind": "httpJson", "url": format!("file://{}", file.display())});
        client.call("marketplaces/add", json!({"id": id, "kind": "cursor", "source": source}));
        let _ = client.try_call("marketplaces/refresh", json!({"marketplaceId": id}));
    }
    let rows = client.call("marketplaces/search", json!({"query": "a4999"}))["plugins"].clone();
    assert_eq!(rows[0]["relatedCandidates"].as_array().unwrap().len(), 20);
    let all = client.call("marketplaces/search", json!({}))["plugins"].clone();
    assert!(all.as_array().unwrap().len() > 5000);
    // The rest goes on.
    assert!(
        !client.call("marketplaces/search", json!({"query": "good"}))["plugins"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(!Path::new("/tmp/x").exists());
    trap.assert_unsprung();
}
