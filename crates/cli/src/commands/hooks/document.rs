//! A JSON text and where its parts are, so that one part can change and the rest stays as it was
//! written.

use std::ops::Range;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

/// A value and where it is written.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Text(String),
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    start: usize,
    pub(super) value: Node,
}

impl Node {
    /// The members, if this is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let Kind::Object(members) = &self.kind { Some(members) } else { None }
    }

    /// The items, if this is a list.
    pub(super) fn items(&self) -> Option<&[Node]> {
        if let Kind::Array(items) = &self.kind { Some(items) } else { None }
    }

    /// The text, if this is one.
    pub(super) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// A member by name; the last one counts, as it does for Claude Code.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        let member = self.members()?.iter().rev().find(|member| member.key == key)?;
        Some(&member.value)
    }

    /// Where the parts are written, in order.
    fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| member.start..member.value.span.end).collect()
            }
            Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Kind::Text(_) | Kind::Other => Vec::new(),
        }
    }
}

/// Reads a text.
///
/// # Errors
/// What is wrong with it, and where.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    // This also bounds the depth; what follows only finds places.
    let checked: Result<serde::de::IgnoredAny, _> = serde_json::from_str(text);
    checked.map_err(|error| error.to_string())?;
    let mut scanner = Scanner { text, at: 0 };
    scanner.node().ok_or_else(|| "it is not valid JSON".to_owned())
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn node(&mut self) -> Option<Node> {
        let first = self.peek()?;
        let start = self.at;
        let kind = match first {
            b'{' => Kind::Object(self.list(b'}', Self::member)?),
            b'[' => Kind::Array(self.list(b']', Self::node)?),
            b'"' => Kind::Text(self.string()?),
            _ => {
                let rest = &self.text[self.at..];
                let ends = |c: char| ",]}".contains(c) || c.is_ascii_whitespace();
                self.at += rest.find(ends).unwrap_or(rest.len());
                Kind::Other
            }
        };
        Some(Node { span: start..self.at, kind })
    }

    fn list<T>(&mut self, end: u8, part: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut parts = Vec::new();
        self.at += 1;
        loop {
            match self.peek()? {
                byte if byte == end => {
                    self.at += 1;
                    return Some(parts);
                }
                b',' => self.at += 1,
                _ => parts.push(part(self)?),
            }
        }
    }

    fn member(&mut self) -> Option<Member> {
        let start = self.at;
        let key = self.string()?;
        self.peek().filter(|byte| *byte == b':')?;
        self.at += 1;
        Some(Member { key, start, value: self.node()? })
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while *bytes.get(self.at)? != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }
}

/// How a text is laid out.
#[derive(Debug)]
enum Layout {
    /// All on one line.
    Line,
    /// A part per line, each level this much further in.
    Lines(String),
}

impl Layout {
    /// As the outermost value is laid out.
    fn of(text: &str, root: &Node) -> Self {
        let Some(first) = root.parts().into_iter().next() else {
            return Self::Lines("  ".to_owned());
        };
        match indent_at(text, first.start) {
            Some(unit) => Self::Lines(unit.to_owned()),
            None => Self::Line,
        }
    }
}

/// The blanks before a place, if there is nothing else on its line before it.
fn indent_at(text: &str, at: usize) -> Option<&str> {
    let line = &text[..at];
    let start = line.rfind('\n')? + 1;
    let indent = &line[start..];
    indent.chars().all(|c| c == ' ' || c == '\t').then_some(indent)
}

/// The blanks at the beginning of the line of a place.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..];
    let blanks = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    &line[..blanks]
}

