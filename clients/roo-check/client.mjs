// A client as Roo Code's own is built: node-ipc for the frames, the published schemas for the messages.
// Whatever does not validate is counted as dropped, since the published client drops it.

import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";

const require = createRequire(process.env.ROO_CHECK_MODULES + "/");
const { IPCModule } = require("node-ipc");
const { ipcMessageSchema } = require("@roo-code/types");

export class Client {
  constructor(socket) {
    this.name = `check-${randomUUID()}`;
    this.ipc = new IPCModule();
    this.ipc.config.silent = true;
    this.ipc.config.retry = 100;
    this.events = [];
    this.dropped = [];
    this.waiters = new Set();
    this.clientId = undefined;
    this.acknowledged = new Promise((resolve) => (this.acknowledge = resolve));
    this.ipc.connectTo(this.name, socket, () => {
      const server = this.ipc.of[this.name];
      server.on("message", (data) => this.take(data));
    });
  }

  take(data) {
    const read = ipcMessageSchema.safeParse(data);
    if (!read.success) {
      // Replies to commands that only the schema document has are unknown to the published client.
      if (data?.data?.eventName === "commandResponse") {
        this.note({ eventName: "commandResponse", payload: data.data.payload });
        return;
      }
      this.dropped.push({ data, why: read.error.issues });
      return;
    }
    const message = read.data;
    if (message.type === "Ack") {
      this.clientId = message.data.clientId;
      this.acknowledge(message.data);
    } else if (message.type === "TaskEvent") {
      this.note(message.data);
    }
  }

  note(event) {
    this.events.push(event);
    for (const waiter of [...this.waiters]) waiter();
  }

  send(commandName, data, requestId) {
    const command = { commandName, data, requestId };
    this.ipc.of[this.name].emit("message", {
      type: "TaskCommand",
      origin: "client",
      clientId: this.clientId,
      data: command,
    });
  }

  // The first event after `from` that fits; its place is where the next search begins.
  async until(what, fits, from = 0, limit = 30_000) {
    let next = from;
    return new Promise((resolve, reject) => {
      const look = () => {
        for (; next < this.events.length; next++) {
          if (fits(this.events[next])) {
            finish();
            resolve({ event: this.events[next], at: next + 1 });
            return;
          }
        }
      };
      const timer = setTimeout(() => {
        finish();
        const last = this.events.slice(-12).map(short).join(", ");
        reject(new Error(`no ${what} within ${limit} ms; last: ${last}; dropped: ${JSON.stringify(this.dropped)}`));
      }, limit);
      const finish = () => {
        clearTimeout(timer);
        this.waiters.delete(look);
      };
      this.waiters.add(look);
      look();
    });
  }

  async reply(commandName, data) {
    const requestId = randomUUID();
    const from = this.events.length;
    this.send(commandName, data, requestId);
    const is = (event) => event.eventName === "commandResponse" && event.payload[0].requestId === requestId;
    return (await this.until(`reply to ${commandName}`, is, from)).event.payload[0].payload;
  }

  close() {
    this.ipc.disconnect(this.name);
  }
}

export const named = (name, task) => (event) =>
  event.eventName === name && (task === undefined || event.payload[0] === task || event.payload[0]?.taskId === task);

export const message = (kind, more = () => true) => (event) => {
  if (event.eventName !== "message") return false;
  const said = event.payload[0].message;
  return (said.ask ?? said.say) === kind && more(said, event.payload[0].taskId);
};

export function short(event) {
  if (event.eventName !== "message") return event.eventName;
  const said = event.payload[0].message;
  const partial = said.partial === undefined ? "" : said.partial ? " partial" : " final";
  return `${event.payload[0].action} ${said.type}:${said.ask ?? said.say}${partial}`;
}

export const script = (steps) => `MOCK_SCRIPT:${JSON.stringify(steps)}`;
