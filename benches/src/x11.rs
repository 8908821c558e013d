//! As much of X11 as measuring a window takes: keys and the pointer by XTest, pixels of the screen, and word of what
//! was drawn anew by Damage. It is written down here because no library that the product links has these extensions.

use std::io::{BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::gate::await_readable;

/// What a key is, as X names it: Latin letters are their own code points.
pub(crate) type Keysym = u32;

/// Bytes of every message but the first, at least.
const MESSAGE_BYTES: usize = 32;
/// No answer takes longer.
const LIMIT: Duration = Duration::from_secs(30);
/// The depth of the pictures that are read.
const DEPTH: u8 = 24;

/// Events of XTest.
const KEY_PRESS: u8 = 2;
const KEY_RELEASE: u8 = 3;
const MOTION: u8 = 6;

/// A color as red, green and blue.
pub(crate) type Color = [u8; 3];

/// How far a channel may be from what was meant.
const TOLERANCE: u8 = 12;

/// Whether two colors look the same.
pub(crate) fn is_like(one: Color, other: Color) -> bool {
    one.iter().zip(other).all(|(one, other)| one.abs_diff(other) <= TOLERANCE)
}

/// A connection to a display.
pub(crate) struct Display {
    stream: BufReader<UnixStream>,
    setup: Setup,
    xtest: u8,
    damage: Damage,
    /// Whether something was drawn of which the caller has not heard.
    is_damaged: bool,
}

/// What the server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setup {
    first_id: u32,
    root: u32,
    size: (u16, u16),
    /// Bytes of a pixel in a picture.
    pixel: usize,
    keycodes: (u8, u8),
}

#[derive(Clone, Copy, Default)]
struct Damage {
    major: u8,
    event: u8,
    id: u32,
}

impl Display {
    /// Connects to a display of this machine that asks for no secret.
    pub(crate) fn connect(number: u32) -> anyhow::Result<Display> {
        let path = format!("/tmp/.X11-unix/X{number}");
        let stream = UnixStream::connect(&path).with_context(|| path.clone())?;
        stream.set_read_timeout(Some(LIMIT))?;
        let mut stream = BufReader::new(stream);
        // Least byte first, version 11.0, without a name and data to authorize with.
        stream.get_mut().write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
        let mut head = [0; 8];
        stream.read_exact(&mut head)?;
        let mut body = vec![0; usize::from(u16_at(&head, 6)?) * 4];
        stream.read_exact(&mut body)?;
        ensure!(head[0] == 1, "{path} refuses: {}", String::from_utf8_lossy(&body));
        let setup = Setup::parse(&body)?;
        let damage = Damage::default();
        let mut display = Display { stream, setup, xtest: 0, damage, is_damaged: false };
        (display.xtest, _) = display.extension("XTEST")?;
        let (major, event) = display.extension("DAMAGE")?;
        display.damage = Damage { major, event, id: display.setup.first_id };
        display.watch()?;
        Ok(display)
    }

    /// Columns and rows of pixels.
    pub(crate) fn size(&self) -> (u16, u16) {
        self.setup.size
    }

    /// Sends a request. Bytes 2 and 3 are its length and filled in here.
    fn send(&mut self, mut request: Vec<u8>) -> anyhow::Result<()> {
        request.resize(request.len().next_multiple_of(4), 0);
        let words = u16::try_from(request.len() / 4)?;
        request[2..4].copy_from_slice(&words.to_le_bytes());
        self.stream.get_mut().write_all(&request).context("the display is gone")
    }

    /// Sends a request and waits for its reply.
    fn ask(&mut self, request: Vec<u8>) -> anyhow::Result<Vec<u8>> {
        self.send(request)?;
        loop {
            let message = self.message()?;
            if message[0] == 1 {
                return Ok(message);
            }
            self.take(&message)?;
        }
    }

    fn message(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut message = vec![0; MESSAGE_BYTES];
        self.stream.read_exact(&mut message).context("the display is silent")?;
        // Replies and generic events may be longer.
        if matches!(message[0] & 0x7f, 1 | 35) {
            let more = u32_at(&message, 4)? as usize * 4;
            message.resize(MESSAGE_BYTES + more, 0);
            self.stream.read_exact(&mut message[MESSAGE_BYTES..])?;
        }
        Ok(message)
    }