fn rendered(value: &impl Serialize, layout: &Layout, indent: &str) -> String {
    let mut bytes = Vec::new();
    let written = match layout {
        Layout::Line => value.serialize(&mut Serializer::new(&mut bytes)),
        Layout::Lines(unit) => {
            let formatter = PrettyFormatter::with_indent(unit.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        }
    };
    // Values of ours, which always can be written, and only as UTF-8.
    debug_assert!(written.is_ok());
    String::from_utf8_lossy(&bytes).replace('\n', &format!("\n{indent}"))
}

/// The text with one more part at the end of an object or a list.
pub(super) fn appended(
    text: &str,
    root: &Node,
    container: &Node,
    key: Option<&str>,
    value: &impl Serialize,
) -> String {
    let whole = Layout::of(text, root);
    let parts = container.parts();
    let (layout, indent) = match (parts.last(), &whole) {
        (Some(last), Layout::Lines(_)) => match indent_at(text, last.start) {
            Some(indent) => (&whole, indent.to_owned()),
            None => (&Layout::Line, String::new()),
        },
        (None, Layout::Lines(unit)) => {
            (&whole, format!("{}{unit}", line_indent(text, container.span.start)))
        }
        (_, Layout::Line) => (&Layout::Line, String::new()),
    };
    let colon = if matches!(layout, Layout::Lines(_)) { ": " } else { ":" };
    let key = key.map(|key| format!("{}{colon}", serde_json::Value::from(key)));
    let part = format!("{}{}", key.unwrap_or_default(), rendered(value, layout, &indent));
    let newline = |indent: &str| match layout {
        Layout::Lines(_) => format!("\n{indent}"),
        Layout::Line => String::new(),
    };
    if let Some(last) = parts.last() {
        return replaced(text, last.end..last.end, &format!(",{}{part}", newline(&indent)));
    }
    let outer = line_indent(text, container.span.start);
    let (open, close) = brackets(container);
    let filled = format!("{open}{}{part}{}{close}", newline(&indent), newline(outer));
    replaced(text, container.span.clone(), &filled)
}

/// The text without one part of an object or a list.
pub(super) fn without(text: &str, container: &Node, index: usize) -> String {
    let parts = container.parts();
    let Some(part) = parts.get(index) else { return text.to_owned() };
    if parts.len() == 1 {
        let (open, close) = brackets(container);
        return replaced(text, container.span.clone(), &format!("{open}{close}"));
    }
    match index.checked_sub(1) {
        Some(before) => replaced(text, parts[before].end..part.end, ""),
        None => replaced(text, part.start..parts[1].start, ""),
    }
}

fn brackets(container: &Node) -> (char, char) {
    if container.items().is_some() { ('[', ']') } else { ('{', '}') }
}

/// The text with something else in a place.
pub(super) fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(&text[..place.start]);
    out.push_str(new);
    out.push_str(&text[place.end..]);
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn append(text: &str, path: &[&str], key: Option<&str>, value: Value) -> String {
        let root = parse(text).unwrap();
        let container = path.iter().fold(&root, |node, key| node.get(key).unwrap());
        appended(text, &root, container, key, &value)
    }

    #[test]
    fn new_parts_are_laid_out_as_their_neighbors() {
        let text = "{\n\t\"a\": [\n\t\t1\n\t],\n\t\"b\": {}\n}\n";
        let text = append(text, &["a"], None, json!({"x": 2}));
        let text = append(&text, &["b"], Some("c\""), json!([]));
        expect![[r#"
            {
            	"a": [
            		1,
            		{
            			"x": 2
            		}
            	],
            	"b": {
            		"c\"": []
            	}
            }
        "#]]
        .assert_eq(&text);
        assert_eq!(append(r#"{"a":1}"#, &[], Some("b"), json!({"c": 2})), r#"{"a":1,"b":{"c":2}}"#);
        assert_eq!(append("{}", &[], Some("b"), json!(1)), "{\n  \"b\": 1\n}");
        let mixed = "{\n  \"a\": [1]\n}";
        assert_eq!(append(mixed, &["a"], None, json!(2)), "{\n  \"a\": [1,2]\n}");
    }

    #[test]
    fn parts_go_with_their_commas() {
        let text = r#"[ 1 , {"a":"x,]\"y"} ,3 ]"#;
        let root = parse(text).unwrap();
        assert_eq!(without(text, &root, 0), r#"[ {"a":"x,]\"y"} ,3 ]"#);
        assert_eq!(without(text, &root, 1), "[ 1 ,3 ]");
        assert_eq!(without(text, &root, 2), r#"[ 1 , {"a":"x,]\"y"} ]"#);
        assert_eq!(without("[ 1 ]", &parse("[ 1 ]").unwrap(), 0), "[]");
        assert_eq!(without(text, &root, 9), text);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "{a:1}", "{}x", "// c\n{}", "\u{feff}{}", &"[".repeat(10_000)] {
            assert!(parse(text).is_err(), "{text:.20}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d\"\\\\]{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_part_that_comes_and_goes_leaves_no_trace(
            value in any_json(), part in any_json(), pretty: bool,
        ) {
            let document = json!({"first": value, "list": [1], "object": {"k": 1}});
            let text = if pretty { format!("{document:#}") } else { document.to_string() };
            for (path, key) in [(None, Some("new")), (Some("list"), None), (Some("object"), Some("new"))] {
                let path: Vec<&str> = path.into_iter().collect();
                let longer = append(&text, &path, key, part.clone());
                let root = parse(&longer).unwrap();
                let container = path.iter().fold(&root, |node, key| node.get(key).unwrap());
                let last = container.parts().len() - 1;
                prop_assert_eq!(without(&longer, container, last), text.as_str());
                let reread: Value = serde_json::from_str(&longer).unwrap();
                let holder = path.iter().fold(&reread, |value, key| &value[key]);
                let added = if key.is_some() { &holder["new"] } else { &holder[1] };
                prop_assert_eq!(added, &part);
            }
        }
    }
}
