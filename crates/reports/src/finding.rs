//! Findings: the errors and warnings of a run, as text for users and as JSON.

use serde::Serialize;
use simt::{
    CallPath, CallStep, ClusterMisuse, Dim3, Fault, FaultKind, Note, NoteKind, RaceSide, Redundant, RemoteAccess,
    SourceLocation, Wait, Whereabouts,
};

use crate::source;

/// An error or warning of a run. Its text and its JSON are made from these fields.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Finding {
    /// The identifier of the finding's kind, such as "data race" or "wrong result". JSON and SARIF use it.
    pub kind: &'static str,
    /// The name of the finding's kind for users, such as "read of uninitialised memory".
    pub name: &'static str,
    /// The complete message.
    pub message: String,
    /// The name of the kernel that failed, or `None` for a wrong result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<&'static str>,
    /// The access or operation of the thread that faulted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<Side>,
    /// The access or operation of another thread, if another thread is involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub there: Option<Side>,
    /// The accessed element, as `array[index]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The change that would make the kernel correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The simulator's fault with all details, if the finding is a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<Fault>>,
}

/// A thread and its position in the source.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Side {
    /// The thread's action at this position, such as "writes".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does: Option<String>,
    /// The index of the thread's block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<[u32; 3]>,
    /// The thread's index in its block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<[u32; 3]>,
    /// The path of the source file.
    pub file: String,
    /// The line in the source file, from 1.
    pub line: u32,
    /// The column in the line, from 1.
    pub column: u32,
    /// The line's text, if the file can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Finding {
    /// Returns a finding that consists of `message` only.
    pub fn new(kind: &'static str, message: String) -> Self {
        let name = name_of(kind);
        Self { kind, name, message, kernel: None, here: None, there: None, element: None, remedy: None, fault: None }
    }

    /// Returns the finding with the access of a thread, such as the store of a wrong result. `does` says what it does.
    #[must_use]
    pub fn at(self, side: &RaceSide, does: String) -> Self {
        Self { here: Some(Side::new(Some(side.block), Some(side.thread), &side.location, Some(does))), ..self }
    }

    /// Returns the finding for `fault`.
    pub fn of_fault(fault: &Fault) -> Self {
        let here = fault.location.as_ref().map(|location| Side::new(fault.block, fault.thread, location, None));
        let there = |side: &Whereabouts| {
            side.location.as_ref().map(|location| Side::new(fault.block, Some(side.thread), location, None))
        };
        let mut finding = Self {
            kernel: Some(fault.kernel),
            here,
            remedy: fault.remedy().map(|remedy| remedy.to_string()),
            fault: Some(Box::new(fault.clone())),
            ..Self::new(kind(&fault.kind), fault.to_string())
        };
        match &fault.kind {
            FaultKind::Race(race) | FaultKind::EarlyRead(race) | FaultKind::WrittenReadOnly(race) => {
                let side = |side: &RaceSide| {
                    Side::new(Some(side.block), Some(side.thread), &side.location, Some(side.access.to_string()))
                };
                finding.here = Some(side(&race.here));
                finding.there = Some(side(&race.there));
                finding.element = race.element.array.map(|array| format!("{array}[{}]", race.element.index));
            }
            FaultKind::Uninitialised { array, index, copy, .. } => {
                finding.element = array.map(|array| format!("{array}[{index}]"));
                finding.there = copy.as_deref().map(|copy| {
                    Side::new(fault.block, Some(copy.thread), &copy.location, Some("asynchronous copy".to_owned()))
                });
            }
            FaultKind::OutOfBounds { .. } => {
                if let Some((here, at)) = finding.here.as_mut().zip(fault.location.as_ref()) {
                    here.does = source::access_at(at).map(str::to_owned);
                }
            }
            FaultKind::BarrierNotReached { missing, .. } => finding.there = there(missing),
            FaultKind::NoProgress { waits, .. } => {
                let expected = |wait: &Wait| {
                    let (thread, at) = wait.phase.as_ref()?.bytes.as_ref()?.by.as_ref()?;
                    Some(Side::new(Some(wait.block), Some(*thread), at, Some("last to expect bytes".to_owned())))
                };
                finding.there = waits.iter().find_map(expected);
            }
            FaultKind::ClusterBarrierNotReached { block, missing, .. } => {
                finding.there =
                    missing.location.as_ref().map(|at| Side::new(Some(*block), Some(missing.thread), at, None));
            }
            FaultKind::ClusterMisuse(ClusterMisuse::ArrivedTwice(first)) => {
                finding.there = Some(Side::new(fault.block, fault.thread, first, None));
            }
            FaultKind::RemoteAccess(access) => {
                let RemoteAccess { owner, element, last, .. } = &**access;
                finding.element = element.array.map(|array| format!("{array}[{}]", element.index));
                let last = last.as_ref().and_then(|last| Some((last.thread, last.location.as_ref()?)));
                finding.there = last.map(|(thread, at)| Side::new(Some(*owner), Some(thread), at, None));
            }
            FaultKind::BarrierMismatch { other, other_thread } => {
                finding.there = Some(Side::new(fault.block, Some(*other_thread), other, None));
            }
            FaultKind::BarrierApart { other_thread, paths, .. } => {
                finding.there = Side::at_end_of(&paths[1], fault.block, *other_thread);
            }
            FaultKind::WarpMismatch { other: Some(other), .. }
            | FaultKind::PartialWarp { missing: Some(other), .. } => finding.there = there(other),
            FaultKind::UnspecifiedShuffle { element: Some((array, index)), .. } => {
                finding.element = Some(format!("{array}[{index}]"));
            }
            _ => {}
        }
        finding
    }

    /// Returns the hint that `kernel` may not need a synchronisation.
    pub fn of_redundant(redundant: &Redundant, kernel: &'static str) -> Self {
        let here = Some(Side::new(None, None, &redundant.location, None));
        Self { kernel: Some(kernel), here, ..Self::new("redundant synchronisation", redundant.to_string()) }
    }

    /// Returns the finding for `note`.
    pub fn of_note(note: &Note) -> Self {
        let (here, there) = match &note.kind {
            NoteKind::WarpsApart { block, threads: [thread, other], paths } => (
                Side::new(Some(*block), Some(*thread), &note.location, None),
                Side::at_end_of(&paths[1], Some(*block), *other),
            ),
            NoteKind::FenceOfOther(race) => {
                let side = |side: &RaceSide| {
                    Side::new(Some(side.block), Some(side.thread), &side.location, Some(side.access.to_string()))
                };
                (side(&race.here), Some(side(&race.there)))
            }
            _ => (Side::new(None, None, &note.location, None), None),
        };
        let kernel = Some(note.kernel.family);
        let kind = match note.kind {
            NoteKind::FenceOfOther(_) => "fence of another thread",
            NoteKind::WeakMemoryInPart(_) => "weak memory in part",
            _ => "warps by two ways",
        };
        Self { kernel, here: Some(here), there, ..Self::new(kind, note.to_string()) }
    }

    /// Returns true if both findings report the same mistake, that is, the same kind at the same lines. Two wrong
    /// results must also have the same message, because results that differ depend on the order of the threads.
    pub fn is_like(&self, other: &Self) -> bool {
        let line = |side: &Option<Side>| side.as_ref().map(|side| (side.file.clone(), side.line));
        let lines = |finding: &Self| {
            let mut lines = [line(&finding.here), line(&finding.there)];
            lines.sort();
            lines
        };
        self.kind == other.kind
            && lines(self) == lines(other)
            && (self.kernel.is_some() || self.message == other.message)
    }

    /// Returns the finding as text for users. The text has the message, and then the threads with their source lines.
    /// Each line begins with `indent`.
    pub fn text(&self, indent: &str) -> String {
        let mut text = format!("{indent}{}\n", self.message);
        for side in [&self.here, &self.there].into_iter().flatten() {
            text += &side.text(indent);
        }
        text
    }
}

