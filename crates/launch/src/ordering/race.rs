//! What two streams do to the same memory without an order.

use std::fmt;
use std::panic::Location;

use cuda_std::KernelInfo;

/// Two pieces of work, of which a stream is asked one at least, that access the same memory, one of which writes it,
/// with nothing that orders them.
#[derive(Clone, Debug)]
pub struct StreamRace {
    /// What was asked first.
    pub earlier: StreamAccess,
    /// What was asked later.
    pub later: StreamAccess,
    /// How many bytes both access.
    pub bytes: usize,
}

/// What a stream is asked that accesses memory.
#[derive(Clone, Copy, Debug)]
pub struct StreamAccess {
    /// What it is.
    pub work: StreamWork,
    /// The kernel's parameter that shows the memory.
    pub array: Option<&'static str>,
    /// Whether it writes the memory.
    pub is_write: bool,
    /// The number of the device in its group, and of the stream among those of the device; `None` where a device itself
    /// was asked, and no stream of it.
    pub stream: Option<(usize, usize)>,
    /// The line that asks for it.
    pub asked_at: &'static Location<'static>,
}

/// What a stream is asked.
#[derive(Clone, Copy, Debug)]
pub enum StreamWork {
    /// A copy to the device.
    Upload,
    /// A copy to the host.
    Download,
    /// A copy within a device or between two.
    Copy,
    /// A launch of this kernel.
    Launch(&'static KernelInfo),
}

impl StreamAccess {
    /// What `work` does to memory that is not named yet.
    pub(crate) fn new(work: StreamWork, stream: Option<(usize, usize)>, asked_at: &'static Location<'static>) -> Self {
        Self { work, array: None, is_write: false, stream, asked_at }
    }
}

impl fmt::Display for StreamAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, stream, asked_at, .. } = self;
        match work {
            StreamWork::Upload => f.write_str("the upload")?,
            StreamWork::Download => f.write_str("the download")?,
            StreamWork::Copy => f.write_str("the copy")?,
            StreamWork::Launch(kernel) => {
                write!(f, "the launch of `{}` ({}:{})", kernel.name, kernel.file, kernel.line)?
            }
        }
        match stream {
            Some((device, stream)) => write!(f, " asked at {asked_at} of stream {stream} of device {device}")?,
            None => write!(f, " asked at {asked_at} of the device itself")?,
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
            "race of streams for {bytes} bytes: {earlier}, and {later}, with nothing that orders them: record an event after the \
             one, and let the other's stream wait for it"
        )
    }
}
