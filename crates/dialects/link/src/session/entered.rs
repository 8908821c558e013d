//! A viewer leaves whatever becomes of those who let it in.

use rookery_core::Core;
use rookery_model::ViewerId;
use tokio::runtime::Handle;

/// A viewer that is there for as long as this is.
pub(crate) struct Entered {
    core: Core,
    viewer: Option<ViewerId>,
}

impl Entered {
    pub(crate) fn new(core: &Core, viewer: ViewerId) -> Entered {
        Entered { core: core.clone(), viewer: Some(viewer) }
    }

    pub(super) async fn leave(mut self) {
        if let Some(viewer) = self.viewer.take() {
            self.core.seats().leave(viewer).await;
        }
    }
}

/// Its connection was cut while it was let in, or its task failed.
impl Drop for Entered {
    fn drop(&mut self) {
        let (Some(viewer), Ok(runtime)) = (self.viewer.take(), Handle::try_current()) else {
            return;
        };
        let core = self.core.clone();
        runtime.spawn(async move { core.seats().leave(viewer).await });
    }
}
