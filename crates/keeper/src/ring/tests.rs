//! Wrapping, recovery after a writer's death, damage.

use std::io::Write;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn ring() -> Ring {
    Ring::open(create(MIN_CAPACITY).unwrap()).unwrap()
}

fn file_of(ring: &Ring) -> OwnedFd {
    ring.file.try_clone().unwrap()
}

/// What a new daemon does: maps the same file again.
fn reopen(ring: Ring) -> Ring {
    let file = file_of(&ring);
    drop(ring);
    Ring::open(file).unwrap()
}

fn contents(ring: &Ring) -> Vec<u8> {
    let (a, b) = ring.slices(0, u64::MAX);
    [a, b].concat()
}

/// Reads `bytes` (up to a pipe's worth) into the ring as if a PTY had printed them; they stay fresh.
fn read_in(ring: &mut Ring, bytes: &[u8]) -> usize {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(bytes).unwrap();
    drop(writer);
    ring.read_from(reader.as_fd()).unwrap()
}

fn poke(ring: &Ring, word: usize, value: u64) {
    ring.store(word, value);
}

fn pages_in_use(ring: &Ring) -> i64 {
    rustix::fs::fstat(&ring.file).unwrap().st_blocks / 8
}

#[test]
fn bytes_come_back_in_order_across_wraps() {
    let mut ring = ring();
    let all: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8 + 1).collect();
    for piece in all.chunks(7_777) {
        ring.push(piece);
        let start = ring.start() as usize;
        assert_eq!(contents(&ring), all[start..ring.end() as usize]);
    }
    assert_eq!(ring.end(), 300_000);
    assert_eq!(ring.end() - ring.start(), MIN_CAPACITY - WINDOW);
    let (a, b) = ring.slices(299_990, 299_995);
    assert_eq!([a, b].concat(), all[299_990..299_995]);
    assert_eq!(ring.slices(10, 5), (&[][..], &[][..]));
}

#[test]
fn a_read_is_fresh_until_published() {
    let mut ring = ring();
    assert_eq!(read_in(&mut ring, b"hello"), 5);
    assert_eq!((ring.fresh(), ring.end()), (&b"hello"[..], 0));
    assert!(contents(&ring).is_empty());
    ring.publish();
    assert_eq!((ring.fresh(), ring.end()), (&b""[..], 5));
    assert_eq!(contents(&ring), b"hello");
    assert_eq!(read_in(&mut ring, b""), 0);
    assert_eq!(read_in(&mut ring, &[b'x'; 20_000]), WINDOW as usize);
    // A second read without publishing must not drop the first.
    assert_eq!(read_in(&mut ring, b"y"), 1);
    assert_eq!((ring.fresh(), ring.end()), (&b"y"[..], 5 + WINDOW));
}

#[test]
fn errors_of_the_descriptor_pass_through() {
    let mut ring = ring();
    let (reader, _writer) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::NONBLOCK).unwrap();
    let error = ring.read_from(reader.as_fd()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    assert!(ring.fresh().is_empty());
}

#[test]
fn unpublished_bytes_are_recovered_once() {
    let mut ring = ring();
    ring.push(b"before ");
    ring.set_handled(7);
    read_in(&mut ring, b"un\0published");
    let ring = reopen(ring);
    assert_eq!((ring.recovered(), ring.end(), ring.handled()), (12, 19, 7));
    assert_eq!(contents(&ring), b"before un\0published");
    let ring = reopen(ring);
    assert_eq!((ring.recovered(), ring.end()), (0, 19));
}

#[test]
fn handled_never_exceeds_what_was_read() {
    let mut ring = ring();
    read_in(&mut ring, b"abc\0\0");
    ring.set_handled(99);
    assert_eq!(ring.handled(), 5);
    let ring = reopen(ring);
    assert_eq!((ring.end(), ring.handled()), (3, 3));
}

#[test]
fn death_while_making_room_costs_nothing() {
    let mut ring = ring();
    let all: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8 + 1).collect();
    ring.push(&all);
    let before = contents(&ring);
    // As far as `make_room` gets before it notes what it did.
    while ring.clean < ring.end + WINDOW {
        let at = ring.position(ring.clean);
        ring.map.bytes_mut(at, 1).fill(0);
        ring.clean += 1;
    }
    let ring = reopen(ring);
    assert_eq!((ring.recovered(), ring.end()), (0, 200_000));
    assert_eq!(contents(&ring), before);
}

#[test]
fn a_fresh_ring_takes_no_memory_for_what_it_does_not_hold() {
    let mut ring = Ring::open(create(0).unwrap()).unwrap();
    assert_eq!(ring.capacity(), DEFAULT_CAPACITY);
    ring.push(b"hello");
    assert_eq!(pages_in_use(&ring), 2, "one page of header, one of ring");
    let ring = reopen(ring);
    assert_eq!(pages_in_use(&ring), 2);
    assert_eq!(contents(&ring), b"hello");
}

