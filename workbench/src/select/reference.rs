//! The reference of select, computed on the CPU in one loop.

/// Returns the elements of `x` for whose index `selects` returns true, and the others, both in order.
pub fn partition<T: Copy>(x: &[T], selects: impl Fn(usize) -> bool) -> (Vec<T>, Vec<T>) {
    let (mut selected, mut rejected) = (Vec::new(), Vec::new());
    for (index, &element) in x.iter().enumerate() {
        if selects(index) { &mut selected } else { &mut rejected }.push(element);
    }
    (selected, rejected)
}

/// Returns true if element `index` of `x` begins a run of equal elements.
pub fn begins_run<T: PartialEq>(x: &[T], index: usize) -> bool {
    index == 0 || x[index - 1] != x[index]
}

/// Returns the element and the length of each run of equal elements of `x`.
pub fn run_lengths<T: Copy + PartialEq>(x: &[T]) -> (Vec<T>, Vec<u32>) {
    let (mut elements, mut lengths) = (Vec::new(), Vec::new());
    for (index, &element) in x.iter().enumerate() {
        if begins_run(x, index) {
            elements.push(element);
            lengths.push(0);
        }
        if let Some(length) = lengths.last_mut() {
            *length += 1;
        }
    }
    (elements, lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_keep_the_order() {
        assert_eq!(partition(&[5, 1, 4, 2], |index| index % 2 == 1), (vec![1, 2], vec![5, 4]));
        let x = [2.0, 2.0, f32::NAN, f32::NAN, 0.0, -0.0];
        assert_eq!(
            x.iter().enumerate().map(|(i, _)| begins_run(&x, i)).collect::<Vec<_>>(),
            [true, false, true, true, true, false]
        );
    }
}
