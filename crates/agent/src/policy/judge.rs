//! Judges a tool request: allowed, approved at once, asked for or denied, and why.

use rookery_model::{Mode, ToolKind};

use super::classify::{Analysis, Class, Command, analyze};
use super::mode::mode_name;
use super::rules::{Action, Rules};
use super::word::Arg;

/// Why something is denied by its mode.
pub const DENIED: &str = "write-like tool calls are denied in the active policy mode";
/// Why something is asked for.
pub const ASKED: &str = "side-effecting tool call";
/// Why something is asked for that otherwise would not be.
const UNREADABLE: &str = "the settings cannot be read, so everything needs approval";
/// Why a request that needs approval is denied in an unattended run.
pub const UNATTENDED: &str = "side-effecting tool call, and no person is there to approve it";
/// Why something is denied by configuration.
pub const CONFIGURED: &str = "denied by configuration";

/// What a tool wants to do.
#[derive(Clone, Copy, Debug)]
pub struct ToolRequest<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What it declares itself to be.
    pub kind: ToolKind,
    /// The command it wants to run, if it runs one.
    pub command: Option<Command<'a>>,
    /// What that changes in the environment.
    pub env: &'a [(String, Option<String>)],
}

/// The verdict on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is harmless, or a rule allows it.
    Allow,
    /// The mode, or a list of the mode, approves it.
    AutoApprove,
    /// It needs a person's approval.
    Ask,
    /// It must not be done.
    Deny,
}

/// A verdict and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Assignment: what the task should do.
    pub verdict: Verdict,
    /// Why, in words for people and models.
    pub reason: String,
    /// The rule of the configuration that decided.
    pub rule: Option<String>,
    /// What the command does, if there is one.
    pub class: Option<Class>,
}

impl Judgement {
    /// This judgement, once exactly this request was approved before.
    #[must_use]
    pub fn granted(&self) -> Self {
        let rule = Some("approved once".to_owned());
        Self { verdict: Verdict::AutoApprove, rule, ..self.clone() }
    }

    /// True if a command goes ahead only because it was proved to read: it is to be held to that.
    pub fn is_read_only(&self) -> bool {
        self.verdict == Verdict::Allow && self.rule.is_none() && self.class == Some(Class::ReadOnly)
    }
}

/// Rows of the table: what modes say about a kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Harmless,
    Write,
    ExecReadOnly,
    ExecWriting,
    ExecOther,
    Network,
    Unknown,
}

const fn verdicts(row: Row) -> [Verdict; 4] {
    use Verdict::{Allow, Ask, AutoApprove, Deny};
    //                     default  accept_all    plan   bypass
    match row {
        Row::Harmless => [Allow, Allow, Allow, Allow],
        Row::Write => [Ask, AutoApprove, Deny, AutoApprove],
        Row::ExecReadOnly => [Allow, AutoApprove, Allow, AutoApprove],
        Row::ExecWriting => [Ask, AutoApprove, Deny, AutoApprove],
        Row::ExecOther => [Ask, AutoApprove, Ask, AutoApprove],
        Row::Network => [Allow, Allow, Allow, AutoApprove],
        Row::Unknown => [Ask, Ask, Ask, AutoApprove],
    }
}

/// Judges a request. `unattended` means that no person can be asked.
///
/// In this order: `denied_tools`, rules that deny, `auto_approve`, rules that ask, rules that
/// allow, the table. A rule that allows lifts an ask, never a denial of the mode.
pub fn judge(request: &ToolRequest<'_>, mode: Mode, rules: &Rules, unattended: bool) -> Judgement {
    let analysis = (request.kind == ToolKind::Exec)
        .then(|| request.command.map(|command| analyze(command, request.env)))
        .flatten();
    let class = analysis.as_ref().map(|analysis| class_under(analysis, rules));
    let (verdict, rule) = decide(request, mode, rules, analysis.as_ref(), class);
    let (verdict, reason) = match verdict {
        Verdict::Ask if unattended => (Verdict::Deny, UNATTENDED.to_owned()),
        Verdict::Ask if rules.asks_everything => (verdict, UNREADABLE.to_owned()),
        Verdict::Ask => (verdict, ASKED.to_owned()),
        Verdict::Deny if rule.is_some() => (verdict, CONFIGURED.to_owned()),
        Verdict::Deny => (verdict, DENIED.to_owned()),
        Verdict::AutoApprove => (verdict, format!("approved in mode {}", mode_name(mode))),
        Verdict::Allow if rule.is_some() => (verdict, "allowed by configuration".to_owned()),
        Verdict::Allow => (verdict, "no side effects".to_owned()),
    };
    Judgement { verdict, reason, rule, class }
}

fn decide(
    request: &ToolRequest<'_>,
    mode: Mode,
    rules: &Rules,
    analysis: Option<&Analysis>,
    class: Option<Class>,
) -> (Verdict, Option<String>) {
    if let Some(rule) = rules.denied(request.tool) {
        return (Verdict::Deny, Some(rule));
    }
    let by_table = table(request.kind, class, mode, rules);
    let decided = rules.decide(request.tool, analysis);
    if let Some((Action::Deny, rule)) = decided {
        return (Verdict::Deny, Some(rule));
    }
    if rules.asks_everything {
        return (Verdict::Ask, None);
    }
    if matches!(by_table, Verdict::Ask | Verdict::Deny)
        && let Some(rule) = rules.approved(request.tool, mode)
    {
        return (Verdict::AutoApprove, Some(rule));
    }
    match (decided, by_table) {
        (_, Verdict::Deny) => (Verdict::Deny, None),
        (Some((Action::Ask, rule)), _) if mode != Mode::Bypass => (Verdict::Ask, Some(rule)),
        (Some((Action::Allow, rule)), Verdict::Ask) => (Verdict::Allow, Some(rule)),
        (_, verdict) => (verdict, None),
    }
}

fn table(kind: ToolKind, class: Option<Class>, mode: Mode, rules: &Rules) -> Verdict {
    let row = match (kind, class) {
        (ToolKind::Read | ToolKind::Internal | ToolKind::Agents, _) => Row::Harmless,
        (ToolKind::Write | ToolKind::State, _) => Row::Write,
        (ToolKind::Exec, Some(Class::ReadOnly)) => Row::ExecReadOnly,
        (ToolKind::Exec, Some(Class::Writing)) => Row::ExecWriting,
        (ToolKind::Exec, Some(Class::Other) | None) => Row::ExecOther,
        (ToolKind::Network, _) => Row::Network,
        (ToolKind::Unknown, _) => Row::Unknown,
    };
    match (row, mode) {
        (Row::Network, Mode::Default) if rules.network_asks => Verdict::Ask,
        (Row::Network, Mode::Plan) if rules.plan_blocks_network => Verdict::Deny,
        (row, Mode::Default) => verdicts(row)[0],
        (row, Mode::AcceptAll) => verdicts(row)[1],
        (row, Mode::Plan) => verdicts(row)[2],
        (row, Mode::Bypass) => verdicts(row)[3],
    }
}

/// Programs that read a project's configuration and may run what it names. Inside the sandbox
/// that changes nothing; without one it is not known.
const TRUSTING: &[&str] = &["cargo"];

fn class_under(analysis: &Analysis, rules: &Rules) -> Class {
    let trusting = analysis.parts.iter().any(|part| {
        matches!(part.words.first(), Some(Some(Arg::Literal(program)))
            if TRUSTING.iter().any(|name| program.rsplit('/').next() == Some(name)))
    });
    match analysis.class {
        Class::ReadOnly if trusting && !rules.sandboxed => Class::Other,
        class => class,
    }
}
