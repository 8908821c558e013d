--- Adapter for aider, the pair programmer for the terminal.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: the last row decides.

local action, matcher, kit = ptywright.action, ptywright.matcher, ptywright.kit
local trim, starts, has, one_of, quote = kit.trim, kit.starts, kit.has, kit.one_of, kit.quote
local row_above, report, labels = kit.row_above, kit.report, kit.labels
local dialogs, turns = kit.dialogs(), kit.turns()

-- What aider shows -----------------------------------------------------------------------------------------------
-- Aider does not redraw: it prints, and the last row says what it waits for.

-- Questions end in "(Y)es/(N)o/... [Yes]:". The text before that tells the kind: { phrase, state, tool }.
local QUESTIONS = {
  { "run shell command", "waiting_for_permission", "Shell" },
  { "create new file", "waiting_for_permission", "Create" },
  { "allow edits to file", "waiting_for_permission", "Edit" },
  { "add file to the chat", "waiting_for_permission", "Add file" },
  { "add url to the chat", "waiting_for_permission", "Add URL" },
  { "add command output to the chat", "waiting_for_permission", "Add output" },
  { "attempt to fix", "waiting_for_permission", "Fix" },
  { "edit the files?", "waiting_for_plan_approval" },
  { "login to openrouter", "waiting_for_login" },
}

local SPINNER = { "░", "█" }

local FAILED = { "litellm.", "Unexpected error:" }

local function is_rule(row) return starts(row, "────────") end

-- ">", "diff>" or "ask>", and what was typed behind it.
local function prompt_of(row)
  local mode, typed = row:match("^([%l%-]*)>(.*)$")
  if not mode or (typed ~= "" and not starts(typed, " ")) then return end
  return trim(typed), mode
end

-- A prompt stands under a rule, with nothing between but the files in the chat and its own first rows:
-- this is what tells it from a quotation in an answer.
local function is_prompt(rows, at)
  if not prompt_of(rows[at]) then return false end
  for i = at - 1, math.max(1, at - 40), -1 do
    if is_rule(rows[i]) then return true end
    if rows[i] == "" then return false end
  end
  return false
end

