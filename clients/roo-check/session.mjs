// A long session: streaming, tools, asks, a denial, a question, a subtask, a change of mode, a cancel, a
// resume, a provider that fails, and completions. Prints what came of it as JSON.

import { Client, message, named, script } from "./client.mjs";

const fail = (why) => {
  throw new Error(why);
};
const is = (value, wanted, what) => {
  const [a, b] = [JSON.stringify(value), JSON.stringify(wanted)];
  if (a !== b) fail(`${what}: ${a}, expected ${b}`);
};

const client = new Client(process.argv[2]);
const ack = await client.acknowledged;
if (typeof ack.pid !== "number" || !/^[0-9a-f]{12}$/.test(ack.clientId)) fail("the Ack is odd");

const base = { apiProvider: "fake-ai", mode: "code" };
const auto = {
  ...base,
  autoApprovalEnabled: true,
  alwaysAllowReadOnly: true,
  alwaysAllowWrite: true,
  alwaysAllowExecute: true,
  alwaysAllowModeSwitch: true,
  alwaysAllowSubtasks: true,
  allowedCommands: ["*"],
};
let at = 0;
const next = async (what, fits) => {
  const found = await client.until(what, fits, at);
  at = found.at;
  return found.event;
};
const start = async (configuration, steps, more = {}) => {
  client.send("StartNewTask", { configuration, text: script(steps), ...more });
  return (await next("taskCreated", named("taskCreated"))).payload[0];
};
const completed = async (task) => next("taskCompleted", named("taskCompleted", task));

// One answer that is streamed.
let task = await start(base, [{ text: "one two three four five six", chunks: 6, delayMs: 60, usage: { prompt: 12, completion: 6 } }]);
await next("a partial", message("text", (said) => said.partial === true));
let done = await completed(task);
is(done.payload[1].totalTokensIn, 12, "tokens");
is(done.payload[3], { isSubtask: false }, "a task is no subtask");
await next("the ask", message("completion_result", (said) => said.type === "ask"));
await next("taskIdle", named("taskIdle", task));

// A follow-up in the same task completes again.
client.send("SendMessage", { text: script([{ text: "again" }]) });
await next("feedback", message("user_feedback"));
await completed(task);

// A command that is asked for and denied by a message, then one that is approved.
task = await start(base, [
  { tool: "shell", args: { command: "touch denied" } },
  { tool: "shell", args: { command: "echo approved > approved; echo hi" } },
  { text: "done" },
]);
await next("ask:command", message("command", (said) => said.type === "ask" && said.partial === false));
await next("taskInteractive", named("taskInteractive", task));
client.send("SendMessage", { text: "not this one" });
await next("taskActive", named("taskActive", task));
await next("taskAskResponded", named("taskAskResponded", task));
await next("feedback", message("user_feedback", (said) => said.text === "not this one"));
await next("the second ask", message("command", (said) => said.type === "ask" && said.partial === false));
is(await client.reply("PressPrimaryButton"), { success: true }, "the button");
await next("output", message("command_output", (said) => said.type === "say" && said.partial === false && said.text.includes("hi")));
await completed(task);

// A file that is written, with a diff; a tool that fails; a question.
task = await start(base, [
  { tool: "write_file", args: { path: "out.txt", content: "hello\n" } },
  { tool: "read_file", args: { path: "nowhere.txt" } },
  {
    tool: "request_user_input",
    args: { questions: [{ header: "Way", id: "way", question: "Which way?", options: [{ label: "left", description: "" }, { label: "right", description: "" }] }] },
  },
  { text: "done" },
]);
const asked = await next("ask:tool", message("tool", (said) => said.partial === false));
const tool = JSON.parse(asked.payload[0].message.text);
is([tool.tool, tool.path, tool.diffStats], ["newFileCreated", "out.txt", { added: 1, removed: 0 }], "the tool");
await client.reply("PressPrimaryButton");
await next("answered", message("tool", (said) => said.isAnswered === true));
await next("ask for the read", message("tool", (said) => said.partial === false && JSON.parse(said.text).tool === "readFile"));
await client.reply("PressPrimaryButton");
const failed = await next("taskToolFailed", named("taskToolFailed", task));
is(failed.payload[1], "read_file", "the tool that failed");
const question = await next("followup", message("followup", (said) => said.partial === false));
is(JSON.parse(question.payload[0].message.text).suggest.map((one) => one.answer), ["left", "right"], "suggestions");
client.send("SendMessage", { text: "left" });
await next("the answer", message("user_feedback", (said) => said.text === "left"));
done = await completed(task);
is(done.payload[2].write_to_file, { attempts: 1, failures: 0 }, "tools are counted");

