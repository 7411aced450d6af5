//! The library's types of select, for any element type and criterion.

use launch::{Buffer, Device, Held, Queue, Resources};

use super::inputs::SelectInput;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::vectors::Vectors;
use gridstride::numbers::Number;
use gridstride::select::{NumberFormat, RunElement, RunLengthEncoder, SelectElement, SelectRung, Selection, Selector};

/// A [`Selector`] with its criterion, for any element type.
pub(super) trait AnySelector: Resources {
    fn run(
        &mut self,
        queue: Queue<'_>,
        input: &SelectInput,
        vectors: Vectors<'_>,
        flags: &Buffer<u8>,
        count: &mut Buffer<u64>,
    ) -> Result<(), WorkbenchError>;

    fn compare(&self, input: &SelectInput, count: u64, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError>;

    /// Clears what the last run wrote beside the vectors.
    fn reset(&mut self) -> Result<(), WorkbenchError> {
        Ok(())
    }

    fn temporary_bytes(&self) -> u64;
}

pub(super) struct Criterion<T: SelectElement<C>, C> {
    selector: Selector<T, C>,
    criterion: fn(&SelectInput) -> C,
}

pub(super) fn boxed<T: Number + NumberFormat + SelectElement<C>, C: 'static>(
    device: &Device,
    rung: SelectRung,
    n: usize,
    criterion: fn(&SelectInput) -> C,
) -> Result<Box<dyn AnySelector>, WorkbenchError> {
    Ok(Box::new(Criterion { selector: Selector::<T, C>::new(device, rung, n)?, criterion }))
}

impl<T: SelectElement<C>, C> Resources for Criterion<T, C> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.selector.hold(held);
    }
}

impl<T: Number + SelectElement<C>, C: 'static> AnySelector for Criterion<T, C> {
    fn run(
        &mut self,
        queue: Queue<'_>,
        input: &SelectInput,
        vectors: Vectors<'_>,
        flags: &Buffer<u8>,
        count: &mut Buffer<u64>,
    ) -> Result<(), WorkbenchError> {
        let (x, y, n) = (vectors.x.view::<T>()?, vectors.y.view_mut()?, input.n);
        let criterion = (self.criterion)(input);
        let selection = Selection::new(x, criterion, y.part(0, n), count.view_mut()).flags(flags.view());
        let selection = if input.stores_rejected() { selection.rejected(y.part(n, n)) } else { selection };
        Ok(self.selector.run(queue, selection)?)
    }

    fn compare(&self, input: &SelectInput, count: u64, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        Ok(input.deviation(count, &vectors.y.buffer::<T>()?.download()?[input.from..]))
    }

    fn temporary_bytes(&self) -> u64 {
        self.selector.temporary_bytes()
    }
}

/// A [`RunLengthEncoder`] with the lengths that it writes.
pub(super) struct Encoder<T> {
    pub(super) encoder: RunLengthEncoder<T>,
    pub(super) lengths: Buffer<u32>,
}

impl<T: RunElement> Resources for Encoder<T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.encoder.hold(held);
        self.lengths.hold(held);
    }
}

impl<T: Number + RunElement> AnySelector for Encoder<T> {
    fn run(
        &mut self,
        queue: Queue<'_>,
        _input: &SelectInput,
        vectors: Vectors<'_>,
        _flags: &Buffer<u8>,
        count: &mut Buffer<u64>,
    ) -> Result<(), WorkbenchError> {
        let Self { encoder, lengths } = self;
        let (x, y) = (vectors.x.view()?, vectors.y.view_mut()?);
        Ok(encoder.run(queue, x, y, lengths.view_mut(), count.view_mut())?)
    }

    fn compare(&self, input: &SelectInput, count: u64, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        let deviation = input.deviation(count, &vectors.y.buffer::<T>()?.download()?[input.from..]);
        let (lengths, mut run) = (self.lengths.download()?, 0);
        let mut of_lengths = Deviation::default();
        input.visit::<T>(0..input.n, |index, _, is_selected| {
            if is_selected {
                of_lengths.add_exact(run, lengths[run], input.length::<T>(index));
                run += 1;
            }
        });
        Ok(deviation.merge(of_lengths))
    }

    fn reset(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.lengths.fill_zero()?)
    }

    fn temporary_bytes(&self) -> u64 {
        self.encoder.temporary_bytes()
    }
}
