//! Names in snake_case and in camelCase, from one to the other.

/// `thread_id` as `threadId`.
pub fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut spelled = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        spelled.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        spelled.push_str(letters.as_str());
    }
    spelled
}

/// `threadId` as `thread_id`.
pub fn snake(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            spelled.push('_');
        }
        spelled.push(letter.to_ascii_lowercase());
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_in_both_ways() {
        for (one, other) in [("thread_id", "threadId"), ("data_base64", "dataBase64"), ("id", "id")]
        {
            assert_eq!((camel(one).as_str(), snake(other).as_str()), (other, one));
        }
        assert_eq!(camel("_x"), "X");
        assert_eq!(camel("a__b"), "aB");
    }
}
