//! Products of matrices that are split over a team, the devices of all ranks.
//!
//! # Design
//!
//! *A* and *C* are split by rows, and *B* by columns: each member has a panel of it. In round r of a run, member i
//! multiplies its rows of *A* by the panel of member i + r, so in the first round by its own. Meanwhile a stream of the
//! member copies the panel of the next round to one of two buffers. In each round, each panel is copied to one member.
//!
//! One member computes all of a sum, and the plan of each part depends on the sizes of the whole product
//! (`MatmulOptions::part_of`). The bits are therefore those of one device.

use cuda_std::GpuFloat;
use gridstride::matmul::{Layout, Matmul, MatmulElement, MatmulOptions, Output};
use launch::{Buffer, Event, TensorElement};

use crate::error::MultiError;
use crate::team::Team;
use member::Member;
use panels::Panels;

mod member;
mod panels;

/// The product *C* = α·*A*·*B* + β·*C* of matrices that are split over a team. It owns the device memory that it needs,
/// so a run allocates no device memory.
///
/// Each member has some rows of *A* and *C* and some columns of *B*, which may be any numbers, also 0. The methods for
/// the epilogue are those of [`Matmul`]. The result has the bits of [`Matmul`] with the same options on one device, if
/// all devices are of the same model.
///
/// ```
/// use launch::Group;
/// use multi::matmul::SplitMatmul;
/// use multi::ranks::alone;
/// use multi::team::Team;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (group, ranks) = (Group::open(&"sim:2".parse()?, gridstride::MODULES)?, alone());
/// let team = Team::new(&group, &ranks)?;
/// let [first, second] = group.members() else { return Ok(()) };
/// // A is 1 2, 3 4, 5 6: the first member has two rows. B is 1 0 2, 0 1 2: the first member has two columns.
/// let a = [first.upload(&[1.0_f32, 2.0, 3.0, 4.0])?, second.upload(&[5.0, 6.0])?];
/// let b = [first.upload(&[1.0, 0.0, 0.0, 1.0])?, second.upload(&[2.0, 2.0])?];
/// let mut c = [first.alloc(6)?, second.alloc(3)?];
/// let mut product = SplitMatmul::<f32>::new(&team, [3, 3, 2])?;
/// product.run(&a, &b, &mut c)?;
/// assert_eq!(c[0].download()?, [1.0, 2.0, 6.0, 3.0, 4.0, 14.0]);
/// assert_eq!(c[1].download()?, [5.0, 6.0, 22.0]);
/// # Ok(())
/// # }
/// ```
pub struct SplitMatmul<'t, T: MatmulElement, C: Output<T::Sum> + TensorElement = <T as MatmulElement>::Result> {
    team: &'t Team<'t>,
    division: Division,
    members: Vec<Member<T, C>>,
    panels: Panels<T>,
}

/// The sizes of the parts of all members.
struct Division {
    /// The numbers of rows of *A* and *C* of all members.
    rows: Vec<usize>,
    /// The numbers of columns of the panels of all members.
    columns: Vec<usize>,
    n: usize,
    k: usize,
}

impl Division {
    /// Returns the number of elements of a member's panel.
    fn panel_len(&self, member: usize) -> usize {
        self.columns[member].saturating_mul(self.k)
    }

    /// Returns the number of the panel that a member multiplies in a round, or `None` if the member has nothing to
    /// multiply.
    fn panel(&self, member: usize, round: usize) -> Option<usize> {
        let panel = (member + round) % self.rows.len();
        (self.rows[member] > 0 && self.columns[panel] > 0).then_some(panel)
    }
}

impl<'t, T: MatmulElement, C: Output<T::Sum> + TensorElement> SplitMatmul<'t, T, C> {
    /// Returns the product of an *A* of `m` × `k` and a *B* of `k` × `n` elements in row-major order. The rows of *A*
    /// and *C* and the columns of *B* are divided evenly, as by [`Team::segment`].
    ///
    /// # Errors
    /// Returns the errors of [`with_options`](Self::with_options).
    pub fn new(team: &'t Team<'t>, [m, n, k]: [usize; 3]) -> Result<Self, MultiError> {
        let [rows, columns] = [m, n].map(|size| team.segments(size).map(|part| part.len()).collect::<Vec<_>>());
        Self::with_options(team, &MatmulOptions::row_major([m, n, k]), &rows, &columns)
    }

