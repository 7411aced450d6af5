//! Exchanges whole rows between bands.
//!
//! Rows between members of one rank are copied from device to device. Rows between ranks are copied in the same way if
//! CUDA's IPC is available (`ipc.rs`). Otherwise the rows pass through page-locked memory and messages. During such a
//! slow exchange, the bands run the generations for which their old halos are correct (`late_halo.rs`).

use std::ops::{DerefMut, Range};

use launch::{Buffer, Group};

use super::BoardSpec;
use super::band::{Band, Engine};
use super::division::Division;
use super::encoding::{board_of, gather, words_of};
use super::ipc::{IpcLink, PeerAccess, PendingLink};
use super::late_halo::LateHalo;
use crate::board::WORD_BITS;
use crate::error::LifeError;
use crate::{Board, Simulation};
use multi::ranks::Communicator;

/// Consecutive rows of one band that are copied into the halo of another band.
struct Piece {
    /// The rows, numbered as on the whole board.
    rows: Range<usize>,
    /// The number of the destination row of the first of `rows`, on the other band's board.
    at: usize,
}

/// The connection through which rows of one band are copied into the halo of another band.
pub(super) struct Link {
    from: usize,
    to: usize,
    pieces: Vec<Piece>,
    /// True if rows are packed for the copy. False if both boards have the same row layout.
    is_packed: bool,
    /// The link through CUDA's IPC. `None` unless the bands are on different ranks whose devices can read each other's
    /// memory.
    direct: Option<IpcLink>,
    /// The buffer for the rows to send, or `None` if another rank sends the rows.
    outgoing: Option<Staging>,
    /// The buffer for the rows that arrive, or `None` if another rank receives the rows.
    incoming: Option<Staging>,
}

/// A buffer for the rows of one link.
struct Staging {
    on_device: Option<Buffer<u32>>,
    /// The rows in host memory. Empty if rows are copied from device to device.
    on_host: Box<dyn DerefMut<Target = [u32]>>,
}

impl Staging {
    /// Makes a buffer of `words` words for a link of `band`. `is_sent` is true if messages transfer the rows between
    /// ranks.
    fn new(band: &Band, words: usize, is_sent: bool) -> Result<Self, LifeError> {
        let Engine::Kernel(life) = &band.engine else {
            return Ok(Self { on_device: None, on_host: Box::new(vec![0; words]) });
        };
        let device = life.device();
        let on_host: Box<dyn DerefMut<Target = [u32]>> =
            if is_sent { Box::new(device.pinned(words)?) } else { Box::new(Vec::new()) };
        Ok(Self { on_device: Some(device.alloc(words)?), on_host })
    }
}

