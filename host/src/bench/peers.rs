//! NVIDIA's libraries beside ours: the library of `bench/peers/`, whose calls are measured as our own runs are, on the
//! same memory.
//!
//! # Design
//!
//! The library is loaded into this process, and its calls run on the memory of the last rung, in its stream and in
//! turns with its runs. In a process of their own the same kernels differed by up to 0.1 µs for small works, and by up
//! to 2 % for large ones, depending on where their buffers lay.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::rc::Rc;

use anyhow::{Context, anyhow};
use launch::Device;
use libloading::Library;
use workbench::algorithm::Shape;
use workbench::bench::{PeersAbout, Sweep};

/// How to come by the library.
const REMEDY: &str = "cargo xtask bench --build makes it, on a machine with nvcc and a GPU";

/// Its functions, as `bench/peers/peers.cu` declares them.
type Say = unsafe extern "C" fn() -> *const c_char;
type Open = unsafe extern "C" fn(*const c_char, *const c_char, usize, usize, *mut c_void) -> *mut c_void;
type Name = unsafe extern "C" fn(*const c_void) -> *const c_char;
type Call = unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void);

/// The peers' library.
#[derive(Debug)]
pub struct Peers {
    about: PeersAbout,
    error: Say,
    open: Open,
    name: Name,
    call: Call,
    close: Close,
    /// Where the functions are.
    _library: Library,
}

impl Peers {
    /// The library at `path`.
    ///
    /// # Errors
    /// When it cannot be loaded, or is another library.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        // A name alone is a file here, and none to be looked for where libraries are.
        let file = std::path::absolute(path).with_context(|| format!("cannot find '{}'", path.display()))?;
        let load = || -> Result<_, libloading::Error> {
            // SAFETY: the user names it as this library, whose functions have these types, and do nothing when it is
            // loaded.
            unsafe {
                let library = Library::new(&file)?;
                let (say, error): (Say, Say) = (*library.get("peers_about")?, *library.get("peers_error")?);
                let (open, name) = (*library.get("peers_open")?, *library.get("peers_name")?);
                let (call, close) = (*library.get("peers_call")?, *library.get("peers_close")?);
                Ok((say, Self { about: PeersAbout::default(), error, open, name, call, close, _library: library }))
            }
        };
        let (say, peers) =
            load().with_context(|| format!("'{}' is not the peers' library: {REMEDY}", path.display()))?;
        // SAFETY: it gives a text that ends with a zero and stays, or null.
        let about = text(unsafe { say() }).ok_or_else(|| peers.failure())?;
        let about = serde_json::from_str(&about).context("the peers' library does not say what it is")?;
        Ok(Self { about, ..peers })
    }

    /// What it says of itself.
    pub fn about(&self) -> &PeersAbout {
        &self.about
    }

    /// Its peer of a work at a size, to run in the device's stream. None where it has none.
    ///
    /// # Errors
    /// When the library fails.
    pub fn open(self: &Rc<Self>, device: &Device, sweep: &Sweep, shape: Shape) -> anyhow::Result<Option<Peer>> {
        let name = format!("{} {}", sweep.subject.name(), sweep.number);
        if !self.about.works.contains(&name) {
            return Ok(None);
        }
        let (width, height) = match shape {
            Shape::Vector(n) => (n, 1),
            Shape::Plane(size) => (size.width, size.height),
        };
        let (name, variant) = (CString::new(name)?, CString::new(sweep.variant.unwrap_or_default())?);
        let stream = device.raw_stream()?;
        // SAFETY: two texts that end with a zero, and the stream of a device whose context is current; what it gives is
        // kept in `Peer`, which closes it.
        let peer = unsafe { (self.open)(name.as_ptr(), variant.as_ptr(), width, height, stream) };
        let peer = NonNull::new(peer).ok_or_else(|| self.failure())?;
        Ok(Some(Peer { peers: Rc::clone(self), peer }))
    }

    /// Why the last call failed.
    fn failure(&self) -> anyhow::Error {
        // SAFETY: it gives a text that ends with a zero.
        anyhow!("{}", text(unsafe { (self.error)() }).unwrap_or_default())
    }
}

/// A function of NVIDIA's libraries, ready to be called.
#[derive(Debug)]
pub struct Peer {
    peers: Rc<Peers>,
    peer: NonNull<c_void>,
}

impl Peer {
    /// What it is called: "CUB".
    pub fn name(&self) -> String {
        // SAFETY: the peer is open, and the text stays as long.
        text(unsafe { (self.peers.name)(self.peer.as_ptr()) }).unwrap_or_default()
    }

    /// Asks the stream for it, from `x` to `y`.
    ///
    /// # Errors
    /// What the library says.
    ///
    /// # Safety
    /// At these addresses there must be what the work reads and writes, of the size that it was opened for, until it is
    /// done.
    pub unsafe fn call(&self, [x, y]: [usize; 2]) -> anyhow::Result<()> {
        let (x, y) = (std::ptr::with_exposed_provenance_mut(x), std::ptr::with_exposed_provenance_mut(y));
        // SAFETY: the peer is open; the memory is the caller's word.
        match unsafe { (self.peers.call)(self.peer.as_ptr(), x, y) } {
            0 => Err(self.peers.failure()),
            _ => Ok(()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: it is open, and not used again.
        unsafe { (self.peers.close)(self.peer.as_ptr()) };
    }
}

/// A text that ends with a zero; none for null.
fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the library's functions give such texts, or null.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