    /// Returns the product with any division. `options` must describe the whole product. `rows` are the numbers of rows
    /// of *A* and *C*, and `columns` those of columns of *B*, of this rank's devices.
    ///
    /// The parts have no gaps between their rows. They are transposed if the layouts of the options are. A product by
    /// tensor cores is faster if the columns of each panel, except in a transposed *B*, are a multiple of 16 bytes.
    ///
    /// # Errors
    /// Returns [`MultiError::Matrices`] if the rows or columns of all members are not those of the whole product, or if
    /// the options are for a batch or for matrices with gaps. Returns the errors of [`Matmul::with_options`].
    pub fn with_options(
        team: &'t Team<'t>,
        options: &MatmulOptions,
        rows: &[usize],
        columns: &[usize],
    ) -> Result<Self, MultiError> {
        let division = divide(team, options, rows, columns)?;
        let mut members = Vec::with_capacity(rows.len());
        for (number, device) in team.devices().iter().enumerate() {
            members.push(Member::new(device, team.first() + number, options, &division)?);
        }
        let panels = Panels::new(team, &division)?;
        Ok(Self { team, division, members, panels })
    }

    /// Sets the factor α of the product.
    #[must_use]
    pub fn alpha(self, alpha: T::Sum) -> Self {
        self.map(|product| product.alpha(alpha))
    }

    /// Sets the factor β of the previous *C*. If it is 0, *C* is not read.
    #[must_use]
    pub fn beta(self, beta: T::Sum) -> Self {
        self.map(|product| product.beta(beta))
    }

    /// Replaces negative results by zero, as the last step.
    #[must_use]
    pub fn relu(self) -> Self {
        self.map(Matmul::relu)
    }

    /// Applies the Gaussian error linear unit, in its approximation by tanh, to the results, as the last step.
    #[must_use]
    pub fn gelu(self) -> Self
    where
        T::Sum: GpuFloat,
    {
        self.map(Matmul::gelu)
    }

    fn map(mut self, change: impl Fn(Matmul<T, C>) -> Matmul<T, C>) -> Self {
        self.members = self.members.into_iter().map(|member| member.map(&change)).collect();
        self
    }

    /// Returns the number of bytes of temporary storage on this rank's devices.
    pub fn temporary_bytes(&self) -> u64 {
        self.members.iter().map(Member::temporary_bytes).sum::<u64>() + self.panels.bytes()
    }

    /// Enqueues the product on the devices. `a`, `b` and `c` have a buffer per device of this rank: its rows of *A*,
    /// its panel of *B*, and its rows of *C*.
    ///
    /// On GPUs this function returns before the kernels have finished, unless there are several ranks. Later work of
    /// the devices sees the result and may change the operands.
    ///
    /// # Errors
    /// Returns an error if there is not one buffer per device, or if a buffer does not have the size of its part.
    /// Otherwise returns the errors of [`Matmul::run`], and an error if another rank has ended.
    pub fn run(&mut self, a: &[Buffer<T>], b: &[Buffer<T>], c: &mut [Buffer<C>]) -> Result<(), MultiError> {
        self.run_with(a, b, c, None)
    }

