//! Keeps the one list of coding agents the only one: no other code of the product spells their names.

use serde::Deserialize;

use super::{Finding, rust};

/// Where the list is, and the files and folders that may name an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The list, relative to the repository.
    pub(super) list: String,
    except: Vec<String>,
}

/// What is read of the list.
#[derive(Deserialize)]
pub(super) struct List {
    agents: Vec<Agent>,
}

#[derive(Deserialize)]
struct Agent {
    id: String,
    #[serde(default)]
    programs: Vec<String>,
    adapter: Option<String>,
}

impl List {
    /// Every name as it would stand in code.
    pub(super) fn literals(&self) -> Vec<String> {
        let names = self.agents.iter().filter(|agent| !agent.programs.is_empty());
        let names = names.flat_map(|agent| {
            agent.programs.iter().chain([&agent.id]).chain(agent.adapter.as_ref())
        });
        let mut literals: Vec<String> = names.map(|name| format!("{name:?}")).collect();
        literals.sort_unstable();
        literals.dedup();
        literals
    }
}

/// Finds names of agents in the sources of the product, tests and comments excepted.
pub(super) fn check(rule: &Rule, literals: &[String], path: &str, text: &str) -> Vec<Finding> {
    let is_ours = path.starts_with("crates/") && !rust::is_test_file(path);
    if !is_ours || rule.except.iter().any(|except| path.starts_with(except.as_str())) {
        return Vec::new();
    }
    let lines = text.lines().take(rust::lines_before_tests(text)).enumerate();
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let named = code.filter_map(|(at, line)| {
        let name = literals.iter().find(|name| line.contains(name.as_str()))?;
        let message = format!("names the agent {name}: read it from {}", rule.list);
        Some(Finding::error(path, at + 1, message))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_in_one_place() {
        let list = "[[agents]]\nid = \"a1\"\nprograms = [\"one\", \"uno\"]\nadapter = \"a1-screen\"\n\
                    [[agents]]\nid = \"words-only\"\n";
        let literals = toml::from_str::<List>(list).unwrap().literals();
        assert_eq!(literals, ["\"a1\"", "\"a1-screen\"", "\"one\"", "\"uno\""]);
        let rule = Rule { list: "l.toml".into(), except: vec!["crates/x/".into()] };
        let lines = |path, text: &str| -> Vec<_> {
            check(&rule, &literals, path, text).into_iter().map(|found| found.line).collect()
        };
        let code = "//! \"one\"\nconst A: &str = \"uno\";\nlet one = \"ones\";\n";
        assert_eq!(lines("crates/a/src/a.rs", code), [Some(2)]);
        assert_eq!(lines("crates/x/src/a.rs", code), []);
        assert_eq!(lines("crates/a/tests/a.rs", code), []);
        assert_eq!(lines("xtask/src/a.rs", code), []);
        let tested = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert_eq!(lines("crates/a/src/a.rs", &tested), []);
    }
}
