//! Layouts as the store keeps them: `r5000(3,b2500(4,5))` is terminal 3 beside 4 above 5.

use rookery_view::tile::{Direction, MOST_DEPTH, Split, Tree, WHOLE};

use super::layout::Layout;

/// A layout as text.
pub(super) fn write(layout: &Layout) -> String {
    let groups: Vec<String> = layout.groups.iter().map(write_tree).collect();
    groups.join(" ")
}

fn write_tree(tree: &Tree) -> String {
    match tree {
        Tree::Pane(terminal) => terminal.to_string(),
        Tree::Split(split) => {
            let direction = match split.direction {
                Direction::Right => 'r',
                Direction::Below => 'b',
            };
            let (first, second) = (write_tree(&split.first), write_tree(&split.second));
            format!("{direction}{}({first},{second})", split.share)
        }
    }
}

/// The layout that a text says; what is not one is left out.
pub(crate) fn read(text: &str) -> Layout {
    let groups = text.split_whitespace().filter_map(|text| {
        let (tree, rest) = read_tree(text, 0)?;
        (rest.is_empty() && tree.len() > 1 && tree.is_sound()).then_some(tree)
    });
    Layout { groups: groups.collect() }
}

fn read_tree(text: &str, depth: usize) -> Option<(Tree, &str)> {
    if depth > MOST_DEPTH {
        return None;
    }
    let direction = match text.as_bytes().first()? {
        b'r' => Direction::Right,
        b'b' => Direction::Below,
        _ => {
            let (terminal, rest) = read_number(text)?;
            return Some((Tree::Pane(terminal), rest));
        }
    };
    let (share, rest) = read_number(&text[1..])?;
    let share = u16::try_from(share).ok().filter(|share| *share <= WHOLE)?;
    let (first, rest) = read_tree(rest.strip_prefix('(')?, depth + 1)?;
    let (second, rest) = read_tree(rest.strip_prefix(',')?, depth + 1)?;
    let split = Split { direction, share, first, second };
    Some((Tree::Split(Box::new(split)), rest.strip_prefix(')')?))
}

fn read_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_comes_back_from_its_text() {
        for text in ["r5000(3,b2500(4,5))", "b1(1,2) r10000(3,4)", ""] {
            assert_eq!(write(&read(text)), text);
        }
    }

    #[test]
    fn what_is_no_layout_is_left_out() {
        for text in ["3", "r5000(3,3)", "r5000(3,4", "r5000(3,4)x", "r20000(1,2)", "r(1,2)", "🐦"]
        {
            assert_eq!(read(text), Layout::default(), "{text}");
        }
        assert_eq!(write(&read("x r5000(3,4) y")), "r5000(3,4)");
        let deep = format!("{}1{}", "r1(2,".repeat(100), ")".repeat(100));
        assert_eq!(read(&deep), Layout::default());
    }
}
