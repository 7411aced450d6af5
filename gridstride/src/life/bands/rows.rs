//! The exchange of whole rows.

use std::ops::Range;

use launch::{Buffer, Group, PinnedBuffer};

use super::band::{Band, Engine};
use super::division::Division;
use super::messages::{Message, exchange};
use crate::error::AlgorithmError;
use crate::life::Board;
use crate::ranks::Communicator;

/// Rows of one band that are in another one's halo.
struct Piece {
    /// Rows of the whole board.
    rows: Range<usize>,
    /// Where they are to be on the other band's board.
    at: usize,
}

/// All rows that go from one band to another.
pub(super) struct Link {
    from: usize,
    to: usize,
    pieces: Vec<Piece>,
    /// Words of a row that goes as it lies, between boards of this rank that lie alike.
    as_it_lies: Option<usize>,
    /// Where they leave, and where they arrive; none if that is another rank.
    out: Option<Staging>,
    arrived: Option<Staging>,
}

/// Packed rows on their way.
struct Staging {
    on_device: Option<Buffer<u32>>,
    /// Not if they go from member to member.
    on_host: OnHost,
}

enum OnHost {
    Pinned(PinnedBuffer<u32>),
    Plain(Vec<u32>),
}

impl OnHost {
    fn words(&mut self) -> &mut [u32] {
        match self {
            Self::Pinned(words) => words,
            Self::Plain(words) => words,
        }
    }
}

impl Staging {
    fn new(
        band: &Band,
        rows: usize,
        states: u16,
        is_local: bool,
        as_it_lies: Option<usize>,
    ) -> Result<Self, AlgorithmError> {
        let Engine::Kernel(life) = &band.engine else {
            let words = Board::with_states(band.width, rows, states)?;
            let words = words.words().len() * (1 + words.ages().len());
            return Ok(Self { on_device: None, on_host: OnHost::Plain(vec![0; words]) });
        };
        let (device, words) = (life.device(), as_it_lies.unwrap_or(life.words_of_row()) * rows);
        let on_host = if is_local { OnHost::Plain(Vec::new()) } else { OnHost::Pinned(device.pinned(words)?) };
        Ok(Self { on_device: Some(device.alloc(words)?), on_host })
    }
}

/// The rows above and below a band, as far as [`rows_beyond`] says.
fn halo_of(division: &Division, band: usize, halo: usize, goes_around: bool) -> Vec<(usize, Piece)> {
    let (own, all) = (division.rows(band), division.rows(division.bands() - 1).end);
    let (above, below) = rows_beyond(division, band, halo, goes_around);
    let mut pieces: Vec<(usize, Piece)> = Vec::new();
    let places = (0..above).map(|i| (i, own.start as i128 - above as i128 + i as i128));
    let places = places.chain((0..below).map(|i| (above + own.len() + i, own.end as i128 + i as i128)));
    for (at, row) in places {
        let row = row.rem_euclid(all as i128) as usize;
        let from = division.band_of(row);
        match pieces.last_mut() {
            Some((last, piece)) if *last == from && piece.rows.end == row && piece.at + piece.rows.len() == at => {
                piece.rows.end += 1;
            }
            _ => pieces.push((from, Piece { rows: row..row + 1, at })),
        }
    }
    pieces
}

/// The rows above a band's own on its board, and those below: where they do not go around, the board's edge is that of the band's
/// board, since what is beyond it is dead in each generation.
pub(super) fn rows_beyond(division: &Division, band: usize, halo: usize, goes_around: bool) -> (usize, usize) {
    let (own, all) = (division.rows(band), division.rows(division.bands() - 1).end);
    if goes_around { (halo, halo) } else { (halo.min(own.start), halo.min(all - own.end)) }
}

/// All links that begin or end at `rank`, whose bands are `bands`, in the same order on every rank.
pub(super) fn links(
    division: &Division,
    (halo, goes_around): (usize, bool),
    states: u16,
    rank: usize,
    bands: &[Band],
) -> Result<Vec<Link>, AlgorithmError> {
    let mut links = Vec::new();
    for to in 0..division.bands() {
        let mut of_band: Vec<Link> = Vec::new();
        for (from, piece) in halo_of(division, to, halo, goes_around) {
            match of_band.iter_mut().find(|link| link.from == from) {
                Some(link) => link.pieces.push(piece),
                None => of_band.push(Link { from, to, pieces: vec![piece], as_it_lies: None, out: None, arrived: None }),
            }
        }
        for link in &mut of_band {
            let is_local = division.owner(link.from).0 == division.owner(link.to).0;
            let rows = link.pieces.iter().map(|piece| piece.rows.len()).sum();
            let found = |band: usize| bands.iter().find(|other| other.number == band);
            let layout = |band| found(band).and_then(Band::row_layout);
            let as_it_lies = layout(link.from).filter(|&from| layout(link.to) == Some(from)).map(|(words, _)| words);
            let staging = |band: usize| {
                found(band).map(|band| Staging::new(band, rows, states, is_local, as_it_lies)).transpose()
            };
            link.as_it_lies = as_it_lies;
            (link.out, link.arrived) = (staging(link.from)?, staging(link.to)?);
        }
        links.extend(
            of_band.into_iter().filter(|link| [link.from, link.to].map(|band| division.owner(band).0).contains(&rank)),
        );
    }
    Ok(links)
}

