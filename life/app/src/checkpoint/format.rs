//! The format of checkpoint files. A file consists of lines that describe the board, an empty line, and the board's
//! words.
//!
//! ```text
//! gridstride life checkpoint 1
//! rule B3/S23
//! topology T
//! width 300
//! height 200
//! left -150
//! top -100
//! first 0
//! generation 5000
//! until 100000
//! seed 7
//! check 0123456789abcdef
//!
//! ```
//!
//! `until` and `seed` are optional. The words are from [`Board::words`], stored as four bytes each, the lowest byte
//! first. If the rule has more than two states, each row's words are followed by the same row's words of
//! [`Board::ages`], the lowest bit first. `check` is a checksum of the preceding lines and of all cells.
//!
//! A checkpoint of the cores' engine for the unbounded plane has version 2. It has run-length encoded text (`.rle`)
//! instead of words, so that it is as large as its cells and not as their box. `check` includes all bytes of the text.

use std::io::{self, Read, Write};

use anyhow::{Context, anyhow, bail, ensure};
use life::board::{hash_of_planes, hash_of_words, hash_of_words_from};
use life::plane::{Bounds, Plane};
use life::{Board, Rule};
use life_formats::{Metadata, rle};

use super::RunFacts;
use crate::backend::memory;

/// The first bytes of a checkpoint, which precede the version of the format.
pub const NAME: &str = "gridstride life checkpoint ";

/// The version of a checkpoint with words, and that of a checkpoint with run-length encoded text.
const VERSIONS: [&str; 2] = ["1", "2"];

/// The maximum length of a header in bytes.
const MAX_HEADER_BYTES: usize = 4096;

/// The header of a checkpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The facts that are the same in all checkpoints of the run.
    pub facts: RunFacts,
    /// The size of the board as (columns, rows).
    pub size: (usize, usize),
    /// The generation of the board.
    pub generation: u64,
    /// True if the cells are run-length encoded text, and false if they are words.
    pub is_text: bool,
}

