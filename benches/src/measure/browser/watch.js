// Runs before everything else in a page that is measured. Our page says by attributes that it has painted; that of
// xterm.js calls `bench.painted()` when it has rendered. Both do so in the animation frame, once the rows are there.
(() => {
  if (window !== window.top) return;
  const bench = {
    bytes: 0,
    frames: 0,
    gap: 0,
    last: 0,
    start: 0,
    /** Texts that are waited for: the first picture, the line after a key, and the end of a flood. */
    first: "ready",
    key: null,
    end: null,
    pressed: 0,
    text: () => document.querySelector(".pane[data-focused] .rows")?.textContent ?? "",
    /** Counts anew. */
    begin(end) {
      Object.assign(bench, { bytes: 0, frames: 0, gap: 0, end, start: performance.now(), last: performance.now() });
    },
    /** The next key is measured until this is on the line. */
    await(key) {
      Object.assign(bench, { key, pressed: 0 });
    },
    painted() {
      const now = performance.now();
      bench.frames += 1;
      bench.gap = Math.max(bench.gap, now - bench.last);
      bench.last = now;
      if (bench.first === null && bench.end === null && (bench.key === null || bench.pressed === 0)) return;
      const text = bench.text();
      if (bench.first !== null && text.includes(bench.first)) {
        bench.first = null;
        benchFirst(String(now));
      }
      if (bench.key !== null && bench.pressed > 0 && text.includes(bench.key)) {
        bench.key = null;
        benchKey(String(now - bench.pressed));
      }
      if (bench.end !== null && text.includes(bench.end)) {
        bench.end = null;
        benchEnd(String(now - bench.start));
      }
    },
  };
  window.bench = bench;
  addEventListener("keydown", (event) => (bench.pressed ||= event.timeStamp), true);
  const Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", ({ data }) => (bench.bytes += data.length ?? data.byteLength));
    }
  };
  const watcher = new MutationObserver(() => bench.painted());
  watcher.observe(document, { attributes: true, subtree: true, attributeFilter: ["data-frame", "data-input"] });
})();
