// Reviews: changes that were handed to a person.

import { h } from "../dom.js";
import { List, listPage } from "./list.js";
import { attempt, millis, plain, words } from "./shown.js";

const MOODS = { open: "waiting", approved: "done", changes_requested: "failed", deferred: "quiet" };

export function create(app, element) {
  const list = new List({
    title: "Reviews",
    label: "Reviews",
    empty: "No review is open.",
    hint: "enter open  / filter  esc back",
    row: (review) => ({
      id: review.id,
      text: `${review.summary} ${review.status} ${review.comments?.length ?? 0}`,
      cells: cells(app, review),
    }),
    open: (review) => void app.go({ page: "review", review: review.id }),
  });
  async function load() {
    list.busy(true);
    const found = await attempt(app, "rookery/reviews/list", {});
    list.fill(found?.reviews ?? []);
  }
  const page = listPage(element, list, () => void load());
  // A review that comes or goes is in the inbox as well.
  return {
    ...page,
    update: (parts) => {
      if (parts.inbox) void load();
    },
  };
}

function cells(app, review) {
  const files = review.differences?.files?.length ?? 0;
  const age = h("time", { class: "age dim" });
  app.ages(age, millis(review.createdAt));
  const size = h(
    "span",
    { class: "counts" },
    `${files} file${files === 1 ? "" : "s"} `,
    h("span", { class: "plus" }, `+${review.differences?.additions ?? 0}`),
    " ",
    h("span", { class: "minus" }, `−${review.differences?.deletions ?? 0}`),
  );
  const comments = review.comments?.length ? h("span", { class: "dim" }, `${review.comments.length} comments`) : "";
  return [app.mood(MOODS[review.status] ?? "quiet"), h("span", { class: "title" }, plain(review.summary)), h("span", { class: "dim" }, words(review.status)), size, comments, age];
}
