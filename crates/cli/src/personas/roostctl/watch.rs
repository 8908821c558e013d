//! `roostctl watch`: what happens, as the server writes it.

use rookery_roost::wire::{Int64, events::EventsSubscribe};

use super::{
    args::Watch,
    link::{Link, Trouble},
};
use crate::{failure::Outcome, output};

pub(super) async fn run(link: &mut Link, args: &Watch) -> Outcome<()> {
    let tab_id_filter = Int64(args.tab.unwrap_or_default());
    link.call(EventsSubscribe { tab_id_filter, since: args.since.map(Int64) }).await?;
    loop {
        match link.event().await {
            Ok(mut line) => {
                line.push(b'\n');
                output::write(&line)?;
            }
            Err(Trouble::Closed) => return Ok(()),
            Err(trouble) => return Err(trouble.into()),
        }
    }
}