-- The options of a question row: "(D)on't ask again" is chosen with a d.
local function question_of(row)
  local stop, _, listed = row:find(" (%(Y%)es/%(N%)o[^%[]*)%[[^%]]*%]:")
  if not stop then return end
  local options = {}
  for part in trim(listed):gmatch("[^/]+") do
    local letter, rest = part:match("^%((%a)%)(.*)$")
    if letter then
      options[#options + 1] = { number = #options + 1, label = letter .. rest, letter = letter:lower() }
    end
  end
  return trim(row:sub(1, stop)), options
end

-- What a question is about stands directly above it: a command, a file, an address.
local function subject_of(rows, question)
  local list = {}
  for i = question - 1, math.max(1, question - 10), -1 do
    local text = trim(rows[i])
    if text == "" or is_rule(rows[i]) or starts(text, "Tokens: ") then break end
    table.insert(list, 1, text)
  end
  return table.concat(list, "\n")
end

local function show_question(ctx, rows, question, options)
  local lower, subject = question:lower(), quote(subject_of(rows, #rows))
  local id = dialogs:open("question:" .. question .. ":" .. subject, options)
  for _, row in ipairs(QUESTIONS) do
    if has(lower, row[1]) then
      local metadata = { question = { text = quote(question), options = labels(options) }, dialog_id = id }
      if row[3] then
        metadata.dialog_id = dialogs:open("perm:" .. row[3] .. ":" .. subject, options)
        metadata.permission = { tool = row[3], summary = subject, options = labels(options) }
      end
      return report(ctx, row[2], 0.84, "question: " .. quote(question), metadata)
    end
  end
  return report(ctx, "waiting_for_user_input", 0.8, "question: " .. quote(question), {
    question = { text = quote(question), options = labels(options) }, dialog_id = id,
  })
end

-- "░█  Waiting for model" or "Retrying in 0.2 seconds...".
local function is_working(row)
  local text = trim(row)
  return one_of(text, SPINNER, starts) ~= nil or text:find("^Retrying in %d") ~= nil
end

-- The first row of the last thing said; every row of it begins like a prompt.
local function said_above(rows, from)
  for at = from, 1, -1 do
    local typed = prompt_of(rows[at])
    if typed and typed ~= "" and is_prompt(rows, at) then
      while at > 1 and prompt_of(rows[at - 1]) do at = at - 1 end
      return at
    end
  end
end

local function at_prompt(ctx, rows, typed)
  local submitted = ctx.last_intent == "prompt_submitted"
  if typed ~= "" then
    if submitted then return report(ctx, "prompt_submitted", 0.6, "the prompt is the last row") end
    return report(ctx, "ready", 0.7, "text is being typed")
  end
  local said = said_above(rows, #rows - 1)
  local current = turns:is_current(said and prompt_of(rows[said]))
  -- A long answer moves its prompt out of sight, but ends in a row about tokens.
  local seen = said or row_above(rows, #rows, function(row) return starts(row, "Tokens: ") end)
  if submitted and turns.current and not (seen and current) then
    return report(ctx, "prompt_submitted", 0.5, "the prompt is not on the screen yet")
  end
  for i = #rows - 1, (said or #rows) + 1, -1 do
    if starts(rows[i], "Tokens: ") then break end
    if starts(rows[i], "^C") then return report(ctx, "ready", 0.74, "interrupted, prompt visible") end
    if one_of(rows[i], FAILED, starts) then
      return report(ctx, "error", 0.72, "error under the last prompt", { error = kit.failure(rows[i]) })
    end
  end
  if submitted then return turns:completed(ctx, "prompt visible again") end
  return report(ctx, "ready", 0.82, "prompt visible")
end

-- States and intents ---------------------------------------------------------------------------------------------

local M = {}

function M.classify(ctx)
  dialogs:forget()
  local rows = kit.rows(ctx.screen)
  local early = kit.early_state(ctx, rows)
  if early then return early end
  local question, options = question_of(rows[#rows])
  if question then return show_question(ctx, rows, question, options) end
  if is_working(rows[#rows]) then return report(ctx, "thinking", 0.76, "spinner: " .. quote(rows[#rows])) end
  if is_prompt(rows, #rows) then return at_prompt(ctx, rows, (prompt_of(rows[#rows]))) end
  if ctx.last_intent == "prompt_submitted" then return report(ctx, "thinking", 0.6, "no prompt at the end") end
  return report(ctx, ctx.last_intent or "starting", 0.3, "no prompt yet")
end

function M.send_prompt(params) return turns:send_prompt(params) end

local function reply(text) return { actions = { action.text(text), action.key("enter") } } end

function M.approve(params)
  dialogs:check(params)
  return reply("y")
end

function M.deny(params)
  dialogs:check(params)
  return reply("n")
end

function M.choose_option(params)
  dialogs:check(params)
  return reply(dialogs:wanted_option(params).letter)
end

-- Interrupts the answer. A second one at the prompt, shortly after, would end the program: send it once.
function M.cancel() return { actions = { action.interrupt() }, last_intent = "cancelling" } end

M.slash_command = kit.slash_command

M.key = kit.key

-- Waiting --------------------------------------------------------------------------------------------------------

-- A question or an empty prompt under a rule is the last row, or the program has ended.
function M.wait_turn_matcher(params)
  return matcher.all({
    kit.stable(params),
    matcher.any({
      matcher.screen_regex([[\(Y\)es/\(N\)o[^\n]*\]:\s*\z]]),
      matcher.screen_regex([[──── *\n(?:\S[^\n]*\n)*[a-z-]*>\s*\z]]),
      matcher.process_exited(),
    }),
  })
end

M.wait_cancel_settled_matcher = kit.stable

function M.describe()
  return {
    intents = kit.names("send_prompt approve deny choose_option cancel slash_command key"),
    wait_matchers = kit.names("wait_turn_matcher wait_cancel_settled_matcher"),
    states = kit.names([[
      starting ready prompt_submitted thinking waiting_for_permission waiting_for_plan_approval waiting_for_login
      waiting_for_user_input completed_turn cancelling error exited
    ]]),
  }
end

return M
