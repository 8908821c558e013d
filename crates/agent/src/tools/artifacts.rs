//! Long outputs: kept whole in files of their thread, and shown to the model by their ends.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rookery_model::{Unseen, spelled};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::paths::{self, Place};
use crate::tool::{ToolContext, ToolOutput};

/// A longer output is not shown whole, in lines.
const MAX_LINES: usize = 200;
/// A longer output is not shown whole, in characters.
const MAX_CHARS: usize = 20_000;
/// How much of a long output is shown, in characters.
const EXCERPT: usize = 6_000;
/// How many outputs of one thread are kept; the oldest go first.
const MAX_KEPT: usize = 256;
/// How many bytes of a digest are shown: enough to compare, few enough to read.
const DIGEST: usize = 8;
/// How large one that is read may be, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The directory of outputs that belong to no thread; every thread may read them by their id,
/// which cannot be guessed.
const SHARED: &str = "app-server";

/// Keeps a long output whole elsewhere and shortens it for the model. To be applied by the code that
/// runs a tool, to whatever it came to.
pub async fn finish(context: &ToolContext, output: ToolOutput) -> ToolOutput {
    if !is_long(&output) {
        return output;
    }
    let (dir, text) = (context.artifacts.clone(), output.text.clone());
    let thread = context.thread.to_string();
    let work = tokio::task::spawn_blocking(move || {
        dir.map(|dir| store(&dir.join(thread), &text)).transpose()
    });
    let kept = work.await.unwrap_or(Ok(None));
    shortened(context, output, kept)
}

/// A text to decide by: nothing in it is hidden, and if it is long its middle is left
/// out, with how much that is and a digest of the whole.
pub fn shown_in_part(text: &str) -> String {
    let shown = spelled(text);
    let count = shown.chars().count();
    if count <= MAX_CHARS {
        return shown;
    }
    let digest = Sha256::digest(text.as_bytes());
    let unseen = Unseen {
        characters: (count - EXCERPT) as u64,
        of: count as u64,
        digest: digest.iter().take(DIGEST).map(|byte| format!("{byte:02x}")).collect(),
    };
    excerpt(&shown, &unseen.notice())
}

/// A page is as long as what it shows; how to go on comes on top.
fn is_long(output: &ToolOutput) -> bool {
    let shown = output.data.get("shown").and_then(Value::as_u64);
    let lines = shown.map_or_else(|| output.text.lines().count(), |shown| shown as usize);
    lines > MAX_LINES || output.text.chars().count() > MAX_CHARS
}

fn shortened(
    context: &ToolContext,
    mut output: ToolOutput,
    kept: io::Result<Option<String>>,
) -> ToolOutput {
    let (bytes, lines) = (output.text.len(), output.text.lines().count());
    let dropped = output.data.get("dropped_bytes").and_then(Value::as_u64).unwrap_or(0);
    let what = match dropped {
        0 => "The whole output".to_owned(),
        _ => format!("The output without its first {dropped} bytes, which were dropped,"),
    };
    let (notice, artifact) = match kept {
        Ok(Some(id)) => (
            format!(
                "[{lines} lines, {bytes} bytes; the middle is left out here. {what} is \
                 artifact {id}: use read_artifact, grep_artifact or tail_artifact]"
            ),
            json!({
                "id": id,
                "kind": "tool_output",
                "threadId": context.thread.to_string(),
                "turnId": context.turn.map(|turn| turn.to_string()),
                "byteCount": bytes,
                "lineCount": lines,
                "truncated": dropped > 0,
                "droppedBytes": dropped,
                "createdAt": format!("{:.6}", jiff::Timestamp::now()),
            }),
        ),
        Ok(None) => {
            (format!("[{lines} lines, {bytes} bytes; the middle was cut out]"), Value::Null)
        }
        Err(error) => (
            format!(
                "[{lines} lines, {bytes} bytes; the middle was cut out: cannot keep it: {error}]"
            ),
            Value::Null,
        ),
    };
    let cut = excerpt(&output.text, &notice);
    if output.data.is_null() {
        output.data = json!({});
    }
    if let Value::Object(data) = &mut output.data {
        data.insert("artifact".into(), artifact);
        data.insert("truncated".into(), true.into());
        if let Some(Value::String(all)) = data.get_mut("aggregated_output")
            && all.chars().count() > MAX_CHARS
        {
            *all = excerpt(all, &notice);
        }
    }
    output.text = cut;
    output
}