impl Header {
    /// Writes the header of a board whose [hash](Board::hash) is `hash`. The caller must then write the board's rows.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write(&self, hash: u64, out: &mut impl Write) -> io::Result<()> {
        let lines = self.lines();
        write!(out, "{lines}check {:016x}\n\n", check(&lines, hash))
    }

    /// Writes a checkpoint with the cells of a plane. `area` is a rectangle that contains all cells.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write_plane(&self, plane: &Plane, area: Bounds, out: &mut impl Write) -> io::Result<()> {
        let RunFacts { rule, origin: (left, top), .. } = &self.facts;
        let origin = (left.saturating_sub(area.x), top.saturating_sub(area.y));
        let metadata = Metadata { name: None, rule: rule.clone(), generation: self.generation, origin };
        let mut text = Vec::new();
        rle::write_plane(plane, area, &metadata, &mut text)?;
        self.write(hash_of_text(&text), out)?;
        out.write_all(&text)
    }

    /// Returns the lines of the header that precede the checksum.
    pub fn lines(&self) -> String {
        let Self { facts: RunFacts { rule, topology, until, seed, first, origin }, size, generation, is_text } = self;
        let version = VERSIONS[usize::from(*is_text)];
        let mut lines = format!("{NAME}{version}\nrule {rule}\ntopology {topology}\n");
        let mut add = |name: &str, number: i128| lines += &format!("{name} {number}\n");
        add("width", size.0 as i128);
        add("height", size.1 as i128);
        add("left", origin.0.into());
        add("top", origin.1.into());
        add("first", (*first).into());
        add("generation", (*generation).into());
        until.map(|until| add("until", until.into()));
        seed.map(|seed| add("seed", seed.into()));
        lines
    }

    /// Returns the number of bits per cell of the board.
    ///
    /// # Errors
    /// If the rule is invalid.
    pub fn planes(&self) -> anyhow::Result<usize> {
        let rule: Rule = self.facts.rule.parse().context("its rule is damaged")?;
        Ok(Board::planes(rule.states()))
    }

    /// Returns the number of bytes that the board occupies in the file.
    ///
    /// # Errors
    /// Fails in the same cases as [`planes`](Self::planes).
    pub fn bytes(&self) -> anyhow::Result<u64> {
        Ok(memory::board_bytes(self.size).saturating_mul(self.planes()? as u64))
    }

    /// Reads a header from its [`lines`](Self::lines).
    ///
    /// # Errors
    /// If the lines are not a header, or belong to another version of the format.
    pub fn parse(lines: &str) -> anyhow::Result<Self> {
        let version = lines.strip_prefix(NAME).and_then(|rest| rest.lines().next());
        let version = version.ok_or_else(|| anyhow!("it does not begin with `{}`", NAME.trim_end()))?;
        ensure!(
            VERSIONS.contains(&version),
            "it has version {version}, but this program reads versions {}: use the program that wrote it",
            VERSIONS.join(" and ")
        );
        let is_text = version == VERSIONS[1];
        let text =
            |name: &str| lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::to_owned);
        let number = |name: &str| match text(name) {
            Some(text) => {
                text.parse::<u64>().map(Some).with_context(|| format!("its {name} is `{text}`: it is damaged"))
            }
            None => Ok(None),
        };
        let place = |name: &str| text(name).and_then(|text| text.parse::<i64>().ok());
        let missing = |name: &str| anyhow!("its header has no {name}: it is damaged");
        let side = |name: &str| anyhow::Ok(usize::try_from(number(name)?.ok_or_else(|| missing(name))?)?);
        let facts = RunFacts {
            rule: text("rule").ok_or_else(|| missing("rule"))?,
            topology: text("topology").ok_or_else(|| missing("topology"))?,
            until: number("until")?,
            seed: number("seed")?,
            first: number("first")?.ok_or_else(|| missing("first"))?,
            origin: place("left").zip(place("top")).ok_or_else(|| missing("left and top"))?,
        };
        let generation = number("generation")?.ok_or_else(|| missing("generation"))?;
        Ok(Self { facts, size: (side("width")?, side("height")?), generation, is_text })
    }
}

/// Writes `rows` to `out`. These rows must be the next rows of the board.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_rows(rows: &Board, out: &mut impl Write) -> io::Result<()> {
    let mut write = |words: &[u32]| {
        if cfg!(target_endian = "little") {
            return out.write_all(bytemuck::cast_slice(words));
        }
        words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
    };
    if rows.ages().is_empty() {
        return write(rows.words());
    }
    let mut words = (0..rows.height()).map(|y| y * rows.words_per_row()..(y + 1) * rows.words_per_row());
    words.try_for_each(|row| {
        write(&rows.words()[row.clone()])?;
        rows.ages().iter().try_for_each(|age| write(&age[row.clone()]))
    })
}

/// Reads the header of a checkpoint file of `length` bytes. Returns the header, its length in bytes, and the expected
/// hash of the board.
///
/// # Errors
/// If the file is not a checkpoint, has another version, is truncated, or was changed.
pub fn read_header(input: &mut impl Read, length: u64) -> anyhow::Result<(Header, u64, u64)> {
    let mut header = Vec::new();
    let mut byte = [0];
    while !header.ends_with(b"\n\n") {
        ensure!(header.len() < MAX_HEADER_BYTES, "its header has no end: it is damaged");
        ensure!(input.read(&mut byte)? == 1, "it ends within its header: it is truncated");
        header.push(byte[0]);
    }
    let bytes = header.len() as u64;
    let text = String::from_utf8(header).map_err(|_| anyhow!("its header is not text: it is damaged"))?;
    let at = text.find("\ncheck ").ok_or_else(|| match text.starts_with(NAME) {
        true => anyhow!("it has no checksum: it is damaged"),
        false => anyhow!("it does not begin with `{}`", NAME.trim_end()),
    })?;
    let (lines, check_line) = text.split_at(at + 1);
    let header = Header::parse(lines)?;
    let expected = u64::from_str_radix(check_line.trim_end().trim_start_matches("check "), 16);
    let expected = expected.context("its checksum is not a number: it is damaged")?;
    ensure!(header.lines() == lines, "its header was changed: it is damaged");
    let (needed, body) = (header.bytes()?, length.saturating_sub(bytes));
    if !header.is_text && needed != body {
        let (width, height) = header.size;
        bail!("a board of {width}x{height} has {needed} bytes, but the file has {body}: it is damaged");
    }
    Ok((header, bytes, expected.wrapping_sub(check(lines, 0))))
}

