//! What a thread knows of the past of other threads: which of their accesses happened before what it does next.
//!
//! A thread counts its steps, and an access belongs to the step in which it is made. To know a thread up to a *bound* is to
//! know its accesses of all steps below it. Knowledge is kept by blocks, as a block's barriers bring all its threads to one
//! step; and shared between those who know the same, as what has been learnt is passed on far more often than it changes.

use std::rc::Rc;

/// The blocks of a chunk have the same number above these bits.
const CHUNK_BITS: u32 = 7;

/// A thread of a block, known up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) thread: u32,
    pub(super) bound: u32,
}

/// What is known of one block.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) block: u32,
    /// All threads are known up to this bound.
    base: u32,
    /// The threads that are known further, by their numbers.
    extras: Option<Rc<[Known]>>,
}

impl View {
    /// `extras` must be in the order of the threads.
    pub(super) fn new(block: u32, base: u32, extras: &[Known]) -> Self {
        Self { block, base, extras: (!extras.is_empty()).then(|| extras.into()) }
    }

    fn extras(&self) -> &[Known] {
        self.extras.as_deref().unwrap_or_default()
    }

    /// The bound up to which `thread` is known.
    #[inline]
    pub(super) fn bound(&self, thread: u32) -> u32 {
        let extras = self.extras();
        match extras.binary_search_by_key(&thread, |known| known.thread) {
            Ok(index) => self.base.max(extras[index].bound),
            Err(_) => self.base,
        }
    }

    /// The highest bound of any thread.
    pub(super) fn highest(&self) -> u32 {
        self.extras().iter().map(|known| known.bound).fold(self.base, u32::max)
    }

    /// Adds what `other` knows of the same block.
    fn join(&mut self, other: &Self) {
        if other.base <= self.base && other.extras.is_none() {
            return;
        }
        if self.base <= other.base && self.extras.is_none() {
            *self = other.clone();
            return;
        }
        if let (Some(mine), Some(others)) = (&self.extras, &other.extras)
            && Rc::ptr_eq(mine, others)
        {
            self.base = self.base.max(other.base);
            return;
        }
        let base = self.base.max(other.base);
        let mut extras = Vec::with_capacity(self.extras().len() + other.extras().len());
        merge(self.extras(), other.extras(), &mut extras);
        extras.retain(|known| known.bound > base);
        *self = Self::new(self.block, base, &extras);
    }
}

/// Appends the threads of both lists to `into`, each with its higher bound. All are in the order of the threads.
fn merge(mut a: &[Known], mut b: &[Known], into: &mut Vec<Known>) {
    loop {
        match (a, b) {
            ([], rest) | (rest, []) => return into.extend_from_slice(rest),
            ([first, others @ ..], [second, ..]) if first.thread < second.thread => {
                into.push(*first);
                a = others;
            }
            ([first, ..], [second, others @ ..]) if second.thread < first.thread => {
                into.push(*second);
                b = others;
            }
            ([first, others_a @ ..], [second, others_b @ ..]) => {
                into.push(Known { thread: first.thread, bound: first.bound.max(second.bound) });
                (a, b) = (others_a, others_b);
            }
        }
    }
}

/// The views of neighbouring blocks, in the order of the blocks.
#[derive(Clone, Debug)]
struct Chunk {
    number: u32,
    views: Rc<Vec<View>>,
}

/// What is known of all blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge(Option<Rc<Vec<Chunk>>>);

impl Knowledge {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether both are one and the same. False does not mean that they differ.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// What is known of `block`.
    pub(super) fn view(&self, block: u32) -> Option<&View> {
        let chunks = self.0.as_deref()?;
        let number = block >> CHUNK_BITS;
        let chunk = &chunks[chunks.binary_search_by_key(&number, |chunk| chunk.number).ok()?];
        let index = chunk.views.binary_search_by_key(&block, |view| view.block).ok()?;
        Some(&chunk.views[index])
    }

    /// Adds `view`.
    pub(super) fn add(&mut self, view: View) {
        let chunks = Rc::make_mut(self.0.get_or_insert_default());
        let number = view.block >> CHUNK_BITS;
        match chunks.binary_search_by_key(&number, |chunk| chunk.number) {
            Err(index) => chunks.insert(index, Chunk { number, views: Rc::new(vec![view]) }),
            Ok(index) => {
                let views = Rc::make_mut(&mut chunks[index].views);
                match views.binary_search_by_key(&view.block, |view| view.block) {
                    Ok(index) => views[index].join(&view),
                    Err(index) => views.insert(index, view),
                }
            }
        }
    }

