//! Notifications about a tab.

use super::{Empty, Int64, calls};

calls! {
    /// Raises a notification for a tab.
    "notification.create" NotificationCreate -> Empty {
        /// The tab.
        tab_id: Int64,
        /// Its title.
        title: String,
        /// Its body.
        #[serde(default)]
        body: String,
    }
}
