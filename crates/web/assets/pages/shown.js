// What every page shows in the same way: safe text, times, keys of lists, and how failures are said.
// Builds on the frame's elements; knows no page.

// Characters that act on a screen or are not seen, as in `rookery_model::is_unseen`. Where a person
// decides, the daemon has spelled them already; in titles and names they are left out.
const UNSEEN = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\xa0\\xad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb" +
    "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu",
);

/** One line of text without anything that acts or hides. */
export function plain(text) {
  return String(text ?? "")
    .replace(/\s+/gu, " ")
    .replace(UNSEEN, "")
    .trim();
}

/** Lines of text without anything that acts or hides; line ends and tabs stay. */
export function lined(text) {
  return String(text ?? "").replace(UNSEEN, "");
}

/** A line exactly as it is: what acts or hides is spelled. */
export function exact(text) {
  return String(text ?? "").replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** Whether a key presses the button or link that has the keyboard, and so is no page's. */
export function presses(event) {
  const isKey = event.key === "Enter" || event.key === " ";
  return isKey && event.target instanceof Element && Boolean(event.target.closest("button, a[href], summary, input:not(#keys)"));
}

/** The letter that a key types, if nothing but shift is held. */
export function letter(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  return event.key.length === 1 ? event.key : null;
}

/** Where a key moves in a list; null if it moves nowhere. */
export function moved(event, at, count, page = 10) {
  if (event.ctrlKey || event.altKey || event.metaKey) return null;
  const last = Math.max(0, count - 1);
  switch (event.key) {
    case "ArrowUp":
    case "k":
      return Math.max(0, at - 1);
    case "ArrowDown":
    case "j":
      return Math.min(last, at + 1);
    case "PageUp":
      return Math.max(0, at - page);
    case "PageDown":
      return Math.min(last, at + page);
    case "Home":
    case "g":
      return 0;
    case "End":
    case "G":
      return last;
    default:
      return null;
  }
}

/** The time of day. */
export function clock(at) {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** The time of day with seconds, as every face shows when something was settled. */
export function exactClock(at) {
  return new Date(at).toTimeString().slice(0, 8);
}

/** A day and time from text such as `2026-11-15T19:24:17Z`, as the reader writes it. */
export function when(text) {
  const at = typeof text === "number" ? text : Date.parse(text);
  if (!Number.isFinite(at)) return plain(text);
  return new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** Milliseconds since 1970 of such a text; 0 if it is none. */
export function millis(text) {
  return Date.parse(text) || 0;
}

/** A word of the wire as people write it: `changes_requested` as `changes requested`. */
export function words(text) {
  return plain(text).replaceAll("_", " ");
}

/** A path whose last part matters most, short enough for a line. */
export function shortPath(path, most = 48) {
  const text = plain(path);
  return text.length <= most ? text : `…${text.slice(text.length - most + 1)}`;
}

/** Runs a call and says its failure in a toast; gives nothing if it failed. */
export async function attempt(app, method, params) {
  try {
    return await app.call(method, params);
  } catch (error) {
    app.toast("error", failure(error));
    return undefined;
  }
}

/** What a failed call says. */
export function failure(error) {
  return plain(error?.message ?? error);
}

/**
 * The place of a session. A session is named by a UUID; which terminal or thread that is, the daemon
 * knows. Null if it is gone.
 */
export async function sessionPlace(app, session) {
  const found = await attempt(app, "rookery/sessions/list", {});
  const known = (found?.sessions ?? []).find((one) => one.id.toLowerCase() === String(session).toLowerCase());
  if (known?.terminal) return { page: "workspace", terminal: known.terminal };
  if (known?.thread) return { page: "thread", thread: known.thread };
  return null;
}

/** The directory of the project that is shown. */
export function activeRoot(app) {
  const projects = app.scene?.sidebar?.projects ?? [];
  const active = projects.find((project) => project.active) ?? projects[0];
  return active?.root || null;
}
