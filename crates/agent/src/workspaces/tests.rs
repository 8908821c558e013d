//! Workspaces, made, changed, forgotten and stored.

use std::fs;

use proptest::prelude::*;

use super::*;

fn root(path: &str) -> Root {
    Root::new(path.into(), None)
}

fn some() -> Workspaces {
    Workspaces::new("/srv/home".into(), 1)
}

#[test]
fn ids_depend_on_nothing_but_paths() {
    assert_eq!(root("/a/b").id, Root::new("/a/b".into(), Some("other")).id);
    assert_ne!(root("/a/b").id, root("/a/c").id);
    assert_eq!(root("/a/b").id, "root_6a44b96667fd545db3951b876ee3f8a6");
    let mut one = some();
    let mut two = Workspaces::new("/elsewhere".into(), 2);
    let first = one.create(None, vec![root("/a"), root("/b")], None, 3).unwrap();
    let again = two.create(Some("x"), vec![root("/b"), root("/a")], None, 4).unwrap();
    assert_eq!(first.id, again.id);
    assert!(first.id.starts_with("ws_"));
    assert_eq!(one.create(None, vec![root("/b"), root("/a")], None, 9).unwrap(), first);
}

#[test]
fn roots_are_there_once_and_one_is_the_default() {
    let mut workspaces = some();
    let roots = vec![root("/a"), root("/b"), Root::new("/a".into(), Some("again"))];
    let made = workspaces.create(None, roots.clone(), Some(Path::new("/b")), 5).unwrap();
    assert_eq!(made.roots, [root("/a"), root("/b")]);
    assert_eq!(made.default_root, root("/b").id);
    assert_eq!((made.name.as_str(), made.updated_at), ("b", 5));
    assert_eq!(made.root(None).unwrap().path, Path::new("/b"));
    assert_eq!(made.root(Some(&root("/a").id)).unwrap().path, Path::new("/a"));
    let unknown = made.root(Some("root_x")).unwrap_err().to_string();
    assert_eq!(unknown, "unknown root \"root_x\"");

    let wrong = workspaces.create(None, roots, Some(Path::new("/c")), 6);
    assert_eq!(wrong, Err(WorkspaceError::DefaultNotARoot));
    assert_eq!(workspaces.create(None, vec![], None, 6), Err(WorkspaceError::NoRoots));
    let many = (0..65).map(|n| root(&format!("/{n}"))).collect();
    assert_eq!(workspaces.create(None, many, None, 6), Err(WorkspaceError::TooManyRoots));
}

#[test]
fn the_server_s_directory_is_always_listed() {
    let mut workspaces = some();
    let home = workspaces.list()[0].clone();
    assert_eq!(home.name, "home");
    assert!(!workspaces.forget(&home.id));
    workspaces.for_cwd("/newer".into(), 9).unwrap();
    assert_eq!(workspaces.list()[0], home);
    let roots = Some(vec![root("/x")]);
    let moved = workspaces.update(&home.id, Update { roots, ..Update::default() }, 9);
    assert_eq!(moved, Err(WorkspaceError::Home));
    let named = workspaces.update(&home.id, Update { name: Some("mine"), ..Update::default() }, 10);
    assert_eq!(named.unwrap().name, "mine");
    assert_eq!(workspaces.for_cwd("/srv/home".into(), 11).unwrap().id, home.id);
}

#[test]
fn updates_keep_the_id() {
    let mut workspaces = some();
    let made = workspaces.create(Some("one"), vec![root("/a"), root("/b")], None, 5).unwrap();
    let update = Update { name: Some("two"), roots: Some(vec![root("/b")]), default_root: None };
    let changed = workspaces.update(&made.id, update, 6).unwrap();
    let expected = Workspace {
        id: made.id.clone(),
        name: "two".into(),
        roots: vec![root("/b")],
        default_root: root("/b").id,
        updated_at: 6,
    };
    assert_eq!(changed, expected);
    // The first set is a new workspace now, and has to be distinguished from the changed one.
    let again = workspaces.create(None, vec![root("/a"), root("/b")], None, 7).unwrap();
    assert_ne!(again.id, made.id);
    let same = Update { roots: Some(vec![root("/b")]), ..Update::default() };
    assert_eq!(workspaces.update(&again.id, same, 8), Err(WorkspaceError::Taken(made.id)));
    let root = Update { default_root: Some("root_x"), ..Update::default() };
    assert_eq!(
        workspaces.update(&again.id, root, 8),
        Err(WorkspaceError::UnknownRoot("root_x".into()))
    );
    let unknown = workspaces.update("ws_x", Update::default(), 8).unwrap_err();
    assert_eq!(unknown.to_string(), "unknown workspace \"ws_x\"");
}

