//! From the params of `session.create` to what core is asked to open: this dialect's own rules
//! about directories, raw files and what counts as whose fault.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rookery_core::{OpenTerminal, RawLog};
use rookery_model::{Error, Terminal};
use rookery_wire::rpc::RpcError;

use crate::{
    Cx,
    errors::{self, Origin},
    wire::session::Create,
};

/// More than any ring holds, and far from where arithmetic ends.
const MAX_TRANSCRIPT_CHARS: usize = u32::MAX as usize;

/// Opens a session.
pub(super) async fn open(cx: &Cx, create: Create) -> Result<Terminal, RpcError> {
    let shared = Arc::clone(&cx.shared);
    let request = tokio::task::spawn_blocking(move || request(create, &shared.home))
        .await
        .map_err(|error| RpcError::internal(error.to_string()))??;
    let opened = cx.core.terminals().open(request).await;
    opened.map_err(|error| errors::rpc(Origin::Pty, &error))
}

/// The request to core. Looks at the file system to find the directory, so it may block.
fn request(create: Create, home: &Path) -> Result<OpenTerminal, RpcError> {
    let size = create.size().map_err(|error| errors::rpc(Origin::Pty, &Error::from(error)))?;
    let raw_log = raw_log(create.raw_transcript_path, create.raw_transcript_append)?;
    let argv: Vec<String> = std::iter::once(create.program).chain(create.args).collect();
    check(&argv, create.env.iter())?;
    Ok(OpenTerminal {
        argv,
        cwd: Some(directory(create.cwd.as_deref(), home)),
        env: create.env.into_iter().collect(),
        size,
        transcript_chars: create.transcript_max_chars.map(|chars| chars.min(MAX_TRANSCRIPT_CHARS)),
        raw_log,
        ..OpenTerminal::default()
    })
}

fn raw_log(path: Option<String>, append: Option<bool>) -> Result<Option<RawLog>, RpcError> {
    let append = append.unwrap_or(false);
    match path {
        Some(path) => Ok(Some(RawLog { path: PathBuf::from(path), append })),
        None if append => {
            Err(RpcError::invalid_params("raw_transcript_append requires raw_transcript_path"))
        }
        None => Ok(None),
    }
}

/// What no program can be started with is a failed start here, not a malformed request.
fn check<'a>(
    argv: &[String],
    env: impl Iterator<Item = (&'a String, &'a String)>,
) -> Result<(), RpcError> {
    let refuse = |what: &str| Err(errors::failed(Origin::Pty, what));
    if argv.first().is_none_or(String::is_empty) {
        return refuse("program is empty");
    }
    if argv.iter().any(|arg| arg.contains('\0')) {
        return refuse("nul byte found in an argument");
    }
    for (name, value) in env {
        if name.is_empty() || name.contains(['\0', '=']) || value.contains('\0') {
            return refuse("malformed environment variable");
        }
    }
    Ok(())
}

/// The directory to start in: what was asked for if it is one, else the home directory.
fn directory(cwd: Option<&str>, home: &Path) -> PathBuf {
    let wanted = cwd.and_then(|cwd| std::path::absolute(cwd).ok()).filter(|path| path.is_dir());
    wanted.unwrap_or_else(|| home.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ask(params: Value) -> Result<OpenTerminal, RpcError> {
        request(serde_json::from_value(params).unwrap(), Path::new("/home/me"))
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let open = ask(json!({"program": "sh"})).unwrap();
        assert_eq!(open.argv, ["sh"]);
        assert_eq!(open.cwd.as_deref(), Some(Path::new("/home/me")));
        assert_eq!((open.size.rows(), open.size.cols()), (24, 80));
        assert!(open.env.is_empty() && open.raw_log.is_none() && open.transcript_chars.is_none());
    }

    #[test]
    fn everything_asked_for_is_passed_on() {
        let open = ask(json!({
            "program": "./x", "args": ["", "-c"], "cwd": "/", "env": {"B": "2", "A": "a=1"}, "rows": 3, "cols": 4,
            "pixel_width": 5, "transcript_max_chars": 0, "raw_transcript_path": "log", "raw_transcript_append": true,
        }))
        .unwrap();
        assert_eq!(open.argv, ["./x", "", "-c"]);
        assert_eq!(open.cwd.as_deref(), Some(Path::new("/")));
        assert_eq!(open.env, [("A".into(), "a=1".into()), ("B".into(), "2".into())]);
        assert_eq!((open.size.rows(), open.size.cols(), open.size.pixel_width), (3, 4, 5));
        assert_eq!(open.transcript_chars, Some(0));
        let log = open.raw_log.unwrap();
        assert_eq!((log.path.as_path(), log.append), (Path::new("log"), true));
    }

    #[test]
    fn a_directory_that_does_not_exist_is_the_home() {
        for cwd in ["/no/such/directory", "/dev/null", ""] {
            let open = ask(json!({"program": "sh", "cwd": cwd})).unwrap();
            assert_eq!(open.cwd.as_deref(), Some(Path::new("/home/me")), "{cwd}");
        }
    }

    #[test]
    fn absurd_transcripts_are_as_long_as_possible() {
        let open = ask(json!({"program": "sh", "transcript_max_chars": u64::MAX})).unwrap();
        assert_eq!(open.transcript_chars, Some(MAX_TRANSCRIPT_CHARS));
    }

    #[test]
    fn refusals_have_the_code_of_whose_fault_it_is() {
        let refused = |params| ask(params).map(|open| open.argv).unwrap_err();
        assert_eq!(
            refused(json!({"program": "sh", "raw_transcript_append": true})),
            RpcError::new(-32602, "raw_transcript_append requires raw_transcript_path")
        );
        assert_eq!(
            refused(json!({"program": "sh", "cols": 0})),
            RpcError::new(-32602, "cols must be between 1 and 2000, not 0")
        );
        for params in [
            json!({"program": "sh", "args": ["a\0b"]}),
            json!({"program": ""}),
            json!({"program": "sh", "env": {"A=B": ""}}),
            json!({"program": "sh", "env": {"A": "\0"}}),
        ] {
            let error = refused(params);
            assert_eq!(error.code, -32603);
            assert!(error.message.starts_with("pty backend error: "), "{}", error.message);
        }
    }
}
