//! Races between streams.

use std::fmt;
use std::panic::Location;

use cuda_std::KernelInfo;

/// A race: two unordered accesses to the same memory, at least one of them a write and at least one in a stream.
#[derive(Clone, Debug)]
pub struct StreamRace {
    /// The access that was enqueued first.
    pub earlier: StreamAccess,
    /// The access that was enqueued later.
    pub later: StreamAccess,
    /// The number of bytes that both accesses touch.
    pub bytes: usize,
}

/// An access to memory by the work of a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamAccess {
    /// The operation that accesses the memory.
    pub work: StreamWork,
    /// For a launch, the name of the kernel's parameter through which the memory is accessed.
    pub array: Option<&'static str>,
    /// `true` if the operation writes the memory.
    pub is_write: bool,
    /// The index of the device in its group, and the index of the stream among the streams of the device. `None` if the
    /// work was enqueued on the device itself.
    pub stream: Option<(usize, usize)>,
    /// The source line that enqueued the work.
    pub location: &'static Location<'static>,
}

/// An operation of a stream.
#[derive(Clone, Copy, Debug)]
pub enum StreamWork {
    /// A copy to the device.
    Upload,
    /// A copy to the host.
    Download,
    /// A copy within a device or between two devices.
    Copy,
    /// A fill with zeros.
    Fill,
    /// A launch of this kernel.
    Launch(&'static KernelInfo),
}

impl StreamAccess {
    /// Creates an access by `work`. The caller sets the accessed array and the kind of access afterwards.
    pub(crate) fn new(work: StreamWork, stream: Option<(usize, usize)>, location: &'static Location<'static>) -> Self {
        Self { work, array: None, is_write: false, stream, location }
    }
}

impl fmt::Display for StreamAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, stream, location, .. } = self;
        match work {
            StreamWork::Upload => f.write_str("the upload")?,
            StreamWork::Download => f.write_str("the download")?,
            StreamWork::Copy => f.write_str("the copy")?,
            StreamWork::Fill => f.write_str("the fill")?,
            StreamWork::Launch(kernel) => {
                write!(f, "the launch of `{}` ({}:{})", kernel.name, kernel.file, kernel.line)?
            }
        }
        match stream {
            Some((device, stream)) => write!(f, " enqueued at {location} in stream {stream} of device {device}")?,
            None => write!(f, " enqueued at {location} on the device itself")?,
        }
        f.write_str(if self.is_write { " writes " } else { " reads " })?;
        match self.array {
            Some(array) => write!(f, "there, as `{array}`"),
            None => f.write_str("there"),
        }
    }
}

impl fmt::Display for StreamRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { earlier, later, bytes } = self;
        write!(
            f,
            "race of streams for {bytes} bytes: {earlier}, and {later}, and nothing orders them: record an event after \
            one of them, and make the other's stream wait for it"
        )
    }
}