#[test]
fn requested_capacities_are_rounded_and_bounded() {
    let capacity = |bytes| Ring::open(create(bytes).unwrap()).unwrap().capacity();
    assert_eq!(capacity(1), MIN_CAPACITY);
    assert_eq!(capacity(100_000), 102_400);
    assert_eq!(capacity(u64::MAX), MAX_CAPACITY);
}

#[test]
fn checkpoints_alternate_and_survive_reopening() {
    let mut ring = ring();
    assert_eq!(ring.checkpoint(), None);
    ring.push(&[b'x'; 1000]);
    for offset in [10, 20, 30] {
        ring.write_checkpoint(offset, format!("state at {offset}").as_bytes()).unwrap();
        ring = reopen(ring);
        let found = ring.checkpoint().unwrap();
        assert_eq!(
            (found.stream_offset, found.blob),
            (offset, format!("state at {offset}").into_bytes())
        );
    }
    ring.write_checkpoint(40, b"").unwrap();
    assert_eq!(ring.checkpoint().unwrap().stream_offset, 40);
}

#[test]
fn a_torn_checkpoint_falls_back_to_the_former_one() {
    let mut ring = ring();
    ring.push(&[b'x'; 1000]);
    ring.write_checkpoint(10, b"old").unwrap();
    ring.write_checkpoint(20, b"new").unwrap();
    let position = ring.map.word(16 + 2).load(Ordering::Relaxed);
    rustix::io::pwrite(&ring.file, b"N", position).unwrap();
    assert_eq!(ring.checkpoint().unwrap().blob, b"old");
    let mut ring = reopen(ring);
    assert_eq!(ring.checkpoint().unwrap().blob, b"old");
    ring.write_checkpoint(30, b"newer").unwrap();
    assert_eq!(ring.checkpoint().unwrap().blob, b"newer");
    poke(&ring, 16, 0);
    assert_eq!(ring.checkpoint().unwrap().blob, b"old", "the good one was not the one overwritten");
}

#[test]
fn a_checkpoint_the_ring_has_passed_is_useless() {
    let mut ring = ring();
    ring.push(b"abc");
    ring.write_checkpoint(3, b"state").unwrap();
    ring.push(&vec![b'x'; MIN_CAPACITY as usize]);
    assert!(ring.start() > 3);
    assert_eq!(ring.checkpoint(), None);
}

#[test]
fn impossible_checkpoints_are_refused() {
    let mut ring = ring();
    let kind = |result: std::io::Result<()>| result.unwrap_err().kind();
    assert_eq!(kind(ring.write_checkpoint(1, b"")), std::io::ErrorKind::InvalidInput);
    assert_eq!(
        kind(ring.write_checkpoint(0, &vec![0; MAX_CHECKPOINT + 1])),
        std::io::ErrorKind::InvalidInput
    );
    ring.write_checkpoint(0, &vec![1; MAX_CHECKPOINT]).unwrap();
    assert_eq!(ring.checkpoint().unwrap().blob.len(), MAX_CHECKPOINT);
}

#[test]
fn blocks_are_found_by_slot_and_serial() {
    let mut ring = ring();
    ring.push(b"x");
    ring.write_checkpoint(0, &vec![7; MAX_CHECKPOINT]).unwrap();
    ring.write_checkpoint(1, &vec![8; MAX_CHECKPOINT]).unwrap();
    assert_eq!(ring.blocks().read(0, 0).unwrap(), None);
    ring.blocks().write(0, 5, b"five").unwrap();
    ring.blocks().write(1, 6, &vec![6; BLOCK_BYTES]).unwrap();
    ring.blocks().write(0, 7, b"seven!").unwrap();
    let ring = reopen(ring);
    assert_eq!(ring.blocks().read(0, 5).unwrap(), None);
    assert_eq!(ring.blocks().read(0, 7).unwrap().unwrap(), b"seven!");
    assert_eq!(ring.blocks().read(1, 6).unwrap().unwrap(), vec![6; BLOCK_BYTES]);
    assert_eq!(ring.blocks().read(2, 0).unwrap(), None);
    assert_eq!(ring.checkpoint().unwrap().blob, vec![8; MAX_CHECKPOINT]);
    assert!(ring.blocks().write(0, 8, &vec![0; BLOCK_BYTES + 1]).is_err());
    assert!(ring.blocks().write(MAX_BLOCK_SLOTS, 8, b"").is_err());
    let position = ring.blocks().block_position(0).unwrap() + 32;
    rustix::io::pwrite(&ring.file, b"S", position).unwrap();
    assert_eq!(ring.blocks().read(0, 7).unwrap(), None, "a torn block is not handed out");
}

