//! Command files that strangers may have written: understood or refused with a reason. What is understood
//! has a usable name, and a template without tags is its own message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_agent::commands::{Command, Source, Template};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let parsed = Command::parse(&text, "stem", Source::Workspace);
    match &parsed {
        Ok(command) => check(command),
        Err(reason) => assert!(!reason.is_empty()),
    }
    // Line ends of another system change nothing, unless some were there that stood alone.
    if !text.contains('\r') {
        let elsewhere = Command::parse(&text.replace('\n', "\r\n"), "stem", Source::Workspace);
        assert_eq!(elsewhere, parsed);
    }
    match &Command::parse_plain(&text, "stem", Source::Workspace) {
        Ok(command) => check(command),
        Err(reason) => assert!(!reason.is_empty()),
    }
    check_template(&text);
});

fn check(command: &Command) {
    let name = &command.info.name;
    assert!(!name.is_empty() && !name.contains(['/', '\0']) && !name.contains(char::is_whitespace));
    assert!(command.allowed_tools.iter().all(|tool| !tool.trim().is_empty()));
    for text in [&command.info.description, &command.info.model, &command.info.agent] {
        assert!(text.as_ref().is_none_or(|text| !text.trim().is_empty()));
    }
}

fn check_template(text: &str) {
    let (arguments, body) = text.split_once('\n').unwrap_or(("", text));
    let Ok(template) = Template::parse(body) else {
        assert!(body.contains("{{"), "text alone is always understood");
        return;
    };
    let message = template.render("name", arguments);
    if !body.contains("{{") {
        assert_eq!(message, body);
    }
    // What the user writes is put in as it stands: it is never read as a template.
    let marked = template.render("name", "{{no.such}}");
    assert_eq!(template.render("name", "\u{1}"), marked.replace("{{no.such}}", "\u{1}"));
}