/// A reader for the rows of a checkpoint.
pub struct Body<R> {
    input: R,
    width: usize,
    /// The number of words per bit plane that have been read so far.
    words: usize,
    hashes: Vec<u64>,
    expected: u64,
}

impl<R: Read> Body<R> {
    /// Returns a reader for the rows in `input`. The board has `width` columns, `planes` bits per cell and the hash
    /// `expected`.
    pub fn new(input: R, width: usize, planes: usize, expected: u64) -> Self {
        Self { input, width, words: 0, hashes: vec![0; planes], expected }
    }

    /// Reads the next `rows` rows.
    ///
    /// # Errors
    /// If `input` has fewer rows, or memory is too small.
    pub fn rows(&mut self, rows: usize) -> anyhow::Result<Board> {
        let (words_per_row, planes) = (self.width.div_ceil(32), self.hashes.len());
        let words = read_words(&mut self.input, words_per_row.saturating_mul(rows).saturating_mul(planes))?;
        let mut planes: Vec<Vec<u32>> = match planes {
            1 => vec![words],
            _ => {
                let plane = |i| words.chunks_exact(words_per_row).skip(i).step_by(planes).flatten().copied().collect();
                (0..planes).map(plane).collect()
            }
        };
        for (hash, words) in self.hashes.iter_mut().zip(&planes) {
            *hash = hash.wrapping_add(hash_of_words_from(self.words, words));
        }
        let ages = planes.split_off(1);
        let words = planes.pop().unwrap_or_default();
        self.words += words.len();
        Board::from_words_and_ages(self.width, rows, words, ages).context("it is damaged")
    }

    /// Checks the hash of the board. The caller must have read all rows before.
    ///
    /// # Errors
    /// If the rows do not have the expected hash.
    pub fn finish(self) -> anyhow::Result<()> {
        ensure!(hash_of_planes(&self.hashes) == self.expected, "its checksum is wrong: it is damaged");
        Ok(())
    }
}

fn read_words(input: &mut impl Read, len: usize) -> anyhow::Result<Vec<u32>> {
    let mut words: Vec<u32> = Vec::new();
    words.try_reserve_exact(len).context("too little memory for its board: free some memory")?;
    // The words are read in parts, so that no memory for the whole board is allocated if the file is truncated.
    while words.len() < len {
        let done = words.len();
        words.resize(len.min(done + (1 << 20)), 0);
        let part = &mut words[done..];
        input.read_exact(bytemuck::cast_slice_mut(part)).context("it is truncated")?;
        if cfg!(target_endian = "big") {
            part.iter_mut().for_each(|word| *word = word.swap_bytes());
        }
    }
    Ok(words)
}

/// Returns the hash of the text of a checkpoint.
pub fn hash_of_text(text: &[u8]) -> u64 {
    const PART: usize = 1 << 12;
    let part = |(i, bytes): (usize, &[u8])| {
        let words: Vec<u32> = bytes.iter().map(|&byte| byte.into()).collect();
        hash_of_words_from(i * PART, &words)
    };
    text.chunks(PART).enumerate().map(part).fold(0, u64::wrapping_add)
}

