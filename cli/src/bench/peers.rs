//! Measures NVIDIA's libraries on the memory of our rungs, through the library of `bench/peers/`, which calls them.
//!
//! # Design
//!
//! This process loads the library of `bench/peers/`. The library's calls use the memory and the stream of the last
//! rung, and alternate with the rung's runs. In another process the times of the same kernels differed, depending on
//! the addresses of their buffers: by up to 0.1 µs for small inputs and by up to 2 % for large ones.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::rc::Rc;

use anyhow::{Context, anyhow};
use launch::Device;
use libloading::Library;
use workbench::algorithm::Shape;
use workbench::bench::{PeersAbout, Sweep};

/// The remedy if the library of `bench/peers/` is missing.
const REMEDY: &str = "cargo xtask bench --build makes it, on a machine with nvcc and a GPU";

/// The type of a function that returns a text. `bench/peers/peers.cu` declares the functions of this and the next
/// types.
type Say = unsafe extern "C" fn() -> *const c_char;
type Open = unsafe extern "C" fn(*const c_char, *const c_char, usize, usize, *mut c_void) -> *mut c_void;
type Name = unsafe extern "C" fn(*const c_void) -> *const c_char;
type Call = unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void);

/// The loaded library of `bench/peers/`.
#[derive(Debug)]
pub struct Peers {
    about: PeersAbout,
    error: Say,
    open: Open,
    name: Name,
    call: Call,
    close: Close,
    /// The handle that keeps the library's functions loaded.
    _library: Library,
}

impl Peers {
    /// Loads the library at `path`.
    ///
    /// # Errors
    /// If the library cannot be loaded, or is not the library of `bench/peers/`.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        // The loader would search its own folders for a name without a folder.
        let file = std::path::absolute(path).with_context(|| format!("cannot find '{}'", path.display()))?;
        let load = || -> Result<_, libloading::Error> {
            // SAFETY: `--peers` names the library of `bench/peers/`, whose functions have these types and which runs no
            // code when it is loaded.
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
        // SAFETY: `peers_about` takes no arguments.
        let about = text(unsafe { say() }).ok_or_else(|| peers.failure())?;
        let about = serde_json::from_str(&about)
            .context("the peers' library does not fit this program: run cargo xtask bench --build to make it again")?;
        Ok(Self { about, ..peers })
    }

    /// Returns the versions of NVIDIA's libraries, and the algorithm and element type of each peer.
    pub fn about(&self) -> &PeersAbout {
        &self.about
    }

    /// Opens the peer of `sweep`, NVIDIA's function for the same work, at the size `shape`. The peer enqueues its calls
    /// on the stream of `device`. Returns `None` if the library has no such peer.
    ///
    /// # Errors
    /// If the library fails.
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
        // SAFETY: both texts end with a zero and outlive the call. The stream belongs to a device whose context is
        // current. `Peer` closes the result.
        let peer = unsafe { (self.open)(name.as_ptr(), variant.as_ptr(), width, height, stream) };
        let peer = NonNull::new(peer).ok_or_else(|| self.failure())?;
        Ok(Some(Peer { peers: Rc::clone(self), peer }))
    }

    /// Returns the error of the last call.
    fn failure(&self) -> anyhow::Error {
        // SAFETY: `peers_error` takes no arguments.
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
    /// Returns the peer's name, such as "CUB".
    pub fn name(&self) -> String {
        // SAFETY: the peer stays open until it is dropped.
        text(unsafe { (self.peers.name)(self.peer.as_ptr()) }).unwrap_or_default()
    }

    /// Enqueues a call that reads `x` and writes `y`.
    ///
    /// # Errors
    /// If the library fails.
    ///
    /// # Safety
    /// `x` and `y` must be the addresses of the input and the output. Both must have the size for which the peer was
    /// opened, and must stay valid until the call has finished on the device.
    pub unsafe fn call(&self, [x, y]: [usize; 2]) -> anyhow::Result<()> {
        let (x, y) = (std::ptr::with_exposed_provenance_mut(x), std::ptr::with_exposed_provenance_mut(y));
        // SAFETY: the peer is open; the caller guarantees the memory at `x` and `y`.
        match unsafe { (self.peers.call)(self.peer.as_ptr(), x, y) } {
            0 => Err(self.peers.failure()),
            _ => Ok(()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: the peer is open, and nothing uses it after this.
        unsafe { (self.peers.close)(self.peer.as_ptr()) };
    }
}

/// Copies a text that ends with a zero; returns `None` for null.
fn text(text: *const c_char) -> Option<String> {
    // SAFETY: a function of the library returned `text`: null, or a text that ends with a zero and is not yet freed.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
