//! `rookery media`: images and other files that threads use.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use rookery_native::wire::{
    Artifact, Artifacts, Empty, Generated, MediaAttach, MediaDelete, MediaGenerate, MediaGet,
    MediaImport, MediaKind, MediaList, MediaThumbnail, Thumbnail,
};
use rookery_view::safe;
use rookery_wire::Client;
use serde_json::json;

use crate::{
    args::{self, MediaAction},
    commands::done,
    daemon_process,
    failure::{Failure, Outcome},
    link::ask,
    output::{self, Colors, Table, Tone, shorten},
    talk::age,
};

/// What to do when an artifact is not found.
const SEE: &str = "run `rookery media ls` to list artifacts";
/// Columns of a title.
const WIDTH: usize = 40;

pub(super) async fn run(action: MediaAction) -> Outcome {
    let client = daemon_process::connect_or_start().await?;
    match action {
        MediaAction::Ls(args) => list(&client, args).await,
        MediaAction::Show(args) => show(&client, args).await,
        MediaAction::Import(args) => import(&client, args).await,
        MediaAction::Export(args) => export(&client, args).await,
        MediaAction::Thumbnail(args) => thumbnail(&client, args).await,
        MediaAction::Attach(args) => attach(&client, args).await,
        MediaAction::Generate(args) => generate(&client, args).await,
        MediaAction::Rm(args) => remove(&client, args).await,
    }
}

async fn list(client: &Client, args: args::MediaLs) -> Outcome {
    let kind = args.kind.map(|kind| match kind {
        args::MediaKind::Image => MediaKind::Image,
        args::MediaKind::Video => MediaKind::Video,
        args::MediaKind::Audio => MediaKind::Audio,
        args::MediaKind::Other => MediaKind::Other,
    });
    let list: Artifacts = ask(client, MediaList { thread: args.thread, kind }, SEE).await?;
    if args.json {
        output::json(&list)?;
    } else if list.artifacts.is_empty() {
        output::note("no artifacts; import a file with `rookery media import FILE`");
    } else {
        table(&list.artifacts, age::now()).print()?;
    }
    done()
}

fn table(artifacts: &[Artifact], now: i64) -> Table {
    let mut table = Table::new(&["ID", "AGE", "TYPE", "PIXELS", "BYTES", "FROM", "TITLE"]);
    for artifact in artifacts {
        table.row(vec![
            (Tone::Strong, safe::line(&artifact.id)),
            (Tone::Faint, age::since_text(&artifact.created_at, now)),
            (Tone::Plain, safe::line(&artifact.mime_type)),
            (Tone::Faint, pixels(artifact).unwrap_or_default()),
            (Tone::Faint, artifact.byte_size.to_string()),
            (Tone::Plain, shorten(&safe::line(&artifact.provider), WIDTH)),
            (Tone::Plain, shorten(&safe::line(artifact.title.as_deref().unwrap_or("")), WIDTH)),
        ]);
    }
    table
}

fn pixels(artifact: &Artifact) -> Option<String> {
    Some(format!("{}x{}", artifact.width?, artifact.height?))
}

async fn show(client: &Client, args: args::MediaShow) -> Outcome {
    let artifact: Artifact = ask(client, MediaGet { artifact: args.artifact }, SEE).await?;
    match args.json {
        true => output::json(&artifact)?,
        false => output::write(described(&artifact, Colors::of_stdout()).as_bytes())?,
    }
    done()
}

fn described(artifact: &Artifact, colors: Colors) -> String {
    let mut text = format!("{}\n", colors.paint(Tone::Strong, &safe::line(&artifact.id)));
    let mut line = |name: &str, value: String| text += &format!("{name:10}{value}\n");
    if let Some(title) = &artifact.title {
        line("title", safe::line(title));
    }
    line("type", safe::line(&artifact.mime_type));
    if let Some(pixels) = pixels(artifact) {
        line("pixels", pixels);
    }
    line("bytes", artifact.byte_size.to_string());
    line("from", safe::line(&artifact.provider));
    line("kept", artifact.created_at.clone());
    line("sha256", safe::line(&artifact.sha256));
    line("file", safe::line(&artifact.path.to_string_lossy()));
    if let Some(thread) = &artifact.thread {
        line("thread", safe::line(thread));
    }
    text
}

async fn import(client: &Client, args: args::MediaImport) -> Outcome {
    let doing = Failure::doing(format!("cannot read {}", args.file.display()));
    let path = std::path::absolute(&args.file).map_err(doing)?;
    let params = MediaImport { path, thread: args.thread, title: args.title };
    let kept: Artifact = ask(client, params, "check the file, and that it is not empty").await?;
    match args.json {
        true => output::json(&kept)?,
        false => output::line(&kept.id)?,
    }
    done()
}

