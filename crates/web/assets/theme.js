// Colors of the page from the daemon's theme: its own, and those between them that the chrome needs.

const HEX = /^#[0-9a-f]{6}$/i;
const MOODS = ["waiting", "failed", "working", "done", "quiet"];
const FALLBACK = { light: false, background: "#282c34", foreground: "#abb2bf", cursor: "#528bff", selection: "#3e4451", accent: "#0a84ff", named: [], moods: { waiting: "#f2a33c", failed: "#e05252", working: "#61afef", done: "#98c379", quiet: "#7f848e" } };

/** Sets the colors as properties of the root. */
export function paintTheme(told) {
  const theme = { ...FALLBACK, ...(told ?? {}) };
  const { style } = document.documentElement;
  const set = (name, value) => HEX.test(value) && style.setProperty(`--${name}`, value);
  const [bg, fg] = [theme.background, theme.foreground];
  set("bg", bg);
  set("fg", fg);
  set("cursor", theme.cursor);
  set("accent", theme.accent);
  for (const word of MOODS) set(word, theme.moods?.[word] ?? FALLBACK.moods[word]);
  for (const [index, color] of (theme.named ?? []).entries()) set(`n${index}`, color);
  // The sidebar lies behind the page, what lies over the page before it.
  const [back, front] = theme.light ? ["#000000", "#ffffff"] : ["#000000", fg];
  set("panel", mix(bg, back, theme.light ? 0.05 : 0.22));
  set("panel-2", theme.light ? mix(bg, front, 0.6) : mix(bg, front, 0.07));
  set("line", mix(bg, fg, 0.16));
  set("hover", mix(bg, fg, 0.08));
  set("active", mix(bg, fg, 0.14));
  // Text is read on all of these.
  const of = (name) => style.getPropertyValue(`--${name}`);
  const grounds = ["bg", "panel", "panel-2", "hover"].map(of);
  // What is selected, and lines of a diff, lie on colors of their own; see style.css and pages.css.
  const [plus, minus] = [theme.named?.[2] ?? FALLBACK.moods.done, theme.named?.[1] ?? FALLBACK.moods.failed];
  const colored = [of("active"), mix(of("panel-2"), theme.accent, 0.32), mix(bg, theme.accent, 0.22), mix(bg, plus, 0.15), mix(bg, minus, 0.15)];
  const all = [...grounds, ...colored];
  set("text", readable(fg, [...grounds, mix(bg, fg, 0.14)], 7));
  set("dim", readable(mix(bg, fg, 0.66), grounds, 4.6));
  set("dim-colored", readable(mix(bg, fg, 0.66), all, 4.6));
  set("accent-text", readable(theme.accent, grounds, 4.6));
  for (const word of ["waiting", "failed", "working", "done"]) set(`${word}-text`, readable(theme.moods?.[word] ?? FALLBACK.moods[word], all, 4.6));
  for (const [name, color] of [["plus", plus], ["minus", minus]]) {
    set(name, color);
    set(`${name}-text`, readable(mix(of("text"), color, 0.62), all, 4.6));
  }
  const [fill, onFill] = filled(theme.accent);
  set("accent-fill", fill);
  set("on-accent", onFill);
  style.setProperty("color-scheme", theme.light ? "light" : "dark");
  document.querySelector("meta[name=theme-color]")?.setAttribute("content", mix(bg, back, theme.light ? 0.05 : 0.22));
}

function parts(color) {
  const number = parseInt(color.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** A color between two. */
export function mix(from, to, share) {
  const [a, b] = [parts(from), parts(to)];
  return `#${a.map((part, index) => Math.round(part + (b[index] - part) * share).toString(16).padStart(2, "0")).join("")}`;
}

function light(color) {
  const [red, green, blue] = parts(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colors, 1 to 21. */
export function contrast(one, other) {
  const [a, b] = [light(one), light(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** A color moved away from its grounds until it can be read on each of them. */
function readable(color, grounds, wanted) {
  const end = light(grounds[0]) > 0.18 ? "#000000" : "#ffffff";
  for (let share = 0; share <= 1; share += 0.05) {
    const tried = mix(color, end, share);
    if (grounds.every((ground) => contrast(tried, ground) >= wanted)) return tried;
  }
  return end;
}

/** The ground of a button in a color, and the text on it: white if the color can be darkened a little. */
function filled(color) {
  for (let share = 0; share <= 0.35; share += 0.05) {
    const ground = mix(color, "#000000", share);
    if (contrast("#ffffff", ground) >= 4.5) return [ground, "#ffffff"];
  }
  return [color, "#000000"];
}
