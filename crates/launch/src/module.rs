//! PTX modules, the search for the module that contains a kernel, and the choice of the image that a GPU loads.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flate2::read::DeflateDecoder;

use crate::ptx::Outline;
use crate::unavailable::Unavailable;
use crate::version::CudaVersion;

/// The PTX of the kernels of one Rust module and of the modules nested in it.
#[derive(Clone, Copy, Debug)]
pub struct PtxModule {
    /// The path of the Rust module, as `module_path!()` returns it: `"gpu::life"`. A kernel belongs to the `PtxModule`
    /// with the longest path that names the kernel's Rust module or a module around it.
    pub path: &'static str,
    /// The PTX of the same kernels for several architectures. A GPU loads the highest one that it and its driver
    /// support. The slice is empty if the build found no compiler for kernels: such a program runs only in the
    /// simulator.
    pub images: &'static [PtxImage],
}

/// The PTX of one module for one architecture and, unless the image is [specific](Self::specific), all later ones.
#[derive(Clone, Copy, Debug)]
pub struct PtxImage {
    /// The architecture: 70 for `sm_70`.
    pub arch: u32,
    bytes: &'static [u8],
    is_deflated: bool,
    is_compiled_at_open: bool,
    is_specific: bool,
    machine_code: Option<&'static [u8]>,
}

/// The number of bytes at the start of an image that contain its version and its target.
const HEAD: u64 = 4096;

impl PtxImage {
    /// Creates an image from the PTX `text`.
    pub const fn new(arch: u32, text: &'static str) -> Self {
        Self::of(arch, text.as_bytes(), false)
    }

    /// Creates an image from PTX compressed by DEFLATE (RFC 1951), for programs with much PTX. If the bytes are
    /// invalid, the driver gets the text up to the error.
    pub const fn deflated(arch: u32, bytes: &'static [u8]) -> Self {
        Self::of(arch, bytes, true)
    }

    const fn of(arch: u32, bytes: &'static [u8], is_deflated: bool) -> Self {
        Self { arch, bytes, is_deflated, is_compiled_at_open: false, is_specific: false, machine_code: None }
    }

    /// Restricts the image to GPUs of its own compute capability. PTX whose target ends in `a`, such as `sm_90a`, runs
    /// on no other GPU.
    #[must_use]
    pub const fn specific(self) -> Self {
        Self { is_specific: true, ..self }
    }

    /// Returns true if GPUs of the architecture `gpu`, such as 90, can run the image.
    pub fn runs_on(&self, gpu: u32) -> bool {
        if self.is_specific { self.arch == gpu } else { self.arch <= gpu }
    }

    /// Makes the driver compile the kernels of this image as soon as a GPU is opened: see
    /// [`Device::open`](crate::Device::open). The images of [`include_ptx!`](crate::include_ptx) have this property.
    pub const fn compiled_at_open(self) -> Self {
        Self { is_compiled_at_open: true, ..self }
    }

    pub(crate) fn is_compiled_at_open(&self) -> bool {
        self.is_compiled_at_open
    }

    /// Adds the machine code of the same kernels, which `ptxas -arch=sm_<arch>` made from the PTX. A GPU of the same
    /// major compute capability and the same or a later minor one loads this machine code, so that the driver compiles
    /// nothing. Any other GPU loads the PTX, and so does a GPU whose driver refuses the machine code. Launches with
    /// tables need the PTX, too.
    #[must_use]
    pub const fn with_machine_code(self, cubin: &'static [u8]) -> Self {
        Self { machine_code: Some(cubin), ..self }
    }

