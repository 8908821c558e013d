//! Tools that clients call, and tools that clients run.

use rookery_core::{DirectCall, DirectOutcome};
use rookery_model as model;
use serde_json::{Map, Value};

use super::session::settle;
use crate::context::Cx;
use crate::errors::Error;
use crate::ids::{self, RequestKind};
use crate::show;
use crate::wire::session::ResolvedResult;
use crate::wire::tool::{ToolsCallParams, ToolsCallResult, ToolsResolveParams};

pub(crate) async fn call(cx: Cx, params: ToolsCallParams) -> Result<ToolsCallResult, Error> {
    cx.bring_mode().await?;
    let name = params.tool_name;
    let call = DirectCall {
        thread: ids::thread(&params.thread_id)?,
        tool: name.clone(),
        arguments: params.arguments.unwrap_or_else(|| Value::Object(Map::new())),
        waits: params.wait_for_approval,
        client: Some(cx.client.number()),
    };
    match cx.flushed(cx.core.threads().call_tool(call)).await? {
        DirectOutcome::Ran(output) => {
            Ok(ToolsCallResult { text: output.text, data: output.data, is_error: output.is_error })
        }
        DirectOutcome::Denied { reason, mode } => {
            let message = format!("tools/call denied by policy: {reason}");
            Err(Error::denied(message, &show::mode(&cx, mode)))
        }
        DirectOutcome::NeedsApproval { reason, mode, approval } => {
            let message = format!("tools/call requires approval: {reason}");
            let approval = RequestKind::Approval.spell(approval);
            Err(Error::approval_required(message, &show::mode(&cx, mode), &approval))
        }
        DirectOutcome::Unknown => Err(Error::invalid(format!("unknown tool: {name}"))),
        DirectOutcome::NeedsTurn => {
            Err(Error::invalid(format!("tool cannot be called directly: {name}")))
        }
    }
}

pub(crate) async fn resolve(cx: Cx, params: ToolsResolveParams) -> Result<ResolvedResult, Error> {
    let id = RequestKind::ExternalTool.read(&params.request_id);
    let answer = model::Answer::Output { text: text(params.output), is_error: params.is_error };
    settle(&cx, id, answer).await
}

/// Text as it is, anything else as the JSON it is.
fn text(output: Value) -> String {
    match output {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            output.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn output_is_text_or_becomes_it() {
        assert_eq!(text(json!("plain \"text\"")), "plain \"text\"");
        assert_eq!(text(json!({"a": [1, null]})), "{\"a\":[1,null]}");
        assert_eq!(text(json!(7)), "7");
    }
}