/// The beginning and the end of a text, with a notice between.
fn excerpt(text: &str, notice: &str) -> String {
    let count = text.chars().count();
    let half = EXCERPT / 2;
    if count <= EXCERPT {
        // Many short lines: nothing needs to be left out, but the model learns where it is kept.
        return format!("{text}\n{notice}");
    }
    let place = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..place(half)], &text[place(count - half)..]);
    format!("{head}\n{notice}\n{tail}")
}

/// Writes a text into a new file that only its owner can read, and gives its id.
fn store(dir: &Path, text: &str) -> io::Result<String> {
    let (id, mut file) = create(dir)?;
    file.write_all(text.as_bytes())?;
    drop_oldest(dir);
    Ok(id)
}

fn create(dir: &Path) -> io::Result<(String, File)> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let id = new_id();
    let path = dir.join(file_name(&id));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok((id, file))
}

/// An output that is kept while it comes, beside those of threads. It blocks; one that is dropped
/// before it is finished leaves nothing behind.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    id: String,
    file: Option<File>,
    kept: KeptOutput,
    ends_in_line: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptOutput {
    /// What it is found by.
    pub id: String,
    /// How long the file is.
    pub byte_count: u64,
    /// How many lines that is; the last one need not be whole.
    pub line_count: u64,
    /// How many bytes there were beyond what is ever kept.
    pub dropped_bytes: u64,
}

impl Spool {
    /// Begins an artifact that belongs to no thread, in the directory of all artifacts.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(artifacts: &Path) -> io::Result<Self> {
        let dir = artifacts.join(SHARED);
        let (id, file) = create(&dir)?;
        drop_oldest(&dir);
        let kept = KeptOutput { id: id.clone(), ..KeptOutput::default() };
        Ok(Self { dir, id, file: Some(file), kept, ends_in_line: false })
    }

    /// Adds bytes, as far as there is room.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(MAX_BYTES - self.kept.byte_count).unwrap_or(usize::MAX);
        let (bytes, over) = bytes.split_at(room.min(bytes.len()));
        self.kept.dropped_bytes += over.len() as u64;
        let Some(last) = bytes.last() else { return Ok(()) };
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        self.ends_in_line = *last != b'\n';
        self.kept.byte_count += bytes.len() as u64;
        self.kept.line_count += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(())
    }

    /// Ends it; from now on it stays.
    pub fn finish(mut self) -> KeptOutput {
        self.file = None;
        let mut kept = std::mem::take(&mut self.kept);
        kept.line_count += u64::from(self.ends_in_line);
        kept
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(self.dir.join(file_name(&self.id)));
        }
    }
}

/// Removes the oldest files beyond the number that is kept.
fn drop_oldest(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut all: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    all.sort();
    for (_, path) in all.iter().take(all.len().saturating_sub(MAX_KEPT)) {
        let _ = fs::remove_file(path);
    }
}

fn new_id() -> String {
    let draw = || RandomState::new().hash_one(std::process::id());
    format!("art_{:016x}{:016x}", draw(), draw())
}

fn file_name(id: &str) -> String {
    format!("{id}.txt")
}

