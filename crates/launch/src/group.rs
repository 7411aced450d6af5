//! Groups: devices that work together.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use cuda_std::{Element, GlobalMut};
use simt::{Checks, Schedule, Simulator};

use crate::choice::DeviceChoice;
use crate::copies::{PeerCopy, check_overlap, copy_all};
use crate::device::{Device, gpus};
use crate::error::Error;
use crate::group_choice::{GroupChoice, Members};
use crate::module::PtxModule;
use crate::view::{Region, View};

/// Devices that work together, each with memory of its own: all GPUs, or all simulated. A handle: cheap to clone.
///
/// The GPUs of a group access each other's memory directly where they can.
#[derive(Clone)]
pub struct Group(Arc<Inner>);

struct Inner {
    members: Vec<Device>,
    /// Whether each can access all others' memory directly.
    are_peers: bool,
}

/// Groups of `members` simulated devices, or one if that is 0, to test on: one for each order of
/// [`checked_devices`](crate::checked_devices). They also find [races of streams](Error::StreamRace), of one member and
/// of several.
pub fn checked_groups(members: usize) -> impl Iterator<Item = Group> {
    let simulator = Simulator::new().with_checks(Checks::default());
    Schedule::HOSTILE.into_iter().map(move |schedule| {
        let simulator = simulator.clone().with_schedule(schedule);
        let members = (0..members.max(1)).map(|_| Device::simulated(simulator.clone())).collect();
        Group(Arc::new(Inner { members, are_peers: true }))
    })
}

impl Group {
    /// Opens the devices that `choice` names, each as [`Device::open`] does. Simulated ones share the cores.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if one of them cannot be used; [`Error::Driver`] if the driver fails to let them access each
    /// other's memory.
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
                // Its clones share its worker threads.
                let simulator = Simulator::new();
                let bytes = mebibytes.map(|mebibytes| (mebibytes as usize) << 20);
                (0..count).map(|_| Device::simulated_with(simulator.clone(), bytes)).collect()
            }
        };
        Self::of(members)
    }

    /// The group of these devices.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidGroup`] if there are none, if one is there twice, or if some are simulated and others are not;
    /// [`Error::Driver`] if the driver fails to let them access each other's memory; [`Error::ContextLost`] when a
    /// launch made before failed.
    pub fn of(members: Vec<Device>) -> Result<Group, Error> {
        let invalid = |reason| Err(Error::InvalidGroup { reason });
        let Some(first) = members.first() else {
            return invalid("it has no member; give it one device or more");
        };
        if members.iter().any(|member| member.is_simulated() != first.is_simulated()) {
            return invalid("some are GPUs and others are simulated; take only the ones or only the others");
        }
        if (1..members.len()).any(|i| members[..i].iter().any(|member| member.id() == members[i].id())) {
            return invalid("a device is in it twice; give each once");
        }
        let mut are_peers = true;
        for (i, member) in members.iter().enumerate() {
            for (_, other) in members.iter().enumerate().filter(|&(j, _)| j != i) {
                are_peers &= member.backend().enable_peer(other.backend())?;
            }
        }
        Ok(Self(Arc::new(Inner { members, are_peers })))
    }

    /// Its devices, at least one.
    pub fn members(&self) -> &[Device] {
        &self.0.members
    }

    /// Whether each member can access all others' memory directly. If not, copies go through memory of the host.
    pub fn are_peers(&self) -> bool {
        self.0.are_peers
    }

    /// Makes all these copies, each to a view from another of as many elements, of whichever members' memories, at the
    /// same time: after all that these members were asked before, and before all that they are asked later, but for
    /// what streams are asked. On GPUs it returns at once. It takes less time than one
    /// [`Buffer::copy_range_from`](crate::Buffer::copy_range_from) after the other, each of which waits for the one
    /// before.
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
    /// [`Error::LengthMismatch`] unless both views have as many elements, [`Error::Overlap`] if what is copied to is
    /// also in another view, [`Error::WrongDevice`] if a view is of no member's memory: nothing is copied then.
    /// [`Error::ContextLost`] when a launch made before failed; [`Error::StreamRace`] where members check.
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
        // SAFETY: the views are of these devices' memories, and all that is copied to is there once.
        unsafe { copy_all(&peer_copies, Some(Location::caller())) }
    }

    /// One line: which devices these are.
    ///
    /// "devices: GPU 0, NVIDIA H200, sm_90, 132 SMs, 139.7 GiB; GPU 1, …", or "devices: 4 × simulator on 2 cores". One
    /// alone is described as [`Device::summary`] does.
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