async fn export(client: &Client, args: args::MediaExport) -> Outcome {
    let artifact: Artifact = ask(client, MediaGet { artifact: args.artifact }, SEE).await?;
    let Some(written) = copy(&artifact.path, &args.file, args.force)? else { return done() };
    if args.json {
        output::json(&json!({ "artifact": artifact, "file": args.file }))?;
    } else {
        output::line(format!("wrote {written} bytes to {}", args.file.display()))?;
    }
    done()
}

/// Copies a file of the daemon's; none if it went to stdout.
fn copy(from: &Path, to: &Path, replaces: bool) -> Outcome<Option<u64>> {
    let reading = Failure::doing(format!("cannot read {}", from.display()));
    let mut source = File::open(from).map_err(reading)?;
    if to == Path::new("-") {
        let copied = io::copy(&mut source, &mut io::stdout().lock());
        copied.map_err(Failure::doing("cannot write to stdout"))?;
        return Ok(None);
    }
    let shown = to.display().to_string();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!replaces);
    let mut target = options.open(to).map_err(|error| {
        let is_there = error.kind() == io::ErrorKind::AlreadyExists;
        let failure = Failure::new(format!("cannot write {shown}: {error}"));
        if is_there { failure.hint("replace it with --force") } else { failure }
    })?;
    let copied = io::copy(&mut source, &mut target);
    copied.map(Some).map_err(Failure::doing(format!("cannot write {shown}")))
}

async fn thumbnail(client: &Client, args: args::MediaThumbnail) -> Outcome {
    let made: Thumbnail = ask(client, MediaThumbnail { artifact: args.artifact }, SEE).await?;
    let Some(path) = &made.path else {
        let why = made.warning.as_deref().unwrap_or("it is no image");
        let message = format!("{} has no thumbnail: {why}", made.label);
        return Err(Failure::new(message).hint("export the file with `rookery media export`"));
    };
    let Some(written) = copy(path, &args.file, args.force)? else { return done() };
    if args.json {
        output::json(&json!({ "thumbnail": made, "file": args.file }))?;
    } else {
        output::line(format!("wrote {written} bytes to {}", args.file.display()))?;
    }
    done()
}

async fn attach(client: &Client, args: args::MediaAttach) -> Outcome {
    let params = MediaAttach { artifact: args.artifact, thread: args.thread };
    let attached: Artifact = ask(client, params, SEE).await?;
    match args.json {
        true => output::json(&attached)?,
        false => output::line(format!("{} waits for the next turn", safe::line(&attached.id)))?,
    }
    done()
}

async fn generate(client: &Client, args: args::MediaGenerate) -> Outcome {
    let params = MediaGenerate {
        prompt: args.prompt.join(" "),
        provider: args.provider,
        model: args.model,
        count: args.count,
        inputs: args.from,
        thread: args.thread,
    };
    let hint = "set up a provider of images in `[media.providers]`, or name `fake`";
    let made: Generated = output::working("making", ask(client, params, hint)).await?;
    if args.json {
        output::json(&made)?;
        return done();
    }
    for artifact in &made.artifacts {
        output::line(&artifact.id)?;
    }
    for problem in &made.problems {
        output::note(safe::line(problem));
    }
    done()
}

async fn remove(client: &Client, args: args::MediaRm) -> Outcome {
    for artifact in &args.artifacts {
        let _: Empty = ask(client, MediaDelete { artifact: artifact.clone() }, SEE).await?;
        if !args.json {
            output::line(format!("deleted {}", safe::line(artifact)))?;
        }
    }
    if args.json {
        output::json(&json!({ "deleted": args.artifacts }))?;
    }
    done()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn artifact() -> Artifact {
        serde_json::from_value(json!({
            "id": "media-1", "kind": "image", "mimeType": "image/png", "width": 3, "height": 4,
            "byteSize": 67, "provider": "import", "path": "/data/media-1.png", "sha256": "00ff",
            "title": "a\u{7} cat.png", "createdAt": "1970-01-01T00:01:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn one_line_per_artifact() {
        expect![[r#"
            ID       AGE  TYPE       PIXELS  BYTES  FROM    TITLE
            media-1  2m   image/png  3x4     67     import  a cat.png
        "#]]
        .assert_eq(&table(&[artifact()], 180).render(Colors::none(), None));
    }

    #[test]
    fn an_artifact_is_described() {
        expect![[r#"
            media-1
            title     a cat.png
            type      image/png
            pixels    3x4
            bytes     67
            from      import
            kept      1970-01-01T00:01:00Z
            sha256    00ff
            file      /data/media-1.png
        "#]]
        .assert_eq(&described(&artifact(), Colors::none()));
    }
}
