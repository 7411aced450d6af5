//! The prompt in which the user types a rule.

use crossterm::event::KeyCode;
use life::Rule;

/// The maximum number of characters that the user can type. The longest rules are MAP strings, which have 86 digits.
const MAX_CHARACTERS: usize = 120;

/// The prompt for a rule that the user is typing.
#[derive(Default)]
pub struct RulePrompt {
    text: String,
    /// The reason why the typed text is not a rule. It is set when the user presses Enter.
    refused: Option<String>,
}

/// The state of the prompt after a key.
#[derive(Debug, PartialEq, Eq)]
pub enum PromptState {
    /// The prompt stays open.
    Open,
    /// The prompt is closed. The rule is `None` if the user cancelled the prompt.
    Closed(Option<Rule>),
}

impl RulePrompt {
    /// Processes a key that the user has typed into the prompt.
    pub fn type_in(&mut self, key: KeyCode) -> PromptState {
        self.refused = None;
        match key {
            KeyCode::Char(character) if self.text.len() < MAX_CHARACTERS => self.text.push(character),
            KeyCode::Backspace => {
                self.text.pop();
            }
            KeyCode::Esc => return PromptState::Closed(None),
            KeyCode::Enter => match self.text.parse() {
                Ok(rule) => return PromptState::Closed(Some(rule)),
                Err(error) => self.refused = Some(error.to_string()),
            },
            _ => {}
        }
        PromptState::Open
    }

    /// Returns the line to show on the screen. It contains the typed text, followed by either an error or the keys that
    /// close the prompt.
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
        let mut prompt = RulePrompt::default();
        for character in "B36/S2x".chars() {
            assert_eq!(prompt.type_in(KeyCode::Char(character)), PromptState::Open);
        }
        assert_eq!(prompt.type_in(KeyCode::Enter), PromptState::Open);
        assert!(prompt.line().contains("B36/S2x") && !prompt.line().contains("Enter"), "{}", prompt.line());
        prompt.type_in(KeyCode::Backspace);
        prompt.type_in(KeyCode::Char('3'));
        assert!(prompt.line().contains("Enter"));
        assert_eq!(prompt.type_in(KeyCode::Enter), PromptState::Closed("HighLife".parse().ok()));
        assert_eq!(prompt.type_in(KeyCode::Esc), PromptState::Closed(None));
    }

    #[test]
    fn a_topology_is_no_part_of_a_rule() {
        let mut prompt = RulePrompt::default();
        for character in "B3/S23:K40*,30".chars() {
            assert_eq!(prompt.type_in(KeyCode::Char(character)), PromptState::Open);
        }
        assert_eq!(prompt.type_in(KeyCode::Enter), PromptState::Open);
        assert!(prompt.line().contains(":K40*,30 is a topology"), "{}", prompt.line());
    }
}
