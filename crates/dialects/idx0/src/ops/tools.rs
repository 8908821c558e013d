//! Tools that may be launched in a session.

use rookery_host::FoundTool;

use super::listed;
use crate::context::Cx;
use crate::envelope::Reply;
use crate::errors::Failure;
use crate::ids::Payload;
use crate::wire::VibeCliTool;

pub(crate) async fn list(cx: Cx, _: Payload) -> Result<Reply, Failure> {
    let found = cx.core.sessions().agent_tools().await;
    Ok(listed(&found.iter().map(show).collect::<Vec<_>>()))
}

fn show(found: &FoundTool) -> VibeCliTool {
    VibeCliTool {
        display_name: found.tool.name.clone(),
        executable_name: found.tool.program().to_owned(),
        id: found.tool.id.clone(),
        is_installed: found.path.is_some(),
        launch_command: found.tool.program().to_owned(),
        resolved_path: found.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
    }
}
