//! The copies of the panels of *B* to the members that multiply by them.
//!
//! # Design
//!
//! A member has a stream for these copies and two buffers. The copy for round r + 1 begins when the member has used the
//! buffer in round r − 1, so it overlaps with round r. Panels of members of this rank are copied from device to device.
//! Panels of other ranks pass through page-locked memory and messages, while the devices multiply. All panels then
//! have the length of the longest one, so that whole buffers can be copied.

use gridstride::matmul::MatmulElement;
use launch::{Buffer, Event, OwnedStream, PinnedBuffer, Queue};

use super::Division;
use crate::error::MultiError;
use crate::team::Team;

/// The memory and streams of this rank's devices for the panels of other members.
pub(super) struct Panels<T: MatmulElement> {
    members: Vec<Arrivals<T>>,
    /// For each device of this rank, its panel in host memory for other ranks. Empty if this rank has all members.
    outgoing: Vec<PinnedBuffer<T>>,
    /// For each device of this rank, a panel from another rank. Empty if this rank has all members.
    incoming: Vec<PinnedBuffer<T>>,
}

/// The panels that a device receives.
struct Arrivals<T: MatmulElement> {
    copies: OwnedStream,
    buffers: [Buffer<T>; 2],
    /// The event after which the panel of the next round is in its buffer.
    arrived: Option<Event>,
}

/// Returns the index of the buffer for the panel of a round after the first.
fn buffer_of(round: usize) -> usize {
    (round + 1) % 2
}

impl<T: MatmulElement> Panels<T> {
    pub(super) fn new(team: &Team<'_>, division: &Division) -> Result<Self, MultiError> {
        let longest = (0..team.members()).map(|member| division.panel_len(member)).max().unwrap_or(0);
        let len = |number: usize, round: usize| {
            let is_used = round < team.members() && division.rows[team.first() + number] > 0;
            if is_used { longest } else { 0 }
        };
        let mut panels = Self { members: Vec::new(), outgoing: Vec::new(), incoming: Vec::new() };
        for (number, device) in team.devices().iter().enumerate() {
            let buffers = [device.alloc(len(number, 1))?, device.alloc(len(number, 2))?];
            panels.members.push(Arrivals { copies: device.stream()?, buffers, arrived: None });
            if team.devices().len() < team.members() {
                panels.outgoing.push(device.pinned(longest)?);
                panels.incoming.push(device.pinned(longest)?);
            }
        }
        Ok(panels)
    }

    /// Returns the number of bytes of the buffers on the devices.
    pub(super) fn bytes(&self) -> u64 {
        let buffers = self.members.iter().flat_map(|member| &member.buffers);
        buffers.map(|buffer| (buffer.len() * size_of::<T>()) as u64).sum()
    }

    /// Orders the copies of a run after the earlier work of all devices, which may write the panels `b` or use the
    /// buffers.
    pub(super) fn begin(&mut self, team: &Team<'_>, b: &[Buffer<T>]) -> Result<(), MultiError> {
        for (host, b) in self.outgoing.iter_mut().zip(b) {
            b.download_into(&mut host[..b.len()])?;
        }
        let ready = team.devices().iter().map(|device| device.queue().record()).collect::<Result<Vec<_>, _>>()?;
        for member in &mut self.members {
            ready.iter().try_for_each(|event| member.copies.queue().wait(event))?;
            member.arrived = None;
        }
        Ok(())
    }

    /// Returns the buffer with the panel that device number `number` multiplies in a round. The later work of `queue`
    /// waits for its copy.
    pub(super) fn arrived<'a>(
        &'a mut self,
        queue: Queue<'_>,
        number: usize,
        round: usize,
        b: &'a [Buffer<T>],
    ) -> Result<&'a Buffer<T>, MultiError> {
        if round == 0 {
            return Ok(&b[number]);
        }
        let member = &mut self.members[number];
        member.arrived.take().map_or(Ok(()), |event| queue.wait(&event))?;
        Ok(&member.buffers[buffer_of(round)])
    }

    /// Enqueues the copies of the panels that this rank's devices multiply in round `round`, after the events `free`,
    /// one per device. Exchanges panels with other ranks.
    pub(super) fn fetch(
        &mut self,
        team: &Team<'_>,
        division: &Division,
        round: usize,
        b: &[Buffer<T>],
        free: &[Event],
    ) -> Result<(), MultiError> {
        self.exchange(team, division, round)?;
        for (number, member) in self.members.iter_mut().enumerate() {
            let queue = member.copies.queue();
            let Some(panel) = division.panel(team.first() + number, round) else { continue };
            free.get(number).map_or(Ok(()), |event| queue.wait(event))?;
            let buffer = &mut member.buffers[buffer_of(round)];
            match panel.checked_sub(team.first()).and_then(|own| b.get(own)) {
                Some(panel) => queue.copy_between(panel, buffer)?,
                None => queue.upload(buffer, &self.incoming[number])?,
            }
            member.arrived = Some(queue.record()?);
        }
        Ok(())
    }

    /// Sends the panels that devices of other ranks multiply in round `round`, and receives those for this rank's
    /// devices. All ranks list the panels in the order of the members that multiply by them.
    fn exchange(&mut self, team: &Team<'_>, division: &Division, round: usize) -> Result<(), MultiError> {
        let (rank, first) = (team.ranks().rank(), team.first());
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        let mut incoming = self.incoming.iter_mut();
        for member in 0..team.members() {
            let to = team.rank_of(member);
            let into = if to == rank { incoming.next() } else { None };
            let Some(panel) = division.panel(member, round) else { continue };
            let from = team.rank_of(panel);
            if from == rank && to != rank {
                sends.push((to, bytemuck::cast_slice(&self.outgoing[panel - first][..])));
            } else if let Some(into) = into.filter(|_| from != rank) {
                receives.push((from, bytemuck::cast_slice_mut(&mut into[..])));
            }
        }
        Ok(team.ranks().exchange(&sends, &mut receives)?)
    }
}
