//! Writes one board as a PNG, or several boards as an animated GIF. Live cells are white, and dead cells are black.

use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use super::read::KEYWORD;
use life::board::{Board, WORD_BITS};

/// The maximum length in pixels to which the longer side of a small board is enlarged.
const SIDE: usize = 512;

/// Returns the side length of a cell in pixels: the largest number for which no side of the picture exceeds 512 pixels,
/// but at least 1.
pub fn zoom(width: usize, height: usize) -> usize {
    (SIDE / width.max(height).max(1)).max(1)
}

/// Writes `board` as a PNG with one bit per pixel, enlarged by [`zoom`]. A text chunk contains the zoom. Each row is
/// compressed and written before the next row, so the function needs memory for only one row.
///
/// # Errors
/// If writing to `out` fails. `InvalidInput` for a board with a side of more than 2³¹ - 1 cells, which is the limit of
/// PNG.
pub fn write_png(board: &Board, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write_png_in_parts((board.width(), board.height()), out, |take| take(board))
}

/// Writes a board of (columns, rows) cells like [`write_png`], but receives it in parts. `parts` must pass all rows, in
/// order, to the function that it receives.
///
/// # Errors
/// Fails in the same cases as [`write_png`], and if `parts` fails.
pub fn write_png_in_parts<E: From<io::Error>>(
    (columns, rows): (usize, usize),
    out: &mut (impl Write + ?Sized),
    parts: impl FnOnce(&mut dyn FnMut(&Board) -> Result<(), E>) -> Result<(), E>,
) -> Result<(), E> {
    let zoom = zoom(columns, rows);
    let (width, height) = (columns * zoom, rows * zoom);
    let side = |pixels: usize| u32::try_from(pixels).ok().filter(|&pixels| pixels <= i32::MAX as u32);
    let (Some(png_width), Some(png_height)) = (side(width), side(height)) else {
        return Err(too_large("PNG", width, height, i32::MAX as usize).into());
    };
    let mut encoder = png::Encoder::new(out, png_width, png_height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    // No filter is used, because a byte contains eight cells, which no filter predicts. A higher compression level
    // saves little.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    if zoom > 1 {
        encoder.add_text_chunk(KEYWORD.to_owned(), zoom.to_string()).map_err(png_error)?;
    }
    let mut writer = encoder.write_header().map_err(png_error)?;
    let mut stream = writer.stream_writer().map_err(png_error)?;
    let mut row = Vec::new();
    parts(&mut |board| {
        for y in 0..board.height() {
            pack_row(board.row(y), width, zoom, &mut row);
            for _ in 0..zoom {
                stream.write_all(&row)?;
            }
        }
        Ok(())
    })?;
    stream.finish().map_err(png_error)?;
    Ok(writer.finish().map_err(png_error)?)
}

/// Replaces the content of `row` by `width` pixels that show the cells in `words`. A byte contains eight pixels. The
/// leftmost pixel is the highest bit.
fn pack_row(words: &[u32], width: usize, zoom: usize, row: &mut Vec<u8>) {
    row.clear();
    if zoom == 1 {
        row.extend(words.iter().flat_map(|word| word.to_le_bytes()).map(u8::reverse_bits));
        row.truncate(width.div_ceil(8));
    } else {
        row.resize(width.div_ceil(8), 0);
        for pixel in (0..width).filter(|pixel| is_alive(words, pixel / zoom)) {
            row[pixel / 8] |= 0x80 >> (pixel % 8);
        }
    }
}

fn is_alive(words: &[u32], x: usize) -> bool {
    words[x / WORD_BITS] >> (x % WORD_BITS) & 1 == 1
}

/// A writer of an animated GIF that repeats forever. Each frame shows one board.
pub struct Gif<W: Write> {
    encoder: gif::Encoder<W>,
    width: usize,
    height: usize,
    zoom: usize,
    /// The time per frame in hundredths of a second.
    delay: u16,
}

