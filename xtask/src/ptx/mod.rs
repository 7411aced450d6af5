//! Parses PTX: kernels, their directives and their instructions.

use std::collections::{BTreeMap, BTreeSet};

mod checks;
#[cfg(test)]
mod counts;

pub use checks::{access_bytes, generic_accesses, local_accesses};
#[cfg(test)]
pub(crate) use counts::{Barriers, barriers, calls, shared_arrays};

/// A PTX module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Module {
    /// The architecture of the module, such as `sm_70`.
    pub target: String,
    /// The kernels of the module.
    pub entries: Vec<Function>,
    /// The device functions of the module that have a body.
    pub functions: Vec<Function>,
    /// The arrays in shared memory, with their sizes in bytes.
    pub shared: BTreeMap<String, u64>,
}

/// A kernel or a device function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// The symbol of the function.
    pub name: String,
    /// The parameters, each in the form of its declaration, such as `.param .u64 scale_param_0`.
    pub params: Vec<String>,
    /// The directives between parameters and body, such as `.maxntid 256, 1, 1`.
    pub directives: Vec<String>,
    /// The instructions of the body, without labels and declarations.
    pub instructions: Vec<Instruction>,
}

/// A PTX instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The line of the instruction in the text, from 1.
    pub line: usize,
    /// The operation with its modifiers, such as `ld.global.b32`.
    pub opcode: String,
    /// The operands, as in the text.
    pub operands: String,
}

impl Module {
    /// Parses a module. Text outside functions is ignored, except the target and shared arrays.
    pub fn parse(text: &str) -> Module {
        let mut module = Module::default();
        for (start, statement, body) in top_level(text) {
            if let Some(target) = statement.strip_prefix(".target") {
                module.target = target.split(',').next().unwrap_or_default().trim().to_owned();
            }
            module.shared.extend(shared_array(&statement));
            let Some(body) = body else { continue };
            let entry = after_word(&statement, ".entry");
            if let Some(head) = entry.or_else(|| after_word(&statement, ".func")) {
                let mut function = function_head(head, entry.is_none());
                function.instructions = instructions(&body, start);
                if entry.is_some() { &mut module.entries } else { &mut module.functions }.push(function);
            }
        }
        module
    }

    /// Returns the kernel called `name`.
    pub fn entry(&self, name: &str) -> Option<&Function> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Returns the kernel and every device function that it can reach by direct calls.
    pub fn reachable<'m>(&'m self, entry: &'m Function) -> Vec<&'m Function> {
        let mut names = BTreeSet::new();
        let mut found = vec![entry];
        let mut next = 0;
        while let Some(function) = found.get(next) {
            for target in function.instructions.iter().filter_map(Instruction::call_target) {
                if names.insert(target.to_owned()) {
                    found.extend(self.functions.iter().filter(|function| function.name == target));
                }
            }
            next += 1;
        }
        found
    }

    /// Returns true if the kernel may call a function that ends it, because the architecture lacks its instructions.
    /// Its other code may then be removed, or never run.
    pub fn lacks_instructions(&self, entry: &Function) -> bool {
        self.reachable(entry).iter().any(|function| is_of_missing(&function.name))
    }
}

/// Returns true if `mangled` is the name of a function that ends a kernel because the architecture lacks its
/// instructions, or of one that this function calls. They are in modules `missing` of `cuda_std`.
pub fn is_of_missing(mangled: &str) -> bool {
    mangled.contains("7missing")
}

impl Function {
    /// Returns the operands of a directive, such as `256, 1, 1` for `.maxntid`.
    pub fn directive(&self, name: &str) -> Option<&str> {
        self.directives.iter().find_map(|directive| directive.strip_prefix(name)?.strip_prefix(' ')).map(str::trim)
    }
}

impl Instruction {
    /// Returns the target of a `call` instruction, which is a register for an indirect call. Returns `None` for other
    /// instructions.
    pub fn call_target(&self) -> Option<&str> {
        if self.opcode != "call" && !self.opcode.starts_with("call.") {
            return None;
        }
        let mut rest = self.operands.trim_start();
        if rest.starts_with('(') {
            rest = rest.split_once(')').map_or("", |(_, rest)| rest).trim_start_matches([',', ' ', '\t', '\n']);
        }
        Some(rest.split([',', '(']).next().unwrap_or_default().trim())
    }
}

/// Returns a module's lines for comparison with the module of another architecture. The function leaves out the lines
/// of the head, and writes the unused half of a register in the same form for all architectures.
pub fn instructions_of(text: &str) -> Vec<String> {
    let is_head = |line: &&str| ["//", ".version", ".target"].iter().any(|start| line.starts_with(start));
    let without_register = |line: &str| {
        let rest = line.trim().strip_prefix("{ .reg .b")?;
        let (_, moved) = rest.split_once(" tmp; ")?;
        Some(moved.strip_suffix(" }")?.replace("{tmp,", "{_,"))
    };
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = text.lines().filter(|line| !is_head(line));
    lines.map(|line| words(&without_register(line).unwrap_or_else(|| line.to_owned()))).collect()
}