/// Returns the checksum of the header's lines and the hash of the board.
fn check(lines: &str, hash: u64) -> u64 {
    let lines: Vec<u32> = lines.bytes().map(u32::from).collect();
    gpu::life::mix(hash_of_words(&lines)).wrapping_add(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::universe::Universe;

    fn checkpoint() -> (Header, Board) {
        let board = Board::random(70, 9, 0.4, 3).unwrap();
        let facts = RunFacts { until: Some(50), first: 3, ..RunFacts::of(&Universe::default(), (-35, 4)) };
        (Header { facts, size: (70, 9), generation: 12, is_text: false }, board)
    }

    fn bytes((header, board): &(Header, Board)) -> Vec<u8> {
        let mut bytes = Vec::new();
        header.write(board.hash(), &mut bytes).unwrap();
        // The rows are written in two parts, as for a board in bands.
        write_rows(&board.part(0..4).unwrap(), &mut bytes).unwrap();
        write_rows(&board.part(4..9).unwrap(), &mut bytes).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> anyhow::Result<(Header, Board)> {
        let input = &mut &*bytes;
        let (header, _, hash) = read_header(input, bytes.len() as u64)?;
        let mut body = Body::new(input, header.size.0, header.planes()?, hash);
        let (first, second) = (body.rows(7)?, body.rows(header.size.1 - 7)?);
        body.finish()?;
        let words = [first.words(), second.words()].concat();
        let ages =
            first.ages().iter().zip(second.ages()).map(|(first, second)| [&first[..], second].concat()).collect();
        Ok((header.clone(), Board::from_words_and_ages(header.size.0, header.size.1, words, ages)?))
    }

    #[test]
    fn states_are_written_and_read() {
        for states in [3, 4, 5, 256] {
            let (header, _) = checkpoint();
            let mut board = Board::with_states(70, 9, states).unwrap();
            (0..630).for_each(|i| board.set_state(i % 70, i / 70, (i * i % usize::from(states)) as u8));
            let facts = RunFacts { rule: format!("345/2/{states}"), ..header.facts.clone() };
            let checkpoint = (Header { facts, ..header }, board);
            let whole = bytes(&checkpoint);
            assert_eq!(read(&whole).unwrap(), checkpoint, "{states} states");
            for at in whole.len() - 90..whole.len() {
                let mut damaged = whole.clone();
                damaged[at] ^= 1;
                assert!(read(&damaged).is_err(), "{states} states, byte {at}");
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (until, seed) in [(Some(50), None), (None, Some(u64::MAX)), (None, None)] {
            let (header, board) = checkpoint();
            let facts = RunFacts { until, seed, ..header.facts.clone() };
            let checkpoint = (Header { facts, ..header }, board);
            assert_eq!(read(&bytes(&checkpoint)).unwrap(), checkpoint);
        }
    }

    #[test]
    fn any_change_is_found() {
        let whole = bytes(&checkpoint());
        for at in 0..whole.len() {
            for bit in [0, 3, 7] {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                let error = read(&damaged).err();
                // The checksum's digits may be upper or lower case.
                assert!(error.is_some() || damaged[at].eq_ignore_ascii_case(&whole[at]), "byte {at}, bit {bit}");
            }
            assert!(read(&whole[..at]).is_err(), "cut at {at}");
        }
        assert!(read(&[&whole[..], b"\0"].concat()).is_err());
    }

    #[test]
    fn refusals_say_why() {
        let text = |text: &str| format!("{:#}", read(text.as_bytes()).unwrap_err());
        assert!(text("x = 3\n\n").contains("does not begin with"));
        assert!(text("gridstride life checkpoint 3\ncheck 0\n\n").contains("version 3"));
        assert!(text("gridstride life checkpoint 1\n").contains("truncated"));
        let huge = "gridstride life checkpoint 1\nrule B3/S23\ntopology T\nwidth 99999999999\nheight 99999999\nleft 0\ntop 0\nfirst 0\ngeneration 0\ncheck 0\n\n";
        assert!(text(huge).contains("the file has 0"), "{}", text(huge));
    }
}