#[test]
fn damaged_headers_are_errors() {
    let broken = |word: usize, value: u64| {
        let mut ring = ring();
        ring.push(b"some bytes");
        poke(&ring, word, value);
        let file = file_of(&ring);
        drop(ring);
        Ring::open(file).err()
    };
    assert!(matches!(broken(WORD_MAGIC, 1), Some(RingError::BadMagic)));
    assert!(matches!(broken(WORD_MAGIC, 0), Some(RingError::BadMagic)));
    assert!(matches!(broken(WORD_VERSION, 2), Some(RingError::UnknownLayout(2))));
    assert!(matches!(broken(WORD_CAPACITY, 0), Some(RingError::Damaged(_))));
    assert!(matches!(broken(WORD_CAPACITY, u64::MAX), Some(RingError::Damaged(_))));
    assert!(matches!(broken(WORD_CAPACITY, 1 << 20), Some(RingError::Damaged(_))));
    assert!(matches!(broken(WORD_END, u64::MAX), Some(RingError::Damaged(_))));
    assert!(matches!(broken(WORD_CLEAN, 3), Some(RingError::Damaged(_))));
    assert!(matches!(broken(WORD_CLEAN, u64::MAX), Some(RingError::Damaged(_))));
    assert!(broken(WORD_HANDLED, u64::MAX).is_none());
}

#[test]
fn files_that_are_no_rings_are_errors() {
    let memfd = |len: u64| {
        let file =
            rustix::fs::memfd_create(c"test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
                .unwrap();
        rustix::fs::ftruncate(&file, len).unwrap();
        file
    };
    for len in [0, 10, 4096, 8192, 4096 + MIN_CAPACITY + 1] {
        assert!(matches!(Ring::open(memfd(len)), Err(RingError::Damaged(_))), "{len}");
    }
    let unsealable = rustix::fs::memfd_create(c"test", MemfdFlags::CLOEXEC).unwrap();
    assert!(matches!(Ring::open(unsealable), Err(RingError::NotSealed(_))));
    let plain = tempfile::tempfile().unwrap();
    assert!(matches!(Ring::open(plain.into()), Err(RingError::NotSealed(_))));
    let (pipe, _other) = std::io::pipe().unwrap();
    assert!(Ring::open(pipe.into()).is_err());
}

#[test]
fn the_file_cannot_shrink_under_the_mapping() {
    let ring = ring();
    assert!(rustix::fs::ftruncate(&ring.file, 0).is_err());
}

/// One step of a writer's life.
#[derive(Debug, Clone)]
enum Step {
    Push(Vec<u8>),
    Read(Vec<u8>),
    ReadAndPublish(Vec<u8>),
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = (vec(any::<u8>(), 0..30), 0usize..1200).prop_map(|(seed, times)| {
        seed.iter().copied().cycle().take(seed.len() * times).take(20_000).collect()
    });
    prop_oneof![
        bytes.clone().prop_map(Step::Push),
        bytes.clone().prop_map(Step::Read),
        bytes.prop_map(Step::ReadAndPublish),
        Just(Step::Crash),
    ]
}

fn without_nul(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != 0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_byte_is_lost_or_repeated(steps in vec(step(), 1..40)) {
        let mut ring = ring();
        let mut printed = Vec::new();
        for step in steps {
            match step {
                Step::Push(bytes) => {
                    ring.push(&bytes);
                    printed.extend(without_nul(&bytes));
                }
                Step::Read(bytes) => {
                    let got = read_in(&mut ring, &bytes);
                    printed.extend(without_nul(&bytes[..got]));
                    ring = reopen(ring);
                }
                Step::ReadAndPublish(bytes) => {
                    let got = read_in(&mut ring, &bytes);
                    prop_assert_eq!(ring.fresh(), &bytes[..got]);
                    ring.publish();
                    printed.extend(without_nul(&bytes[..got]));
                }
                Step::Crash => ring = reopen(ring),
            }
            let held = without_nul(&contents(&ring));
            prop_assert!(printed.ends_with(&held));
            if ring.start() == 0 {
                prop_assert_eq!(held.len(), printed.len());
            } else {
                prop_assert_eq!(ring.end() - ring.start(), ring.capacity() - WINDOW);
            }
        }
    }

    #[test]
    fn a_hostile_file_never_panics(
        words in vec((0usize..24, prop_oneof![any::<u64>(), 0u64..200_000, Just(MIN_CAPACITY)]), 0..8),
        tail in vec(any::<u8>(), 0..300),
    ) {
        let mut made = ring();
        made.push(&[b'x'; 70_000]);
        made.write_checkpoint(60_000, b"state").unwrap();
        made.blocks().write(0, 1, b"block").unwrap();
        for (word, value) in words {
            poke(&made, word, value);
        }
        rustix::io::pwrite(&made.file, &tail, 4096 + MIN_CAPACITY).unwrap();
        let file = file_of(&made);
        drop(made);
        if let Ok(mut ring) = Ring::open(file) {
            ring.push(&[b'y'; 40_000]);
            let _ = (contents(&ring), ring.checkpoint(), ring.blocks().read(0, 1), ring.handled());
            let end = ring.end();
            ring.write_checkpoint(end, b"again").unwrap();
            prop_assert_eq!(ring.checkpoint().map(|found| found.stream_offset), Some(end));
        }
    }
}
