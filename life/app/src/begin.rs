//! What a run begins with, on each rank: the first one reads.

use std::path::Path;

use anyhow::Context;
use gridstride::Size;

use super::agree;
use super::checkpoint::{Facts, Header, saved};
use super::setting::Setting;
use super::start::{self, Source, Start};
use program::error::UsageError;
use program::report;

/// What a run begins with.
pub struct Begin {
    /// The first board.
    pub source: Source,
    /// What advances it.
    pub setting: Setting,
    /// What its checkpoints say.
    pub facts: Facts,
    /// The generation that it begins with.
    pub generation: u64,
}

impl Begin {
    /// A soup of this density, under the rule `rule`, of `size` or what that names or fills the `screen`.
    ///
    /// # Errors
    /// [`UsageError`] for a rule or a size that is none.
    pub fn soup(
        rule: Option<&str>,
        size: Option<Size>,
        screen: Option<Size>,
        density: f64,
        seed: Option<u64>,
    ) -> anyhow::Result<Self> {
        let (setting, named) = start::of_soup(rule)?;
        let setting = if size.is_some() { setting.bounded() } else { setting };
        let (Size { width, height }, seed) = start::soup(size.or(named), screen, seed);
        setting.check_size((width, height))?;
        let seed = agree::first(seed)?;
        let origin = (-(width as i64 / 2), -(height as i64 / 2));
        let facts = Facts { seed: Some(seed), ..Facts::of(&setting, origin) };
        Ok(Self { source: Source::Soup { size: (width, height), density, seed }, setting, facts, generation: 0 })
    }

    /// What `file` has, a pattern or a checkpoint, which the first rank reads.
    ///
    /// # Errors
    /// [`UsageError`] for what was typed; when the file cannot be read.
    pub fn file(file: &Path, rule: Option<&str>, size: Option<Size>, screen: Option<Size>) -> anyhow::Result<Self> {
        let mut own = None;
        let lines = agree::text(|| {
            let begin = own.insert(Self::read(file, rule, size, screen)?);
            Ok(begin.facts.clone().header(begin.source.size(), begin.generation).lines())
        })?;
        match own {
            Some(begin) => Ok(begin),
            None => Self::told(Header::parse(&lines)?),
        }
    }

    /// On a rank that has been told what the first one has read.
    fn told(header: Header) -> anyhow::Result<Self> {
        let (size, generation) = (header.size, header.generation);
        let facts = Facts::from(header);
        let setting = Setting { generation: facts.first.wrapping_add(generation), ..facts.setting()? };
        Ok(Self { source: Source::OfFirstRank { size }, setting, facts, generation })
    }

    fn read(file: &Path, rule: Option<&str>, size: Option<Size>, screen: Option<Size>) -> anyhow::Result<Self> {
        if !saved::is_checkpoint(file) {
            let Start { placed, setting, origin } = start::pattern(file, rule, size, screen)?;
            let facts = Facts::of(&setting, origin);
            return Ok(Self { source: Source::Pattern(placed), setting, facts, generation: 0 });
        }
        if rule.is_some() {
            let text = format!("--rule: the checkpoint '{}' has its own rule; leave --rule out", file.display());
            return Err(UsageError(text).into());
        }
        if size.is_some() {
            let text = format!("--size: the checkpoint '{}' has its own size; leave --size out", file.display());
            return Err(UsageError(text).into());
        }
        let saved = saved::open(file)?;
        let generation = saved.header.generation;
        let facts = Facts::from(saved.header.clone());
        let setting = facts.setting().with_context(|| format!("cannot resume from '{}'", file.display()))?;
        report::note(&format!("resuming at generation {generation}"));
        let setting = Setting { generation: facts.first.wrapping_add(generation), ..setting };
        Ok(Self { source: Source::Saved(saved), setting, facts, generation })
    }
}