    /// Returns the machine code, if there is any that a GPU of `capability` can run.
    pub(crate) fn machine_code_for(&self, capability: (u32, u32)) -> Option<&'static [u8]> {
        let is_compatible = self.runs_on(arch(capability)) && self.arch / 10 == capability.0;
        self.machine_code.filter(|_| is_compatible)
    }

    /// Returns the PTX.
    pub fn text(&self) -> Cow<'static, str> {
        self.read(u64::MAX)
    }

    /// Returns the PTX as shared text. An image is decompressed only once.
    pub(crate) fn shared_text(&'static self) -> Arc<str> {
        static TEXTS: Mutex<BTreeMap<usize, Arc<str>>> = Mutex::new(BTreeMap::new());
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        texts.entry(std::ptr::from_ref(self).addr()).or_insert_with(|| self.text().into()).clone()
    }

    /// Returns the [`Outline`] of the PTX, or `None` if single kernels cannot be extracted from it. The text is parsed
    /// once.
    pub(crate) fn outline(&'static self) -> Option<&'static Outline> {
        static OUTLINES: Mutex<BTreeMap<usize, &OnceLock<Option<Outline>>>> = Mutex::new(BTreeMap::new());
        let mut outlines = OUTLINES.lock().unwrap_or_else(PoisonError::into_inner);
        let outline = *outlines.entry(std::ptr::from_ref(self).addr()).or_insert_with(|| Box::leak(Box::default()));
        drop(outlines);
        outline.get_or_init(|| Outline::new(self.shared_text())).as_ref()
    }

    /// Returns the image's PTX, or about the first `max` bytes if the image is compressed.
    fn read(&self, max: u64) -> Cow<'static, str> {
        if !self.is_deflated {
            return String::from_utf8_lossy(self.bytes);
        }
        let mut text = Vec::new();
        // On an error, the bytes read so far are kept.
        let _ = DeflateDecoder::new(self.bytes).take(max).read_to_end(&mut text);
        String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()).into()
    }

    /// Finds the first line at the start of the image's PTX that begins with `word`, and returns the rest of that line.
    fn stated(&self, word: &str) -> Option<String> {
        let head = self.read(HEAD);
        head.lines().find_map(|line| line.trim_start().strip_prefix(word)).map(|rest| rest.trim().to_owned())
    }

    /// Returns the compiler that made the PTX, if a comment at the start of the PTX names it.
    pub fn compiler(&self) -> Option<String> {
        self.stated("// compiler: ")
    }

    /// Returns the lowest CUDA version whose drivers support this PTX, from its `.version`, or `None` if the PTX has no
    /// `.version`. In that case only the driver can decide.
    pub(crate) fn needs(&self) -> Option<CudaVersion> {
        let version = self.stated(".version")?;
        let (major, minor) = version.split_whitespace().next()?.split_once('.')?;
        Some(CudaVersion::reading_ptx(major.parse().ok()?, minor.parse().ok()?))
    }
}

/// Expands to the PTX modules that the project's build script compiled with `cuda_builder`'s `CudaBuilder::embed`. The
/// argument is the library name of the kernels' crate. Pass the result to [`Device::open`](crate::Device::open), which
/// begins to compile all these kernels for a GPU.
///
/// ```ignore
/// let device = Device::open(DeviceChoice::Auto, launch::include_ptx!("mine_kernels"))?;
/// ```
#[macro_export]
macro_rules! include_ptx {
    ($name:literal) => {{
        #[allow(unused_imports, reason = "there may be no image")]
        use $crate::{PtxImage, PtxModule};
        #[allow(unexpected_cfgs, reason = "rust-analyzer sets `rust_analyzer`, and rustc does not know it")]
        const MODULES: &[PtxModule] = {
            // rust-analyzer knows `OUT_DIR` only after it has run the build scripts, and not the second argument of
            // `env!`. It reads an empty list instead of reporting an error.
            #[cfg(rust_analyzer)]
            const EMBEDDED: &[PtxModule] = &[];
            #[cfg(not(rust_analyzer))]
            const EMBEDDED: &[PtxModule] = include!(concat!(
                env!(
                    "OUT_DIR",
                    "there is no build script: `include_ptx!` needs a build.rs that calls CudaBuilder::embed"
                ),
                "/",
                $name,
                ".rs"
            ));
            EMBEDDED
        };
        MODULES
    }};
}

/// Returns the number of the architecture with the compute capability `major.minor`, such as 90 for 9.0.
pub(crate) fn arch((major, minor): (u32, u32)) -> u32 {
    10 * major + minor
}

/// Returns the index in `modules` of the module to which the Rust module `declared_in` belongs. Modules with the same
/// images share one index, so that all their kernels use the same statics.
pub(crate) fn find(modules: &[PtxModule], declared_in: &str) -> Option<usize> {
    let found =
        (0..modules.len()).filter(|&i| modules[i].contains(declared_in)).max_by_key(|&i| modules[i].path.len())?;
    let shares = |module: &PtxModule| std::ptr::eq(module.images, modules[found].images);
    if modules[found].images.is_empty() { Some(found) } else { modules.iter().position(shares) }
}

