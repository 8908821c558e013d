--- Adapter for aider, the pair programmer for the terminal.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: the last row decides.

-- Shared idiom -------------------------------------------------------------------------------------------------
-- Plugins are single files that cannot load each other, so the adapters repeat these helpers, each those it needs.

local action, matcher = ptywright.action, ptywright.matcher

-- Rows end in padding or not, depending on what the program wrote, so every comparison is made on trimmed text.
local function rtrim(text)
  local last = text:find("%S%s*$")
  return last and text:sub(1, last) or ""
end

local function trim(text)
  local first = text:find("%S")
  return first and rtrim(text:sub(first)) or ""
end

local function starts(text, prefix) return text:sub(1, #prefix) == prefix end

local function has(text, needle) return text:find(needle, 1, true) ~= nil end

-- The first of `needles` that `test` (has, starts, ends) finds in `text`.
local function one_of(text, needles, test)
  for _, needle in ipairs(needles) do
    if test(text, needle) then return needle end
  end
end

-- The screen as rows without padding and without the blank ones at the bottom; indentation stays.
local function rows_of(screen)
  local rows, from = {}, 1
  while true do
    local stop = screen:find("\n", from, true)
    rows[#rows + 1] = rtrim(screen:sub(from, (stop or 0) - 1))
    if not stop then break end
    from = stop + 1
  end
  while rows[#rows] == "" do rows[#rows] = nil end
  return rows
end

-- The nearest row from `from` upwards for which `test` holds.
local function row_above(rows, from, test)
  for i = from, 1, -1 do
    if test(rows[i]) then return i end
  end
end

-- At most `max` bytes, cut between characters.
local function clip(text, max)
  if #text <= max then return text end
  while max > 0 and (text:byte(max + 1) & 0xC0) == 0x80 do max = max - 1 end
  return text:sub(1, max)
end

local SECRETS = { "sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AIza", "AKIA", "ya29." }

-- The host does not redact states, so what is quoted from the screen loses its keys here.
local function quote(text)
  local clean = clip(trim(text), 400):gsub("[%w_%.%-]+", function(word)
    local prefix = one_of(word, SECRETS, starts)
    if prefix then return prefix .. "***" end
  end)
  return clean
end

local function fnv1a(text)
  local hash = 0x811c9dc5
  for i = 1, #text do
    hash = ((hash ~ text:byte(i)) * 0x01000193) & 0xffffffff
  end
  return string.format("%08x", hash)
end

local function report(ctx, state, confidence, evidence, metadata)
  return {
    state = state, confidence = confidence, evidence = evidence, sequence = ctx.sequence, metadata = metadata,
  }
end

local function is_stable(ctx)
  return ctx.stable_ms ~= nil and ctx.stable_ms >= (ctx.completed_turn_stable_ms or 300)
end

-- Params may be any JSON; only an object means something here.
local function object(params) return type(params) == "table" and params or {} end

local function text_param(params, intent, ...)
  for _, name in ipairs({ ... }) do
    local value = object(params)[name]
    if type(value) == "string" and value ~= "" then return value end
  end
  error(intent .. ": " .. (...) .. " is required", 0)
end

-- The dialog that the last classification saw: { id, options = { { number, label } }, focus }.
local dialog

local function open_dialog(fingerprint, options, focus)
  dialog = { id = fnv1a(clip(fingerprint, 1000)), options = options or {}, focus = focus }
  return dialog.id
end

-- An answer meant for another dialog must not reach this one.
local function check_dialog(params)
  local given = object(params).dialog_id
  if given == nil or type(given) == "userdata" then return end
  if not dialog then
    error("stale_dialog: supplied dialog_id=" .. tostring(given) .. " but no dialog is currently active", 0)
  elseif dialog.id ~= given then
    error("stale_dialog: supplied dialog_id=" .. tostring(given) .. " but the current dialog is " .. dialog.id, 0)
  end
end

local function labels(options)
  local list = {}
  for i, option in ipairs(options) do list[i] = option.label end
  return #list > 0 and list or nil
end

-- The option that the caller means: by number, or by label (exact first, then a part of it, in any case).
local function wanted_option(params)
  params = object(params)
  local wanted = params.index or params.option or params.choice
  local options = dialog and dialog.options or {}
  if #options == 0 then error("choose_option: no options are on the screen", 0) end
  local number = math.tointeger(tonumber(wanted))
  local text = type(wanted) == "string" and wanted:lower() or nil
  for _, test in ipairs({
    function(option) return number and option.number == number end,
    function(option) return text and option.label:lower() == text end,
    function(option) return text and text ~= "" and not number and has(option.label:lower(), text) end,
  }) do
    for place, option in ipairs(options) do
      if test(option) then return option, place end
    end
  end
  error("choose_option: no option " .. tostring(wanted) .. " among " .. #options, 0)
end

local KEYS = {}
for name in ([[enter escape tab shift_tab backspace delete space up down left right home end page_up page_down insert
  f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 ctrl_a ctrl_b ctrl_c ctrl_d ctrl_e ctrl_f ctrl_g ctrl_k ctrl_l ctrl_n ctrl_o
  ctrl_p ctrl_q ctrl_r ctrl_s ctrl_t ctrl_u ctrl_v ctrl_w ctrl_x ctrl_y ctrl_z]]):gmatch("%S+") do
  KEYS[name] = true
end

-- A named key, or the text itself when there is no key of that name.
local function key(params)
  local wanted = text_param(params, "key", "key")
  local name = wanted:lower():gsub("-", "_")
  return { actions = { KEYS[name] and action.key(name) or action.text(wanted) } }
end

local function names(list)
  local named = {}
  for i, name in ipairs(list) do named[i] = { name = name } end
  return named
end

-- The turn that send_prompt began: { first_row, before, stop }.
local turn

-- The row by which the last turn on the screen was known when it was last looked at.
local landmark

local function begin_turn(prompt)
  turn = { first_row = clip(trim(prompt:match("^%s*(%C*)")), 40), before = landmark }
end

-- Whether the last turn on the screen is the one that send_prompt began, and not the one before, still standing there.
-- A program may show a prompt in other words (a long paste), so only the old landmark speaks against it.
local function is_current(row)
  landmark = row
  return not turn or row == nil or row ~= turn.before or starts(row, turn.first_row)
end

-- A finished turn; its end is marked once, so that the caller can cut its text out of the transcript.
local function completed(ctx, evidence)
  local state = report(ctx, "completed_turn", is_stable(ctx) and 0.78 or 0.7, evidence)
  local start = ctx.markers and ctx.markers.turn_start
  if turn and start and ctx.cursor then
    if not turn.stop then
      turn.stop = ctx.cursor
      state.host_marks = { { label = "turn_end" } }
    end
    state.metadata = { transcript = { turn_start = start, turn_end = turn.stop } }
  end
  return state
end

-- What kind of failure a message speaks of; the first kind with a phrase in it wins.
local FAILURES = {
  { "rate_limit", { "rate limit", "rate_limit", "ratelimit", "too many requests", "429" } },
  { "quota", { "quota", "usage limit", "credit", "billing" } },
  { "auth", { "api key", "api_key", "unauthorized", "authenticat", "401", "403", "log in", "sign in" } },
  { "connection", { "connect", "network", "timed out", "timeout", "error sending request", "resolve" } },
  { "api", { "high demand", "server error", "internal server", "overloaded", "api error", "500", "503", "status" } },
}

local function failure(message)
  local lower = message:lower()
  for _, row in ipairs(FAILURES) do
    if one_of(lower, row[2], has) then return { kind = row[1], message = quote(message) } end
  end
  return { kind = "unknown", message = quote(message) }
end

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
  local id = open_dialog("question:" .. question .. ":" .. subject, options)
  for _, row in ipairs(QUESTIONS) do
    if has(lower, row[1]) then
      local metadata = { question = { text = quote(question), options = labels(options) }, dialog_id = id }
      if row[3] then
        metadata.dialog_id = open_dialog("perm:" .. row[3] .. ":" .. subject, options)
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
  local current = is_current(said and prompt_of(rows[said]))
  -- A long answer moves its prompt out of sight, but ends in a row about tokens.
  local seen = said or row_above(rows, #rows, function(row) return starts(row, "Tokens: ") end)
  if submitted and turn and not (seen and current) then
    return report(ctx, "prompt_submitted", 0.5, "the prompt is not on the screen yet")
  end
  for i = #rows - 1, (said or #rows) + 1, -1 do
    if starts(rows[i], "Tokens: ") then break end
    if starts(rows[i], "^C") then return report(ctx, "ready", 0.74, "interrupted, prompt visible") end
    if one_of(rows[i], FAILED, starts) then
      return report(ctx, "error", 0.72, "error under the last prompt", { error = failure(rows[i]) })
    end
  end
  if submitted then return completed(ctx, "prompt visible again") end
  return report(ctx, "ready", 0.82, "prompt visible")
end

-- States and intents ---------------------------------------------------------------------------------------------

local M = {}

function M.classify(ctx)
  dialog = nil
  if ctx.exited then return report(ctx, "exited", 1.0, "the program has ended") end
  local rows = rows_of(ctx.screen)
  if #rows == 0 then return report(ctx, ctx.last_intent or "starting", 0.35, "no screen evidence yet") end
  if ctx.last_intent == "cancelling" and not is_stable(ctx) then
    return report(ctx, "cancelling", 0.72, "cancel was sent and the screen is not known to be stable")
  end
  local question, options = question_of(rows[#rows])
  if question then return show_question(ctx, rows, question, options) end
  if is_working(rows[#rows]) then return report(ctx, "thinking", 0.76, "spinner: " .. quote(rows[#rows])) end
  if is_prompt(rows, #rows) then return at_prompt(ctx, rows, (prompt_of(rows[#rows]))) end
  if ctx.last_intent == "prompt_submitted" then return report(ctx, "thinking", 0.6, "no prompt at the end") end
  return report(ctx, ctx.last_intent or "starting", 0.3, "no prompt yet")
end

function M.send_prompt(params)
  local prompt = object(params).prompt
  if type(prompt) ~= "string" or trim(prompt) == "" then return { actions = {}, last_intent = "" } end
  begin_turn(prompt)
  return {
    actions = { action.mark_transcript("turn_start"), action.bracketed_paste(prompt), action.key("enter") },
    last_intent = "prompt_submitted",
  }
end

local function reply(text) return { actions = { action.text(text), action.key("enter") } } end

function M.approve(params)
  check_dialog(params)
  return reply("y")
end

function M.deny(params)
  check_dialog(params)
  return reply("n")
end

function M.choose_option(params)
  check_dialog(params)
  return reply(wanted_option(params).letter)
end

-- Interrupts the answer. A second one at the prompt, shortly after, would end the program: send it once.
function M.cancel() return { actions = { action.interrupt() }, last_intent = "cancelling" } end

function M.slash_command(params)
  local command = text_param(params, "slash_command", "command", "name")
  if not starts(command, "/") then command = "/" .. command end
  return { actions = { action.bracketed_paste(command), action.key("enter") } }
end

M.key = key

-- Waiting --------------------------------------------------------------------------------------------------------

local function stable(params) return matcher.screen_stable(object(params).completed_turn_stable_ms or 300) end

-- A question or an empty prompt under a rule is the last row, or the program has ended.
function M.wait_turn_matcher(params)
  return matcher.all({
    stable(params),
    matcher.any({
      matcher.screen_regex([[\(Y\)es/\(N\)o[^\n]*\]:\s*\z]]),
      matcher.screen_regex([[──── *\n(?:\S[^\n]*\n)*[a-z-]*>\s*\z]]),
      matcher.process_exited(),
    }),
  })
end

function M.wait_cancel_settled_matcher(params) return stable(params) end

function M.describe()
  return {
    intents = names({ "send_prompt", "approve", "deny", "choose_option", "cancel", "slash_command", "key" }),
    wait_matchers = names({ "wait_turn_matcher", "wait_cancel_settled_matcher" }),
    states = names({
      "starting", "ready", "prompt_submitted", "thinking", "waiting_for_permission", "waiting_for_plan_approval",
      "waiting_for_login", "waiting_for_user_input", "completed_turn", "cancelling", "error", "exited",
    }),
  }
end

return M
