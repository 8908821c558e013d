// Conversations with agents, newest first; also the phone's list of chats.

import { h } from "../dom.js";
import { List, listPage } from "./list.js";
import { attempt, plain, words } from "./shown.js";
import { newThread } from "./thread_new.js";

const MOODS = { idle: "quiet", working: "working", waiting: "waiting", failed: "failed" };
/** Keys that come sooner than this are looked for together. */
const SETTLED_MS = 150;

export function create(app, element) {
  let asked = 0;
  let timer = 0;
  let threads = [];
  let after = null;
  const list = new List({
    title: "Threads",
    label: "Threads",
    empty: "No thread yet.",
    hint: "enter open  n new  / filter  esc back",
    actions: [["New thread", () => newThread(app)]],
    row: (thread) => ({
      id: thread.thread,
      text: `${thread.title} ${thread.status} ${thread.waiting} ${thread.at}`,
      cells: cells(app, thread),
    }),
    open: (thread) => (thread.thread ? void app.go({ page: "thread", thread: thread.thread }) : void load(true)),
    letters: { n: () => newThread(app) },
    filtered: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void load(), SETTLED_MS);
    },
  });
  const more = h("button", { type: "button", class: "button older", on: { click: () => void load(true) } }, "Older threads");
  list.list.after(more);

  async function load(isMore = false) {
    const turn = ++asked;
    list.busy(true);
    const params = {};
    if (list.filterText) params.query = list.filterText;
    if (isMore && after) params.after = after;
    const found = await attempt(app, "rookery/view/thread/list", params);
    if (turn !== asked) return;
    threads = isMore ? [...threads, ...(found?.threads ?? [])] : (found?.threads ?? []);
    after = found?.after ?? null;
    more.hidden = !after;
    list.fill(threads);
  }

  let isShown = false;
  app.on("open", () => {
    if (isShown) void load();
  });
  const page = listPage(element, list, () => {
    isShown = true;
    void load();
  });
  // What happens to a thread is seen in the sidebar; the list is read anew when its threads changed.
  let seen = "";
  const state = () =>
    JSON.stringify(
      (app.scene?.sidebar?.projects ?? []).flatMap((project) =>
        project.agents.filter((agent) => agent.thread).map((agent) => [agent.thread, agent.status, agent.waiting, agent.name]),
      ),
    );
  return {
    ...page,
    update(parts) {
      if (!parts.sidebar) return;
      const now = state();
      if (seen && now !== seen) void load();
      seen = now;
    },
    hide() {
      isShown = false;
    },
  };
}

function cells(app, thread) {
  const age = h("time", { class: "age dim" });
  app.ages(age, thread.at);
  const waits = thread.waiting ? `${thread.waiting} wait${thread.waiting === 1 ? "s" : ""}` : words(thread.status);
  return [app.mood(thread.waiting ? "waiting" : (MOODS[thread.status] ?? "quiet")), h("span", { class: "title" }, plain(thread.title)), h("span", { class: "dim" }, waits), age];
}