    /// Adds what `other` knows.
    pub(super) fn join(&mut self, other: &Self) {
        let Some(others) = &other.0 else { return };
        let Some(mine) = &mut self.0 else {
            *self = other.clone();
            return;
        };
        if Rc::ptr_eq(mine, others) {
            return;
        }
        // The smaller one is added to the larger.
        let smaller =
            if mine.len() < others.len() { std::mem::replace(mine, Rc::clone(others)) } else { Rc::clone(others) };
        for chunk in smaller.iter() {
            let found = mine.binary_search_by_key(&chunk.number, |chunk| chunk.number);
            match found {
                Ok(index) if Rc::ptr_eq(&mine[index].views, &chunk.views) => {}
                Ok(index) => join_views(&mut Rc::make_mut(mine)[index].views, &chunk.views),
                Err(index) => Rc::make_mut(mine).insert(index, chunk.clone()),
            }
        }
    }
}

/// Adds `others` to `mine`, both in the order of the blocks.
fn join_views(mine: &mut Rc<Vec<View>>, others: &Rc<Vec<View>>) {
    let smaller =
        if mine.len() < others.len() { std::mem::replace(mine, Rc::clone(others)) } else { Rc::clone(others) };
    let mine = Rc::make_mut(mine);
    for view in smaller.iter() {
        match mine.binary_search_by_key(&view.block, |view| view.block) {
            Ok(index) => mine[index].join(view),
            Err(index) => mine.insert(index, view.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(pairs: &[(u32, u32)]) -> Vec<Known> {
        pairs.iter().map(|&(thread, bound)| Known { thread, bound }).collect()
    }

    fn one(block: u32, base: u32, pairs: &[(u32, u32)]) -> Knowledge {
        let mut knowledge = Knowledge::default();
        knowledge.add(View::new(block, base, &known(pairs)));
        knowledge
    }

    fn bound(knowledge: &Knowledge, block: u32, thread: u32) -> Option<u32> {
        knowledge.view(block).map(|view| view.bound(thread))
    }

    #[test]
    fn a_thread_is_known_up_to_the_higher_of_base_and_its_own_bound() {
        let knowledge = one(3, 5, &[(2, 9), (7, 6)]);
        assert_eq!([0, 2, 7, 8].map(|thread| bound(&knowledge, 3, thread)), [Some(5), Some(9), Some(6), Some(5)]);
        assert_eq!(bound(&knowledge, 4, 0), None);
        assert_eq!(knowledge.view(3).map(View::highest), Some(9));
    }

    #[test]
    fn joining_takes_the_higher_bound_of_every_thread_in_either_order() {
        let a = one(3, 5, &[(2, 9), (7, 6)]);
        let b = one(3, 6, &[(1, 8), (2, 7), (7, 7)]);
        for (mut first, second) in [(a.clone(), b.clone()), (b, a)] {
            first.join(&second);
            assert_eq!([0, 1, 2, 7].map(|thread| bound(&first, 3, thread).unwrap()), [6, 8, 9, 7]);
        }
    }

    #[test]
    fn joining_keeps_all_blocks_and_leaves_the_other_as_it_was() {
        let mut all = Knowledge::default();
        let mut odd = Knowledge::default();
        for block in (0..1000).rev() {
            if block % 2 == 0 { &mut all } else { &mut odd }.add(View::new(block, block + 1, &[]));
        }
        let before = odd.clone();
        all.join(&odd);
        for block in 0..1000 {
            assert_eq!(bound(&all, block, 5), Some(block + 1));
            assert_eq!(bound(&before, block, 5), (block % 2 == 1).then_some(block + 1));
            assert_eq!(bound(&odd, block, 5), bound(&before, block, 5));
        }
        assert!(odd.is_same(&before) && !odd.is_same(&all));
    }

    #[test]
    fn adding_to_a_copy_does_not_change_the_original() {
        let original = one(1, 1, &[]);
        let mut copy = original.clone();
        copy.add(View::new(1, 4, &known(&[(0, 9)])));
        copy.add(View::new(2, 3, &[]));
        assert_eq!((bound(&original, 1, 0), bound(&original, 2, 0)), (Some(1), None));
        assert_eq!((bound(&copy, 1, 0), bound(&copy, 1, 1), bound(&copy, 2, 0)), (Some(9), Some(4), Some(3)));
    }
}
