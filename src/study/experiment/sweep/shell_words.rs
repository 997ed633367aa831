//! Shell words of the command lines that parsim writes or suggests.

use crate::experiment::ScenarioFile;
use crate::scenario::source::is_standard_input;
use std::path::Path;

/// Quotes `text` as one shell word.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=,:+@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a path as a shell word. A path that begins with `-` is prefixed so that it is not taken for an option.
#[must_use]
pub fn path_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_option = text.starts_with('-') && !is_standard_input(path);
    shell_word(&if is_option { format!("./{text}") } else { text })
}

impl ScenarioFile {
    /// Returns the shell words that select its cases and a store; `calibration` are those that request a calibration.
    #[must_use]
    pub fn shell_words(&self, calibration: Option<String>, store: &Path) -> String {
        let Self { path, set, seed, over, .. } = self;
        let mut words = vec![path_word(path)];
        words.extend(set.iter().map(|(path, value)| format!("--set {}", shell_word(&format!("{path}={value}")))));
        words.extend(seed.map(|seed| format!("--seed {seed}")));
        let over = over.iter().map(|over| shell_word(&format!("{}={}", over.name, over.values.join(","))));
        words.extend(over.map(|over| format!("--over {over}")));
        words.extend(calibration);
        words.push(format!("--store {}", path_word(store)));
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Override;

    #[test]
    fn a_command_line_can_be_typed_into_a_shell() {
        for (text, word) in [("a.ron", "a.ron"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("$x", "'$x'")] {
            assert_eq!(shell_word(text), word);
        }
        let file = ScenarioFile {
            path: "-my runs/s.ron".into(),
            set: vec![("program.operation".to_owned(), "Barrier(algorithm: Ideal)".to_owned())],
            seed: Some(7),
            over: vec![Override::new("bytes", &["1 B", "2 B"])],
            ..ScenarioFile::default()
        };
        let words = file.shell_words(Some("--calibration fit.ron".to_owned()), Path::new("-"));
        assert_eq!(
            words,
            "'./-my runs/s.ron' --set 'program.operation=Barrier(algorithm: Ideal)' --seed 7 --over 'bytes=1 B,2 B' \
             --calibration fit.ron --store -"
        );
    }
}