    /// Does the same as [`run`](Self::run), and adds element *j* of a bias to each element of column *j* of *C*, before
    /// an activation. Each device has the whole bias.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub fn run_with_bias(
        &mut self,
        a: &[Buffer<T>],
        b: &[Buffer<T>],
        c: &mut [Buffer<C>],
        bias: &[Buffer<C>],
    ) -> Result<(), MultiError> {
        self.run_with(a, b, c, Some(bias))
    }

    fn run_with(
        &mut self,
        a: &[Buffer<T>],
        b: &[Buffer<T>],
        c: &mut [Buffer<C>],
        bias: Option<&[Buffer<C>]>,
    ) -> Result<(), MultiError> {
        self.check(a, b, c, bias)?;
        let Self { team, division, members, panels } = self;
        panels.begin(team, b)?;
        // The event of each member after which it has used the buffer that the next copy overwrites.
        let mut free: Vec<Event> = Vec::new();
        for round in 0..team.members() {
            let mut done = Vec::with_capacity(members.len());
            for (number, member) in members.iter_mut().enumerate() {
                let queue = team.devices()[number].queue();
                if let Some(panel) = division.panel(team.first() + number, round) {
                    let from = panels.arrived(queue, number, round, b)?;
                    let bias = bias.map(|bias| &bias[number]);
                    member.multiply(queue, division, panel, [&a[number], from], &mut c[number], bias)?;
                }
                done.push(queue.record()?);
            }
            if round + 1 < team.members() {
                panels.fetch(team, division, round + 1, b, &free)?;
            }
            free = done;
        }
        Ok(())
    }

    /// Checks that each buffer has the size of its part.
    fn check(
        &self,
        a: &[Buffer<T>],
        b: &[Buffer<T>],
        c: &[Buffer<C>],
        bias: Option<&[Buffer<C>]>,
    ) -> Result<(), MultiError> {
        self.team.check("multiply rows of A", a)?;
        self.team.check("multiply panels of B", b)?;
        self.team.check("multiply into rows of C", c)?;
        bias.map_or(Ok(()), |bias| self.team.check("add a bias", bias))?;
        let Division { rows, columns, n, k } = &self.division;
        for number in 0..a.len() {
            let member = self.team.first() + number;
            let (rows, columns) = (rows[member], columns[member]);
            let of_bias = bias.map(|bias| ("the bias", bias[number].len(), 1, *n));
            let parts = [
                ("A", a[number].len(), rows, *k),
                ("B", b[number].len(), *k, columns),
                ("C", c[number].len(), rows, *n),
            ];
            for (what, len, rows, columns) in parts.into_iter().chain(of_bias) {
                if rows.checked_mul(columns) != Some(len) {
                    return Err(MultiError::Matrices(format!(
                        "the part of {what} of member {member} is {rows} x {columns}, but its buffer has {len} \
                         elements: pass {}",
                        rows.saturating_mul(columns)
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Returns the division of the product `options` by the parts of all ranks. `rows` and `columns` are those of this
/// rank's devices.
fn divide(team: &Team<'_>, options: &MatmulOptions, rows: &[usize], columns: &[usize]) -> Result<Division, MultiError> {
    let (devices, [a, b]) = (team.devices().len(), [options.a, options.b]);
    for (what, parts) in [("divide the rows of a matrix", rows), ("divide the columns of a matrix", columns)] {
        if parts.len() != devices {
            return Err(launch::Error::LengthMismatch { what, buffer: devices, other: parts.len() }.into());
        }
    }
    let gathered = |own: &[usize]| -> Result<Vec<usize>, MultiError> {
        let own: Vec<u64> = own.iter().map(|&len| len as u64).collect();
        Ok(team.gather(&own)?.into_iter().map(|len| len as usize).collect())
    };
    let (rows, columns) = (gathered(rows)?, gathered(columns)?);
    for (what, parts, whole) in [("rows of A", &rows, a.rows()), ("columns of B", &columns, b.columns())] {
        let sum = parts.iter().fold(0, |sum: usize, &part| sum.saturating_add(part));
        if sum != whole {
            let text = format!("the members have {sum} {what}, but the product has {whole}: divide {whole}");
            return Err(MultiError::Matrices(text));
        }
    }
    for layout in [a, b] {
        if layout != part(layout, layout.rows(), layout.columns()) {
            let text = format!("{layout} cannot be split: use the layout of one matrix without gaps");
            return Err(MultiError::Matrices(text));
        }
    }
    Ok(Division { rows, columns, n: b.columns(), k: a.columns() })
}

/// Returns the layout of a part of `rows` × `columns` elements, without gaps, which is transposed if `whole` is.
fn part(whole: Layout, rows: usize, columns: usize) -> Layout {
    if whole.is_transposed() { Layout::row_major(columns, rows).t() } else { Layout::row_major(rows, columns) }
}
