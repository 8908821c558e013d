// Files of a diff as elements: heads, hunks, numbered lines. The daemon has parsed the patch and spelled
// every character that would not be seen.

import { h } from "./dom.js";
import { plain } from "./pages/shown.js";

const SIGNS = { added: "+", removed: "−", same: " ", note: "\\" };
const WORDS = { added: "new", removed: "removed", renamed: "renamed", copied: "copied" };

/** How much a file changed: `+12 −4`, and what became of it. */
export function counts(file) {
  const parts = file.binary
    ? [h("span", { class: "dim" }, "binary")]
    : [h("span", { class: "plus" }, `+${file.added ?? 0}`), " ", h("span", { class: "minus" }, `−${file.removed ?? 0}`)];
  const word = WORDS[file.status];
  if (word) parts.push(" ", h("span", { class: "dim" }, word));
  return h("span", { class: "counts" }, ...parts);
}

/** The path of a file, with the one that it had before. */
export function pathText(file) {
  return file.old && file.old !== file.path ? `${plain(file.old)} → ${plain(file.path)}` : plain(file.path);
}

/** The head of a file. */
export function fileHead(file) {
  return h("div", { class: "file-head" }, h("span", { class: "path" }, pathText(file)), " ", counts(file));
}

/** One line. `[data-line]` is its number on the new side, `[data-old]` that of a removed one. */
function lineElement(line) {
  const kind = SIGNS[line.kind] ? line.kind : "same";
  const made = h(
    "div",
    { class: `diff-line ${kind}`, role: "listitem" },
    h("span", { class: "number" }, String(line.new ?? line.old ?? "")),
    h("span", { class: "mark" }, SIGNS[kind]),
    h("span", { class: "code" }, line.text ?? ""),
  );
  if (line.new) made.dataset.line = line.new;
  if (kind === "removed" && line.old) made.dataset.old = line.old;
  return made;
}

/** The lines of a file. */
export function fileLines(file) {
  const box = h("div", { class: "diff-code", role: "list", aria: { label: `Changes of ${plain(file.path)}` } });
  for (const hunk of file.hunks ?? []) {
    const head = `@@ −${hunk.old ?? 0} +${hunk.new ?? 0} @@ ${plain(hunk.head)}`;
    box.append(h("div", { class: "hunk", role: "presentation" }, head));
    box.append(...(hunk.lines ?? []).map(lineElement));
  }
  if (file.cut) box.append(h("div", { class: "left-off" }, "More lines than can be shown: the rest is left off."));
  return box;
}

/** A file with its head and lines. */
export function fileElement(file) {
  return h("section", { class: "file", aria: { label: plain(file.path) } }, fileHead(file), fileLines(file));
}
