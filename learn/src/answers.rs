//! The file `answers.md` of an exercise: its title, its hints, its solution, and wrong fillings of its hole.
//!
//! `AUTHORS.md` describes the format.

/// The line of a kernel file after which the hole begins.
pub const BEGIN: &str = "// Your code begins here.";
/// The line of a kernel file before which the hole ends.
pub const END: &str = "// Your code ends here.";

/// The parts of an `answers.md`.
#[derive(Debug)]
pub struct Answers<'a> {
    /// The chapter to which the exercise belongs.
    pub chapter: &'a str,
    /// The title of the exercise.
    pub title: &'a str,
    /// The hints, the gentlest first.
    pub hints: Vec<&'a str>,
    /// The solution.
    pub solution: Filling<'a>,
    /// Wrong fillings that learners may try.
    pub wrong: Vec<Filling<'a>>,
}

/// A filling of the hole.
#[derive(Debug, Default)]
pub struct Filling<'a> {
    /// The text after `Wrong: ` in the heading; empty for a solution.
    pub name: &'a str,
    /// The text before the code: the reason why a solution is right.
    pub text: &'a str,
    /// The texts that the failure of a wrong filling must show.
    pub shows: Vec<&'a str>,
    /// The reason why the failure of a wrong filling names no line of the hole, if it names none.
    pub no_line: Option<&'a str>,
    /// The lines of code that fill the hole.
    pub code: &'a str,
}

impl<'a> Answers<'a> {
    /// Parses the text of an `answers.md`.
    ///
    /// # Errors
    /// A text that says what is missing.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.strip_prefix("# ").ok_or("the first line must be `# Chapter: Title`")?;
        let mut sections = text.split("\n## ");
        let heading = sections.next().unwrap_or_default().trim();
        let (chapter, title) = heading.split_once(": ").ok_or("the first line must be `# Chapter: Title`")?;
        let mut answers = Self { chapter, title, hints: Vec::new(), solution: Filling::default(), wrong: Vec::new() };
        for section in sections {
            let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
            match heading.split_once(": ") {
                None if heading == "Hint" => answers.hints.push(body.trim()),
                None if heading == "Solution" => answers.solution = Filling::parse("", body)?,
                Some(("Wrong", name)) => answers.wrong.push(Filling::parse(name, body)?),
                _ => return Err(format!("`## {heading}`: use `## Hint`, `## Solution` or `## Wrong: …`")),
            }
        }
        match answers.solution.code {
            "" => Err("there is no section `## Solution`".to_owned()),
            _ => Ok(answers),
        }
    }
}

impl<'a> Filling<'a> {
    fn parse(name: &'a str, body: &'a str) -> Result<Self, String> {
        let code = body.split_once("```rust\n").and_then(|(before, rest)| Some((before, rest.split_once("```")?.0)));
        let (before, code) = code.ok_or_else(|| format!("the filling `{name}` has no code between ```rust and ```"))?;
        let shows = before.lines().filter_map(|line| line.strip_prefix("> ")).collect();
        let no_line = before.lines().find_map(|line| line.strip_prefix("No line: "));
        Ok(Self { name, text: before.trim(), shows, no_line, code })
    }
}

/// Returns the kernel file `kernel` with `filling` in its hole, or unchanged without a filling.
///
/// # Errors
/// A text that says which line of the hole is missing.
pub fn filled(kernel: &str, filling: Option<&str>) -> Result<String, String> {
    let missing = |line: &str| format!("the kernel file has no line `{line}`");
    let begin = kernel.find(BEGIN).ok_or_else(|| missing(BEGIN))? + BEGIN.len() + 1;
    let (before, hole) = kernel.split_at(begin.min(kernel.len()));
    let end = hole.find(END).ok_or_else(|| missing(END))?;
    let end = hole[..end].rfind('\n').map_or(0, |at| at + 1);
    Ok(filling.map_or_else(|| kernel.to_owned(), |filling| format!("{before}{filling}{}", &hole[end..])))
}

/// Returns the number of lines of `text` that have code: neither blank nor only a comment.
pub fn lines_of_code(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "fn f() {\n    // Your code begins here.\n    todo!();\n    // Your code ends here.\n}\n";

    #[test]
    fn a_filling_takes_the_place_of_the_hole() {
        assert_eq!(filled(KERNEL, None).unwrap(), KERNEL);
        let filled_in = filled(KERNEL, Some("    g();\n    h();\n")).unwrap();
        assert_eq!(filled_in, KERNEL.replace("    todo!();\n", "    g();\n    h();\n"));
        assert_eq!(lines_of_code(&filled_in), 4);
        assert!(filled("fn f() {}", None).unwrap_err().contains(BEGIN));
        assert!(filled(BEGIN, None).unwrap_err().contains(END));
    }

    #[test]
    fn the_parts_are_found() {
        let text = "# C: T\n\n## Hint\n\nh\n\n## Solution\n\nwhy\n\n```rust\nx\n```\n\n## Wrong: w\n\n> a\n\n> b\n\n\
                    No line: c\n\n```rust\ny\nz\n```\n";
        let answers = Answers::parse(text).unwrap();
        assert_eq!((answers.chapter, answers.title, &answers.hints[..]), ("C", "T", &["h"][..]));
        assert_eq!((answers.solution.text, answers.solution.code), ("why", "x\n"));
        let [wrong] = &answers.wrong[..] else { panic!() };
        assert_eq!((wrong.name, &wrong.shows[..], wrong.code), ("w", &["a", "b"][..], "y\nz\n"));
        assert_eq!((wrong.no_line, answers.solution.no_line), (Some("c"), None));
    }

    #[test]
    fn a_missing_part_is_named() {
        for (text, part) in [
            ("", "# Chapter: Title"),
            ("# T\n", "# Chapter: Title"),
            ("# C: T\n", "no section `## Solution`"),
            ("# C: T\n## Solutions\n", "`## Solutions`"),
            ("# C: T\n## Wrong: w\n", "`w` has no code"),
        ] {
            let error = Answers::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
