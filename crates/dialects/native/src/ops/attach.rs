//! Following a terminal's output, byte for byte. Attaching is an explicit request to see it unredacted.

use rookery_core::{self as core, Core, OutputStream, Topics};
use rookery_model as model;
use rookery_wire::{Outbox, rights::Needs, rpc};

use crate::{
    Cx, Error, notification,
    wire::{Attach, Attached, Base64, Detach, Empty, Output, OutputNotification},
};

pub(crate) async fn attach(cx: Cx, params: Attach) -> Result<Attached, Error> {
    let terminal = cx.terminal(params.terminal)?;
    let view =
        if params.shown { cx.core.terminals().show_where_caller_is(terminal.id())? } else { None };
    match (params.rows, params.cols) {
        (Some(rows), Some(cols)) => {
            if !cx.allowed.admits(Needs::Full) {
                let why = "this connection may follow a terminal, but not change its size";
                return Err(model::Error::new(model::ErrorKind::Denied, why).into());
            }
            resize(&terminal, model::Size::new(rows, cols)?).await?;
        }
        (None, None) => {}
        (rows, _) => {
            let missing = if rows.is_some() { "cols" } else { "rows" };
            return Err(Error::invalid(missing, "give both rows and cols, or neither"));
        }
    }
    let core::Attachment { redraw, size, stream } = terminal.attach();
    let outbox = cx.connection.outbox().clone();
    let source = Source { core: cx.core.clone(), id: terminal.id(), stream, _view: view };
    let attachment =
        cx.attachments.start(outbox.clone(), |number| forward(outbox, number, source))?;
    Ok(Attached { attachment, redraw: Base64(redraw), size: size.into() })
}

/// A terminal whose child has ended can still be looked at, whatever size it has.
async fn resize(terminal: &core::TerminalHandle, size: model::Size) -> model::Result<()> {
    match terminal.resize(size).await {
        Err(error) if error.kind() == model::ErrorKind::Closed => Ok(()),
        other => other,
    }
}

pub(crate) async fn detach(cx: Cx, params: Detach) -> Result<Empty, Error> {
    cx.attachments.stop(params.attachment)?;
    Ok(Empty {})
}

/// A terminal's output, and how to learn why it ended.
struct Source {
    core: Core,
    id: model::TerminalId,
    stream: OutputStream,
    /// Where it is shown, for as long as it is.
    _view: Option<core::View>,
}

impl Source {
    /// The next piece; none when the daemon stops and the terminal lives on.
    async fn next(&mut self) -> Option<Output> {
        Some(match self.stream.next().await {
            Some(core::Output::Bytes(bytes)) => Output::Data(Base64(bytes.to_vec())),
            Some(core::Output::Resync(redraw)) => Output::Redraw(Base64(redraw)),
            Some(core::Output::Resized(size)) => Output::Resized(size.into()),
            Some(core::Output::Exited(status)) => Output::Exited(status.into()),
            None => return self.is_closed().await.then_some(Output::Closed(true)),
        })
    }

    /// Whether output ended because the terminal is closed rather than because the daemon stops.
    ///
    /// Output may end a moment before the closing is on record, so that the log is waited for.
    async fn is_closed(&self) -> bool {
        let mut events = self.core.log().subscribe(Topics::EVENTS, None);
        loop {
            if self.core.terminals().describe(self.id).is_err() {
                return true;
            }
            if events.next().await.is_err() {
                return false;
            }
        }
    }
}

/// Sends all output; while the peer does not read, the stream falls behind and then begins anew.
async fn forward(outbox: Outbox, attachment: u64, mut source: Source) {
    while let Some(output) = source.next().await {
        let is_last = matches!(output, Output::Closed(_));
        let params = OutputNotification { attachment, output };
        let Ok(body) = rpc::notification(notification::OUTPUT, &params) else { return };
        if outbox.send(body).await.is_err() || is_last {
            return;
        }
    }
}
