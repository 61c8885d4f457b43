//! `*` and `?` in policies.

/// Whether `text` matches `pattern`: `*` is any run of characters, `?` is any one. Nothing else is special, so that
/// the `\052` of a normalized record name stands for itself.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(&character) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == character => {
                p += 1;
                t += 1;
            }
            Some(_) | None => match &mut retry {
                Some((after_star, taken)) => {
                    *taken += 1;
                    (p, t) = (*after_star, *taken);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|&c| c == '*')
}

/// The same without regard to case, as actions are compared.
#[must_use]
pub fn matches_any_case(pattern: &str, text: &str) -> bool {
    matches(&pattern.to_ascii_lowercase(), &text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abcd", false),
            ("a?c", "ac", false),
            ("*.apps.example.com", "x.y.apps.example.com", true),
            ("*.apps.example.com", "apps.example.com", false),
            (r"\052.example.com", r"\052.example.com", true),
            ("*a*b", "aab", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
