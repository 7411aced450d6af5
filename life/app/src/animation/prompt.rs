//! The prompt for a rule.

use life::Rule;

use super::keys::Typed;

/// The maximal length of the text. The longest rules, MAP strings, have 86 digits.
const MAX_CHARACTERS: usize = 120;

/// A rule that is being typed.
#[derive(Default)]
pub struct Prompt {
    text: String,
    /// The reason why the text is not a rule.
    refused: Option<String>,
}

/// The result of a typed key.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked {
    /// The prompt stays open.
    Still,
    /// The prompt is closed, with the new rule if there is one.
    Answered(Option<Rule>),
}

impl Prompt {
    /// Processes a key.
    pub fn type_in(&mut self, typed: Typed) -> Asked {
        self.refused = None;
        match typed {
            Typed::Character(character) if self.text.len() < MAX_CHARACTERS => self.text.push(character),
            Typed::Character(_) => {}
            Typed::Erase => {
                self.text.pop();
            }
            Typed::Never => return Asked::Answered(None),
            Typed::Done => match self.text.parse() {
                Ok(rule) => return Asked::Answered(Some(rule)),
                Err(error) => self.refused = Some(error.to_string()),
            },
        }
        Asked::Still
    }

    /// Returns the line: the text, then an error or the keys that close the prompt.
    pub fn line(&self) -> String {
        let end = self.refused.as_deref().unwrap_or("Enter accepts · Esc cancels");
        format!(" rule: {}▏ {end}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_typed_and_what_is_none_is_said() {
        let mut prompt = Prompt::default();
        for character in "B36/S2x".chars() {
            assert_eq!(prompt.type_in(Typed::Character(character)), Asked::Still);
        }
        assert_eq!(prompt.type_in(Typed::Done), Asked::Still);
        assert!(prompt.line().contains("B36/S2x") && !prompt.line().contains("Enter"), "{}", prompt.line());
        prompt.type_in(Typed::Erase);
        prompt.type_in(Typed::Character('3'));
        assert!(prompt.line().contains("Enter"));
        assert_eq!(prompt.type_in(Typed::Done), Asked::Answered("HighLife".parse().ok()));
        assert_eq!(prompt.type_in(Typed::Never), Asked::Answered(None));
    }

    #[test]
    fn a_topology_is_no_part_of_a_rule() {
        let mut prompt = Prompt::default();
        for character in "B3/S23:K40*,30".chars() {
            assert_eq!(prompt.type_in(Typed::Character(character)), Asked::Still);
        }
        assert_eq!(prompt.type_in(Typed::Done), Asked::Still);
        assert!(prompt.line().contains(":K40*,30 is a topology"), "{}", prompt.line());
    }
}
