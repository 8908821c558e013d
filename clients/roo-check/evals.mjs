// The flow of Roo's runner of evaluations: connect, Ack within a second, a task with its preset, events until
// it is completed, close. Many times, some at once.

import { Client, named, script } from "./client.mjs";

const [socket, total, atOnce] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

const preset = {
  apiProvider: "fake-ai",
  mode: "code",
  autoApprovalEnabled: true,
  alwaysAllowReadOnly: true,
  alwaysAllowReadOnlyOutsideWorkspace: false,
  alwaysAllowWrite: true,
  alwaysAllowWriteOutsideWorkspace: false,
  alwaysAllowWriteProtected: false,
  alwaysAllowMcp: true,
  alwaysAllowModeSwitch: true,
  alwaysAllowSubtasks: true,
  alwaysAllowExecute: true,
  alwaysAllowFollowupQuestions: true,
  followupAutoApproveTimeoutMs: 0,
  allowedCommands: ["*"],
  commandExecutionTimeout: 20,
  mcpEnabled: false,
  enableCheckpoints: false,
};

async function evaluate(number) {
  const client = new Client(socket);
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("no Ack within a second")), 1000));
  await Promise.race([client.acknowledged, late]);
  const text = script([
    { text: "I will look.", tool: "list_files", args: {} },
    { tool: "write_file", args: { path: `eval-${number}.txt`, content: "done\n" } },
    { tool: "shell", args: { command: `cat eval-${number}.txt` } },
    { text: `Finished ${number}.`, usage: { prompt: 5, completion: 2 } },
  ]);
  client.send("StartNewTask", { configuration: preset, text });
  const created = await client.until("taskCreated", named("taskCreated"));
  const task = created.event.payload[0];
  await client.until("taskCompleted", named("taskCompleted", task), created.at, 120_000);
  const foreign = client.events.filter((event) => {
    const about = event.payload[0]?.taskId ?? event.payload[0];
    return typeof about === "string" && about !== task;
  });
  client.send("CloseTask");
  await client.until("taskAborted", named("taskAborted", task), created.at);
  client.close();
  return { dropped: client.dropped.length, foreign: foreign.length };
}

let [next, completed, dropped, foreign] = [0, 0, 0, 0];
const errors = [];
const worker = async () => {
  while (next < total) {
    const number = next++;
    try {
      const result = await evaluate(number);
      completed += 1;
      dropped += result.dropped;
      foreign += result.foreign;
    } catch (error) {
      errors.push(String(error));
    }
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));
process.stdout.write(JSON.stringify({ completed, dropped, foreign, errors }) + "\n");
process.exit(errors.length === 0 ? 0 : 1);