#[test]
fn what_is_forgotten_is_gone() {
    let mut workspaces = some();
    let made = workspaces.for_cwd("/a".into(), 5).unwrap();
    assert!(workspaces.forget(&made.id));
    assert!(!workspaces.forget(&made.id));
    assert!(workspaces.get(&made.id).is_err());
    assert_eq!(workspaces.for_cwd("/a".into(), 6).unwrap().id, made.id);
}

#[test]
fn the_oldest_make_room() {
    let mut workspaces = some();
    for n in 0..WORKSPACES_LIMIT as i64 + 10 {
        workspaces.for_cwd(format!("/{n}").into(), n).unwrap();
    }
    let listed = workspaces.list();
    assert_eq!(listed.len(), WORKSPACES_LIMIT);
    assert_eq!(listed[0].name, "home");
    assert_eq!(listed.last().unwrap().name, "11");
}

#[test]
fn a_directory_has_to_be_below_the_root() {
    let root = root("/a/b");
    assert_eq!(root.check_cwd(Path::new("/a/b")), Ok(()));
    assert_eq!(root.check_cwd(Path::new("/a/b/c/d")), Ok(()));
    for path in ["/a", "/a/bc", "/"] {
        let said = root.check_cwd(Path::new(path)).unwrap_err().to_string();
        assert_eq!(said, "cwd must be the selected root or a child path");
    }
}

#[test]
fn paths_are_looked_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    fs::create_dir(real.join("a")).unwrap();
    fs::write(real.join("file"), "").unwrap();
    std::os::unix::fs::symlink(real.join("a"), real.join("link")).unwrap();
    for way in ["a", "link", "a/../a/."] {
        assert_eq!(canonical_directory("root", &real.join(way)), Ok(real.join("a")));
    }
    let relative = canonical_directory("cwd", Path::new("a")).unwrap_err();
    assert_eq!(relative.to_string(), "cwd must be absolute");
    for wrong in ["file", "none"] {
        let path = real.join(wrong);
        let said = canonical_directory("root", &path).unwrap_err().to_string();
        assert_eq!(said, format!("root is not an existing directory: {}", path.display()));
    }
}

#[test]
fn workspaces_survive_as_text() {
    let mut workspaces = some();
    let roots = vec![root("/a"), Root::new("/ü \"b\"".into(), Some("B"))];
    workspaces.create(Some("n"), roots, Some(Path::new("/ü \"b\"")), 7).unwrap();
    let text = workspaces.to_json();
    assert_eq!(Workspaces::from_json(&text, "/srv/home".into(), 99), Ok(workspaces.clone()));
    let moved = Workspaces::from_json(&text, "/other".into(), 99).unwrap();
    assert_eq!(moved.list()[0].name, "other");
    assert_eq!(moved.list().len(), 3);
    assert!(Workspaces::from_json("[]", "/x".into(), 1).is_err());
    let odd = text.replace("\"/a\"", "\"a\"");
    assert_eq!(Workspaces::from_json(&odd, "/srv/home".into(), 1).unwrap().list().len(), 1);
}

proptest! {
    #[test]
    fn any_set_comes_back(paths in prop::collection::vec("/[a-c]{1,2}", 1..6), name in ".{0,9}") {
        let mut workspaces = some();
        let roots: Vec<Root> = paths.iter().map(|path| root(path)).collect();
        let made = workspaces.create(Some(&name), roots.clone(), None, 3).unwrap();
        let reversed = roots.into_iter().rev().collect();
        prop_assert_eq!(&workspaces.create(None, reversed, None, 4).unwrap(), &made);
        let text = workspaces.to_json();
        prop_assert_eq!(Workspaces::from_json(&text, "/srv/home".into(), 5), Ok(workspaces));
    }

    #[test]
    fn no_text_panics(text in ".*") {
        let _ = Workspaces::from_json(&text, "/x".into(), 1);
    }
}
