// Waits with tui-test until what a child writes is visible, and records how long after its write.
import fs from "node:fs";
import net from "node:net";
import { expect, test } from "@microsoft/tui-test";

const { BENCH_EXE, BENCH_GATE, BENCH_CONTROL, BENCH_OUT, BENCH_COUNT } = process.env;

// One test after the other: each has a child of its own at the same gate.
for (const [rows, columns] of [[24, 80], [60, 200]]) {
  test.describe(`${rows}x${columns}`, () => {
    test.use({ rows, columns, program: { file: BENCH_EXE, args: ["__stamp", "--gate", BENCH_GATE] } });
    test("wake", async ({ terminal }) => {
      const control = net.connect(BENCH_CONTROL);
      const times = [];
      for (let number = 0; number < Number(BENCH_COUNT); number += 1) {
        const stamp = new RegExp(`n${String(number).padStart(6, "0")}:(\\d+);`, "g");
        const visible = expect(terminal.getByText(stamp, { strict: false })).toBeVisible();
        // It looks from time to time; writes come at every phase of that.
        await new Promise((resolve) => setTimeout(resolve, (number * 7) % 50));
        control.write(Buffer.from([1]));
        await visible;
        const now = process.hrtime.bigint();
        const text = terminal.getViewableBuffer().map((line) => line.join("")).join("");
        times.push(Number(now - BigInt([...text.matchAll(stamp)][0][1])));
      }
      fs.appendFileSync(BENCH_OUT, `${rows} ${columns} ${times.join(" ")}\n`);
      control.end();
    });
  });
}