/// Parses name and size from a declaration such as `.shared .align 16 .b8 name[64]`.
fn shared_array(statement: &str) -> Option<(String, u64)> {
    let declaration = statement.strip_prefix(".shared")?;
    let (head, size) = declaration.strip_suffix(']')?.split_once('[')?;
    let (kind, name) = head.trim_end().rsplit_once(char::is_whitespace)?;
    if kind.split_whitespace().next_back()? != ".b8" {
        return None;
    }
    Some((name.to_owned(), size.trim().parse().ok()?))
}

/// Returns the text after `word` if `statement` is a declaration with this word.
fn after_word<'a>(statement: &'a str, word: &str) -> Option<&'a str> {
    let (before, after) = statement.split_once(word)?;
    let is_declaration = before.split_whitespace().all(|part| part.starts_with('.'));
    (is_declaration && after.starts_with(|c: char| c.is_whitespace() || c == '(')).then(|| after.trim_start())
}

/// Parses name, parameters and directives from the text between `.entry` or `.func` and the body.
fn function_head(head: &str, may_return: bool) -> Function {
    let mut rest = head;
    if may_return && rest.starts_with('(') {
        rest = rest.split_once(')').map_or("", |(_, rest)| rest).trim_start();
    }
    let end = rest.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let (params, rest) = match rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((params, rest)) => (params, rest),
        None => ("", rest),
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Function {
        name: name.to_owned(),
        params: params.split(',').map(words).filter(|param| !param.is_empty()).collect(),
        directives: rest.lines().map(words).filter(|directive| directive.starts_with('.')).collect(),
        instructions: Vec::new(),
    }
}

/// Returns the text without comments, with the same number of lines.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        kept.push_str(line.split("//").next().unwrap_or_default());
        kept.push('\n');
    }
    kept
}

/// Returns the declarations of a module. Each has a line number, the text before the body, and the body if there is
/// one. The line number is where the body begins or, without a body, where the declaration ends.
///
/// In the compiler's output, a directive such as `.target` ends at the end of the line. A variable ends at a semicolon,
/// and a function at a brace.
fn top_level(text: &str) -> Vec<(usize, String, Option<String>)> {
    let mut found = Vec::new();
    let mut statement = String::new();
    let mut body = String::new();
    let (mut depth, mut start) = (0usize, 1);
    for (number, line) in without_comments(text).lines().enumerate() {
        let is_directive = [".version", ".target", ".address_size", ".file", ".section"];
        if depth == 0 && is_directive.iter().any(|directive| line.trim_start().starts_with(directive)) {
            found.push((number + 1, line.trim().to_owned(), None));
            continue;
        }
        for character in line.chars().chain(std::iter::once('\n')) {
            match character {
                '{' => {
                    depth += 1;
                    if depth == 1 {
                        (start, body) = (number + 1, String::new());
                        continue;
                    }
                }
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let is_function = !statement.contains('=');
                        if is_function {
                            let body = std::mem::take(&mut body);
                            found.push((start, std::mem::take(&mut statement).trim().to_owned(), Some(body)));
                        }
                        continue;
                    }
                }
                ';' if depth == 0 => {
                    found.push((number + 1, std::mem::take(&mut statement).trim().to_owned(), None));
                    continue;
                }
                _ => {}
            }
            if depth == 0 { &mut statement } else { &mut body }.push(character);
        }
    }
    found
}

/// Returns the instructions of a body whose opening brace is in line `start`.
fn instructions(body: &str, start: usize) -> Vec<Instruction> {
    let mut found = Vec::new();
    let mut statement = String::new();
    let mut first_line = start;
    for (line, text) in (start..).zip(body.lines()) {
        // Only these directives end with the line and not with a semicolon.
        if ![".loc", ".file"].iter().any(|directive| text.trim_start().starts_with(directive)) {
            for character in text.chars().chain(std::iter::once('\n')) {
                let is_first = statement.trim().is_empty();
                match character {
                    // A brace at the start of a statement opens or closes a scope. Other braces enclose vectors.
                    '{' | '}' if is_first => statement.clear(),
                    ';' => found.extend(instruction(&std::mem::take(&mut statement), first_line)),
                    // The colon ends a label. In an instruction, a colon is doubled (`.shared::cta`) or follows an
                    // operand.
                    ':' if is_label(&statement) => statement.clear(),
                    _ => {
                        if is_first {
                            first_line = line;
                        }
                        statement.push(character);
                    }
                }
            }
        }
    }
    found
}

fn is_label(statement: &str) -> bool {
    let name = statement.trim();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

fn instruction(statement: &str, line: usize) -> Option<Instruction> {
    let mut rest = statement.trim();
    if rest.starts_with('@') {
        rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
    }
    if rest.is_empty() || rest.starts_with('.') {
        return None;
    }
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let operands = operands.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Instruction { line, opcode: opcode.to_owned(), operands })
}

#[cfg(test)]
mod tests;