/// Returns the halo rows above and below a band as pieces. Each piece comes with the number of the band that owns its
/// rows.
fn halo_of(division: &Division, band: usize, halo: usize, goes_around: bool) -> Vec<(usize, Piece)> {
    let (own, all) = (division.rows(band), division.rows(division.bands() - 1).end);
    let (above, below) = halo_rows(division, band, halo, goes_around);
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

/// Returns the number of halo rows above a band and the number of halo rows below the band. If `goes_around` is false,
/// the halo ends at the edge of the board, because cells beyond the edge are dead in every generation.
pub(super) fn halo_rows(division: &Division, band: usize, halo: usize, goes_around: bool) -> (usize, usize) {
    let (own, all) = (division.rows(band), division.rows(division.bands() - 1).end);
    if goes_around { (halo, halo) } else { (halo.min(own.start), halo.min(all - own.end)) }
}

/// The links by which this rank exchanges whole rows.
#[derive(Default)]
pub(super) struct RowExchange {
    links: Vec<Link>,
    /// One board of late halo rows per band of this rank. Empty if bands run no generations during an exchange.
    late_halos: Vec<LateHalo>,
    /// The number of exchanges that have begun so far.
    exchanges: u64,
}

/// Returns one entry for each pair of bands between which rows are copied: the source band, the destination band and
/// the rows. The order is the same on every rank.
fn row_links(division: &Division, halo: usize, goes_around: bool) -> Vec<(usize, usize, Vec<Piece>)> {
    let mut links: Vec<(usize, usize, Vec<Piece>)> = Vec::new();
    for to in 0..division.bands() {
        let first = links.len();
        for (from, piece) in halo_of(division, to, halo, goes_around) {
            match links[first..].iter_mut().find(|(other, ..)| *other == from) {
                Some((.., pieces)) => pieces.push(piece),
                None => links.push((from, to, vec![piece])),
            }
        }
    }
    links
}

/// Returns true if the rows of all halos can be copied from device to device.
pub(super) fn are_all_direct(division: &Division, halo: usize, peers: &PeerAccess) -> bool {
    row_links(division, halo, true).iter().all(|&(from, to, _)| {
        let (from, to) = (division.owner(from).0, division.owner(to).0);
        from == to || peers.are(from, to)
    })
}

impl RowExchange {
    /// Makes the links of `bands`, which are the bands of this rank. Halo rows may arrive up to `late` generations
    /// behind the band.
    pub(super) fn new(
        division: &Division,
        (halo, goes_around, late): (usize, bool, usize),
        spec: &BoardSpec,
        bands: &[Band],
        ranks: &dyn Communicator,
        peers: &PeerAccess,
    ) -> Result<Self, LifeError> {
        let (rank, mut links, mut pending, mut layouts) = (ranks.rank(), Vec::new(), Vec::new(), Vec::new());
        let found = |band: usize| bands.iter().find(|other| other.number == band);
        // The row layout of each band's board, or zeros if its rows must be packed.
        for band in bands {
            let (words, folds) = band.row_layout().filter(|_| late == 0).unwrap_or_default();
            layouts.extend([band.number as u64, words as u64, folds.into()]);
        }
        let layouts = gather(ranks, &layouts)?.concat();
        let layout = |band: usize| layouts.chunks_exact(3).find(|row| row[0] == band as u64).map(|row| &row[1..]);
        for (from, to, pieces) in row_links(division, halo, goes_around) {
            let owners = [from, to].map(|band| division.owner(band).0);
            if !owners.contains(&rank) {
                continue;
            }
            let is_remote = owners[0] != owners[1];
            let is_direct = is_remote && peers.are(owners[0], owners[1]);
            let rows: usize = pieces.iter().map(|piece| piece.rows.len()).sum();
            let is_packed = layout(from) != layout(to) || layout(from).is_none_or(|layout| layout[0] == 0);
            let words_of = |band: &Band| match &band.engine {
                Engine::Kernel(life) => Ok(life.words_of_row(is_packed) * rows),
                Engine::Cores(_) => Board::with_states(band.width, rows, spec.rule.states())
                    .map(|board| board.words().len() * (1 + board.ages().len())),
            };
            let is_sent = is_remote && !is_direct;
            let staging =
                |band: Option<&Band>| band.map(|band| Staging::new(band, words_of(band)?, is_sent)).transpose();
            let (mut leaving, arriving) = (found(from), found(to));
            if let (true, Some(band)) = (is_direct, leaving.or(arriving)) {
                if let Engine::Kernel(life) = &band.engine {
                    let words = leaving.map(words_of).transpose()?;
                    let other = if owners[0] == rank { owners[1] } else { owners[0] };
                    pending.push((links.len(), (other, PendingLink::new(life.device(), words)?)));
                }
                // Rows leave from the shared buffer that the other end reads.
                leaving = None;
            }
            let (outgoing, incoming) = (staging(leaving)?, staging(arriving)?);
            links.push(Link { from, to, pieces, is_packed, direct: None, outgoing, incoming });
        }
        let (numbers, ends): (Vec<usize>, Vec<_>) = pending.into_iter().unzip();
        for (link, direct) in numbers.into_iter().zip(PendingLink::connect(ends, ranks)?) {
            links[link].direct = Some(direct);
        }
        let mut late_halos = Vec::new();
        for band in bands.iter().filter(|_| late > 0) {
            if let Engine::Kernel(life) = &band.engine {
                late_halos.push(LateHalo::new(life.device(), spec, halo, late)?);
            }
        }
        Ok(Self { links, late_halos, exchanges: 0 })
    }

    /// Fills the halos of all bands. While rows pass through the host, the bands run `late` generations from generation
    /// `generation` on. Afterwards the `late` outermost halo rows are wrong. The host enqueues the work of all members
    /// of `group` before it waits for any of the members.
    pub(super) fn exchange(
        &mut self,
        group: Option<&Group>,
        division: &Division,
        bands: &mut [Band],
        ranks: &dyn Communicator,
        (late, generation): (usize, u64),
    ) -> Result<(), LifeError> {
        let Self { links, late_halos, exchanges } = self;
        let number = *exchanges;
        *exchanges += 1;
        for link in links.iter_mut() {
            if let Some(band) = bands.iter_mut().find(|band| band.number == link.from) {
                pack(band, link, number)?;
            }
        }
        links.iter_mut().filter_map(|link| link.direct.as_mut()).try_for_each(|direct| direct.record(number))?;
        if let Some(group) = group {
            let on_devices = links.iter_mut().filter_map(|link| match (&link.outgoing, &mut link.incoming) {
                (Some(outgoing), Some(incoming)) => {
                    Some((incoming.on_device.as_mut()?.view_mut(), outgoing.on_device.as_ref()?.view()))
                }
                _ => None,
            });
            // Both directions of all links are copied concurrently.
            group.copy_all(&on_devices.collect::<Vec<_>>())?;
        }
        for link in links.iter_mut() {
            match (&mut link.outgoing, &mut link.incoming) {
                (Some(outgoing), Some(incoming)) if incoming.on_device.is_none() => {
                    incoming.on_host.copy_from_slice(&outgoing.on_host);
                }
                (Some(Staging { on_device: Some(words), on_host }), None) => {
                    words.download_range(0, on_host)?;
                }
                _ => {}
            }
        }
        if late > 0 {
            late_halos
                .iter_mut()
                .zip(&*bands)
                .try_for_each(|(late_halo, band)| late_halo.copy_own_rows(band, late, generation))?;
            bands.iter_mut().try_for_each(|band| band.advance(late as u64))?;
        }
        if ranks.size() > 1 {
            send(links, division, ranks)?;
        }
        for link in links.iter_mut() {
            let Link { to, pieces, is_packed, direct, outgoing, incoming, .. } = link;
            if let Some(direct) = direct {
                direct.receive(number, incoming.as_mut().and_then(|incoming| incoming.on_device.as_mut()))?;
            }
            let Some(incoming) = incoming else { continue };
            if let (None, None, Staging { on_device: Some(words), on_host }) = (&outgoing, &direct, &mut *incoming) {
                words.upload_range(0, on_host)?;
            }
            let Some(i) = bands.iter().position(|band| band.number == *to) else { continue };
            match late_halos.get_mut(i).filter(|_| late > 0) {
                Some(late_halo) => {
                    let row = late_halo.halo_row(bands[i].rows.len());
                    if let Some(words) = &mut incoming.on_device {
                        put(&mut late_halo.life, pieces, true, words, row)?;
                    }
                }
                None => unpack(&mut bands[i], pieces, *is_packed, incoming)?,
            }
        }
        if late > 0 {
            late_halos.iter_mut().zip(bands).try_for_each(|(late_halo, band)| late_halo.finish(band, late))?;
        }
        Ok(())
    }
}

/// Sends and receives rows that are transferred by messages. For a link through IPC, each end instead sends one byte,
/// which tells the other end that this end's event has been recorded.
fn send(links: &mut [Link], division: &Division, ranks: &dyn Communicator) -> Result<(), LifeError> {
    let mut sends: Vec<(usize, &[u8])> = Vec::new();
    let mut receives: Vec<(usize, &mut [u8])> = Vec::new();
    let mut bytes = vec![0_u8; links.len()];
    for (link, byte) in links.iter_mut().zip(&mut bytes) {
        let [from, to] = [link.from, link.to].map(|band| division.owner(band).0);
        match (&link.direct, &mut link.outgoing, &mut link.incoming) {
            (Some(_), ..) => {
                let other = if from == ranks.rank() { to } else { from };
                sends.push((other, &[1]));
                receives.push((other, std::slice::from_mut(byte)));
            }
            (None, Some(outgoing), None) => sends.push((to, bytemuck::cast_slice(&outgoing.on_host))),
            (None, None, Some(incoming)) => receives.push((from, bytemuck::cast_slice_mut(&mut incoming.on_host))),
            _ => {}
        }
    }
    Ok(ranks.exchange(&sends, &mut receives)?)
}

/// Copies the rows that `band` sends in exchange `number` to the buffer of `link`, packed or not.
fn pack(band: &mut Band, link: &mut Link, number: u64) -> Result<(), LifeError> {
    let Link { pieces, is_packed, direct, outgoing, .. } = link;
    let mut at = 0;
    for piece in &*pieces {
        let local = band.local(&piece.rows);
        match &mut band.engine {
            Engine::Kernel(life) => {
                let shared = direct.as_mut().and_then(|direct| direct.leaving(number));
                let outgoing = outgoing.as_mut().and_then(|outgoing| outgoing.on_device.as_mut());
                let Some(words) = shared.or(outgoing) else { continue };
                at = life.take(local, words, at, *is_packed)?;
            }
            Engine::Cores(life) => {
                let Some(outgoing) = outgoing else { continue };
                let words = words_of(&life.rows(local)?);
                outgoing.on_host[at..at + words.len()].copy_from_slice(&words);
                at += words.len();
            }
        }
    }
    Ok(())
}

/// Writes the rows that have arrived into a band's halo.
fn unpack(band: &mut Band, pieces: &[Piece], is_packed: bool, incoming: &mut Staging) -> Result<(), LifeError> {
    match (&mut band.engine, &mut incoming.on_device) {
        (Engine::Kernel(life), Some(words)) => put(life, pieces, is_packed, words, |at| at),
        (Engine::Cores(life), _) => {
            let mut at = 0;
            for Piece { rows, at: row } in pieces {
                let len = rows.len() * band.width.div_ceil(WORD_BITS) * life.automaton.planes();
                life.put_rows(*row, &board_of(band.width, rows.len(), &incoming.on_host[at..at + len])?)?;
                at += len;
            }
            Ok(())
        }
        (Engine::Kernel(_), None) => Ok(()),
    }
}

/// Writes the rows in `words` to a board on a device. `row` maps the number of a piece's first row to a row of that
/// board.
fn put(
    life: &mut Simulation,
    pieces: &[Piece],
    is_packed: bool,
    words: &mut Buffer<u32>,
    row: impl Fn(usize) -> usize,
) -> Result<(), LifeError> {
    let mut from = 0;
    for Piece { rows, at } in pieces {
        let first = row(*at);
        from = life.put(first..first + rows.len(), words, from, is_packed)?;
    }
    Ok(())
}
