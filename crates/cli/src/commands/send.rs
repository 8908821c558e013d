//! `rookery send`: types into a terminal, as if at its keyboard.

use std::io::Read as _;

use rookery_native::wire::{Base64, TerminalPaste, TerminalPress, TerminalWrite};

use crate::{
    args,
    commands::done,
    failure::{Failure, Outcome},
    link::{self, call},
    resolve,
};

pub(super) async fn run(args: args::Send) -> Outcome {
    let client = link::connect().await?;
    let terminal = resolve::terminal(&client, &args.target.id).await?;
    let bytes = text(&args.text)?;
    if !bytes.is_empty() && args.paste {
        let text =
            String::from_utf8(bytes).map_err(|_| Failure::new("only UTF-8 text can be pasted"))?;
        let params = TerminalPaste { terminal, text, size: None };
        call(&client, params).await?;
    } else if !bytes.is_empty() {
        let params = TerminalWrite { terminal, data: Some(Base64(bytes)), text: None, size: None };
        call(&client, params).await?;
    }
    let mut keys = args.keys;
    if args.enter {
        keys.push("enter".to_owned());
    }
    if !keys.is_empty() {
        let params = TerminalPress { terminal, keys, size: None };
        call(&client, params).await?;
    }
    done()
}

fn text(words: &[String]) -> Outcome<Vec<u8>> {
    if words != ["-"] {
        return Ok(words.join(" ").into_bytes());
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(Failure::doing("cannot read stdin"))?;
    Ok(bytes)
}