// A subtask in another mode, and a change of mode.
task = await start(auto, [
  { tool: "switch_mode", args: { mode_slug: "ask", reason: "to look" } },
  { tool: "new_task", args: { mode: "code", message: script([{ tool: "attempt_completion", args: { result: "the part is done" } }]) } },
  { tool: "attempt_completion", args: { result: "all is done" } },
]);
is((await next("taskModeSwitched", named("taskModeSwitched", task))).payload[1], "ask", "the mode");
const child = (await next("taskSpawned", named("taskSpawned", task))).payload[1];
await next("taskDelegated", named("taskDelegated", task));
await next("taskPaused", named("taskPaused", task));
await next("the child", named("taskCreated", child));
is((await completed(child)).payload[3], { isSubtask: true }, "a subtask");
is((await next("the result", named("taskDelegationCompleted", task))).payload[2], "the part is done", "the summary");
await next("taskUnpaused", named("taskUnpaused", task));
await next("taskDelegationResumed", named("taskDelegationResumed", task));
await completed(task);

// A cancel in the middle, and a resume.
task = await start(base, [{ text: "a b c d", chunks: 4, delayMs: 2000 }, { text: "after all" }]);
await next("a partial", message("text", (said) => said.partial === true));
client.send("CancelTask");
await next("taskAborted", named("taskAborted", task));
await next("the same task", named("taskCreated", task));
await next("ask:resume_task", message("resume_task"));
await next("taskResumable", named("taskResumable", task));
is(await client.reply("PressPrimaryButton"), { success: true }, "resuming");
await next("taskActive", named("taskActive", task));
await next("taskStarted", named("taskStarted", task));
await completed(task);

// A message while the task works is queued, and never an approval.
task = await start(base, [{ text: "busy", chunks: 2, delayMs: 700 }, { tool: "shell", args: { command: "touch queued" } }, { text: "done" }]);
await next("a partial", message("text", (said) => said.partial === true));
client.send("SendMessage", { text: "by the way" });
const queue = await next("queuedMessagesUpdated", (event) => event.eventName === "queuedMessagesUpdated" && event.payload[1].length === 1);
is(queue.payload[1][0].text, "by the way", "the queue");
await next("ask:command", message("command", (said) => said.type === "ask" && said.partial === false));
await next("taskInteractive", named("taskInteractive", task));
await client.reply("PressSecondaryButton");
await completed(task);

// A provider that fails before it answers: asked again by the button, then by a message.
task = await start(base, [{ error: "the model is down" }]);
await next("ask:api_req_failed", message("api_req_failed"));
await next("taskIdle", named("taskIdle", task));
await client.reply("PressPrimaryButton");
await next("retried", message("api_req_retried"));
await next("the next failure", message("api_req_failed"));
client.send("SendMessage", { text: script([{ text: "back again" }]) });
await completed(task);

// One that fails in the middle of its answer is asked again by itself.
task = await start(base, [{ text: "half" }, { error: "the line is cut" }, { text: "whole" }]);
await next("the cut", message("api_req_started", (said) => JSON.parse(said.text).cancelReason === "streaming_failed"));
await completed(task);

// What can be asked.
client.send("GetModes");
const modes = (await next("modesResponse", named("modesResponse"))).payload[0];
is(modes.slice(0, 5).map((mode) => mode.slug), ["architect", "code", "ask", "debug", "orchestrator"], "modes");
client.send("GetCommands");
await next("commandsResponse", named("commandsResponse"));
client.send("GetModels");
await next("modelsResponse", named("modelsResponse"));
const usage = await client.reply("GetTokenUsage", task);
if (typeof usage.totalTokensIn !== "number") fail("no tokens");
const messages = await client.reply("GetMessages", task);
const times = messages.map((one) => one.ts);
if (times.some((time, index) => index > 0 && time <= times[index - 1])) fail(`times: ${times}`);

client.send("CloseTask");
await next("taskUnfocused", named("taskUnfocused", task));
await next("the end", named("taskAborted", task));

const kinds = new Set(client.events.map((event) => event.eventName));
process.stdout.write(JSON.stringify({ events: client.events.length, dropped: client.dropped, kinds: [...kinds].sort() }) + "\n");
client.close();