    /// Takes note of what is no reply.
    fn take(&mut self, message: &[u8]) -> anyhow::Result<()> {
        match message[0] & 0x7f {
            0 => bail!("X error {} of request {}.{}", message[1], message[10], message[8]),
            event => self.is_damaged |= event == self.damage.event,
        }
        Ok(())
    }

    fn extension(&mut self, name: &str) -> anyhow::Result<(u8, u8)> {
        let mut request = vec![98, 0, 0, 0];
        request.extend(u16::try_from(name.len())?.to_le_bytes());
        request.extend([0, 0]);
        request.extend(name.as_bytes());
        let reply = self.ask(request)?;
        ensure!(reply[8] == 1, "the display has no {name}");
        Ok((reply[9], reply[10]))
    }

    /// Asks to be informed of everything that is drawn, once until it is said that it was heard.
    fn watch(&mut self) -> anyhow::Result<()> {
        let Damage { major, id, .. } = self.damage;
        let version = [[1, 0, 0, 0], [1, 0, 0, 0]].concat();
        self.ask([vec![major, 0, 0, 0], version].concat())?;
        let when_not_empty = 3;
        let mut request = vec![major, 1, 0, 0];
        request.extend(id.to_le_bytes());
        request.extend(self.setup.root.to_le_bytes());
        request.extend([when_not_empty, 0, 0, 0]);
        self.send(request)
    }

    /// Waits until something is drawn; false if nothing was within `limit`.
    pub(crate) fn await_drawing(&mut self, limit: Duration) -> anyhow::Result<bool> {
        let end = Instant::now() + limit;
        while !self.is_damaged {
            if self.stream.buffer().is_empty() {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() || await_readable(self.stream.get_ref().as_fd(), left).is_err() {
                    return Ok(false);
                }
            }
            let message = self.message()?;
            self.take(&message)?;
        }
        self.is_damaged = false;
        let Damage { major, id, .. } = self.damage;
        let mut request = vec![major, 3, 0, 0];
        request.extend(id.to_le_bytes());
        request.extend([0; 8]);
        self.send(request)?;
        Ok(true)
    }

    /// Lets time go by; how often something was drawn meanwhile.
    pub(crate) fn settle(&mut self, time: Duration) -> anyhow::Result<u64> {
        let end = Instant::now() + time;
        let mut count = 0;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.await_drawing(left)? {
                return Ok(count);
            }
            count += 1;
        }
    }

    /// Pixels of a part of the screen, row by row.
    pub(crate) fn pixels(
        &mut self,
        (x, y): (u16, u16),
        (width, height): (u16, u16),
    ) -> anyhow::Result<Vec<Color>> {
        let as_they_are = 2;
        let mut request = vec![73, as_they_are, 0, 0];
        request.extend(self.setup.root.to_le_bytes());
        [x, y, width, height].iter().for_each(|part| request.extend(part.to_le_bytes()));
        request.extend(u32::MAX.to_le_bytes());
        let reply = self.ask(request)?;
        let stride = (usize::from(width) * self.setup.pixel).next_multiple_of(4);
        let data = reply.get(MESSAGE_BYTES..).unwrap_or_default();
        ensure!(data.len() >= stride * usize::from(height), "a picture is too short");
        let rows = data.chunks_exact(stride).take(usize::from(height));
        let pixels = rows.flat_map(|row| row.chunks_exact(self.setup.pixel).take(width.into()));
        Ok(pixels.map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect())
    }

    /// The color of one pixel.
    pub(crate) fn pixel(&mut self, at: (u16, u16)) -> anyhow::Result<Color> {
        self.pixels(at, (1, 1))?.first().copied().context("no pixel")
    }

    /// The middle of all that has this color, if anything has.
    pub(crate) fn find(&mut self, color: Color) -> anyhow::Result<Option<(u16, u16)>> {
        let (width, height) = self.size();
        let pixels = self.pixels((0, 0), (width, height))?;
        let found = pixels.iter().enumerate().filter(|(_, pixel)| is_like(**pixel, color));
        let (mut count, mut x, mut y) = (0, 0, 0);
        for (index, _) in found {
            count += 1;
            x += index % usize::from(width);
            y += index / usize::from(width);
        }
        if count == 0 {
            return Ok(None);
        }
        Ok(Some((u16::try_from(x / count)?, u16::try_from(y / count)?)))
    }

    /// The key that gives a symbol without Shift.
    pub(crate) fn keycode(&mut self, symbol: Keysym) -> anyhow::Result<u8> {
        let (first, last) = self.setup.keycodes;
        let reply = self.ask(vec![101, 0, 0, 0, first, last - first + 1, 0, 0])?;
        let columns = usize::from(reply[1]).max(1);
        let symbols = reply[MESSAGE_BYTES..].chunks_exact(4 * columns);
        let mut plain = symbols.map(|row| u32_at(row, 0).unwrap_or_default());
        let index = plain.position(|known| known == symbol).context("no such key")?;
        Ok(first + u8::try_from(index)?)
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, keycode: u8) -> anyhow::Result<()> {
        self.fake(KEY_PRESS, keycode, (0, 0))
    }

    /// Lets a key go.
    pub(crate) fn release(&mut self, keycode: u8) -> anyhow::Result<()> {
        self.fake(KEY_RELEASE, keycode, (0, 0))
    }

    fn fake(&mut self, kind: u8, detail: u8, (x, y): (u16, u16)) -> anyhow::Result<()> {
        let mut request = vec![0; 36];
        (request[0], request[1]) = (self.xtest, 2);
        (request[4], request[5]) = (kind, detail);
        request[12..16].copy_from_slice(&self.setup.root.to_le_bytes());
        request[24..26].copy_from_slice(&x.to_le_bytes());
        request[26..28].copy_from_slice(&y.to_le_bytes());
        self.send(request)
    }

    /// Moves the pointer to a place, and gives the window there the keyboard.
    pub(crate) fn enter(&mut self, (x, y): (u16, u16)) -> anyhow::Result<()> {
        self.fake(MOTION, 0, (x, y))?;
        let root = self.setup.root.to_le_bytes();
        let mut request = vec![40, 0, 0, 0];
        request.extend([root, root].concat());
        request.extend([x.to_le_bytes(), y.to_le_bytes()].concat());
        let window = u32_at(&self.ask(request)?, 8)?;
        ensure!(window != 0, "there is no window at {x},{y}");
        let pointer_root = 1;
        let mut request = vec![42, pointer_root, 0, 0];
        request.extend(window.to_le_bytes());
        request.extend([0; 4]);
        self.send(request)
    }
}

