// Worktrees of the project that is shown: a session in one, landing its commits, removing it. What
// refuses, and why, is said in the daemon's words.

import { h } from "../dom.js";
import { List, listPage } from "./list.js";
import { activeRoot, attempt, failure, plain, shortPath, words } from "./shown.js";

const MOODS = { attached: "working", dirty: "waiting", clean: "quiet", missing: "failed", removing: "failed" };

export function create(app, element) {
  let repo = null;
  const mayChange = () => app.rights === "full" && !app.isPhone();
  const list = new List({
    title: "Worktrees",
    label: "Worktrees",
    empty: "No worktree.",
    hint: "enter session  l land  x remove  / filter  esc back",
    row: (tree) => ({
      id: tree.path,
      text: `${tree.path} ${tree.branch ?? ""} ${tree.state} ${tree.terminals.length} ${tree.threads}`,
      cells: cells(app, tree),
    }),
    open: (tree) => void attach(tree),
    buttons: (tree) =>
      mayChange() && !tree.main
        ? [
            ["Land…", (one) => void land(one)],
            ["Remove…", (one) => void remove(one)],
          ]
        : [],
    letters: { l: (tree) => tree && void land(tree), x: (tree) => tree && void remove(tree) },
  });

  async function load() {
    const from = repo ?? activeRoot(app);
    if (!from) return list.fill([]);
    list.busy(true);
    const found = await attempt(app, "rookery/worktrees/list", { repo: from });
    list.fill(found?.worktrees ?? []);
  }

  async function attach(tree) {
    if (tree.terminals.length) return void app.go({ page: "workspace", terminal: tree.terminals[0] });
    if (!mayChange()) return;
    const session = await attempt(app, "rookery/worktrees/attach", { path: tree.path });
    if (session?.terminal) void app.go({ page: "workspace", terminal: session.terminal });
  }

  function isMain(tree) {
    if (tree.main) app.message("warn", "the main checkout is neither landed nor removed");
    return tree.main;
  }

  async function land(tree) {
    if (!mayChange() || isMain(tree)) return;
    const choices = [
      ["m", "merge"],
      ["s", "squash"],
      ["r", "rebase"],
    ];
    const said = await app.ask({ title: "Land its commits how?", lines: [plain(tree.path), plain(tree.branch)], no: "Back", choices });
    if (!said) return;
    try {
      const done = await app.call("rookery/worktrees/land", { path: tree.path, how: said.choice });
      app.toast("info", `landed ${done.commits} commits on ${plain(done.into)}`);
    } catch (error) {
      const conflicts = (error?.data?.conflicts ?? []).map((one) => plain(one.path));
      app.toast("error", conflicts.length ? `conflicts in ${conflicts.join(", ")}` : failure(error));
    }
    void load();
  }

  async function remove(tree) {
    if (!mayChange() || isMain(tree)) return;
    const sure = await app.ask({ title: "Remove this worktree?", lines: [plain(tree.path)], yes: "Remove", no: "Back", danger: true });
    if (!sure) return;
    if (await attempt(app, "rookery/worktrees/remove", { path: tree.path })) app.toast("info", "removed");
    void load();
  }

  const page = listPage(element, list, (place) => {
    repo = place.repo ?? null;
    void load();
  });
  return page;
}

function cells(app, tree) {
  const users = [];
  if (tree.terminals.length) users.push(`${tree.terminals.length} terminals`);
  if (tree.threads) users.push(`${tree.threads} threads`);
  if (tree.locked) users.push(`locked: ${plain(tree.locked)}`);
  return [
    app.mood(MOODS[tree.state] ?? "quiet"),
    h("span", { class: "title", title: plain(tree.path) }, shortPath(tree.path)),
    h("span", {}, plain(tree.branch) || "detached"),
    h("span", { class: "dim" }, tree.main ? "main checkout" : words(tree.state)),
    h("span", { class: "dim" }, users.join(" · ")),
  ];
}
