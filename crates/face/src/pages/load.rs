//! What pages ask the daemon for.

use rookery_view::link::{DiffCall, Done, Page, ThreadList, ThreadOpen, ThreadRef, method};

use crate::app::{App, Ask, Cx};
use crate::daemon::{self, AuditList, ById, CheckpointList, WorktreeList};

/// Why a page of a project has nothing to show or to make.
pub(crate) const NO_PROJECT: &str = "no project is open";

impl App {
    pub(crate) fn load_thread(&mut self, thread: &str) {
        self.pages.thread.begin(thread);
        let open = ThreadOpen { thread: thread.to_owned(), limit: Some(200) };
        self.call(Ask::Thread(thread.to_owned()), method::THREAD_OPEN, open);
        let of = ThreadRef { thread: thread.to_owned() };
        self.call(Ask::Commands(thread.to_owned()), method::THREAD_COMMANDS, of);
    }

    pub(crate) fn load_threads(&mut self) {
        self.pages.list.begin("threads");
        let query = self.pages.list.filter_text();
        let list = ThreadList { query: (!query.is_empty()).then_some(query), after: None };
        self.call(Ask::List("threads"), method::THREAD_LIST, list);
    }

    /// More threads, if one is near the end of those that are here.
    pub(crate) fn load_more_threads(&mut self) {
        let Some(after) = self.pages.list.wants_more() else { return };
        let query = self.pages.list.filter_text();
        let query = (!query.is_empty()).then_some(query);
        let list = ThreadList { query, after: Some(after.clone()) };
        self.call(Ask::MoreThreads(after), method::THREAD_LIST, list);
    }

    pub(crate) fn load_list(&mut self, page: &'static str) {
        self.pages.list.begin(page);
        let session = match &self.last_page {
            Some(Page::Checkpoints { session }) => session.clone(),
            _ => None,
        };
        let call = match page {
            "reviews" => daemon::REVIEWS_LIST.with(Done {}),
            // Of one session, if the page names one.
            "checkpoints" => daemon::CHECKPOINTS_LIST.with(CheckpointList { session }),
            _ => daemon::AUDIT_LIST.with(AuditList { limit: 500 }),
        };
        self.make(Ask::List(page), call);
    }

    /// Worktrees of the repository that the page names, or of the project that is shown.
    pub(crate) fn load_worktrees(&mut self, cx: &Cx<'_>) {
        self.pages.list.begin("worktrees");
        let named = match App::page(cx) {
            Page::Worktrees { repo } => repo,
            _ => None,
        };
        let Some(repo) = named.or_else(|| active_root(cx)) else {
            self.pages.list.failed();
            return self.warn(NO_PROJECT);
        };
        self.call(Ask::List("worktrees"), daemon::WORKTREES_LIST, WorktreeList { repo });
    }

    pub(crate) fn load_review(&mut self, review: &str) {
        let serial = self.pages.review.begin(review, &self.around.name);
        self.call(Ask::Review, daemon::REVIEWS_GET, ById { id: review.to_owned() });
        let call = DiffCall { review: Some(review.to_owned()), ..DiffCall::default() };
        self.call(Ask::Diff(serial, None), method::DIFF, call);
    }

    /// What a checkpoint differs by from what is there now.
    pub(crate) fn load_checkpoint_diff(&mut self, checkpoint: &str) {
        let serial = self.pages.review.begin_checkpoint(checkpoint);
        let call = DiffCall { checkpoint: Some(checkpoint.to_owned()), ..DiffCall::default() };
        self.call(Ask::Diff(serial, None), method::DIFF, call);
    }

    /// The lines of one file.
    pub(crate) fn load_file(&mut self, file: &str) {
        let (serial, mut call) = self.pages.review.diff_call();
        call.file = Some(file.to_owned());
        self.call(Ask::Diff(serial, Some(file.to_owned())), method::DIFF, call);
    }
}

/// The directory of the project that is shown.
pub fn active_root(cx: &Cx<'_>) -> Option<String> {
    let projects = &cx.picture.scene().sidebar.as_ref()?.projects;
    let active = projects.iter().find(|project| project.active).or_else(|| projects.first())?;
    (!active.root.is_empty()).then(|| active.root.clone())
}
