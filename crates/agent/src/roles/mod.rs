//! Roles: how agents work that are driven as a piece of work. Some ship with us, others are in files of
//! the user and of the workspace.
//!
//! [`read`] and [`read_all`] are pure; [`list`], [`find`] and [`guidance`] block while they read files.

mod builtin;
mod file;
mod guidance;
mod rules;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use rookery_host::{Beneath, files};
use rookery_model::Role;

pub use builtin::built_ins;
pub use file::{read, read_all};
pub use guidance::guidance;

/// The workspace's file of roles.
const PROJECT_FILE: &str = ".roomodes";
/// The user's file of roles, in our directory of settings.
const GLOBAL_FILE: &str = "roo/custom_modes.yaml";
/// The longest file that is read.
const FILE_LIMIT: usize = 256 << 10;

/// All roles of a workspace, and what is wrong with its files: those that ship with us in their order,
/// then those of the workspace, of the user and `extra` ones. Of two with the same slug the extra one
/// counts, then that of the workspace, then that of the user.
pub fn list(
    workspace: &Path,
    config_home: Option<&Path>,
    extra: &[Role],
) -> (Vec<Role>, Vec<String>) {
    let mut warnings = Vec::new();
    let project = Beneath::new(workspace)
        .and_then(|tree| tree.read_start(Path::new(PROJECT_FILE), FILE_LIMIT + 1));
    let project = roles_of(project, &workspace.join(PROJECT_FILE), &mut warnings);
    let global = config_home.map(|home| home.join(GLOBAL_FILE)).map_or_else(Vec::new, |path| {
        roles_of(files::read_start(&path, FILE_LIMIT + 1), &path, &mut warnings)
    });
    let mut all = built_ins();
    let mut is_settled = vec![false; all.len()];
    for role in extra.iter().cloned().chain(project.into_iter().chain(global)) {
        match all.iter().position(|known| known.slug == role.slug) {
            Some(at) if is_settled[at] => {}
            Some(at) => {
                all[at] = role;
                is_settled[at] = true;
            }
            None => {
                all.push(role);
                is_settled.push(true);
            }
        }
    }
    (all, warnings)
}

/// The role of a slug.
pub fn find(
    workspace: &Path,
    config_home: Option<&Path>,
    extra: &[Role],
    slug: &str,
) -> Option<Role> {
    list(workspace, config_home, extra).0.into_iter().find(|role| role.slug == slug)
}

/// The roles of a file, which need not be there.
fn roles_of(bytes: io::Result<Vec<u8>>, path: &Path, warnings: &mut Vec<String>) -> Vec<Role> {
    let mut warn = |message: String| warnings.push(format!("{}: {message}", path.display()));
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            warn("it leads out of the workspace".to_owned());
            return Vec::new();
        }
        Err(error) => {
            warn(error.to_string());
            return Vec::new();
        }
    };
    if bytes.len() > FILE_LIMIT {
        warn(format!("it is longer than {FILE_LIMIT} bytes"));
        return Vec::new();
    }
    let Ok(text) = String::from_utf8(bytes) else {
        warn("it is not UTF-8".to_owned());
        return Vec::new();
    };
    let (roles, complaints) = read_all(&text);
    complaints.into_iter().for_each(warn);
    roles
}
