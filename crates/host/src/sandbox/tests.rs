//! Tests of what needs no process of its own; the rest is in `tests/sandbox.rs`.

use super::*;

fn os(args: &[&str]) -> Vec<OsString> {
    args.iter().map(OsString::from).collect()
}

#[test]
fn what_is_wrapped_is_read_back() {
    let reads = Reads {
        home: Some("/home/a".into()),
        open: vec!["/home/a/w".into()],
        hidden: vec!["/x".into(), "--hide".into()],
    };
    let sandbox = Sandbox {
        read_only: false,
        writable: vec!["/tmp/a b".into(), "--".into()],
        network: true,
        local_sockets: true,
        reads: Some(reads),
    };
    let argv = ["sh".to_owned(), "--write".to_owned(), "--".to_owned()];
    let wrapped = wrap(Path::new("/bin/rookery"), &sandbox, &argv);
    assert_eq!(wrapped[..2], ["/bin/rookery", SANDBOX_ARGUMENT]);
    let args: Vec<OsString> = wrapped[2..].iter().map(Into::into).collect();
    let (read, command) = Sandbox::parse(&args).unwrap();
    assert_eq!(read, sandbox);
    assert_eq!(command, os(&["sh", "--write", "--"]));
}

#[test]
fn wrong_arguments_run_nothing() {
    for args in [&["--write"][..], &["--read-only"], &["ls"], &["--network", "--"], &[]] {
        let error = enter_and_exec(&os(args));
        assert!(matches!(error, SandboxError::Arguments(_)), "{args:?}: {error}");
        assert_eq!(error.exit_code(), 126);
    }
}

#[test]
fn the_quiet_environment_counts_its_settings() {
    let env = quiet_env();
    let count = env.iter().find(|(name, _)| name == "GIT_CONFIG_COUNT").unwrap();
    let keys = env.iter().filter(|(name, _)| name.starts_with("GIT_CONFIG_KEY_")).count();
    assert_eq!(count.1, keys.to_string());
}
