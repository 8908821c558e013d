//! Roles of files, over those of others; and what agents are told.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rookery_model::{Assignment, ToolSort};
use serde_json::json;

use super::*;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { dir: tempfile::tempdir().unwrap() };
        for dir in ["work", "config", "home"] {
            fs::create_dir_all(place.at(dir)).unwrap();
        }
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn list(&self, extra: &[Role]) -> (Vec<Role>, Vec<String>) {
        list(&self.at("work"), Some(&self.at("config")), extra)
    }

    fn told(&self, assignment: &Assignment) -> Vec<String> {
        let home = self.at("home");
        guidance(assignment, &self.at("work"), &home, Some(&self.at("config")))
    }
}

fn slugs(roles: &[Role]) -> Vec<&str> {
    roles.iter().map(|role| role.slug.as_str()).collect()
}

const BUILT_IN: [&str; 5] = ["architect", "code", "ask", "debug", "orchestrator"];

#[test]
fn those_that_ship_with_us_come_first_and_in_their_order() {
    let (roles, warnings) = Place::new().list(&[]);
    assert_eq!(slugs(&roles), BUILT_IN);
    assert_eq!(warnings, Vec::<String>::new());
    let names: Vec<&str> = roles.iter().map(|role| role.name.as_str()).collect();
    assert_eq!(names, ["🏗️ Architect", "💻 Code", "❓ Ask", "🪲 Debug", "🪃 Orchestrator"]);
    let sorts = |slug: &str| -> Vec<ToolSort> {
        let role = roles.iter().find(|role| role.slug == slug).unwrap();
        role.groups.iter().map(|group| group.sort).collect()
    };
    use ToolSort::{Command, Edit, Mcp, Read};
    assert_eq!(sorts("architect"), [Read, Edit, Mcp]);
    assert_eq!(sorts("code"), [Read, Edit, Command, Mcp]);
    assert_eq!(sorts("ask"), [Read, Mcp]);
    assert_eq!(sorts("debug"), [Read, Edit, Command, Mcp]);
    assert_eq!(sorts("orchestrator"), []);
    assert_eq!(roles[0].groups[1].files.as_deref(), Some(r"\.md$"));
}

#[test]
fn of_the_same_slug_the_nearest_counts() {
    let place = Place::new();
    let mode = |slug: &str, name: &str| {
        format!("  - slug: {slug}\n    name: {name}\n    roleDefinition: x\n    groups: [read]\n")
    };
    let project = format!("customModes:\n{}{}", mode("code", "project"), mode("own", "project"));
    place.write("work/.roomodes", &project);
    let global = ["code", "own", "far", "near"].map(|slug| mode(slug, "global")).concat();
    place.write("config/roo/custom_modes.yaml", &format!("customModes:\n{global}"));
    let extra = Role { slug: "near".into(), name: "extra".into(), ..Role::default() };
    let (roles, warnings) = place.list(std::slice::from_ref(&extra));
    assert_eq!(warnings, Vec::<String>::new());
    let all = ["architect", "code", "ask", "debug", "orchestrator", "near", "own", "far"];
    assert_eq!(slugs(&roles), all);
    let name = |slug: &str| roles.iter().find(|role| role.slug == slug).unwrap().name.clone();
    assert_eq!(["code", "own", "far", "near"].map(name), ["project", "project", "global", "extra"]);
    let found = find(&place.at("work"), Some(&place.at("config")), &[extra], "own").unwrap();
    assert_eq!(found.name, "project");
    assert_eq!(find(&place.at("work"), None, &[], "far"), None);
}

#[test]
fn json_and_yaml_say_the_same() {
    let json = r#"{
	"customModes": [{"slug": "docs", "name": " Docs ", "roleDefinition": "You write.",
	"groups": ["read", ["edit", {"fileRegex": "\\.md$", "description": "only text"}], "browser", "modes"],
	"whenToUse": "For texts", "customInstructions": "Be brief.", "source": "project", "more": 1}]
}"#;
    let yaml = r"
customModes:
  - slug: docs
    name: Docs
    roleDefinition: >-
      You write.
    groups:
      - read
      - - edit
        - fileRegex: \.md$
          description: only text
      - browser
      - modes
    whenToUse: For texts
    customInstructions: |
      Be brief.
";
    let (roles, warnings) = read_all(json);
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(read_all(yaml), (roles.clone(), Vec::new()));
    let role = &roles[0];
    assert_eq!((role.name.as_str(), role.definition.as_str()), ("Docs", "You write."));
    assert_eq!(role.instructions.as_deref(), Some("Be brief."));
    assert_eq!(role.when_to_use.as_deref(), Some("For texts"));
    let groups: Vec<_> = role.groups.iter().map(|g| (g.sort, g.files.as_deref())).collect();
    let edit = (ToolSort::Edit, Some(r"\.md$"));
    assert_eq!(groups, [(ToolSort::Read, None), edit, (ToolSort::Roles, None)]);
}

