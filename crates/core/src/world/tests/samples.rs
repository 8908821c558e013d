//! One of each thing that the world keeps.

use rookery_model::{
    Accepted, AcceptedWork, Activity, ChangeRecord, Checkpoint, CheckpointId, CheckpointSource,
    Differences, Handoff, HandoffId, HandoffStatus, Item, ItemBody, ItemId, ItemStatus, LaunchSpec,
    Lifetime, Lost, Observation, OnExit, Origin, ParentTurn, ProjectId, Retry, Review, ReviewId,
    ReviewStatus, SessionId, Size, Task, TaskId, TaskSpec, TaskState, Terminal, TerminalId,
    TerminalState, TerminalUuid, ThreadId, Timestamp, Trace, TraceId, TraceStatus, Turn, TurnId,
    TurnSettings, TurnStatus, Usage, ViewerId,
};

use crate::seats::{Face, Fit, Page, Viewer, ViewerRights};
use crate::world::Active;

pub(super) fn terminal(n: u8) -> Terminal {
    Terminal {
        id: TerminalId::new(n.into()),
        uuid: TerminalUuid([n; 16]),
        project: ProjectId::new((n % 3).into()),
        position: n.into(),
        launch: LaunchSpec::default(),
        pid: 0,
        size: Size::DEFAULT,
        program_title: None,
        user_title: None,
        reported_cwd: None,
        state: TerminalState::Running,
        created_at: Timestamp::default(),
        exited_at: None,
        last_active: Timestamp::default(),
        on_exit: OnExit::Keep,
        activity: Activity::default(),
        checkout: None,
        origin: Origin::Person,
    }
}

pub(super) fn viewer(n: u8) -> Viewer {
    Viewer {
        id: ViewerId::new(n.into()),
        face: Face::Tui,
        name: n.to_string(),
        device: None,
        rights: ViewerRights::Full,
        fit: Fit::Own,
        within: None,
        room: Size::DEFAULT,
        window: None,
        is_single: false,
        page: Page::default(),
        at: Active::default(),
        is_placed: false,
        tab_history: Default::default(),
        zoomed: None,
        has_keyboard: false,
        is_visible: true,
        draws: false,
    }
}

pub(super) fn review(n: u8) -> Review {
    Review {
        id: ReviewId::new(n.into()),
        place: SessionId::new(n.into()).into(),
        checkpoint: None,
        created_at: Timestamp::default(),
        summary: String::new(),
        differences: Differences::default(),
        status: ReviewStatus::Open,
        comments: Vec::new(),
        plan: None,
    }
}

pub(super) fn checkpoint(n: u8) -> Checkpoint {
    Checkpoint {
        id: CheckpointId::new(n.into()),
        place: SessionId::new(n.into()).into(),
        repo: None,
        branch: None,
        worktree: None,
        title: String::new(),
        summary: String::new(),
        head: None,
        snapshot: None,
        differences: Differences::default(),
        created_at: Timestamp::default(),
        source: CheckpointSource::Manual,
    }
}

pub(super) fn handoff(n: u8) -> Handoff {
    Handoff {
        id: HandoffId::new(n.into()),
        from: SessionId::new(n.into()).into(),
        to: None,
        checkpoint: None,
        title: String::new(),
        summary: String::new(),
        risks: Vec::new(),
        next_actions: Vec::new(),
        created_at: Timestamp::default(),
        status: HandoffStatus::Pending,
    }
}

pub(super) fn accepted(n: u8) -> Accepted {
    let work = AcceptedWork::Delivery(ReviewId::new(n.into()));
    Accepted { at: Timestamp::default(), work }
}

pub(crate) fn task(n: u8) -> Task {
    let spec = TaskSpec {
        executor: "exec".to_owned(),
        input: "{}".to_owned(),
        workspace: "/".into(),
        timeout: None,
        terminal: None,
        runner: None,
        is_reading: false,
        is_unasked: false,
    };
    Task {
        id: TaskId::new(n.into()),
        space: "local".to_owned(),
        by: "test".to_owned(),
        key: n.to_string(),
        needs: Vec::new(),
        spec,
        thread: None,
        turn: None,
        lifetime: Lifetime::Server,
        origin: Origin::Person,
        retry: Retry::default(),
        lost: Lost::Fail,
        state: TaskState::Queued,
        epoch: 0,
        message: 0,
        holder: None,
        maybe_twice: false,
        attempts: Vec::new(),
        attempt_count: 0,
        cancel: None,
        created_at: Timestamp::default(),
        started_at: None,
        ended_at: None,
        result: None,
        revision: 1,
    }
}

pub(super) fn turn(n: u8) -> Turn {
    Turn {
        id: TurnId::new((n % 3).into()),
        thread: ThreadId::new(1),
        status: TurnStatus::InProgress,
        error: None,
        started_at: Timestamp::from_micros(n.into()),
        completed_at: None,
        usage: Usage::default(),
        finish_reason: Some(n.to_string()),
        settings: TurnSettings::default(),
        calls: Vec::new(),
    }
}

pub(super) fn item(n: u8) -> Item {
    Item {
        id: ItemId::new(format!("item {}", n % 3)),
        status: ItemStatus::InProgress,
        step: n.into(),
        at: Timestamp::default(),
        body: ItemBody::Agent { text: n.to_string(), phase: String::new(), partial: false },
        opaque: None,
    }
}

pub(super) fn trace(n: u8) -> Trace {
    Trace {
        id: TraceId::new((n % 3).into()),
        parent: ParentTurn { thread: ThreadId::new(1), turn: turn(n).id },
        child: ThreadId::new(n.into()),
        child_turn: None,
        title: n.to_string(),
        agent: "general".to_owned(),
        model: None,
        lane: None,
        status: TraceStatus::Running,
        created_at: Timestamp::default(),
        started_at: None,
        ended_at: None,
        usage: None,
        activity: None,
        exit: None,
        error: None,
        entries: Vec::new(),
    }
}

pub(super) fn file_change(number: u64, n: u8) -> ChangeRecord {
    ChangeRecord::Observation(Observation {
        number,
        id: n.to_string(),
        thread: ThreadId::new(1),
        turn: Some(turn(n).id),
        call: "call".to_owned(),
        tool: "shell".to_owned(),
        is_shared: false,
        files: Vec::new(),
        at: Timestamp::default(),
    })
}
