// Blocks and spans as elements. The daemon has parsed the Markdown; nothing here parses anything, and
// links that are not plain web addresses stay text.

import { h } from "./dom.js";
import { lined, plain } from "./pages/shown.js";

const SCHEMES = /^(https?:|mailto:)/i;

function span(part) {
  let node = document.createTextNode(lined(part.text));
  if (part.code) node = h("code", {}, node);
  if (part.bold) node = h("strong", {}, node);
  if (part.italic) node = h("em", {}, node);
  if (part.strike) node = h("s", {}, node);
  if (part.link && SCHEMES.test(part.link)) {
    const props = { href: part.link, rel: "noopener noreferrer nofollow", target: "_blank", title: plain(part.link) };
    node = h("a", props, node);
  }
  return node;
}

const spans = (list) => (list ?? []).map(span);

// A table may be wider than the page; then it scrolls by itself, by keyboard too.
function table(block) {
  const cell = (tag) => (content, at) => h(tag, { class: `to-${block.align?.[at] ?? "none"}` }, ...spans(content));
  const row = (tag) => (cells) => h("tr", {}, ...(cells ?? []).map(cell(tag)));
  const body = h("tbody", {}, ...(block.rows ?? []).map(row("td")));
  const inner = h("table", {}, h("thead", {}, row("th")(block.head)), body);
  return h("div", { class: "wide", tabIndex: 0, role: "region", aria: { label: "Table" } }, inner);
}

function list(block) {
  const item = (entry) => {
    const isTask = entry.done !== undefined && entry.done !== null;
    const mark = isTask ? [h("span", { class: "task-mark", role: "img", aria: { label: entry.done ? "done" : "to do" } }, entry.done ? "☑ " : "☐ ")] : [];
    return h("li", { class: isTask ? "task" : "" }, ...mark, ...prose(entry.blocks));
  };
  const isOrdered = block.start !== undefined && block.start !== null;
  const made = h(isOrdered ? "ol" : "ul", {}, ...(block.items ?? []).map(item));
  if (isOrdered) made.start = block.start;
  return made;
}

function code(block) {
  const made = h("pre", { tabIndex: 0 }, h("code", {}, (block.lines ?? []).map(lined).join("\n")));
  if (block.language) made.dataset.language = plain(block.language);
  return made;
}

const KINDS = {
  paragraph: (block) => h("p", {}, ...spans(block.spans)),
  // Headings of a message stay below those of the page.
  heading: (block) => h(`h${Math.min(6, (block.level ?? 1) + 2)}`, {}, ...spans(block.spans)),
  code,
  list,
  quote: (block) => h("blockquote", {}, ...prose(block.blocks)),
  table,
  rule: () => h("hr", {}),
};

/** One block. One of a kind that is not known is empty, so that indexes of blocks stay true. */
export function blockElement(block) {
  return KINDS[block?.kind]?.(block) ?? h("p", {});
}

/** Blocks as elements. */
export function prose(blocks) {
  return (blocks ?? []).map(blockElement);
}

/** An element that holds blocks of which the last may change, see `replaceBlocks`. */
export function proseElement(blocks) {
  return h("div", { class: "prose" }, ...prose(blocks));
}

/** Replaces the blocks from an index on; those before stay the same elements. */
export function replaceBlocks(element, from, blocks) {
  while (element.childNodes.length > from) element.lastChild.remove();
  element.append(...prose(blocks));
}