#[test]
fn what_is_wrong_is_said_and_leaves_the_rest() {
    let good = json!({"slug": "a", "name": "A", "roleDefinition": "d", "groups": []});
    let with = |change: serde_json::Value| {
        let mut entry = good.clone();
        entry.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        entry
    };
    for (entry, reason) in [
        (json!("x"), "invalid type"),
        (json!({"slug": "a"}), "missing field `name`"),
        (with(json!({"slug": "a b"})), "slug: letters, digits and dashes are expected"),
        (with(json!({"slug": ""})), "slug: "),
        (with(json!({"name": 3})), "name: invalid type"),
        (with(json!({"name": " "})), "name: it must not be blank"),
        (with(json!({"roleDefinition": ""})), "roleDefinition: it must not be blank"),
        (with(json!({"groups": ["read", "read"]})), "groups: read is there twice"),
        (with(json!({"groups": ["read", ["read", {}]]})), "groups: read is there twice"),
        (with(json!({"groups": ["walk"]})), "groups: walk is none of read, edit"),
        (with(json!({"groups": [["edit", {"fileRegex": "("}]]})), "fileRegex of edit is not"),
        (with(json!({"groups": "read"})), "groups: invalid type"),
    ] {
        let said = read(&entry).unwrap_err();
        assert!(said.contains(reason), "{entry}: {said}");
        let file = json!({"customModes": [entry, good, good]}).to_string();
        let (roles, warnings) = read_all(&file);
        assert_eq!(slugs(&roles), ["a"]);
        assert_eq!(warnings[0], format!("role 1 was skipped: {said}"));
        assert_eq!(warnings[1], "role 3 was skipped: its slug is taken");
    }
    for text in ["", "  \n", "{}", "customModes:", "customModes: []", "# nothing"] {
        assert_eq!(read_all(text), (Vec::new(), Vec::new()), "{text}");
    }
    for text in ["customModes: 3", "[", "a: b: c", "{\"customModes\": ["] {
        let (roles, warnings) = read_all(text);
        assert_eq!((roles.len(), warnings.len()), (0, 1), "{text}");
        assert!(
            warnings[0].starts_with("it is neither YAML nor JSON with roles: "),
            "{warnings:?}"
        );
    }
}

#[test]
fn a_file_that_blows_up_is_refused() {
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ncustomModes: [*f,*f,*f,*f,*f,*f]\n";
    let (roles, warnings) = read_all(bomb);
    assert_eq!(roles, []);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let deep = format!("customModes: {}{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(read_all(&deep).0, []);
}

/// A repository that another user filled.
mod attack {
    use super::*;

    #[test]
    fn no_file_of_a_workspace_leads_out_of_it() {
        let place = Place::new();
        place.write("secret/rules.md", "customModes:\n  - slug: stolen\n# SECRET");
        symlink("../secret/rules.md", place.at("work/.roomodes")).unwrap();
        fs::create_dir_all(place.at("work/.roo/rules")).unwrap();
        symlink("../../../secret/rules.md", place.at("work/.roo/rules/a.md")).unwrap();
        symlink("../../secret", place.at("work/.roo/rules-code")).unwrap();
        symlink("../secret/rules.md", place.at("work/.roorules")).unwrap();
        let (roles, warnings) = place.list(&[]);
        assert_eq!(slugs(&roles), BUILT_IN);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].ends_with(".roomodes: it leads out of the workspace"), "{warnings:?}");
        let told = place.told(&Assignment::default()).join("\n");
        assert!(!told.contains("SECRET"), "{told}");
    }

    #[test]
    fn what_is_long_is_cut_and_what_is_too_long_is_refused() {
        let place = Place::new();
        place.write("work/.roomodes", &" ".repeat(FILE_LIMIT + 1));
        assert!(place.list(&[]).1[0].contains("it is longer than"));
        for at in 0..100 {
            place.write(&format!("work/.roo/rules/{at:03}.md"), &"x".repeat(4000));
        }
        place.write("work/.roo/rules/000.md", &"x".repeat(1 << 20));
        let told = place.told(&Assignment::default());
        let bytes: usize = told.iter().map(String::len).sum();
        assert!(told.len() <= 66 && bytes < 150_000, "{} texts, {bytes} bytes", told.len());
        assert!(told[0].len() < 33_000);
    }

    #[test]
    fn what_is_no_text_is_not_told() {
        let place = Place::new();
        place.write("work/.roo/rules/a.md", "told");
        place.write("work/.roo/rules/b.md", "a\0b");
        place.write("work/.roo/rules/c.bak", "old");
        place.write("work/.roo/rules/.hidden", "hidden");
        let told = place.told(&Assignment::default());
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], "Rules from .roo/rules/a.md:\ntold");
    }
}

#[test]
fn an_agent_is_told_its_role_then_its_client_then_rules_then_the_roles() {
    let place = Place::new();
    place.write("home/.roo/rules/me.md", "mine");
    place.write("home/.roo/rules-ask/me.md", "mine, for ask");
    place.write("work/.roo/rules-ask/b.md", "b");
    place.write("work/.roo/rules-ask/a/x.md", "x");
    place.write("work/.roo/rules-code/c.md", "other role");
    place.write("work/.roorules-ask", "old, for ask");
    place.write("work/.roorules", "old");
    let role = built_ins().remove(2);
    let own = Role {
        slug: "own".into(),
        name: "Own".into(),
        definition: "You help. A lot.".into(),
        ..Role::default()
    };
    let assignment = Assignment {
        role: Some(role.clone()),
        roles: vec![own],
        instructions: Some("Speak Latin.".into()),
        ..Assignment::default()
    };
    let told = place.told(&assignment);
    let want = [
        format!("You work in the role ❓ Ask (ask).\n{}", role.definition),
        role.instructions.unwrap(),
        "Speak Latin.".to_owned(),
        "Rules from ~/.roo/rules-ask/me.md:\nmine, for ask".to_owned(),
        "Rules from ~/.roo/rules/me.md:\nmine".to_owned(),
        "Rules from .roo/rules-ask/a/x.md:\nx".to_owned(),
        "Rules from .roo/rules-ask/b.md:\nb".to_owned(),
        "Rules from .roorules:\nold".to_owned(),
    ];
    assert_eq!(told[..want.len()], want);
    assert_eq!(told.len(), want.len() + 1);
    let roles = told.last().unwrap();
    assert!(roles.contains("\n- debug (🪲 Debug): When something fails"), "{roles}");
    assert!(roles.ends_with("\n- own (Own): You help"), "{roles}");
}