impl Side {
    fn new(block: Option<Dim3>, thread: Option<Dim3>, at: &SourceLocation, does: Option<String>) -> Self {
        let numbers = |Dim3 { x, y, z }| [x, y, z];
        Self {
            does,
            block: block.map(numbers),
            thread: thread.map(numbers),
            file: at.file.clone(),
            line: at.line,
            column: at.column,
            text: source::line(at),
        }
    }

    /// Returns the [`Side`] of `thread`. Its position is the last call or loop in the call path `path`.
    fn at_end_of(path: &CallPath, block: Option<Dim3>, thread: Dim3) -> Option<Self> {
        let (CallStep::Call(at) | CallStep::Loop { at, .. }) = path.0.last()?;
        Some(Self::new(block, Some(thread), at, None))
    }

    fn text(&self, indent: &str) -> String {
        let Self { does, block, thread, file, line, text, .. } = self;
        let place = |name: &str, place: &Option<[u32; 3]>| {
            place.map_or_else(String::new, |[x, y, z]| format!(", {name} ({x}, {y}, {z})"))
        };
        let does = does.as_ref().map_or_else(String::new, |does| format!(" {does}"));
        let (block, thread) = (place("block", block), place("thread", thread));
        let text = text.as_ref().map_or_else(String::new, |text| format!("{indent}  {line:>6} | {text}\n"));
        format!("{indent}  {file}:{line}{block}{thread}{does}\n{text}")
    }
}

