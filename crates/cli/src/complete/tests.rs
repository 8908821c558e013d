//! Where a line is completed with what, and how the answer is spelled.

use clap::{Arg, Command};
use expect_test::expect;

use super::{kind::Kind, line::Wanted, *};

fn cli() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// The place at the end of a line; a bar at its end is an empty word.
fn place(line: &str) -> Option<Place> {
    let words = line.split_whitespace().map(|word| word.replace('|', "").replace('~', " "));
    Place::find(&cli(), words.collect())
}

#[track_caller]
fn wanted(line: &str) -> Vec<Wanted> {
    place(line).unwrap_or_else(|| panic!("{line}")).wanted
}

#[track_caller]
fn names(line: &str) -> Vec<String> {
    let words = line.split_whitespace().map(|word| word.replace('|', ""));
    let Answer::Values(all) = answer(words.collect(), Instant::now()) else { panic!("{line}") };
    all.into_iter().map(|one| one.value).collect()
}

#[test]
fn arguments_want_what_they_name() {
    let cases = [
        ("rookery attach |", Kind::Terminal),
        ("rookery attach --detach-key ctrl+x 1", Kind::Terminal),
        ("rookery wait 1 2 |", Kind::Terminal),
        ("rookery wait --text x 1 --exit |", Kind::Terminal),
        ("rookery chat --thread |", Kind::Thread),
        ("rookery chat -yt |", Kind::Thread),
        ("rookery chat --thread=ab", Kind::Thread),
        ("rookery threads show |", Kind::Thread),
        ("rookery threads unarchive |", Kind::Archived),
        ("rookery chat -p mock -m |", Kind::Model),
        ("rookery chat --mode |", Kind::Mode),
        ("rookery setup --provider |", Kind::Provider),
        ("rookery app-server --print-qr --model |", Kind::Model),
        ("rookery approve |", Kind::Request),
        ("rookery inbox show |", Kind::Request),
        ("rookery inbox resolve |", Kind::Item),
        ("rookery review comment |", Kind::Review),
        ("rookery review request -c |", Kind::Checkpoint),
        ("rookery checkpoint diff 1 --with |", Kind::Checkpoint),
        ("rookery handoff accept |", Kind::Handoff),
        ("rookery handoff create --to |", Kind::Session),
        ("rookery worktree land |", Kind::Worktree),
        ("rookery worktree attach --tool |", Kind::Tool),
        ("rookery open -p |", Kind::Project),
        ("rookery roo send |", Kind::Task),
        ("rookery roo start --mode |", Kind::Slug),
        ("rookery roo start -p |", Kind::Profile),
        ("rookery roo profiles use |", Kind::Profile),
    ];
    for (line, kind) in cases {
        assert_eq!(wanted(line).last(), Some(&Wanted::Kind(kind)), "{line}");
    }
    assert_eq!(wanted("rookery open -C |"), [Wanted::Directories]);
    assert_eq!(wanted("rookery replay |"), [Wanted::Files]);
    assert_eq!(wanted("rookery open -- |"), [Wanted::Commands]);
    assert_eq!(wanted("rookery run -k -- make --f"), [Wanted::Files]);
    // Text to type is anything, and a terminal is named once.
    for line in ["rookery send 1 |", "rookery dump 1 |", "rookery wait 1 --text |"] {
        assert_eq!(wanted(line), [], "{line}");
    }
    for line in ["rookery", ""] {
        assert!(place(line).is_none(), "{line}");
    }
}

#[test]
fn commands_options_and_known_values_need_no_daemon() {
    assert_eq!(names("rookery ch"), ["chat", "changes", "checkpoint"]);
    assert_eq!(names("rookery threads un"), ["unarchive"]);
    assert_eq!(names("rookery dump --no"), ["--no-redact"]);
    assert_eq!(names("rookery completions |"), ["bash", "elvish", "fish", "powershell", "zsh"]);
    assert_eq!(names("rookery schema --dialect=id"), ["--dialect=idx0"]);
    assert_eq!(names("rookery chat --mode=p"), ["--mode=plan"]);
    assert_eq!(names("rookery kill -s IN"), ["INT"]);
    assert_eq!(names("rookery worktree attach --tool cl"), ["claude"]);
    assert_eq!(names("rookery nothing-of-ours |"), [""; 0]);
}

