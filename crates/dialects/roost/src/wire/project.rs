//! Projects.

use super::{Empty, Int64, calls, shapes, tab::Tab};

shapes! {
    /// A project with its tabs.
    Project {
        /// Its id.
        id: Int64,
        /// Its name.
        name: String,
        /// Where its tabs start.
        cwd: String,
        /// Its place among projects.
        position: i32,
        /// When it was created, in Unix seconds.
        created_at: i64,
        /// Its tabs in display order.
        tabs: Vec<Tab>,
    }
    ProjectReply {
        /// It.
        project: Project,
    }
}

calls! {
    /// Creates a project.
    "project.create" ProjectCreate -> ProjectReply {
        /// Its name; empty lets the server choose.
        #[serde(default)]
        name: String,
        /// Where its tabs start.
        #[serde(default)]
        cwd: String,
    }
    /// Renames a project.
    "project.rename" ProjectRename -> Empty {
        /// The project.
        project_id: Int64,
        /// Its new name.
        name: String,
    }
    /// Deletes a project and closes its tabs.
    "project.delete" ProjectDelete -> Empty {
        /// The project.
        project_id: Int64,
    }
    /// Orders projects.
    "project.reorder" ProjectReorder -> Empty {
        /// The topmost first; those not named follow.
        project_ids: Vec<Int64>,
    }
}