impl PtxModule {
    /// Returns true if the Rust module `declared_in` is the module of these kernels or nested in it.
    pub fn contains(&self, declared_in: &str) -> bool {
        declared_in.strip_prefix(self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }

    /// Returns the images that GPUs of the architecture `gpu`, such as 90, can run, best first.
    pub fn images_for(&self, gpu: u32) -> Vec<&'static PtxImage> {
        let mut images: Vec<_> = self.images.iter().filter(|image| image.runs_on(gpu)).collect();
        images.sort_by_key(|image| std::cmp::Reverse((image.arch, image.is_specific)));
        images
    }

    /// Checks that the GPU `name` can run an image of this module. `capability` is the GPU's compute capability, and
    /// `driver` is the CUDA version that its driver supports.
    pub(crate) fn check(&self, name: &str, capability: (u32, u32), driver: CudaVersion) -> Result<(), Unavailable> {
        if self.images.is_empty() {
            return Err(Unavailable::NotBuilt { module: self.path });
        }
        let images = self.images_for(arch(capability));
        if images.is_empty()
            && let Some(lowest) = self.images.iter().map(|image| image.arch).min()
        {
            let need = (lowest / 10, lowest % 10);
            return Err(Unavailable::TooOldGpu { name: name.to_owned(), have: capability, need });
        }
        let needs: Vec<_> = images.iter().map(|image| image.needs()).collect();
        match needs.iter().flatten().min() {
            Some(&need) if need > driver && needs.iter().all(Option::is_some) => {
                Err(Unavailable::TooOldDriver { have: driver, need })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use cuda_std::KernelInfo;
    use flate2::write::DeflateEncoder;

    use super::*;

    const SM_70: PtxImage = PtxImage::new(70, "//\n// made by LLVM\n//\n\n.version 7.0\n.target sm_70\n");
    const SM_90: PtxImage = PtxImage::new(90, ".version 7.8\n.target sm_90\n");
    const BOTH: PtxModule = PtxModule { path: "gpu::life", images: &[SM_70, SM_90] };

    fn kernel(module: &'static str) -> KernelInfo {
        KernelInfo::new("k", module, "k.rs", 1)
    }

    #[test]
    fn a_kernel_belongs_to_the_longest_path_that_contains_it() {
        let module = |path| PtxModule { path, images: &[] };
        let modules = [module("gpu"), module("gpu::life::fast"), module("gpu::life"), module("other")];
        let found = |path| find(&modules, kernel(path).module).map(|i| modules[i].path);
        assert_eq!(found("gpu"), Some("gpu"));
        assert_eq!(found("gpu::saxpy"), Some("gpu"));
        assert_eq!(found("gpu::life"), Some("gpu::life"));
        assert_eq!(found("gpu::life::global"), Some("gpu::life"));
        assert_eq!(found("gpu::life::fast::wide"), Some("gpu::life::fast"));
        // A path matches whole names only.
        assert_eq!(found("gpu::life::faster"), Some("gpu::life"));
        assert_eq!(found("gpu::lifetime"), Some("gpu"));
        assert_eq!(found("gpu2"), None);
        assert_eq!(found("others"), None);
        assert_eq!(find(&[], kernel("gpu").module), None);
        // Libraries in the same images are one module.
        const SHARED: &[PtxModule] = {
            static IMAGES: [PtxImage; 1] = [SM_70];
            &[PtxModule { path: "first", images: &IMAGES }, PtxModule { path: "second", images: &IMAGES }]
        };
        assert_eq!(find(SHARED, "second::inner"), Some(0));
    }

    #[test]
    fn a_text_is_parsed_once_and_a_static_affects_its_own_entry_only() {
        static IMAGE: PtxImage = PtxImage::new(
            70,
            ".version 7.0\n.target sm_70\n.visible .global .b32 all;\n.entry a()\n{\n}\n.entry b()\n{\n\tuse all;\n}\n",
        );
        let outline = IMAGE.outline().unwrap();
        assert!(std::ptr::eq(outline, IMAGE.outline().unwrap()));
        let [Some(a), None, None] = ["a", "b", "c"].map(|entry| outline.part(&[entry])) else { panic!("not one text") };
        assert!(a.contains(".entry a()") && !a.contains("all") && !a.contains(".entry b()"), "{a}");
        static NONE: PtxImage = PtxImage::new(70, ".version 7.0\n.section .debug_info { }\n");
        assert!(NONE.outline().is_none());
    }

    #[test]
    fn the_best_image_is_the_highest_that_the_gpu_runs() {
        let best = |capability| BOTH.images_for(arch(capability)).iter().map(|image| image.arch).collect::<Vec<_>>();
        assert_eq!(best((9, 0)), [90, 70]);
        assert_eq!(best((12, 0)), [90, 70]);
        assert_eq!(best((8, 9)), [70]);
        assert_eq!(best((7, 0)), [70]);
        assert!(best((6, 1)).is_empty());
    }

    #[test]
    fn a_specific_image_is_for_its_own_gpus_alone_and_comes_first() {
        const SPECIFIC: PtxModule = PtxModule { path: "m", images: &[SM_70, SM_90, SM_90.specific()] };
        let best =
            |gpu| SPECIFIC.images_for(gpu).iter().map(|image| (image.arch, image.is_specific)).collect::<Vec<_>>();
        assert_eq!(best(90), [(90, true), (90, false), (70, false)]);
        assert_eq!(best(100), [(90, false), (70, false)]);
    }

    #[test]
    fn machine_code_is_for_one_major_version() {
        let image = PtxImage::new(86, "").with_machine_code(b"code");
        for (capability, runs) in [((8, 6), true), ((8, 9), true), ((8, 0), false), ((9, 0), false), ((12, 0), false)] {
            assert_eq!(image.machine_code_for(capability).is_some(), runs, "{capability:?}");
        }
        assert_eq!(SM_90.machine_code_for((9, 0)), None);
    }

    #[test]
    fn the_version_is_read_from_the_ptx() {
        assert_eq!(SM_70.needs(), Some(CudaVersion::new(11, 0)));
        assert_eq!(SM_90.needs(), Some(CudaVersion::new(11, 8)));
        assert_eq!(PtxImage::new(70, "nonsense").needs(), None);
    }

    #[test]
    fn compressed_ptx_is_the_same_text() {
        let text = format!("// compiler: some\n{}{}", SM_90.text(), "add.s32 %r1, %r2, %r3;\n".repeat(1000));
        let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let bytes = encoder.finish().unwrap().leak();
        let image = PtxImage::deflated(90, bytes);
        assert!(bytes.len() < text.len() / 10 && image.text() == text);
        assert_eq!((image.needs(), image.compiler().as_deref()), (SM_90.needs(), Some("some")));
        // A truncated image returns the text up to the end of its bytes, which no driver accepts.
        let cut = PtxImage::deflated(90, &bytes[..bytes.len() / 2]).text();
        assert!(text.starts_with(&*cut) && cut.len() < text.len());
    }

    #[test]
    fn a_module_that_was_not_built_runs_on_no_gpu() {
        let module = PtxModule { path: "kernels", images: &[] };
        let error = module.check("GPU X", (9, 0), CudaVersion::new(12, 0)).unwrap_err();
        assert_eq!(error, Unavailable::NotBuilt { module: "kernels" });
        assert!(error.to_string().contains("no PTX of `kernels`"), "{error}");
    }

    #[test]
    fn an_old_gpu_and_an_old_driver_are_different_errors() {
        let check = |capability, driver| BOTH.check("GPU X", capability, driver);
        assert_eq!(check((9, 0), CudaVersion::new(12, 0)), Ok(()));
        // This driver does not support the sm_90 image, but it supports the sm_70 one.
        assert_eq!(check((9, 0), CudaVersion::new(11, 4)), Ok(()));
        let old = CudaVersion::new(10, 2);
        let error = check((7, 5), old).unwrap_err();
        assert_eq!(error, Unavailable::TooOldDriver { have: old, need: CudaVersion::new(11, 0) });
        assert!(error.remedy().contains("CUDA 11.0"), "{}", error.remedy());
        let error = check((6, 1), CudaVersion::new(12, 0)).unwrap_err();
        assert_eq!(error.to_string(), "GPU X has compute capability 6.1, and the kernels need 7.0");
    }
}