#[test]
fn a_line_says_what_its_values_depend_on() {
    let place = place("rookery chat --provider=local --model |").unwrap();
    assert_eq!(place.provider.as_deref(), Some("local"));
    let place = self::place("rookery wait 1 's~2' |").unwrap();
    assert_eq!(place.given, ["1", "s 2"]);
    let place = self::place("rookery attach 'bui").unwrap();
    assert_eq!(place.typed, "bui");
}

#[test]
fn an_answer_is_lines() {
    let all = vec![Candidate::new("1", "a\tb\nc\x1b[31m"), Candidate::new("2", "")];
    assert_eq!(spelled(&Answer::Values(all)), "values\n1\ta b c[31m\n2\n");
    assert_eq!(spelled(&Answer::Values(Vec::new())), "");
    assert_eq!(spelled(&Answer::Files), "files\n");
}

/// Every argument with a value that is neither one of a few words nor a path: what is offered for it.
#[test]
fn every_argument_was_thought_of() {
    fn walk(command: &Command, path: &mut Vec<String>, found: &mut String) {
        for arg in command.get_arguments().filter(|arg| is_open(arg)) {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let kind = Kind::of(&names, arg).map_or("text".to_owned(), |kind| format!("{kind:?}"));
            found.push_str(&format!("{} {}: {kind}\n", path.join(" "), arg.get_id()));
        }
        for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
            path.push(one.get_name().to_owned());
            walk(one, path, found);
            path.pop();
        }
    }
    fn is_open(arg: &Arg) -> bool {
        arg.get_action().takes_values()
            && arg.get_possible_values().is_empty()
            && (arg.get_value_hint() == clap::ValueHint::Unknown)
    }
    let mut found = String::new();
    walk(&cli(), &mut Vec::new(), &mut found);
    expect![[r#"
        web listen: text
        web name: text
        web revoke device: text
        web rename device: text
        web rename name: text
        open project: Project
        open rows: text
        open cols: text
        open env: text
        open title: text
        attach id: Terminal
        attach detach_key: text
        attach scroll_key: text
        ls project: Project
        send id: Terminal
        send keys: text
        send text: text
        run project: Project
        run env: text
        run title: text
        run timeout: text
        run retries: text
        run retry_backoff: text
        task ls limit: text
        task show id: Background
        task logs id: Background
        task cancel ids: Background
        task cancel reason: text
        task retry id: Background
        wait ids: Terminal
        wait text: text
        wait regex: text
        wait transcript: text
        wait stable: text
        wait timeout: text
        dump id: Terminal
        dump history: text
        record id: Terminal
        record title: text
        record duration: text
        record idle_limit: text
        replay speed: text
        replay idle_limit: text
        kill id: Terminal
        kill signal: Signal
        close ids: Terminal
        chat thread: Thread
        chat provider: Provider
        chat model: Model
        chat reasoning: Effort
        chat mode: Mode
        chat name: text
        chat prompt: text
        threads limit: text
        threads search: text
        threads show id: Thread
        threads archive ids: Thread
        threads unarchive ids: Archived
        threads delete ids: Thread
        threads rename id: Thread
        threads rename name: text
        threads fork id: Thread
        threads fork name: text
        threads fork from: text
        threads interrupt ids: Thread
        inbox resolve ids: Item
        inbox show id: Request
        approve id: Request
        deny id: Request
        deny message: text
        answer id: Request
        answer answers: text
        workflow plan prompt: text
        workflow plan name: text
        workflow plan arguments: text
        workflow run prompt: text
        workflow run name: text
        workflow run arguments: text
        workflow ls limit: text
        workflow show run: text
        workflow stop run: text
        workflow stop reason: text
        memory ls scope: text
        memory ls limit: text
        memory show memory: text
        memory save text: text
        memory save scope: text
        memory save metadata: text
        memory update memory: text
        memory update text: text
        memory update metadata: text
        memory rm memories: text
        memory query text: text
        memory query scope: text
        memory query limit: text
        memory recall text: text
        memory recall thread: Thread
        memory recall limit: text
        memory provider provider: text
        memory provider model: text
        imports show item: Item
        imports enable item: Item
        imports enable hash: text
        imports ignore item: Item
        imports remove item: Item
        skills show skill: text
        skills enable skill: text
        skills disable skill: text
        media ls thread: Thread
        media show artifact: text
        media import thread: Thread
        media import title: text
        media export artifact: text
        media thumbnail artifact: text
        media attach artifact: text
        media attach thread: Thread
        media generate prompt: text
        media generate provider: text
        media generate model: text
        media generate count: text
        media generate from: text
        media generate thread: Thread
        media rm artifacts: text
        marketplace add id: text
        marketplace add git: text
        marketplace add github: text
        marketplace add http_json: text
        marketplace add ref_name: text
        marketplace add catalog: text
        marketplace add kind: text
        marketplace add name: text
        marketplace default selection: text
        marketplace remove marketplace: text
        marketplace refresh marketplaces: text
        marketplace search query: text
        marketplace show plugin: text
        plugin preview plugin: text
        plugin install plugin: text
        plugin enable plugin: text
        plugin disable plugin: text
        plugin uninstall plugin: text
        review list session: Session
        review show id: Review
        review request session: Session
        review request checkpoint: Checkpoint
        review request summary: text
        review comment id: Review
        review comment line: text
        review comment text: text
        review approve id: Review
        review changes id: Review
        review changes text: text
        review deliver id: Review
        review deliver to: Session
        review defer id: Review
        changes ls thread: Thread
        changes ls limit: text
        changes show thread: Thread
        hunk ls thread: Thread
        hunk ls turn: text
        hunk ls path: text
        hunk show thread: Thread
        hunk show hunk: text
        hunk rollback thread: Thread
        hunk rollback hunk: text
        checkpoint create session: Session
        checkpoint create title: text
        checkpoint create summary: text
        checkpoint list session: Session
        checkpoint show id: Checkpoint
        checkpoint diff id: Checkpoint
        checkpoint diff with: Checkpoint
        checkpoint restore id: Checkpoint
        checkpoint delete ids: Checkpoint
        checkpoint prune keep: text
        checkpoint prune older_than: text
        worktree create title: text
        worktree create branch: text
        worktree create base: text
        worktree create setup: text
        worktree attach title: text
        worktree attach tool: Tool
        worktree bootstrap setup: text
        worktree land into: Branch
        worktree land message: text
        handoff create session: Session
        handoff create to: Session
        handoff create checkpoint: Checkpoint
        handoff create title: text
        handoff create risks: text
        handoff create next_actions: text
        handoff create summary: text
        handoff list session: Session
        handoff accept id: Handoff
        handoff resolve id: Handoff
        audit since: text
        audit thread: Thread
        audit by: Who
        audit limit: text
        events since: text
        view page: text
        view terminal: text
        view frames: text
        app-server listen: text
        app-server auth_token: text
        app-server remote_token_ttl: text
        app-server allowed_origin: text
        app-server mode: Mode
        app-server provider: Provider
        app-server model: Model
        idx0 args: text
        idx0-notify args: text
        roder args: text
        roo start text: text
        roo start mode: Slug
        roo start profile: Profile
        roo start config: text
        roo send task: Task
        roo send text: text
        roo watch task: Task
        roo approve task: Task
        roo approve message: text
        roo deny task: Task
        roo deny message: text
        roo resume task: Task
        roo cancel task: Task
        roo close task: Task
        roo messages task: Task
        roo profiles show name: Profile
        roo profiles create name: text
        roo profiles create config: text
        roo profiles update name: Profile
        roo profiles update config: text
        roo profiles use name: Profile
        roo profiles delete name: Profile
        ptywright args: text
        roostctl args: text
        setup provider: Provider
        login timeout: text
    "#]]
    .assert_eq(&found);
}
