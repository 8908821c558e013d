//! `roostctl screenshot` and `roostctl render-stats`.

use std::io::IsTerminal as _;

use rookery_roost::wire::{
    Int64,
    app::{AppRenderStats, AppScreenshot, RenderStats},
};

use super::{args, link::Link};
use crate::{
    failure::{Failure, Outcome},
    output,
};

/// How wide names of counters are, so that numbers stand below each other.
const NAME_WIDTH: usize = 16;

pub(super) async fn screenshot(link: &mut Link, args: args::Screenshot) -> Outcome<()> {
    if args.out.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::new("a picture cannot be written to a terminal; use --out FILE"));
    }
    let shot = link.call(AppScreenshot { scale: args.scale }).await?;
    let Some(file) = args.out else { return output::write(&shot.png.0) };
    std::fs::write(&file, &shot.png.0).map_err(Failure::doing(file.display()))?;
    let (width, height, bytes) = (shot.width, shot.height, shot.png.0.len());
    let scale = shot.scale;
    output::note(format!("wrote {} ({width}x{height} @ {scale}x, {bytes} bytes)", file.display()));
    Ok(())
}

pub(super) async fn render_stats(link: &mut Link, reset: bool) -> Outcome<()> {
    let stats = link.call(AppRenderStats { reset }).await?;
    output::write(listed(&stats).as_bytes())
}

fn listed(stats: &RenderStats) -> String {
    let counters = [
        ("refresh_calls", stats.refresh_calls),
        ("refresh_nanos", stats.refresh_nanos),
        ("rows_rebuilt", stats.rows_rebuilt),
        ("cells_walked", stats.cells_walked),
        ("draw_calls", stats.draw_calls),
        ("draw_nanos", stats.draw_nanos),
        ("fill_text_calls", stats.fill_text_calls),
        ("view_calls", stats.view_calls),
        ("view_nanos", stats.view_nanos),
        ("elide_calls", stats.elide_calls),
        ("elide_nanos", stats.elide_nanos),
    ];
    let micros = Int64(stats.view_nanos.0 / 1_000);
    let averages = [
        ("ns_per_refresh", average(stats.refresh_nanos, stats.refresh_calls)),
        ("ns_per_draw", average(stats.draw_nanos, stats.draw_calls)),
        ("us_per_view", average(micros, stats.view_calls)),
        ("ns_per_elide", average(stats.elide_nanos, stats.elide_calls)),
    ];
    let counters = counters.map(|(name, count)| (name, count.to_string()));
    let rows = counters.into_iter().chain(averages);
    rows.map(|(name, value)| format!("{name:<NAME_WIDTH$} {value}\n")).collect()
}

fn average(Int64(total): Int64, Int64(calls): Int64) -> String {
    match total.checked_div(calls) {
        Some(average) if calls > 0 => average.to_string(),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_below_each_other() {
        let stats: RenderStats = serde_json::from_value(serde_json::json!({
            "refresh_calls": "2", "refresh_nanos": "9", "rows_rebuilt": "48",
            "cells_walked": "3840", "draw_calls": "1", "draw_nanos": "7",
            "fill_text_calls": "0", "view_calls": "2", "view_nanos": "5000",
            "elide_calls": "0", "elide_nanos": "0",
        }))
        .unwrap();
        expect_test::expect![[r#"
            refresh_calls    2
            refresh_nanos    9
            rows_rebuilt     48
            cells_walked     3840
            draw_calls       1
            draw_nanos       7
            fill_text_calls  0
            view_calls       2
            view_nanos       5000
            elide_calls      0
            elide_nanos      0
            ns_per_refresh   4
            ns_per_draw      7
            us_per_view      2
            ns_per_elide     -
        "#]]
        .assert_eq(&listed(&stats));
    }

    #[test]
    fn averages_need_something_to_divide_by() {
        assert_eq!(average(Int64(7), Int64(2)), "3");
        assert_eq!(average(Int64(7), Int64(0)), "-");
        assert_eq!(average(Int64(i64::MIN), Int64(-1)), "-");
    }
}
