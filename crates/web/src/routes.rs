//! The routes of the server. No route is a directory, and no query is read.

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route<'a> {
    Page,
    /// A file of the page, by the mark of all files and its name.
    Asset {
        /// Which files are meant.
        build: &'a str,
        /// Which of them.
        name: &'a str,
    },
    /// What makes the page installable.
    Manifest,
    /// The service worker.
    Worker,
    /// The WebSocket.
    Link,
    /// Who the visitor is.
    Session,
    /// A device is paired.
    Pair,
    /// A device forgets itself.
    Logout,
    /// Whether the server is there.
    Health,
}

/// Which methods a route knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Methods {
    /// `GET`, and `HEAD` like it.
    Get,
    Post,
}

/// Everything but the files of the page.
const FIXED: &[(&str, Route<'static>)] = &[
    ("/", Route::Page),
    ("/manifest.webmanifest", Route::Manifest),
    ("/sw.js", Route::Worker),
    ("/link", Route::Link),
    ("/session", Route::Session),
    ("/pair", Route::Pair),
    ("/logout", Route::Logout),
    ("/healthz", Route::Health),
    ("/readyz", Route::Health),
];

/// Where the files of the page are.
pub(crate) const ASSETS: &str = "/a/";

/// What is at this path, if anything is.
#[must_use]
pub fn route(path: &str) -> Option<Route<'_>> {
    if let Some((_, route)) = FIXED.iter().find(|(fixed, _)| *fixed == path) {
        return Some(*route);
    }
    let (build, name) = path.strip_prefix(ASSETS)?.split_once('/')?;
    Some(Route::Asset { build, name })
}

impl Route<'_> {
    /// Its address, or where it begins: for records, in which nothing of a request belongs.
    #[must_use]
    pub fn name(self) -> &'static str {
        FIXED.iter().find(|(_, fixed)| *fixed == self).map_or(ASSETS, |(path, _)| *path)
    }

    /// The methods that it knows.
    #[must_use]
    pub fn methods(self) -> Methods {
        match self {
            Route::Pair | Route::Logout => Methods::Post,
            Route::Page
            | Route::Asset { .. }
            | Route::Manifest
            | Route::Worker
            | Route::Link
            | Route::Session
            | Route::Health => Methods::Get,
        }
    }
}

impl Methods {
    /// Whether a method is one of them.
    #[must_use]
    pub fn have(self, method: &str) -> bool {
        match self {
            Methods::Get => matches!(method, "GET" | "HEAD"),
            Methods::Post => method == "POST",
        }
    }

    /// As the header `Allow` lists them.
    #[must_use]
    pub fn listed(self) -> &'static str {
        match self {
            Methods::Get => "GET, HEAD",
            Methods::Post => "POST",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_found_but_what_is_listed() {
        assert_eq!(route("/"), Some(Route::Page));
        assert_eq!(
            route("/a/b/pages/inbox.js"),
            Some(Route::Asset { build: "b", name: "pages/inbox.js" })
        );
        assert_eq!(route("/a/b/pages/inbox.js").map(Route::name), Some("/a/"));
        assert_eq!(route("/pair").map(Route::name), Some("/pair"));
        for path in ["", "/index.html", "/a", "/a/", "/a/b", "//", "/link/", "/Link", "/pair?x"] {
            assert_eq!(route(path), None, "{path}");
        }
    }
}
