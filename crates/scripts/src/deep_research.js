// Researches a question: agents look into several sides of it at once, one sums up, one checks.
workflow.define(
  {
    name: "deep-research",
    description: "Researches a question from several sides at once, sums up what was found, and checks it.",
    hostApiVersion: 1,
    argumentsSchema: {
      type: "object",
      required: ["question"],
      properties: {
        question: { type: "string", minLength: 1 },
        queries: { type: "array", items: { type: "string" }, maxItems: 12 },
        seedResults: { type: "array", items: { type: "string" }, maxItems: 50 },
        webSearchAvailable: { type: "boolean" },
      },
    },
    phases: ["scope", "parallel-research", "synthesis", "verification"],
    limits: { maxAgentsPerRun: 16 },
  },
  async (ctx) => {
    const { question, queries, seedResults, webSearchAvailable } = ctx.run.arguments;
    const seeds = (seedResults ?? []).map((seed) => `- ${seed}`).join("\n");
    const known = seeds === "" ? "" : `\n\nAlready known:\n${seeds}`;
    const means = webSearchAvailable === false
      ? "There is no web search: work from the workspace and from what you know, and mark what you could not check."
      : "Use web search if you have it. Name a source for every claim.";

    ctx.phase.start("scope");
    let sides = (queries ?? []).filter((query) => query.trim() !== "");
    if (sides.length === 0) {
      const scope = await ctx.agents.run("scout", {
        description: "Scope the question",
        prompt: `Name three to five separate lines of research that together answer the question below. ` +
          `Write one per line, without numbers and without any other text.\n\nQuestion: ${question}${known}`,
      });
      const lines = (scope.output ?? "").split("\n").map((line) => line.replace(/^[\s\-*\d.)]+/, "").trim());
      sides = lines.filter((line) => line !== "").slice(0, 5);
    }
    if (sides.length === 0) sides = [question];
    ctx.checkpoint.save("sides", sides);

    ctx.phase.start("parallel-research");
    const found = await ctx.agents.map("scout", sides, (side) => ({
      description: `Research: ${side.slice(0, 60)}`,
      prompt: `Research one side of a larger question. ${means}\n\nQuestion: ${question}\nYour side: ${side}${known}\n\n` +
        `Answer with short, separate findings. Say how sure you are of each.`,
    }));
    const answered = found.filter((result) => result.status === "completed");
    if (answered.length === 0) throw new Error("no line of research was answered");

    ctx.phase.start("synthesis");
    const notes = answered.map((result) => `## ${result.input}\n\n${result.output}`).join("\n\n");
    const synthesis = await ctx.agents.run("reviewer", {
      description: "Sum up the findings",
      prompt: `Answer the question from the notes below, in Markdown, the answer first. Keep sources. ` +
        `Say where notes disagree.\n\nQuestion: ${question}\n\n${notes}`,
    });
    if (synthesis.status !== "completed") throw new Error(`the findings were not summed up: ${synthesis.error ?? synthesis.status}`);

    ctx.phase.start("verification");
    const check = await ctx.agents.run("reviewer", {
      description: "Check the answer",
      prompt: `Check the answer below against the notes. List claims that the notes do not support, and what is missing. ` +
        `If everything holds, say so in one line.\n\nQuestion: ${question}\n\n# Answer\n\n${synthesis.output}\n\n# Notes\n\n${notes}`,
    });
    const verified = check.status === "completed" ? check.output : `The answer was not checked: ${check.error ?? check.status}`;
    const missing = found.length - answered.length;
    const gaps = missing === 0 ? [] : [`${missing} of ${found.length} lines of research were not answered.`];
    return ctx.report.markdown([`# ${question}`, "", synthesis.output, "", "## Verification", "", verified, ...gaps]);
  },
);
