//! Compares buffers that are split among members with a simple definition of their contents.

use launch::{Ends, Error, Group, checked_groups};

fn open(choice: &str) -> Group {
    Group::open(&choice.parse().expect("a choice"), &[]).expect("simulators can be opened")
}

#[test]
fn halos_have_the_neighbours_elements() -> Result<(), Error> {
    for members in [1, 2, 3, 4, 7] {
        let group = open(&format!("sim:{members}"));
        for len in [0_usize, 1, 2, 3, 5, 6, 7, 8, 20] {
            for (halo, ends) in [0, 1, 2, 5, 9].into_iter().flat_map(|halo| [(halo, Ends::Wrap), (halo, Ends::Open)]) {
                let what = format!("{members} members, {len} elements, halo {halo}, {ends:?}");
                let data: Vec<u32> = (1..=len as u32).collect();
                let mut split = group.split::<u32>(len, halo, ends)?;
                assert_eq!((split.len(), split.is_empty(), split.parts().len()), (len, len == 0, members), "{what}");
                assert_eq!(split.download()?, vec![0; len]);
                split.upload(&data)?;
                assert_eq!(split.download()?, data, "{what}");
                split.exchange_halos()?;
                assert_eq!(split.download()?, data, "{what}");
                let mut next = 0;
                for part in split.parts() {
                    let range = part.range();
                    assert_eq!(range.start, next, "{what}");
                    assert!(range.len() == len / members || range.len() == len.div_ceil(members), "{what}");
                    next = range.end;
                    if range.is_empty() {
                        assert!(part.buffer().is_empty() && part.halo() == 0, "{what}");
                        continue;
                    }
                    let places = range.start as i64 - halo as i64..(range.end + halo) as i64;
                    let expected = places.map(|place| match ends {
                        Ends::Wrap => place.rem_euclid(len as i64) as u32 + 1,
                        Ends::Open if (0..len as i64).contains(&place) => place as u32 + 1,
                        Ends::Open => 0,
                    });
                    assert_eq!(part.buffer().download()?, expected.collect::<Vec<_>>(), "{what}, {range:?}");
                }
                assert_eq!(next, len, "{what}");
            }
        }
    }
    Ok(())
}

#[test]
fn halos_beyond_the_ends_stay() -> Result<(), Error> {
    for group in checked_groups(2) {
        let mut split = group.split::<u8>(4, 1, Ends::Open)?;
        split.upload(&[1, 2, 3, 4])?;
        split.parts_mut()[0].buffer_mut().upload_range(0, &[9])?;
        split.exchange_halos()?;
        let [first, second] = split.parts() else { panic!("two") };
        assert_eq!((first.buffer().download()?, second.buffer().download()?), (vec![9, 1, 2, 3], vec![2, 3, 4, 0]));
        let error = split.upload(&[1; 5]).expect_err("longer");
        assert!(matches!(error, Error::LengthMismatch { buffer: 4, other: 5, .. }), "{error:?}");
    }
    Ok(())
}

#[test]
fn more_than_any_memory_holds() {
    let group = open("sim:2");
    for (len, halo) in [(usize::MAX, 0), (1, usize::MAX), (1, usize::MAX / 2), (4, usize::MAX / 16)] {
        let error = group.split::<u64>(len, halo, Ends::Wrap).expect_err("too large");
        assert!(matches!(error, Error::TooLarge { .. } | Error::OutOfMemory { .. }), "{error:?}");
    }
    // A simulated member allocates host memory.
    let error = group.split::<u8>(isize::MAX as usize / 2, 0, Ends::Wrap).expect_err("out of memory");
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error:?}");
    assert!(group.split::<u8>(4, 1, Ends::Wrap).is_ok(), "a device fails after an error");
}

#[test]
fn copies_at_the_same_time() -> Result<(), Error> {
    let (group, elsewhere) = (open("sim:2"), open("sim"));
    let [first, second] = group.members() else { panic!("two") };
    let (mut here, mut there) = (first.upload(&[1_u32, 2, 3, 4])?, second.upload(&[5_u32, 6, 7, 8])?);
    let mut other = elsewhere.members()[0].zeroed::<u32>(4)?;
    let (a, b, c) = (here.view_mut(), there.view_mut(), other.view_mut());
    group.copy_all(&[(a.part(0, 1), b.part(1, 1)), (b.part(0, 1), a.part(1, 1)), (a.part(3, 1), a.part(2, 1))])?;
    group.copy_all::<u32, cuda_std::GlobalMut<u32>>(&[])?;
    for overlap in [
        [(a.part(0, 2), b.part(0, 2)), (a.part(1, 1), b.part(3, 1))],
        [(a.part(0, 2), b.part(0, 2)), (b.part(1, 1), a.part(3, 1))],
        [(b.part(1, 1), a.part(3, 1)), (a.part(0, 2), b.part(0, 2))],
        [(b.part(3, 1), a.part(3, 1)), (a.part(0, 2), a.part(1, 2))],
    ] {
        let error = group.copy_all(&overlap).expect_err("overlap");
        assert!(matches!(error, Error::Overlap), "{error:?}");
    }
    for wrong in [(a, c), (c, a)] {
        let error = group.copy_all(&[(a.part(0, 1), b.part(0, 1)), wrong]).expect_err("no member");
        assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
    }
    let error = group.copy_all(&[(a.part(0, 1), b.part(0, 2))]).expect_err("longer");
    assert!(matches!(error, Error::LengthMismatch { buffer: 1, other: 2, .. }), "{error:?}");
    assert_eq!((here.download()?, there.download()?), (vec![6, 2, 3, 3], vec![2, 6, 7, 8]));
    Ok(())
}
