//! Launches with more atomic writes than the checker keeps to explore weak memory: a note says so.

use cuda_std::{GlobalMut, kernel, thread};
use launch::{Checks, Device, HistoryLimit, LaunchConfig, NoteKind, Notes, Schedule, Simulator};

/// Thread 0 of each block stores `count` values to the first `words` words in turn, and then loads the first word.
#[kernel]
fn stores(count: u32, words: GlobalMut<u32>, results: GlobalMut<u32>) {
    if thread::index_in_block() == 0 {
        for i in 0..count {
            words.store_relaxed(i as usize % words.len(), i);
        }
        results.store(thread::block_idx_x() as usize, words.load_relaxed(0));
    }
}

/// Every thread counts itself in one word, and in another word of its own group.
#[kernel]
fn counts(words: GlobalMut<u32>) {
    words.atomic_add(0, 1);
    words.atomic_add(thread::index_1d() / 2, 1);
}

/// Runs `launch` under the eight orders, and returns the notes of each.
fn notes_of(launch: impl Fn(&Device)) -> Vec<(Schedule, Vec<NoteKind>)> {
    let run = |schedule| {
        let notes = Notes::new();
        let simulator = Simulator::new().with_checks(Checks::default()).with_schedule(schedule);
        launch(&Device::simulated(simulator.with_notes(notes.clone())));
        (schedule, notes.take().into_iter().map(|note| note.kind).collect())
    };
    Schedule::HOSTILE.into_iter().map(run).collect()
}

fn notes_of_stores(count: u32, words: usize) -> Vec<(Schedule, Vec<NoteKind>)> {
    notes_of(|device| {
        let (mut words, mut results) = (device.zeroed::<u32>(words).unwrap(), device.zeroed::<u32>(2).unwrap());
        let call = stores(count, words.view_mut(), results.view_mut());
        device.launch(LaunchConfig::new(2, 32), call).unwrap();
    })
}

#[test]
fn a_launch_with_too_many_writes_or_words_has_a_note() {
    for (count, words, limit) in [(17, 1, HistoryLimit::Writes(16)), (1025, 1025, HistoryLimit::Words(1024))] {
        for (schedule, notes) in notes_of_stores(count, words) {
            let expected = if schedule.has_weak_memory() { vec![NoteKind::WeakMemoryInPart(limit)] } else { vec![] };
            assert_eq!(notes, expected, "{count} stores, {words} words, {schedule}");
        }
    }
}

#[test]
fn a_launch_without_further_values_has_no_note() {
    let small = [notes_of_stores(7, 1), notes_of_stores(1024, 1024)];
    // Each update of a counter reads the newest value in any case.
    let counter = notes_of(|device| {
        let mut words = device.zeroed::<u32>(2048).unwrap();
        device.launch(LaunchConfig::new(16, 256), counts(words.view_mut())).unwrap();
    });
    for (schedule, notes) in small.into_iter().flatten().chain(counter) {
        assert_eq!(notes, [], "{schedule}");
    }
}
