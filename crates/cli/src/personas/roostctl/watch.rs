//! `roostctl watch`: what happens, as the server writes it.

use rookery_roost::wire::{Int64, events::EventsSubscribe};

use super::{
    args::Watch,
    link::{Link, Trouble},
};
use crate::{
    failure::{Failure, Outcome},
    output,
};

/// The code of a program whose output nobody reads, as shells show it.
const NOBODY_READS: u8 = 141;

pub(super) async fn run(link: &mut Link, args: &Watch) -> Outcome<()> {
    let tab_id_filter = Int64(args.tab.unwrap_or_default());
    link.call(EventsSubscribe { tab_id_filter, since: args.since.map(Int64) }).await?;
    let left = reader_left();
    tokio::pin!(left);
    loop {
        let event = tokio::select! {
            event = link.event() => event,
            () = &mut left => return Err(Failure::quiet(NOBODY_READS)),
        };
        match event {
            Ok(mut line) => {
                line.push(b'\n');
                output::write(&line)?;
            }
            Err(Trouble::Closed) => return Ok(()),
            Err(trouble) => return Err(trouble.into()),
        }
    }
}

/// Ends when nobody reads stdout any more, which else only the next event would show. What cannot
/// be watched, such as a file, has no reader that could leave.
#[cfg(target_os = "linux")]
async fn reader_left() {
    use tokio::io::{Interest, unix::AsyncFd};

    if let Ok(stdout) = AsyncFd::with_interest(std::io::stdout(), Interest::ERROR)
        && stdout.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

#[cfg(not(target_os = "linux"))]
async fn reader_left() {
    std::future::pending().await
}
