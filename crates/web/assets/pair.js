// Pairing: a code from the link or typed by hand, a name, and whether this device is known.

import { text } from "./dom.js";

/** The code of the link, taken out of the address bar before anything else happens. */
export function takeCode() {
  const found = /^#pair=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (found) history.replaceState(history.state, "", location.pathname);
  return found ? found[1] : null;
}

/**
 * Whether this device is known: `{state: "in"|"out"|"unsure"|"away", name?, rights?, build?}`. Over plain HTTP
 * to another machine browsers do not say which page asks, so that only the socket tells.
 */
export async function session() {
  try {
    const reply = await fetch("/session", { cache: "no-store", credentials: "same-origin" });
    if (reply.ok) return { state: "in", ...(await reply.json()) };
    return { state: { 401: "out", 429: "out", 403: "unsure" }[reply.status] ?? "away" };
  } catch {
    return { state: "away" };
  }
}

/** The form that pairs this device. */
export class Pair {
  constructor(onPaired) {
    this.onPaired = onPaired;
    this.form = document.getElementById("pair");
    this.code = document.getElementById("pair-code");
    this.name = document.getElementById("pair-name");
    this.error = document.getElementById("pair-error");
    this.go = document.getElementById("pair-go");
    this.secret = null;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }

  /** Shows the form; with a code from a link only the name is asked for. */
  show(code = null) {
    this.secret = code;
    document.getElementById("pair-by-hand").hidden = code !== null;
    this.code.required = code === null;
    if (this.name.value === "") this.name.value = guess();
    (code === null ? this.code : this.name).focus();
  }

  async send() {
    const code = this.secret ?? this.code.value.trim().toUpperCase().replace(/\s+/g, "");
    const name = this.name.value.trim();
    if (code === "" || name === "") return this.say(code === "" ? "Type the code first." : "Give this device a name.");
    this.go.disabled = true;
    this.say("");
    try {
      const reply = await fetch("/pair", {
        method: "POST",
        credentials: "same-origin",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code, name }),
      });
      if (reply.ok) return this.done(await reply.json());
      this.say(await why(reply));
      // A link that was used is of no more use; the code can still be typed.
      if (this.secret !== null) this.show(null);
    } catch {
      this.say("The daemon does not answer. Is it running?");
    } finally {
      this.go.disabled = false;
    }
  }

  done({ name }) {
    this.secret = null;
    this.code.value = "";
    this.onPaired(name);
  }

  say(message) {
    text(this.error, message);
  }
}

async function why(reply) {
  const told = await reply.json().catch(() => null);
  const message = told?.error?.message ?? told?.error ?? told?.message;
  if (typeof message === "string") return message;
  if (reply.status === 429) return "Too many tries. Wait a little.";
  return "This code is not known, was used, or is older than ten minutes.";
}

/** A name to begin with. */
function guess() {
  const agent = navigator.userAgent;
  const device = [[/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android.*Mobile/, "phone"], [/Android/, "tablet"], [/Macintosh/, "Mac"], [/Windows/, "Windows"], [/Linux/, "Linux"]].find(([pattern]) => pattern.test(agent));
  const browser = [[/Edg\//, "Edge"], [/Firefox\//, "Firefox"], [/Chrom/, "Chrome"], [/Safari\//, "Safari"]].find(([pattern]) => pattern.test(agent));
  return [device?.[1], browser?.[1]].filter(Boolean).join(" ") || "browser";
}
