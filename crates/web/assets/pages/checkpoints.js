// Checkpoints: what a work tree was like. One can be looked at, made and put back; putting back asks
// first and names the safety checkpoint that undoes it. On a phone they are only looked at.

import { button, h } from "../dom.js";
import { DiffBrowser } from "./diff_browser.js";
import { List } from "./list.js";
import { activeRoot, attempt, millis, plain } from "./shown.js";

export function create(app, element) {
  let session = null;
  let open = null;
  const mayChange = () => app.rights === "full" && !app.isPhone();
  const diff = new DiffBrowser(app);
  const title = h("h1", {});
  const back = button("‹ Checkpoints", () => leave(), { class: "button back" });
  const restoreThis = button("Restore…", () => void restore(open), { class: "button danger" });
  const side = h("div", { class: "list-page checkpoint-diff" }, h("div", { class: "page-head" }, back, title, h("span", { class: "spring" }), restoreThis), diff.element);
  side.hidden = true;
  const list = new List({
    title: "Checkpoints",
    label: "Checkpoints",
    empty: "No checkpoint yet.",
    hint: "enter diff  n new  R restore  / filter  esc back",
    actions: [["New checkpoint…", () => void make()]],
    row: (checkpoint) => ({
      id: checkpoint.id,
      text: `${checkpoint.title} ${checkpoint.branch ?? ""} ${checkpoint.id}`,
      cells: cells(app, checkpoint),
    }),
    open: (checkpoint) => void show(checkpoint),
    buttons: (checkpoint) => (mayChange() && checkpoint.snapshot ? [["Restore…", (one) => void restore(one)]] : []),
    letters: { n: () => void make(), R: (checkpoint) => checkpoint && void restore(checkpoint) },
  });
  element.append(list.element, side);

  async function load() {
    list.actions.hidden = !mayChange();
    list.busy(true);
    const found = await attempt(app, "rookery/checkpoints/list", session ? { session } : {});
    list.fill(found?.checkpoints ?? []);
    return found?.checkpoints ?? [];
  }

  // An item of the inbox may lead to one of them.
  async function begin() {
    const wanted = app.wantedCheckpoint;
    app.wantedCheckpoint = null;
    const found = (await load()).find(({ id }) => id === wanted);
    if (found) await show(found);
    else if (wanted) app.toast("warn", "its checkpoint is gone");
  }

  async function show(checkpoint) {
    open = checkpoint;
    title.textContent = plain(checkpoint.title);
    restoreThis.hidden = !mayChange() || !checkpoint.snapshot;
    list.element.hidden = true;
    side.hidden = false;
    await diff.load({ checkpoint: checkpoint.id });
  }

  function leave() {
    open = null;
    side.hidden = true;
    list.element.hidden = false;
  }

  async function make() {
    if (!mayChange()) return;
    const tree = activeRoot(app);
    const said = await app.ask({
      title: "A checkpoint of this project",
      lines: tree ? [tree] : [],
      yes: "Make it",
      field: { label: "Title" },
    });
    if (!said) return;
    const of = session ? { session } : { tree };
    const made = await attempt(app, "rookery/checkpoints/create", said.text?.trim() ? { ...of, title: said.text.trim() } : of);
    if (!made) return;
    app.toast("info", "checkpoint made");
    void load();
  }

  async function restore(checkpoint) {
    if (!mayChange()) return;
    const lines = [plain(checkpoint.title), plain(checkpoint.worktree ?? checkpoint.repo ?? checkpoint.tree), "What is there now becomes a safety checkpoint first."];
    const sure = await app.ask({ title: "Restore this checkpoint?", lines, yes: "Restore", no: "Back", danger: true });
    if (!sure) return;
    const done = await attempt(app, "rookery/checkpoints/restore", { id: checkpoint.id });
    if (!done) return;
    const text = `restored ${done.written} files; what was there is checkpoint ${plain(done.safety?.id)} ${plain(done.safety?.title)}`;
    app.toast("info", text);
    app.message("info", text);
    leave();
    void load();
  }

  return {
    show(place) {
      session = place.session ?? null;
      void begin();
    },
    update() {},
    key(event) {
      if (!open) return list.key(event);
      if (event.key === "Escape") {
        leave();
        return true;
      }
      return diff.key(event);
    },
    hide: leave,
  };
}

function cells(app, checkpoint) {
  const age = h("time", { class: "age dim" });
  app.ages(age, millis(checkpoint.createdAt));
  const { files = [], additions = 0, deletions = 0 } = checkpoint.differences ?? {};
  const size = h(
    "span",
    { class: "counts" },
    `${files.length} file${files.length === 1 ? "" : "s"} `,
    h("span", { class: "plus" }, `+${additions}`),
    " ",
    h("span", { class: "minus" }, `−${deletions}`),
  );
  return [h("span", { class: "title" }, plain(checkpoint.title)), h("span", { class: "dim" }, plain(checkpoint.branch)), size, age];
}
