//! Round trips, tolerance of strangers, frozen bytes.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn read_all(bytes: &[u8]) -> Vec<Frame> {
    let mut reader = FrameReader::new();
    reader.push(bytes);
    let mut frames = Vec::new();
    while let Some(frame) = reader.next().unwrap() {
        frames.push(frame);
    }
    frames
}

fn one(bytes: &[u8]) -> Frame {
    let mut frames = read_all(bytes);
    assert_eq!(frames.len(), 1);
    frames.remove(0)
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn blob(max: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..max)
}

fn status() -> impl Strategy<Value = ExitStatus> {
    prop_oneof![
        any::<i32>().prop_map(ExitStatus::Code),
        any::<i32>().prop_map(ExitStatus::Signal),
        Just(ExitStatus::Unknown),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let state = prop_oneof![Just(State::Running), status().prop_map(State::Exited)];
    (any::<u64>(), any::<i32>(), state, any::<u64>(), any::<u64>(), any::<bool>(), blob(40))
        .prop_map(
            |(terminal_id, pid, state, spawned_at_micros, exited_at_micros, adopted, meta)| Entry {
                terminal_id,
                pid,
                state,
                spawned_at_micros,
                exited_at_micros,
                adopted,
                meta,
            },
        )
}

fn spawn() -> impl Strategy<Value = Request> {
    let size = any::<[u16; 4]>().prop_map(|[rows, cols, xpixel, ypixel]| Size {
        rows,
        cols,
        xpixel,
        ypixel,
    });
    (any::<u64>(), vec(blob(9), 0..4), vec(blob(9), 0..4), blob(9), size, any::<u64>(), blob(40))
        .prop_map(|(terminal_id, argv, env, cwd, size, ring_bytes, meta)| {
            Request::Spawn(Spawn { terminal_id, argv, env, cwd, size, ring_bytes, meta })
        })
}

fn request() -> impl Strategy<Value = Request> {
    let scope = prop_oneof![Just(Scope::Child), Just(Scope::Group)];
    prop_oneof![
        any::<(u16, u16)>()
            .prop_map(|(version, min_version)| Request::Hello { version, min_version }),
        spawn(),
        Just(Request::List),
        any::<u64>().prop_map(|terminal_id| Request::Attach { terminal_id }),
        (any::<u64>(), any::<i32>(), scope).prop_map(|(terminal_id, signal, scope)| {
            Request::Signal { terminal_id, signal, scope }
        }),
        (any::<u64>(), blob(40))
            .prop_map(|(terminal_id, meta)| Request::SetMeta { terminal_id, meta }),
        any::<u64>().prop_map(|terminal_id| Request::Release { terminal_id }),
        (any::<u64>(), any::<i32>(), blob(40))
            .prop_map(|(terminal_id, pid, meta)| Request::Adopt { terminal_id, pid, meta }),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let error = (1u16..12, any::<i32>(), "[a-z ]{0,20}").prop_map(|(code, errno, message)| {
        let code = match code {
            1 => ErrorCode::Unsupported,
            2 => ErrorCode::BadRequest,
            3 => ErrorCode::UnknownTerminal,
            4 => ErrorCode::DuplicateTerminal,
            5 => ErrorCode::SpawnFailed,
            6 => ErrorCode::SignalFailed,
            7 => ErrorCode::Limit,
            other => ErrorCode::Other(other),
        };
        Reply::Error(ErrorReply { code, errno, message })
    });
    prop_oneof![
        any::<(u16, u32, u64)>().prop_map(|(version, pid, features)| Reply::Hello {
            version,
            pid,
            features
        }),
        any::<(u64, i32)>().prop_map(|(terminal_id, pid)| Reply::Spawned { terminal_id, pid }),
        (vec(entry(), 0..4), any::<bool>())
            .prop_map(|(entries, more)| Reply::Listed { entries, more }),
        entry().prop_map(Reply::Attached),
        Just(Reply::Ok),
        error,
        (any::<u64>(), status(), any::<u64>()).prop_map(|(terminal_id, status, at_micros)| {
            Reply::Exited { terminal_id, status, at_micros }
        }),
    ]
}

/// Puts a field of a later version at the front and the back of a frame's body.
fn with_unknown_fields(mut frame: Frame, noise: &[u8]) -> Frame {
    let mut field = 0x7001u16.to_le_bytes().to_vec();
    field.extend_from_slice(&(noise.len() as u32).to_le_bytes());
    field.extend_from_slice(noise);
    frame.body = [field.as_slice(), &frame.body, &field].concat();
    frame
}

proptest! {
    #[test]
    fn requests_survive_the_wire(request in request(), tag: u64, noise in blob(20)) {
        let frame = one(&request.encode(tag, 2).unwrap());
        prop_assert_eq!((frame.tag, frame.fds), (tag, 2));
        prop_assert_eq!(Request::decode(&frame), Ok(request.clone()));
        prop_assert_eq!(Request::decode(&with_unknown_fields(frame, &noise)), Ok(request));
    }

    #[test]
    fn replies_survive_the_wire(reply in reply(), tag: u64, noise in blob(20)) {
        let frame = one(&reply.encode(tag, 0).unwrap());
        prop_assert_eq!(Reply::decode(&frame), Ok(reply.clone()));
        prop_assert_eq!(Reply::decode(&with_unknown_fields(frame, &noise)), Ok(reply));
    }

    #[test]
    fn frames_do_not_depend_on_how_the_stream_is_cut(
        requests in vec(request(), 0..5), cuts in vec(1usize..50, 1..20),
    ) {
        let bytes: Vec<u8> =
            requests.iter().enumerate().flat_map(|(i, r)| r.encode(i as u64, 0).unwrap()).collect();
        let mut reader = FrameReader::new();
        let (mut rest, mut got) = (bytes.as_slice(), Vec::new());
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            reader.push(now);
            while let Some(frame) = reader.next().unwrap() {
                got.push(frame);
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(got, read_all(&bytes));
    }

    #[test]
    fn arbitrary_bytes_never_panic(kind: u16, body in blob(200), stream in blob(200)) {
        for kind in [kind, kind % 10, 0x8000 | (kind % 8), 0xc001] {
            let frame = Frame { kind, fds: 0, tag: 1, body: body.clone() };
            let _ = Request::decode(&frame);
            let _ = Reply::decode(&frame);
        }
        let mut reader = FrameReader::new();
        reader.push(&stream);
        while let Ok(Some(frame)) = reader.next() {
            let _ = Request::decode(&frame);
        }
    }

    #[test]
    fn a_damaged_body_never_panics(request in request(), reply in reply(), at: usize, byte: u8) {
        for bytes in [request.encode(1, 0).unwrap(), reply.encode(1, 0).unwrap()] {
            let mut frame = one(&bytes);
            if !frame.body.is_empty() {
                let at = at % frame.body.len();
                frame.body[at] = byte;
            }
            let _ = Request::decode(&frame);
            let _ = Reply::decode(&frame);
        }
    }
}

type Frozen<T> = Vec<(T, &'static str)>;

/// Every version-1 message with its bytes as first released. These must never change.
fn frozen() -> (Frozen<Request>, Frozen<Reply>) {
    let entry = Entry {
        terminal_id: 7,
        pid: 1234,
        state: State::Exited(ExitStatus::Signal(9)),
        spawned_at_micros: 0x0102_0304_0506_0708,
        exited_at_micros: 0x1112_1314_1516_1718,
        adopted: true,
        meta: b"m".to_vec(),
    };
    let spawn = Spawn {
        terminal_id: 7,
        argv: vec![b"sh".to_vec(), b"-c".to_vec()],
        env: vec![b"A=1".to_vec()],
        cwd: b"/".to_vec(),
        size: Size { rows: 24, cols: 80, xpixel: 1, ypixel: 2 },
        ring_bytes: 1 << 20,
        meta: b"note".to_vec(),
    };
    let error = ErrorReply { code: ErrorCode::SpawnFailed, errno: 2, message: "no sh".to_owned() };
    let requests = vec![
        (
            Request::Hello { version: 1, min_version: 1 },
            "10000000010000002a0000000000000001000200000001000200020000000100",
        ),
        (
            Request::Spawn(spawn),
            "54000000020000002a00000000000000050008000000070000000000000006000200000073680600 \
                020000002d63070003000000413d310800010000002f09000800000018005000010002000a000800 \
                000000001000000000000b00040000006e6f7465",
        ),
        (Request::List, "00000000030000002a00000000000000"),
        (
            Request::Attach { terminal_id: 7 },
            "0e000000040000002a000000000000000500080000000700000000000000",
        ),
        (
            Request::Signal { terminal_id: 7, signal: 15, scope: Scope::Group },
            "1f000000050000002a0000000000000005000800000007000000000000000c00040000000f000000 \
                0d000100000001",
        ),
        (
            Request::SetMeta { terminal_id: 7, meta: b"m".to_vec() },
            "15000000060000002a0000000000000005000800000007000000000000000b00010000006d",
        ),
        (
            Request::Release { terminal_id: 7 },
            "0e000000070000002a000000000000000500080000000700000000000000",
        ),
        (
            Request::Adopt { terminal_id: 7, pid: 1234, meta: b"m".to_vec() },
            "1f000000080000002a000000000000000500080000000700000000000000030004000000d2040000 \
                0b00010000006d",
        ),
    ];
    let replies = vec![
        (
            Reply::Hello { version: 1, pid: 1234, features: 0 },
            "20000000018000002a000000000000000100020000000100030004000000d2040000040008000000 \
                0000000000000000",
        ),
        (
            Reply::Spawned { terminal_id: 7, pid: 1234 },
            "18000000028000002a000000000000000500080000000700000000000000030004000000d2040000",
        ),
        (
            Reply::Listed { entries: vec![entry.clone()], more: true },
            "5a000000038000002a0000000000000012004d000000050008000000070000000000000003000400 \
                0000d20400000e000500000002090000000f00080000000807060504030201100008000000181716 \
                1514131211110001000000010b00010000006d13000100000001",
        ),
        (
            Reply::Attached(entry),
            "4d000000048000002a000000000000000500080000000700000000000000030004000000d2040000 \
                0e000500000002090000000f00080000000807060504030201100008000000181716151413121111 \
                0001000000010b00010000006d",
        ),
        (Reply::Ok, "00000000058000002a00000000000000"),
        (
            Reply::Error(error),
            "1d000000068000002a00000000000000140002000000050015000400000002000000160005000000 \
                6e6f207368",
        ),
        (
            Reply::Exited { terminal_id: 7, status: ExitStatus::Code(3), at_micros: 9 },
            "2700000001c000002a0000000000000005000800000007000000000000000e000500000001030000 \
                001000080000000900000000000000",
        ),
    ];
    (requests, replies)
}

#[test]
fn version_one_frames_are_frozen() {
    let (requests, replies) = frozen();
    for (request, hex) in requests {
        assert_eq!(Request::decode(&one(&unhex(hex))), Ok(request.clone()));
        assert_eq!(request.encode(0x2a, 0).unwrap(), unhex(hex), "{request:?}");
    }
    for (reply, hex) in replies {
        assert_eq!(Reply::decode(&one(&unhex(hex))), Ok(reply.clone()));
        assert_eq!(reply.encode(0x2a, 0).unwrap(), unhex(hex), "{reply:?}");
    }
}

#[test]
fn an_unknown_kind_is_named_and_leaves_the_stream_in_step() {
    let strange = Frame { kind: 0x0777, fds: 1, tag: 5, body: vec![0xff; 3] };
    let mut bytes = strange.encode().unwrap();
    bytes.extend(Request::List.encode(6, 0).unwrap());
    let frames = read_all(&bytes);
    assert_eq!(Request::decode(&frames[0]), Err(DecodeError::UnknownKind(0x0777)));
    assert_eq!(Reply::decode(&frames[0]), Err(DecodeError::UnknownKind(0x0777)));
    assert_eq!(Request::decode(&frames[1]), Ok(Request::List));
}

#[test]
fn limits_hold_on_both_sides() {
    let mut reader = FrameReader::new();
    reader.push(&((MAX_BODY as u32) + 1).to_le_bytes());
    reader.push(&[0; 12]);
    assert_eq!(reader.next(), Err(FrameError::BodyTooLong(MAX_BODY + 1)));

    let mut reader = FrameReader::new();
    reader.push(&[0, 0, 0, 0, 1, 0, 9, 0]);
    reader.push(&[0; 8]);
    assert_eq!(reader.next(), Err(FrameError::TooManyFds(9)));

    let meta = vec![0; MAX_BODY];
    assert!(matches!(
        Request::SetMeta { terminal_id: 1, meta }.encode(1, 0),
        Err(FrameError::BodyTooLong(_))
    ));
    let meta = vec![0; MAX_META + 1];
    let frame = one(&Request::SetMeta { terminal_id: 1, meta }.encode(1, 0).unwrap());
    assert_eq!(Request::decode(&frame), Err(DecodeError::Invalid(11)));
    assert_eq!(Request::List.encode(1, 9), Err(FrameError::TooManyFds(9)));
}

#[test]
fn missing_and_cut_fields_are_named() {
    let frame = Frame { kind: 4, fds: 0, tag: 1, body: Vec::new() };
    assert_eq!(Request::decode(&frame), Err(DecodeError::Missing(5)));
    let frame = Frame { kind: 4, fds: 0, tag: 1, body: vec![5, 0, 8, 0, 0, 0, 1] };
    assert_eq!(Request::decode(&frame), Err(DecodeError::Truncated(5)));
}
