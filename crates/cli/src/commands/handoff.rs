//! `rookery handoff`: work that another session continues.

use rookery_native::wire::{
    Handoff, HandoffCreate, HandoffList, HandoffSetStatus, HandoffStatus, Handoffs,
};
use rookery_view::safe;
use rookery_wire::Client;

use crate::{
    args::{self, HandoffAction},
    commands::done,
    daemon_process,
    failure::Outcome,
    link::{self, ask},
    output::{self, Table, Tone, shorten},
    talk::{
        age,
        requests::short_id,
        sessions::{self, SessionTarget},
    },
};

/// What to do when a handoff is not found.
const SEE: &str = "run `rookery handoff list --all` to list handoffs";
/// Columns of what it is about.
const WIDTH: usize = 60;

pub(super) async fn run(action: HandoffAction) -> Outcome {
    let client = match action {
        HandoffAction::Create(_) => daemon_process::connect_or_start().await?,
        _ => link::connect().await?,
    };
    match action {
        HandoffAction::Create(args) => create(&client, args).await,
        HandoffAction::List(args) => list(&client, args).await,
        HandoffAction::Accept(args) => set(&client, args, HandoffStatus::Accepted).await,
        HandoffAction::Resolve(args) => set(&client, args, HandoffStatus::Resolved).await,
    }
}

async fn create(client: &Client, args: args::HandoffCreate) -> Outcome {
    let SessionTarget { session: from, tree } = sessions::choose(client, &args.place).await?;
    let params = HandoffCreate {
        from,
        tree,
        to: args.to,
        checkpoint: args.checkpoint,
        title: args.title,
        summary: Some(args.summary.join(" ")).filter(|text| !text.is_empty()),
        risks: args.risks,
        next_actions: args.next_actions,
    };
    let made: Handoff = ask(client, params, sessions::SEE).await?;
    if args.json {
        output::json(&made)?;
    } else {
        output::line(&made.id)?;
    }
    done()
}

async fn list(client: &Client, args: args::HandoffList) -> Outcome {
    let tree = sessions::directory(args.tree.as_deref())?;
    let params = HandoffList { session: args.session, tree };
    let mut list: Handoffs = ask(client, params, sessions::SEE).await?;
    if !args.all {
        list.handoffs.retain(|one| one.status != HandoffStatus::Resolved);
    }
    if args.json {
        output::json(&list)?;
    } else if list.handoffs.is_empty() {
        output::note("no handoffs");
    } else {
        let table = table(&list.handoffs, age::now());
        table.print()?;
    }
    done()
}

fn table(all: &[Handoff], now: i64) -> Table {
    let mut table = Table::new(&["ID", "STATUS", "AGE", "ABOUT", "NEXT"]);
    let ids = all.iter().map(|one| &*one.id);
    for one in all {
        let (tone, word) = match one.status {
            HandoffStatus::Pending => (Tone::Warning, "pending"),
            HandoffStatus::Accepted => (Tone::Good, "accepted"),
            HandoffStatus::Resolved => (Tone::Faint, "resolved"),
        };
        let about = format!("{}: {}", safe::line(&one.title), safe::line(&one.summary));
        table.row(vec![
            (Tone::Strong, short_id(&one.id, ids.clone()).to_owned()),
            (tone, word.to_owned()),
            (Tone::Faint, age::since_text(&one.created_at, now)),
            (Tone::Plain, shorten(&about, WIDTH)),
            (Tone::Faint, shorten(&safe::line(&one.next_actions.join("; ")), WIDTH)),
        ]);
    }
    table
}

async fn set(client: &Client, args: args::IdArg, status: HandoffStatus) -> Outcome {
    let params = HandoffSetStatus { id: args.id, status };
    let set: Handoff = ask(client, params, SEE).await?;
    let word = match status {
        HandoffStatus::Pending => "pending",
        HandoffStatus::Accepted => "accepted",
        HandoffStatus::Resolved => "resolved",
    };
    if args.json {
        output::json(&set)?;
    } else {
        output::line(format!("{word} {}", set.id))?;
    }
    done()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::output::Colors;

    #[test]
    fn one_line_per_handoff() {
        let one: Handoff = serde_json::from_value(json!({
            "id": "h-7654321", "from": "s", "title": "API", "summary": "go\u{7} on", "risks": [],
            "nextActions": ["test", "ship"], "createdAt": "1970-01-01T00:01:00Z",
            "status": "pending",
        }))
        .unwrap();
        expect![[r#"
            ID      STATUS   AGE  ABOUT       NEXT
            654321  pending  2m   API: go on  test; ship
        "#]]
        .assert_eq(&table(&[one], 180).render(Colors::none(), None));
    }
}