impl Setup {
    fn parse(body: &[u8]) -> anyhow::Result<Setup> {
        let vendor = usize::from(u16_at(body, 16)?).next_multiple_of(4);
        let byte = |at: usize| body.get(at).copied().context("a short greeting");
        let formats = 32 + vendor;
        let count = usize::from(byte(21)?);
        let mut depths = (0..count).map(|index| formats + index * 8);
        let format = depths.find(|at| body.get(*at) == Some(&DEPTH)).context("no usual depth")?;
        let screen = formats + count * 8;
        Ok(Setup {
            first_id: u32_at(body, 4)?,
            root: u32_at(body, screen)?,
            size: (u16_at(body, screen + 20)?, u16_at(body, screen + 22)?),
            pixel: usize::from(byte(format + 1)?) / 8,
            keycodes: (byte(26)?, byte(27)?),
        })
    }
}

fn u16_at(bytes: &[u8], at: usize) -> anyhow::Result<u16> {
    let part = bytes.get(at..at + 2).context("a short message of X")?;
    Ok(u16::from_le_bytes([part[0], part[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> anyhow::Result<u32> {
    Ok(u32::from(u16_at(bytes, at)?) | u32::from(u16_at(bytes, at + 2)?) << 16)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_greeting_of_a_server_is_read() {
        let mut body = vec![0; 32 + 4 + 16 + 40];
        body[4..8].copy_from_slice(&0x0020_0000_u32.to_le_bytes());
        (body[16], body[20], body[21], body[26], body[27]) = (3, 1, 2, 8, 255);
        (body[36], body[37]) = (1, 1);
        (body[44], body[45]) = (24, 32);
        body[52] = 77;
        body[72..76].copy_from_slice(&[0x80, 0x07, 0x38, 0x04]);
        let setup = Setup::parse(&body).unwrap();
        let expected = Setup {
            first_id: 0x0020_0000,
            root: 77,
            size: (1920, 1080),
            pixel: 4,
            keycodes: (8, 255),
        };
        assert_eq!(setup, expected);
    }

    #[test]
    fn colors_that_look_the_same_are_the_same() {
        assert!(is_like([250, 10, 200], [255, 4, 195]));
        assert!(!is_like([250, 10, 200], [235, 10, 200]));
    }

    proptest! {
        #[test]
        fn any_greeting_can_be_read(body: Vec<u8>) {
            let _ = Setup::parse(&body);
        }
    }
}