/// Fills the halos of all bands, of which those by kernels are on members of `group`. Members are asked for all of it before any
/// is waited for.
pub(super) fn fill_halos(
    links: &mut [Link],
    group: Option<&Group>,
    division: &Division,
    bands: &mut [Band],
    ranks: &dyn Communicator,
) -> Result<(), AlgorithmError> {
    for link in links.iter_mut() {
        if let (Some(out), Some(band)) = (&mut link.out, bands.iter_mut().find(|band| band.number == link.from)) {
            leave(band, &link.pieces, link.as_it_lies, out)?;
        }
    }
    if let Some(group) = group {
        let on_devices = links.iter_mut().filter_map(|link| match (&link.out, &mut link.arrived) {
            (Some(out), Some(arrived)) => Some((arrived.on_device.as_mut()?.view_mut(), out.on_device.as_ref()?.view())),
            _ => None,
        });
        // At once: both ways between two members, and between all of them.
        group.copy_all(&on_devices.collect::<Vec<_>>())?;
    }
    for link in links.iter_mut() {
        match (&mut link.out, &mut link.arrived) {
            (Some(out), Some(arrived)) if arrived.on_device.is_none() => {
                arrived.on_host.words().copy_from_slice(out.on_host.words());
            }
            (Some(Staging { on_device: Some(words), on_host }), None) => words.download_range(0, on_host.words())?,
            _ => {}
        }
    }
    if ranks.size() > 1 {
        let mut messages = Vec::new();
        for link in links.iter_mut() {
            match (&mut link.out, &mut link.arrived) {
                (Some(out), None) => messages.push(Message::To(division.owner(link.to).0, out.on_host.words())),
                (None, Some(arrived)) => {
                    messages.push(Message::From(division.owner(link.from).0, arrived.on_host.words()));
                }
                _ => {}
            }
        }
        exchange(ranks, messages)?;
    }
    for link in links.iter_mut() {
        let Some(arrived) = &mut link.arrived else { continue };
        if let (None, Staging { on_device: Some(words), on_host }) = (&link.out, &mut *arrived) {
            words.upload_range(0, on_host.words())?;
        }
        if let Some(band) = bands.iter_mut().find(|band| band.number == link.to) {
            arrive(band, &link.pieces, link.as_it_lies, arrived)?;
        }
    }
    Ok(())
}

/// Packs rows of a band, or takes them as they lie.
fn leave(
    band: &mut Band,
    pieces: &[Piece],
    as_it_lies: Option<usize>,
    out: &mut Staging,
) -> Result<(), AlgorithmError> {
    let mut at = 0;
    for piece in pieces {
        let local = band.local(&piece.rows);
        match (&mut band.engine, &mut out.on_device) {
            (Engine::Kernel(life), Some(words)) => {
                match as_it_lies {
                    Some(_) => life.take(local, words, at)?,
                    None => life.gather(local, words, at)?,
                }
                at += as_it_lies.unwrap_or(life.words_of_row()) * piece.rows.len();
            }
            (Engine::Cores(life), _) => {
                let rows = life.rows(local)?;
                for plane in std::iter::once(rows.words()).chain(rows.ages().iter().map(|age| &age[..])) {
                    out.on_host.words()[at..at + plane.len()].copy_from_slice(plane);
                    at += plane.len();
                }
            }
            (Engine::Kernel(_), None) => {}
        }
    }
    Ok(())
}

/// Puts rows into a band's halo.
fn arrive(
    band: &mut Band,
    pieces: &[Piece],
    as_it_lies: Option<usize>,
    arrived: &mut Staging,
) -> Result<(), AlgorithmError> {
    let mut at = 0;
    for Piece { rows, at: row } in pieces {
        match (&mut band.engine, &mut arrived.on_device) {
            (Engine::Kernel(life), Some(words)) => {
                let at_rows = *row..row + rows.len();
                match as_it_lies {
                    Some(_) => life.put(at_rows, words, at)?,
                    None => life.scatter(at_rows, words, at)?,
                }
                at += as_it_lies.unwrap_or(life.words_of_row()) * rows.len();
            }
            (Engine::Cores(life), _) => {
                at += life.put_words(*row..row + rows.len(), &arrived.on_host.words()[at..]);
            }
            (Engine::Kernel(_), None) => {}
        }
    }
    Ok(())
}
