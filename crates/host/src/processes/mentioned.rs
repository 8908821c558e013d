//! Processes that outlived their parent, found by a word that only they carry.

use std::fs;
use std::time::Duration;

/// How often it is looked whether they ended.
const LOOK: Duration = Duration::from_millis(20);

/// Whether a process other than this one has the word in its arguments or its environment.
fn is_mentioned(word: &str) -> bool {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.any(|pid| {
        let has = |file: &str| {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            bytes.windows(word.len().max(1)).any(|part| part == word.as_bytes())
        };
        pid != own && (has("cmdline") || has("environ"))
    })
}

/// Waits until no process carries this word any more, so that what it works on can be taken over.
/// False if one still does after the limit.
pub async fn wait_for_processes_naming(word: &str, limit: Duration) -> bool {
    let deadline = tokio::time::Instant::now() + limit;
    loop {
        let wanted = word.to_owned();
        let looking = tokio::task::spawn_blocking(move || is_mentioned(&wanted));
        if !looking.await.unwrap_or(false) {
            return true;
        }
        if tokio::time::Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;

    use super::*;

    #[tokio::test]
    async fn a_process_is_waited_for_by_its_word() {
        let word = format!("rookery-orphan-{:x}", fastrand::u64(..));
        let never = Duration::from_secs(60);
        assert!(wait_for_processes_naming(&word, never).await);
        #[expect(clippy::disallowed_methods, reason = "a child of this test alone")]
        let mut child = std::process::Command::new("sh")
            .args(["-c", "echo ready; read line", &word])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // `spawn` returns in the middle of the exec, before the kernel shows the arguments.
        let mut ready = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert!(!wait_for_processes_naming(&word, Duration::ZERO).await);
        drop(child.stdin.take());
        let waiting = wait_for_processes_naming(&word, never);
        let (ended, status) =
            tokio::join!(waiting, tokio::task::spawn_blocking(move || child.wait()));
        assert!(ended && status.unwrap().is_ok());
    }
}