impl<W: Write> Gif<W> {
    /// Starts a GIF of boards with `width` × `height` cells, enlarged by [`zoom`]. Each frame is shown for `delay`,
    /// rounded down to a multiple of 10 ms, but at least for 20 ms. Viewers would show frames with a shorter delay more
    /// slowly.
    ///
    /// # Errors
    /// If writing to `out` fails. `InvalidInput` for a side of 0 cells, or of more than 65535, which is the limit of
    /// GIF.
    pub fn new(out: W, width: usize, height: usize, delay: Duration) -> io::Result<Self> {
        let zoom = zoom(width, height);
        let side = |cells: usize| u16::try_from(cells.checked_mul(zoom)?).ok().filter(|&pixels| pixels > 0);
        let (Some(gif_width), Some(gif_height)) = (side(width), side(height)) else {
            return Err(too_large("GIF", width, height, u16::MAX.into()));
        };
        let palette = [0, 0, 0, 255, 255, 255];
        let mut encoder = gif::Encoder::new(out, gif_width, gif_height, &palette).map_err(gif_error)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(gif_error)?;
        let delay = u16::try_from(delay.as_millis() / 10).unwrap_or(u16::MAX).max(2);
        Ok(Self { encoder, width, height, zoom, delay })
    }

    /// Adds a frame that shows `board`.
    ///
    /// # Errors
    /// If writing to the output fails. `InvalidInput` if `board` has another size than the GIF.
    pub fn frame(&mut self, board: &Board) -> io::Result<()> {
        let (width, height) = (board.width(), board.height());
        if (width, height) != (self.width, self.height) {
            let message =
                format!("a board of {width}x{height} was given, but the GIF is {}x{}", self.width, self.height);
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        }
        let (width, height) = (self.width * self.zoom, self.height * self.zoom);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let words = board.row(y / self.zoom);
            pixels.extend((0..width).map(|x| u8::from(is_alive(words, x / self.zoom))));
        }
        // Both numbers fit, because `new` has checked them.
        let (width, height) = (width as u16, height as u16);
        let frame = gif::Frame { delay: self.delay, width, height, buffer: pixels.into(), ..gif::Frame::default() };
        self.encoder.write_frame(&frame).map_err(gif_error)
    }

    /// Ends the GIF and returns the output.
    ///
    /// # Errors
    /// If writing to the output fails.
    pub fn finish(self) -> io::Result<W> {
        self.encoder.into_inner().map_err(gif_error)
    }
}

fn too_large(format: &str, width: usize, height: usize, limit: usize) -> io::Error {
    let message = format!(
        "a {format} must have 1 to {limit} pixels per side, but {width}x{height} were given: use another format or size"
    );
    io::Error::new(ErrorKind::InvalidInput, message)
}