/// Returns the user-visible name of the kind with the identifier `kind`. Most names equal the identifier.
pub(super) fn name_of(kind: &'static str) -> &'static str {
    match kind {
        "read of what nobody wrote" => "read of uninitialised memory",
        "barrier by two ways" => "barrier by different call paths",
        "warps by two ways" => "warps by different call paths",
        name => name,
    }
}

/// Returns the identifier of a fault's kind.
fn kind(kind: &FaultKind) -> &'static str {
    match kind {
        FaultKind::Panic(_) => "panic",
        FaultKind::OutOfBounds { .. } => "out of bounds",
        FaultKind::Misaligned { .. } => "misaligned",
        FaultKind::Pointer(_) | FaultKind::Unseen { .. } => "wild pointer",
        FaultKind::StackOverflow { .. } => "stack overflow",
        FaultKind::Race(_) => "data race",
        FaultKind::EarlyRead(_) => "read before the first write",
        FaultKind::WrittenReadOnly(_) => "read-only load of written memory",
        FaultKind::Uninitialised { .. } => "read of what nobody wrote",
        FaultKind::BeforeDependencies => "before dependencies",
        FaultKind::BarrierNotReached { .. } => "barrier not reached",
        FaultKind::ClusterBarrierNotReached { .. } => "cluster barrier not reached",
        FaultKind::ClusterMisuse(_) => "misuse of a cluster",
        FaultKind::RemoteAccess(_) => "shared memory of an absent block",
        FaultKind::BarrierMismatch { .. } => "barriers differ",
        FaultKind::BarrierApart { .. } => "barrier by two ways",
        FaultKind::WarpMismatch { .. } => "warp operation",
        FaultKind::PartialWarp { .. } => "partial warp",
        FaultKind::NoProgress { .. } => "no progress",
        FaultKind::EndlessLoop { .. } => "endless loop",
        FaultKind::UnspecifiedShuffle { .. } => "unspecified shuffle",
        FaultKind::SharedMemory { .. } | FaultKind::StaticSharedMemory { .. } => "shared memory",
        FaultKind::InvalidLaunch(_) => "invalid launch",
        FaultKind::SimulatorLimit(_) => "limit of the simulator",
        FaultKind::HostMemory(_) => "out of memory",
        _ => "fault",
    }
}
