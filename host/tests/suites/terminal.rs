//! Tests the animation on a terminal that the test opens: the events that end it, its keys, and that it restores the
//! terminal.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The maximum time that a step of a test may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program `host` on a terminal.
struct Session {
    /// The end of the terminal at which the user reads and types.
    master: Option<File>,
    /// The program's end of the terminal. It stays open, so that the test can read the state that the program leaves.
    slave: File,
    child: Child,
    seen: Vec<u8>,
    before: libc::termios,
}

fn size(columns: u16, rows: u16) -> libc::winsize {
    libc::winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 }
}

fn modes(file: &File) -> libc::termios {
    // SAFETY: zeros are a valid `termios`, which the call overwrites; the descriptor is open.
    unsafe {
        let mut modes = std::mem::zeroed();
        assert_eq!(libc::tcgetattr(file.as_raw_fd(), &mut modes), 0);
        modes
    }
}

impl Session {
    /// Starts an animation on a terminal of 80 × 24 characters, and waits for its first frame.
    fn start(arguments: &[&str]) -> Self {
        let (mut master, mut slave) = (-1, -1);
        // SAFETY: the call writes to both descriptors; the name and the modes are null; the size is a local value.
        let (master, slave) = unsafe {
            let (name, modes) = (std::ptr::null_mut(), std::ptr::null());
            assert_eq!(libc::openpty(&mut master, &mut slave, name, modes, &size(80, 24)), 0);
            (File::from_raw_fd(master), File::from_raw_fd(slave))
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
        command.arg("life").args(arguments).args(["--device", "cpu"]).env("TERM", "xterm-256color");
        let end = || slave.try_clone().unwrap();
        command.stdin(end()).stdout(end()).stderr(end());
        let other = master.as_raw_fd();
        // SAFETY: between fork and exec only these calls are made, which are async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                libc::close(other);
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let before = modes(&slave);
        let child = command.spawn().unwrap();
        let mut session = Self { master: Some(master), slave, child, seen: Vec::new(), before };
        session.wait_for("q quit");
        session
    }

    /// Reads the output that the program has written or writes soon. Returns true if there was any.
    fn look(&mut self) -> bool {
        let Some(master) = &mut self.master else { return false };
        let mut poll = libc::pollfd { fd: master.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the list has one entry, whose descriptor is open.
        if unsafe { libc::poll(&mut poll, 1, 50) } > 0 {
            let mut buffer = [0; 1 << 16];
            let length = master.read(&mut buffer).unwrap_or(0);
            self.seen.extend_from_slice(&buffer[..length]);
            return length > 0;
        }
        false
    }

    /// Waits until the program has written `text` since the last wait.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.seen.windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.seen.drain(..at + text.len());
                return;
            }
            assert!(Instant::now() < end, "{text:?} is not in {:?}", String::from_utf8_lossy(&self.seen));
            self.look();
        }
    }

    fn press(&mut self, keys: &str) {
        self.master.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: i32) {
        // SAFETY: the child has not been waited for, so no other process has its id.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Waits until the program has ended, and returns its exit status.
    #[track_caller]
    fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            self.look();
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.look() {}
                return status;
            }
            assert!(Instant::now() < end, "it does not end");
        }
    }

    /// Asserts that the program has restored the terminal: it has left the alternate screen, shown the cursor, turned
    /// off mouse reports and restored the modes.
    #[track_caller]
    fn assert_restored(&mut self) {
        for text in ["\x1b[?2004l", "\x1b[?1000l", "\x1b[?1049l", "\x1b[?25h"] {
            assert!(
                String::from_utf8_lossy(&self.seen).contains(text),
                "{text:?}: {:?}",
                String::from_utf8_lossy(&self.seen)
            );
        }
        let after = modes(&self.slave);
        assert_eq!(
            (after.c_lflag, after.c_iflag, after.c_oflag),
            (self.before.c_lflag, self.before.c_iflag, self.before.c_oflag)
        );
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ends the program if the test failed before the program ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn keys_end_it() {
    for key in ["q", "\x1b", "\x03"] {
        let mut session = Session::start(&["--seed", "1"]);
        session.press(key);
        assert_eq!(session.end().code(), Some(0), "{key:?}");
        session.assert_restored();
    }
}

#[test]
fn signals_end_it_and_the_terminal_is_given_back() {
    for (signal, name) in
        [(libc::SIGINT, "Ctrl-C"), (libc::SIGTERM, "SIGTERM"), (libc::SIGHUP, "SIGHUP"), (libc::SIGQUIT, "SIGQUIT")]
    {
        let mut session = Session::start(&["--seed", "1"]);
        session.signal(signal);
        assert_eq!(session.end().code(), Some(128 + signal), "{name}");
        session.assert_restored();
        assert!(String::from_utf8_lossy(&session.seen).contains(&format!("stopped by {name}")));
    }
}

#[test]
fn a_terminal_that_hangs_up_ends_it() {
    let mut session = Session::start(&["--seed", "1"]);
    session.master = None;
    let status = session.end();
    assert!(status.code() == Some(128 + libc::SIGHUP) || status.signal() == Some(libc::SIGHUP), "{status}");
}

#[test]
fn another_size_is_filled() {
    let mut session = Session::start(&["--seed", "1", "--size", "500x500"]);
    let new = size(100, 40);
    // SAFETY: the descriptor is open, and `new` is a valid size of a window.
    let result = unsafe { libc::ioctl(session.master.as_ref().unwrap().as_raw_fd(), libc::TIOCSWINSZ, &new) };
    assert_eq!(result, 0);
    // The line that names the keys is the last of 40 lines.
    session.wait_for("\x1b[40;1H");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
    session.assert_restored();
}

#[test]
fn the_mouse_draws_and_keys_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let (start, out) = (folder.path().join("start.rle"), folder.path().join("end.cells"));
    std::fs::write(&start, "x = 8, y = 4, rule = B3/S23:T8,4\n!").unwrap();
    let mut session = Session::start(&[start.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    // Columns and rows count from 1 here: the board's first cell is in column 37 of row 11.
    session.press("\x1b[<0;37;11M\x1b[<32;38;11M\x1b[<0;38;11m");
    session.wait_for("▀▀");
    session.press("\x1b[<2;40;11M\x1b[<2;40;11m");
    session.press("\x1b[<0;42;11M\x1b[<0;42;11mz");
    // The effect of each key is seen before the next one is pressed.
    session.press("fm");
    session.wait_for("┌");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
    session.assert_restored();
    let cells = std::fs::read_to_string(&out).unwrap();
    assert_eq!(cells, "OO......\n...O....\n........\n........\n");
}

#[test]
fn a_pasted_pattern_is_placed_and_a_stroke_that_jumps_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let (start, out) = (folder.path().join("start.rle"), folder.path().join("end.cells"));
    std::fs::write(&start, "x = 8, y = 4, rule = B3/S23:T8,4\n!").unwrap();
    let mut session = Session::start(&[start.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    session.press("\x1b[200~#N Glider\nx = 3, y = 3\nbo$2bo$3o!\n\x1b[201~");
    session.wait_for("pasted 3x3 cells");
    // From the first cell to the last of the first row.
    session.press("\x1b[<0;37;11M\x1b[<32;44;11M\x1b[<0;44;11m");
    session.wait_for("mouse");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
    session.assert_restored();
    let cells = std::fs::read_to_string(&out).unwrap();
    assert_eq!(cells, "OOOOOOOO\n....O...\n.....O..\n...OOO..\n");
}

#[test]
fn another_rule_is_typed() {
    let folder = tempfile::tempdir().unwrap();
    let (start, out) = (folder.path().join("start.rle"), folder.path().join("end.rle"));
    // A block is stable under Life's rule, but not under the rule of Seeds.
    std::fs::write(&start, "x = 2, y = 2, rule = B3/S23:T20,10\n2o$2o!").unwrap();
    let mut session = Session::start(&[start.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    // The program refuses a text that is not a rule, and the user can correct the text. While a rule is typed, letters
    // are not commands.
    session.press("prq2\r\x7f\x7fB2/S\rs");
    session.wait_for("▄");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
    session.assert_restored();
    let cells = std::fs::read_to_string(&out).unwrap();
    assert!(cells.contains("rule = B2/S:T20,10"), "{cells}");
    assert!(cells.contains("o2bo$"), "{cells}");
}