/// The text of an artifact of this thread.
pub(super) fn load(context: &ToolContext, id: &str) -> Result<String, String> {
    let unknown = || format!("no such artifact: {id}");
    let dir = context.artifacts.as_ref().ok_or("outputs are not kept: there are no artifacts")?;
    let digits = id.strip_prefix("art_").ok_or_else(unknown)?;
    let is_safe = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_safe {
        return Err(unknown());
    }
    let own = context.thread.to_string();
    let path = [own.as_str(), SHARED].into_iter().find_map(|owner| {
        let path = dir.join(owner).canonicalize().ok()?.join(file_name(id));
        path.exists().then_some(path)
    });
    let place = Place { path: path.ok_or_else(unknown)?, shown: id.to_owned() };
    let bytes = paths::read_here(&place, MAX_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rookery_model::ThreadId;

    use super::super::test_world::Bench;
    use super::*;

    fn lines(count: usize) -> String {
        (1..=count).map(|number| format!("line {number}\n")).collect()
    }

    #[tokio::test]
    async fn short_outputs_and_full_pages_stay_as_they_are() {
        let bench = Bench::new();
        for output in [
            ToolOutput::new(lines(200), Value::Null),
            ToolOutput::new("x".repeat(20_000), Value::Null),
            ToolOutput::new(lines(202), json!({"shown": 200})),
        ] {
            assert_eq!(finish(&bench.context(), output.clone()).await, output);
        }
        assert!(!bench.artifacts().exists());
    }

    #[tokio::test]
    async fn long_outputs_are_kept_whole_and_shown_by_their_ends() {
        let bench = Bench::new();
        let text = lines(3000);
        let data = json!({"aggregated_output": text, "exit_code": 0});
        let output = finish(&bench.context(), ToolOutput::new(text.clone(), data)).await;
        let id = output.data["artifact"]["id"].as_str().unwrap().to_owned();
        assert!(output.text.starts_with("line 1\n") && output.text.ends_with("line 3000\n"));
        assert!(output.text.contains(&format!("artifact {id}: use read_artifact")));
        assert!(output.text.chars().count() < 6_300);
        assert!(output.data["aggregated_output"].as_str().unwrap().len() < 6_300);
        assert_eq!(output.data["exit_code"], 0);
        let context = bench.context();
        assert_eq!(load(&context, &id).unwrap(), text);
        let dir = bench.artifacts().join(context.thread.to_string());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join(format!("{id}.txt")))), (0o700, 0o600));
    }

    #[tokio::test]
    async fn one_whose_beginning_is_gone_says_so() {
        let bench = Bench::new();
        let data = json!({"dropped_bytes": 7});
        let output = finish(&bench.context(), ToolOutput::new(lines(300), data)).await;
        let id = output.data["artifact"]["id"].as_str().unwrap().to_owned();
        let notice =
            format!("The output without its first 7 bytes, which were dropped, is artifact {id}");
        assert!(output.text.contains(&notice), "{}", output.text);
        let artifact = &output.data["artifact"];
        assert_eq!((&artifact["truncated"], &artifact["droppedBytes"]), (&json!(true), &json!(7)));
        let whole = finish(&bench.context(), ToolOutput::new(lines(300), json!({}))).await;
        assert_eq!(whole.data["artifact"]["truncated"], false);
    }

    #[tokio::test]
    async fn many_short_lines_are_kept_as_well() {
        let bench = Bench::new();
        let output =
            finish(&bench.context(), ToolOutput::new("x\n".repeat(201), Value::Null)).await;
        assert!(output.text.contains("artifact art_"));
    }

    #[tokio::test]
    async fn without_a_place_the_middle_is_cut_out() {
        let bench = Bench::new();
        let context = ToolContext { artifacts: None, ..bench.context() };
        let output = finish(&context, ToolOutput::new("é".repeat(30_000), Value::Null)).await;
        assert!(output.text.contains("[1 lines, 60000 bytes; the middle was cut out]"));
        assert_eq!(output.data["artifact"], Value::Null);
        assert!(load(&context, "art_0").unwrap_err().contains("no artifacts"));
    }

    #[tokio::test]
    async fn only_outputs_of_the_same_thread_are_found() {
        let bench = Bench::new();
        let output = finish(&bench.context(), ToolOutput::new(lines(300), Value::Null)).await;
        let id = output.data["artifact"]["id"].as_str().unwrap().to_owned();
        let other = ToolContext { thread: ThreadId::new(99), ..bench.context() };
        for (context, id) in [
            (&other, id.as_str()),
            (&bench.context(), "art_../../etc/passwd"),
            (&bench.context(), "x"),
        ] {
            assert_eq!(load(context, id).unwrap_err(), format!("no such artifact: {id}"));
        }
    }

    #[tokio::test]
    async fn what_comes_in_pieces_is_kept_for_all_threads() {
        let bench = Bench::new();
        let mut spool = Spool::create(&bench.artifacts()).unwrap();
        for piece in ["one\n", "", "two\nth", "ree"] {
            spool.write(piece.as_bytes()).unwrap();
        }
        let kept = spool.finish();
        assert_eq!((kept.byte_count, kept.line_count, kept.dropped_bytes), (13, 3, 0));
        assert_eq!(load(&bench.context(), &kept.id).unwrap(), "one\ntwo\nthree");
        let path = bench.artifacts().join(SHARED).join(file_name(&kept.id));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_spool_is_bounded_and_an_unfinished_one_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(dir.path()).unwrap();
        for _ in 0..65 {
            spool.write(&vec![b'x'; 1 << 20]).unwrap();
        }
        assert_eq!((spool.kept.byte_count, spool.kept.dropped_bytes), (MAX_BYTES, 1 << 20));
        drop(spool);
        assert_eq!(fs::read_dir(dir.path().join(SHARED)).unwrap().count(), 0);
    }

    #[test]
    fn the_oldest_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let ids: Vec<String> = (0..MAX_KEPT + 3).map(|_| store(dir.path(), "x").unwrap()).collect();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), MAX_KEPT);
        assert!(dir.path().join(file_name(ids.last().unwrap())).exists());
    }
}
