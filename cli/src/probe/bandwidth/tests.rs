//! Tests the table and the plot of made-up measurements, and the messages about wrong results.

use super::*;

fn summary() -> Summary {
    let cell = |operand, operand_bytes, unroll, block, gigabytes_per_second| Cell {
        operand,
        operand_bytes,
        unroll,
        block,
        grid: 1056,
        runs: 7,
        seconds: 1e-3,
        gigabytes_per_second,
    };
    let measurements = vec![
        cell("u8", 1, 1, 32, 101.25),
        cell("u8", 1, 1, 64, 150.0),
        cell("u8", 1, 2, 32, 201.0),
        cell("u32", 4, 1, 512, 4100.0),
    ];
    Summary {
        kernel: "copy",
        device: "NVIDIA H200".into(),
        blocks: BandwidthKernel::Copy.grid_in_words(),
        bytes_of_an_array: 1 << 30,
        arrays: 2,
        copy_gigabytes_per_second: 4250.0,
        best: Some(measurements[3]),
        measurements,
    }
}

#[test]
fn the_table_has_a_row_an_unroll_factor_and_names_the_best() {
    let text = summary().text();
    for part in [
        "copy on NVIDIA H200: 2 arrays of 1 GiB, 2 GiB counted",
        "medians; as many blocks as the data needs\n",
        "operand of 1 byte (u8)",
        "operand of 4 bytes (u32)",
        "101.2",
        "201.0",
        "best: 4100.0 GB/s with u32, unroll 1, 1056 blocks of 512 threads: 96.5% of the device's own copy, 4250.0 GB/s",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let row = text.lines().find(|line| line.contains("101.2")).unwrap();
    assert!(row.trim_start().starts_with('1') && row.contains("150.0") && !row.contains("201"), "{row}");
}

#[test]
fn the_plot_has_the_best_block_at_each_unroll_factor() {
    let plot = summary().plot();
    assert_eq!(plot.series[0].points, [(1.0, 150.0), (2.0, 201.0)]);
    assert_eq!(plot.series[1].points, [(1.0, 4100.0)]);
    assert_eq!(plot.series.len(), 3);
}

#[test]
fn what_is_wrong_is_told() {
    let x: Vec<u16> = (0..1000).collect();
    assert_eq!(wrong_element(&x, &x, 0..1000), None);
    assert_eq!(wrong_combination(&[combined(&x[..77]), combined(&x[77..])], combined(&x)), None);
    let mut y = x.clone();
    y[701] = 3;
    y[900] = 3;
    assert_eq!(wrong_element(&y, &x, 0..1000).unwrap(), "element 701 is 3, and should be 701");
    assert_eq!(wrong_element(&y, &x, 702..1000).unwrap(), "element 900 is 3, and should be 900");
    assert_eq!(wrong_element(&y, &x, 702..900), None);
    assert!(wrong_combination(&y, combined(&x)).unwrap().contains("the exclusive or"));
    assert_eq!(wrong_combination::<U32x4>(&[], U32x4::ZERO), None);
}

#[test]
fn what_writes_has_a_block_for_each_blocks_worth_of_data() {
    for kernel in BandwidthKernel::ALL {
        let is_read = kernel == BandwidthKernel::Read;
        assert_eq!(kernel.grid(0, 1056), 1);
        assert_eq!(kernel.grid(1000, 1056), 1000);
        assert_eq!(kernel.grid(1 << 23, 1056), if is_read { 1056 } else { 1 << 23 });
        assert_eq!(kernel.grid(usize::MAX, 1056), if is_read { 1056 } else { i32::MAX as u32 });
        assert!(kernel.grid_in_words().contains(if is_read { "at once" } else { "the data" }));
    }
}
