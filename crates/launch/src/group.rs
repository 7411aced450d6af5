//! Groups of devices that work together.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use cuda_std::{Element, GlobalMut};
use simt::{Checks, Schedule, Simulator};

use crate::choice::DeviceChoice;
use crate::copies::{PeerCopy, check_overlap, copy_all};
use crate::device::Device;
use crate::error::Error;
use crate::group_choice::{GroupChoice, Members};
use crate::module::PtxModule;
use crate::opening::gpus;
use crate::view::{Region, View};

/// A set of devices that work together. Either all are GPUs or all are simulated, and each has its own memory. Cloning
/// a group is cheap.
///
/// The GPUs of a group access each other's memory directly if the hardware supports it.
#[derive(Clone)]
pub struct Group(Arc<Inner>);

struct Inner {
    members: Vec<Device>,
    /// True if each member can access the memory of all other members directly.
    are_peers: bool,
}

/// Returns groups of `members` simulated devices (at least one) for tests: one group for each schedule of
/// [`checked_devices`](crate::checked_devices). The groups also report [races between streams](Error::StreamRace),
/// within a member and between members.
pub fn checked_groups(members: usize) -> impl Iterator<Item = Group> {
    let simulator = Simulator::new().with_checks(Checks::default());
    Schedule::HOSTILE.into_iter().map(move |schedule| {
        let simulator = simulator.clone().with_schedule(schedule);
        let members = (0..members.max(1)).map(|_| Device::simulated(simulator.clone())).collect();
        Group(Arc::new(Inner { members, are_peers: true }))
    })
}

impl Group {
    /// Opens the devices that `choice` names, each as [`Device::open`] does. Simulated devices share the host's cores.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if one of the devices cannot be used; [`Error::Driver`] if the driver fails to enable access
    /// to each other's memory.
    pub fn open(choice: &GroupChoice, modules: &'static [PtxModule]) -> Result<Group, Error> {
        let open = |ordinal| Device::open(DeviceChoice::Gpu(Some(ordinal)), modules);
        let members = match &choice.0 {
            &Members::One(choice) => vec![Device::open(choice, modules)?],
            Members::AllGpus => {
                let gpus = gpus().map_err(|reason| Error::NoDevice { choice: choice.clone(), reason })?;
                gpus.iter().map(|gpu| open(gpu.ordinal)).collect::<Result<_, _>>()?
            }
            Members::Gpus(ordinals) => ordinals.iter().copied().map(open).collect::<Result<_, _>>()?,
            &Members::Simulated(count, mebibytes) => {
                // Clones of a simulator share its worker threads.
                let simulator = Simulator::new();
                let bytes = mebibytes.map(|mebibytes| (mebibytes as usize) << 20);
                (0..count).map(|_| Device::simulated_with(simulator.clone(), bytes)).collect()
            }
        };
        Self::of(members)
    }

    /// Creates a group of the devices `members`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidGroup`] if `members` is empty, has a device twice, or mixes GPUs and simulated devices;
    /// [`Error::Driver`] if the driver fails to enable access to each other's memory; [`Error::ContextLost`] when an
    /// earlier launch failed.
    pub fn of(members: Vec<Device>) -> Result<Group, Error> {
        let invalid = |reason| Err(Error::InvalidGroup { reason });
        let Some(first) = members.first() else {
            return invalid("it has no member: pass at least one device");
        };
        if members.iter().any(|member| member.is_simulated() != first.is_simulated()) {
            return invalid("it mixes GPUs and simulated devices: pass devices of one kind");
        }
        if (1..members.len()).any(|i| members[..i].iter().any(|member| member.id() == members[i].id())) {
            return invalid("a device is in it twice: pass each device once");
        }
        let mut are_peers = true;
        for (i, member) in members.iter().enumerate() {
            for (_, other) in members.iter().enumerate().filter(|&(j, _)| j != i) {
                are_peers &= member.backend().enable_peer(other.backend())?;
            }
        }
        Ok(Self(Arc::new(Inner { members, are_peers })))
    }

    /// Returns the devices of the group, at least one.
    pub fn members(&self) -> &[Device] {
        &self.0.members
    }

    /// Returns `true` if each member can access the memory of all others directly. Otherwise copies between members go
    /// through host memory.
    pub fn are_peers(&self) -> bool {
        self.0.are_peers
    }

    /// Enqueues all `copies` together. Each copy has a target view and a source view of the same length. Each view may
    /// point to the memory of any member.
    ///
    /// The copies run after the earlier work of these members and before their later work, except work in streams. On
    /// GPUs the call returns at once. One call is faster than several calls of
    /// [`Buffer::copy_range_from`](crate::Buffer::copy_range_from), each of which waits for the previous one.
    ///
    /// ```
    /// let group = launch::Group::open(&"sim:2".parse()?, &[])?;
    /// let mut here = group.members()[0].upload(&[1, 2, 0])?;
    /// let mut there = group.members()[1].upload(&[0, 3, 4])?;
    /// let (a, b) = (here.view_mut(), there.view_mut());
    /// group.copy_all(&[(a.part(2, 1), b.part(1, 1)), (b.part(0, 1), a.part(1, 1))])?;
    /// assert_eq!((here.download()?, there.download()?), (vec![1, 2, 3], vec![2, 3, 4]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if the two views of a copy have different lengths, [`Error::Overlap`] if a target
    /// overlaps another view, [`Error::WrongDevice`] if a view points outside the memory of all members. In these cases
    /// nothing is copied. [`Error::ContextLost`] when an earlier launch failed; [`Error::StreamRace`] if members check
    /// streams and find a race.
    #[track_caller]
    pub fn copy_all<'a, T: Element, V: View<'a, T>>(&self, copies: &[(GlobalMut<'a, T>, V)]) -> Result<(), Error> {
        let member = |id| {
            let what = || "a copy between members".to_owned();
            let found = self.members().iter().find(|member| member.id() == id);
            found.ok_or_else(|| Error::WrongDevice { what: what(), device: "the members of the group".to_owned() })
        };
        let mut peer_copies = Vec::new();
        for (to, from) in copies {
            let Region { start, len, device } = from.region();
            if to.len() != len {
                return Err(Error::LengthMismatch { what: "copy", buffer: to.len(), other: len });
            }
            let (target, source, bytes) = (member(to.device())?, member(device)?, len * size_of::<T>());
            if bytes > 0 {
                peer_copies.push(PeerCopy { to: to.as_ptr().cast(), target, from: start, source, bytes });
            }
        }
        check_overlap(&peer_copies)?;
        // SAFETY: the views point to these devices' memories, and `check_overlap` has checked that no target overlaps a
        // view.
        unsafe { copy_all(&peer_copies, Some(Location::caller())) }
    }

    /// Returns a description of the devices in one line.
    ///
    /// Examples: "devices: GPU 0, NVIDIA H200, sm_90, 132 SMs, 139.7 GiB; GPU 1, …", or "devices: 4 × simulator on 2
    /// cores". For a single device the result is the same as that of [`Device::summary`].
    pub fn summary(&self) -> String {
        let [first, others @ ..] = self.members() else { return String::new() };
        if others.is_empty() {
            return first.summary();
        }
        let descriptions: Vec<String> = self.members().iter().map(|member| member.backend().description()).collect();
        let text = if descriptions.iter().all(|description| *description == descriptions[0]) {
            format!("{} × {}", descriptions.len(), descriptions[0])
        } else {
            descriptions.join("; ")
        };
        let copies = if self.are_peers() { "" } else { " (copies between them go through the host)" };
        format!("devices: {text}{copies}")
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Group").field(&self.summary()).finish()
    }
}
