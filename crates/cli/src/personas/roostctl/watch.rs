//! `roostctl watch`: what happens, as the server writes it.

use std::io;

use rookery_roost::wire::{Int64, events::EventsSubscribe};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use tokio::sync::oneshot;

use super::{
    args::Watch,
    link::{Link, LinkError},
};
use crate::{
    failure::{Failure, Outcome},
    output,
};

/// The exit code of a program whose output has no reader, as shells show it.
const STDOUT_CLOSED: u8 = 141;

pub(super) async fn run(link: &mut Link, args: &Watch) -> Outcome<()> {
    let tab_id_filter = Int64(args.tab.unwrap_or_default());
    link.call(EventsSubscribe { tab_id_filter, since: args.since.map(Int64) }).await?;
    let left = reader_left();
    tokio::pin!(left);
    loop {
        let event = tokio::select! {
            event = link.event() => event,
            () = &mut left => return Err(Failure::quiet(STDOUT_CLOSED)),
        };
        match event {
            Ok(mut line) => {
                line.push(b'\n');
                output::write(&line)?;
            }
            Err(LinkError::Closed) => return Ok(()),
            Err(trouble) => return Err(trouble.into()),
        }
    }
}

/// Ends when stdout has no reader any more, which otherwise only the next event would show. A file has no
/// reader that could leave.
async fn reader_left() {
    let (sender, left) = oneshot::channel();
    // It lives as long as the process, and only sleeps.
    std::thread::spawn(move || {
        let stdout = io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut watched, None) == Err(Errno::INTR) {}
        let gone = PollFlags::ERR | PollFlags::HUP;
        if watched[0].revents().intersects(gone) {
            // Its result is not needed once the server has ended.
            let _ = sender.send(());
        }
    });
    if left.await.is_err() {
        std::future::pending().await
    }
}
