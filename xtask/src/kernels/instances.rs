//! The instances of a generic kernel, from the text of its attribute: as `#[kernel]` names them.

/// One choice of the generic arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Instance {
    pub name: String,
    /// Each generic parameter's name with its argument as it stands in the entry's name.
    pub arguments: Vec<(String, String)>,
}

/// The instances of the kernel `name`, whose generic parameters are `generics`: itself where it has none.
pub(super) fn instances(name: &str, generics: &str, attribute: &str) -> Vec<Instance> {
    let plain = Instance { name: name.to_owned(), arguments: Vec::new() };
    let parameters: Vec<&str> = split(generics).into_iter().map(parameter_name).collect();
    if parameters.is_empty() {
        return vec![plain];
    }
    let mut instances = Vec::new();
    for group in groups(attribute) {
        let mut longer = vec![plain.clone()];
        for parameter in &parameters {
            let choices = group.iter().find(|(name, _)| name == parameter).map_or(&[][..], |(_, choices)| choices);
            longer = longer
                .iter()
                .flat_map(|instance| choices.iter().map(|choice| instance.with(parameter, choice)))
                .collect();
        }
        instances.extend(longer);
    }
    instances
}

impl Instance {
    fn with(&self, parameter: &str, argument: &str) -> Instance {
        let mut arguments = self.arguments.clone();
        arguments.push((parameter.to_owned(), argument.to_owned()));
        Instance { name: format!("{}_{argument}", self.name), arguments }
    }
}

/// A group's parameters with their choices.
type Group<'a> = Vec<(&'a str, Vec<String>)>;

/// Each `instances(T = […], …)` of an attribute.
fn groups(attribute: &str) -> Vec<Group<'_>> {
    let options = attribute.strip_prefix("[kernel").and_then(inside).unwrap_or_default();
    split(options).into_iter().filter_map(group).collect()
}

fn group(option: &str) -> Option<Group<'_>> {
    let list = inside(option.strip_prefix("instances")?.trim_start())?;
    Some(split(list).into_iter().filter_map(choices).collect())
}

fn choices(text: &str) -> Option<(&str, Vec<String>)> {
    let (name, list) = text.split_once('=')?;
    Some((name.trim(), split(inside(list.trim_start())?).into_iter().map(suffix).collect()))
}

/// What stands in the parentheses or brackets that `text` starts with.
fn inside(text: &str) -> Option<&str> {
    let mut depth = 0u32;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return text.get(1..at);
        }
    }
    None
}

/// What an argument adds to the entry's name: the last part of a type's path in lower case, or a literal.
fn suffix(argument: &str) -> String {
    let path = argument.split('<').next().unwrap_or_default().trim();
    path.rsplit("::").next().unwrap_or_default().trim().to_lowercase()
}

fn parameter_name(parameter: &str) -> &str {
    let name = parameter.strip_prefix("const ").unwrap_or(parameter).trim_start();
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The parts between commas that stand in no brackets of their own, without what is blank.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut before) = (0i32, 0, ' ');
    for (at, character) in list.char_indices() {
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            // Not the arrow of a function's type.
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        before = character;
    }
    parts.push(&list[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// What stands in the angle brackets that `text` starts with.
pub(super) fn angle_brackets(text: &str) -> Option<&str> {
    let (mut depth, mut before) = (0u32, ' ');
    if !text.starts_with('<') {
        return None;
    }
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[1..at]);
        }
        before = character;
    }
    None
}
