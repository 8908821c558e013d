//! Notifications.

use rookery_model::NotificationText;

use super::living_tab;
use crate::{
    context::Cx,
    errors::Error,
    wire::{Empty, notification::NotificationCreate, tab::TabClearNotification},
};

pub(crate) async fn create(cx: Cx, params: NotificationCreate) -> Result<Empty, Error> {
    let tab = living_tab(&cx, params.tab_id)?;
    let text = NotificationText { title: params.title, body: params.body };
    cx.core.workspace().notify(tab.id, text).await?;
    Ok(Empty {})
}

pub(crate) async fn clear(cx: Cx, params: TabClearNotification) -> Result<Empty, Error> {
    let tab = living_tab(&cx, params.tab_id)?;
    cx.core.workspace().clear_attention(tab.id).await?;
    Ok(Empty {})
}
