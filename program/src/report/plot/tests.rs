//! Tests that plots are written in both formats, even with empty or odd data.

use std::fs;

use super::*;

fn line_plot(x_log2: bool) -> LinePlot {
    let line = |name: &str, top: f64| Series {
        name: name.to_owned(),
        points: (0..=8).map(|i| (f64::from(1 << i), top * (1.0 - (-f64::from(i) / 2.0).exp()))).collect(),
    };
    LinePlot {
        title: "bandwidth of copying on NVIDIA H200, 2 GiB read and written".into(),
        x_label: "unroll factor".into(),
        y_label: "GB/s".into(),
        x_log2,
        series: vec![line("1 byte", 2100.0), line("4 bytes", 3900.0), line("16 bytes, µ·²", 4230.5)],
    }
}

fn timeline_of(rows: usize, lanes: usize, waves: usize) -> Timeline {
    let mut bars = Vec::new();
    for row in 0..rows {
        for lane in 0..lanes {
            for wave in 0..waves {
                let begin = 1.5 + 26.0 * wave as f64 + (row * 7 % 5) as f64 * 0.3;
                bars.push(Bar { row, lane, kind: wave, begin, end: begin + 25.0 });
            }
        }
    }
    Timeline {
        title: "blocks of 512 threads on NVIDIA H200".into(),
        x_label: "time since the first block began (µs)".into(),
        y_label: "multiprocessor".into(),
        rows: (0..rows).map(|row| row.to_string()).collect(),
        kinds: (1..=waves).map(|wave| format!("wave {wave}")).collect(),
        bars,
    }
}

#[test]
fn the_extension_chooses_the_format() {
    let folder = tempfile::tempdir().unwrap();
    for (name, begins) in [("a.svg", &b"<svg"[..]), ("b.PNG", b"\x89PNG")] {
        let path = folder.path().join(name);
        write(&path, &line_plot(true)).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(begins), "{name}");
        write(&path, &timeline_of(4, 2, 3)).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(begins), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left over");
}

#[test]
fn another_extension_is_a_usage_error_that_names_both() {
    for name in ["plot", "plot.pdf", "", ".svg"] {
        let error = write(Path::new(name), &line_plot(false)).unwrap_err();
        let UsageError(text) = error.downcast_ref().unwrap();
        assert!(text.contains(".svg") && text.contains(".png") && text.contains(name), "{text}");
    }
    let plot = |plot: &str| PlotOption { plot: Some(plot.into()) };
    assert!(plot("a.gif").check().unwrap_err().is::<UsageError>());
    assert!(!plot("none/a.svg").check().unwrap_err().is::<UsageError>());
}

#[test]
fn the_picture_has_its_words() {
    let text = svg(&line_plot(true)).unwrap();
    for part in ["bandwidth of copying", "unroll factor", "GB/s", "16 bytes, µ·²", ">\n256\n<", ">\n4,000\n<"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = svg(&timeline_of(132, 2, 3)).unwrap();
    for part in ["NVIDIA H200", "multiprocessor", "wave 3", "(µs)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let bars = text.matches("<rect").count();
    assert!(bars > 132 * 2 * 3, "{bars}");
}

/// Tests that pixels have the colours of the lines, and that most other pixels are white.
#[test]
fn a_png_shows_the_lines_on_a_light_background() {
    let bytes = png(&line_plot(true)).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let count = |wanted: [u8; 3]| pixels.chunks_exact(3).filter(|pixel| *pixel == wanted).count();
    let all = pixels.len() / 3;
    assert!(count([255; 3]) > all * 8 / 10);
    for number in 0..3 {
        let RGBColor(red, green, blue) = colour(number);
        assert!(count([red, green, blue]) > 1000, "{number}");
    }
    let dark = pixels.chunks_exact(3).filter(|pixel| pixel.iter().all(|&part| part < 100)).count();
    assert!(dark > 3000, "the text is missing: {dark}");
}

#[test]
fn what_is_empty_or_odd_is_drawn_as_well() {
    let odd = vec![(0.0, 1.0), (f64::NAN, 2.0), (4.0, f64::INFINITY), (8.0, 0.0)];
    for x_log2 in [false, true] {
        for series in [vec![], vec![Series::default()], vec![Series { name: "odd".repeat(40), points: odd.clone() }]] {
            let plot = LinePlot { title: "long ".repeat(60), series, x_log2, ..LinePlot::default() };
            assert!(png(&plot).is_ok() && svg(&plot).is_ok(), "{plot:?}");
        }
    }
    for plot in [Timeline::default(), timeline_of(1, 1, 1), timeline_of(3000, 32, 1)] {
        assert!(svg(&plot).is_ok());
    }
    assert!(png(&Timeline::default()).is_ok());
}

/// Draws a plot of each kind. `PLOTS=folder cargo test -p gridstride-program plot` keeps them in the folder, to look
/// at.
#[test]
fn samples_can_be_kept_to_look_at() {
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("PLOTS").map(PathBuf::from);
    let folder = kept.as_deref().unwrap_or(folder.path());
    for extension in ["png", "svg"] {
        write(&folder.join("lines").with_extension(extension), &line_plot(true)).unwrap();
        write(&folder.join("plain").with_extension(extension), &line_plot(false)).unwrap();
        write(&folder.join("timeline").with_extension(extension), &timeline_of(132, 2, 3)).unwrap();
        write(&folder.join("few").with_extension(extension), &timeline_of(4, 8, 9)).unwrap();
    }
}