fn png_error(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

fn gif_error(error: gif::EncodingError) -> io::Error {
    match error {
        gif::EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the width, the height and the pixels of a PNG. A pixel is 0 or 1.
    fn decode_png(bytes: &[u8]) -> (usize, usize, Vec<u8>) {
        let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().unwrap();
        assert_eq!(reader.output_color_type(), (png::ColorType::Grayscale, png::BitDepth::One));
        let mut packed = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut packed).unwrap();
        let (width, height) = (info.width as usize, info.height as usize);
        let pixel = |x: usize, y: usize| packed[y * info.line_size + x / 8] >> (7 - x % 8) & 1;
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect();
        (width, height, pixels)
    }

    /// Returns the pixels that a picture of `board` must have.
    fn expected(board: &Board, zoom: usize) -> Vec<u8> {
        let (width, height) = (board.width() * zoom, board.height() * zoom);
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.map(|(x, y)| u8::from(board.get(x / zoom, y / zoom))).collect()
    }

    #[test]
    fn small_boards_are_enlarged() {
        let sizes = [((1, 1), 512), ((512, 3), 1), ((256, 256), 2), ((171, 9), 2), ((170, 9), 3), ((1, 4000), 1)];
        for ((width, height), enlarged) in sizes {
            assert_eq!(zoom(width, height), enlarged, "{width}x{height}");
        }
    }

    #[test]
    fn a_png_shows_the_board() {
        for (width, height) in [(1, 1), (31, 33), (64, 1), (257, 3), (512, 2), (600, 5), (1025, 2)] {
            let board = Board::random(width, height, 0.4, 5).unwrap();
            let mut bytes = Vec::new();
            write_png(&board, &mut bytes).unwrap();
            let zoom = zoom(width, height);
            let picture = decode_png(&bytes);
            assert_eq!(picture, (width * zoom, height * zoom, expected(&board, zoom)), "{width}x{height}");
        }
    }

    #[test]
    fn a_gif_shows_every_board() {
        let boards: Vec<_> = (0..3).map(|seed| Board::random(33, 20, 0.4, seed).unwrap()).collect();
        let mut gif = Gif::new(Vec::new(), 33, 20, Duration::from_millis(155)).unwrap();
        boards.iter().for_each(|board| gif.frame(board).unwrap());
        let bytes = gif.finish().unwrap();
        let mut decoder = gif::DecodeOptions::new().read_info(&bytes[..]).unwrap();
        assert_eq!((decoder.width(), decoder.height(), decoder.repeat()), (33 * 15, 20 * 15, gif::Repeat::Infinite));
        assert_eq!(decoder.global_palette(), Some(&[0, 0, 0, 255, 255, 255][..]));
        for board in &boards {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!((frame.delay, &frame.buffer[..]), (15, &expected(board, 15)[..]));
        }
        assert!(decoder.read_next_frame().unwrap().is_none());
    }

    #[test]
    fn a_gif_refuses_what_it_cannot_show() {
        for (width, height) in [(65536, 1), (1, 65536), (0, 1), (usize::MAX, 1)] {
            let error = Gif::new(io::sink(), width, height, Duration::ZERO).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains(&format!("{width}x{height}")), "{error}");
        }
        let mut gif = Gif::new(io::sink(), 3, 2, Duration::MAX).unwrap();
        assert_eq!(gif.delay, u16::MAX);
        let error = gif.frame(&Board::new(2, 3).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "a board of 2x3 was given, but the GIF is 3x2");
        assert_eq!(Gif::new(io::sink(), 3, 2, Duration::ZERO).unwrap().delay, 2);
    }

    #[test]
    fn a_png_refuses_what_it_cannot_show() {
        // The error must occur before the first byte is written and before the first row is read.
        let board = Board::new(1 << 31, 1).unwrap();
        let mut out = Vec::new();
        let error = write_png(&board, &mut out).unwrap_err();
        assert_eq!((error.kind(), out.len()), (ErrorKind::InvalidInput, 0));
    }

    /// An output that accepts a certain number of bytes. After that it fails as if the disk were full.
    struct Short(usize);

    impl Write for Short {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_an_error_wherever_it_happens() {
        let board = Board::random(600, 600, 0.5, 1).unwrap();
        let mut whole = Vec::new();
        write_png(&board, &mut whole).unwrap();
        for room in [0, 8, 40, whole.len() / 2, whole.len() - 13, whole.len() - 1] {
            assert!(write_png(&board, &mut Short(room)).is_err(), "{room} of {} bytes", whole.len());
        }
        write_png(&board, &mut Short(whole.len())).unwrap();
        let mut gif = Gif::new(Short(1000), 600, 600, Duration::ZERO).unwrap();
        assert_eq!(gif.frame(&board).unwrap_err().kind(), ErrorKind::StorageFull);
    }

    proptest! {
        #[test]
        fn decoding_a_png_gives_the_board(width in 200..700usize, height in 1..9usize, density in 0.0..1.0, seed: u64) {
            let board = Board::random(width, height, density, seed).unwrap();
            let mut bytes = Vec::new();
            write_png(&board, &mut bytes).unwrap();
            let zoom = zoom(width, height);
            prop_assert_eq!(decode_png(&bytes), (width * zoom, height * zoom, expected(&board, zoom)));
        }
    }
}
