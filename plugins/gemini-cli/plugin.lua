--- Adapter for Gemini CLI, the terminal agent of Google.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: a live dialog is the box that ends the screen.

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

local function ends(text, suffix) return suffix == "" or text:sub(-#suffix) == suffix end

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

-- "1. Yes" or "2) No", behind one of the marks of focus or not.
local function option_of(row, marks)
  row = trim(row)
  local mark = one_of(row, marks, starts)
  if mark then row = trim(row:sub(#mark + 1)) end
  local number, label = row:match("^(%d+)[.)]%s+(%S.*)$")
  if not number then return end
  local column = label:find("  ", 1, true)
  return { number = math.tointeger(tonumber(number)), label = column and label:sub(1, column - 1) or label }, mark
end

-- Option rows between two rows, and the number of the one that has the focus.
local function options_between(rows, from, to, marks)
  local options, focus = {}, nil
  for i = from, to do
    local option, mark = option_of(rows[i], marks)
    if option then
      options[#options + 1] = option
      if mark then focus = option.number end
    end
  end
  return options, focus
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

-- What Gemini CLI shows ------------------------------------------------------------------------------------------

local FOCUS = { "●" }

local PLACEHOLDER = "Type your message or @path/to/file"

-- The last word about a turn, below what the user said.
local SAYS, FAILS, CANCELLED = "✦ ", "✕ ", "ℹ Request cancelled."

-- Dialogs are boxes at the very bottom; while one is open the composer and its footer are gone.
-- { phrase, kind }: the first that occurs inside of the box decides.
local DIALOGS = {
  { "do you trust the files in this folder?", "trust" },
  { "do you trust this folder?", "trust" },
  { "how would you like to authenticate", "login" },
  { "enter gemini api key", "login" },
  { "waiting for authentication", "login" },
  { "ready to start implementation?", "plan" },
  { "answer questions", "question" },
  { "select model", "model" },
  { "allow execution of", "permission" },
  { "apply this change?", "permission" },
  { "do you want to proceed?", "permission" },
}

-- Rows that may stand under the bottom box.
local BELOW = { "Press Ctrl+O", "Press ctrl-o", "Press Ctrl+C again" }

-- A row inside of a box, without its sides.
local function inside(row)
  local text = trim(row)
  if starts(text, "│") then text = text:sub(#"│" + 1) end
  if ends(text, "│") then text = text:sub(1, -#"│" - 1) end
  return trim(text)
end

-- The contents of the box that ends the screen, nested frames left out; nil if something else ends it.
local function bottom_box(rows)
  local bottom = #rows
  while bottom > 0 and (rows[bottom] == "" or one_of(trim(rows[bottom]), BELOW, starts)) do bottom = bottom - 1 end
  if bottom == 0 or not starts(trim(rows[bottom]), "╰") then return end
  local top = row_above(rows, bottom - 1, function(row) return starts(trim(row), "╭") end) or 0
  local box = {}
  for i = top + 1, bottom - 1 do
    local text = inside(rows[i])
    if not (starts(text, "╭") or starts(text, "╰")) then box[#box + 1] = inside(text) end
  end
  return box
end

local function dialog_of(box)
  local options, focus = options_between(box, 1, #box, FOCUS)
  -- A plan may hold a numbered list itself; the options are the last run that begins with 1.
  for i = #options, 1, -1 do
    if options[i].number == 1 then
      options = table.move(options, i, #options, 1, {})
      break
    end
  end
  local text = table.concat(box, "\n"):lower()
  for _, row in ipairs(DIALOGS) do
    local at = text:find(row[1], 1, true)
    if at then return row[2], options, focus end
  end
  if focus then return "other", options, focus end
end

-- Rows of a box up to the first that `stop` holds for.
local function box_text(box, from, stop)
  local list = {}
  for i = from, #box do
    if stop(box[i]) then break end
    if box[i] ~= "" then list[#list + 1] = box[i] end
  end
  return table.concat(list, "\n")
end

local function is_focused_first(row)
  local option, mark = option_of(row, FOCUS)
  return option ~= nil and (mark ~= nil or option.number == 1)
end

local function find_row(box, phrase)
  for i, row in ipairs(box) do
    if has(row:lower(), phrase) then return i end
  end
end

local SHOW = {}

function SHOW.trust(ctx, box, options, focus)
  local folder = options[1] and options[1].label:match("%((.*)%)$")
  return report(ctx, "waiting_for_trust", 0.86, "box asks whether the folder is trusted", {
    trust = { path = folder, options = labels(options) },
    dialog_id = open_dialog("trust:" .. (folder or "unknown"), options, focus),
  })
end

function SHOW.login(ctx, box, options, focus)
  local step = #options > 0 and "choose" or find_row(box, "api key") and "api_key" or "browser"
  return report(ctx, "waiting_for_login", 0.86, "login box: " .. step, {
    login = { step = step, options = labels(options) },
    dialog_id = open_dialog("login:" .. step, options, focus),
  })
end

function SHOW.plan(ctx, box, options, focus)
  local title = find_row(box, "ready to start implementation?")
  local plan = quote(box_text(box, title + 1, function(row)
    local option, mark = option_of(row, FOCUS)
    return option ~= nil and mark ~= nil
  end))
  return report(ctx, "waiting_for_plan_approval", 0.84, "box with a plan", {
    plan = plan, options = labels(options), dialog_id = open_dialog("plan:" .. plan, options, focus),
  })
end

function SHOW.model(ctx, _, options, focus)
  local list = labels(options) or {}
  return report(ctx, "waiting_for_model_select", 0.82, "box of models", {
    model_select = { options = labels(options) },
    dialog_id = open_dialog("model_select:" .. table.concat(list, "|"), options, focus),
  })
end

-- "? Shell  touch made.txt": the tool, two spaces, what it is about.
function SHOW.permission(ctx, box, options, focus)
  local tool, summary
  for _, row in ipairs(box) do
    if starts(row, "? ") and not tool then
      local text = trim(row:sub(3))
      local gap = text:find("  ", 1, true)
      tool = gap and text:sub(1, gap - 1) or text
      summary = gap and quote(text:sub(gap)) or nil
    end
  end
  return report(ctx, "waiting_for_permission", 0.84, "box asks for permission", {
    permission = { tool = tool, summary = summary, options = labels(options) },
    dialog_id = open_dialog("perm:" .. (tool or "unknown") .. ":" .. (summary or ""), options, focus),
  })
end

local function show_question(ctx, question, options, focus, confidence, evidence)
  return report(ctx, "waiting_for_user_input", confidence, evidence, {
    question = { text = quote(question), options = labels(options) },
    dialog_id = open_dialog("question:" .. question, options, focus),
  })
end

function SHOW.question(ctx, box, options, focus)
  local title = find_row(box, "answer questions")
  local question = box_text(box, title + 1, is_focused_first)
  return show_question(ctx, question, options, focus, 0.84, "the agent asks a question")
end

function SHOW.other(ctx, box, options, focus)
  return show_question(ctx, box_text(box, 1, is_focused_first), options, focus, 0.66, "a box waits for a choice")
end

-- " ⠇ Thinking... (esc to cancel, 3s)": a Braille spinner and a clock.
local function is_working(row)
  local text = trim(row)
  local first, second = text:byte(1, 2)
  return first == 0xE2 and second ~= nil and second >= 0xA0 and second <= 0xA3
    and text:find("%(esc to cancel, %d") ~= nil
end

local function is_bar(row) return starts(trim(row), "▄▄▄▄") end

-- The row under the last bar holds the composer; bars above it hold what the user said.
local function composer_of(rows)
  local bar = row_above(rows, #rows, is_bar)
  if bar and rows[bar + 1] then return bar + 1 end
  -- Terminals with few colors get a frame instead of bars.
  return row_above(rows, #rows, function(row) return has(row, PLACEHOLDER) end)
end

-- What stands in the composer; nil for its placeholder.
local function typed_in(row)
  if has(row, PLACEHOLDER) then return end
  local text = inside(row)
  local mark = one_of(text, { ">", "*", "!" }, starts)
  text = mark and trim(text:sub(2)) or text
  return text ~= "" and text or nil
end

local function with_composer(ctx, rows, composer)
  local bar = row_above(rows, composer - 2, is_bar)
  local said = bar and bar + 1
  local function since(prefix)
    local row = row_above(rows, composer - 1, function(row) return starts(row, prefix) end)
    return row and row > (said or 0) and row or nil
  end
  local current, typed = is_current(said and typed_in(rows[said])), typed_in(rows[composer])
  local submitted = ctx.last_intent == "prompt_submitted"
  if submitted and typed then
    return report(ctx, "waiting_for_user_input", 0.7, "the prompt stands in the composer, not submitted", {
      composer = quote(typed),
    })
  end
  if submitted and not current then
    return report(ctx, "prompt_submitted", 0.5, "the prompt is not on the screen yet")
  end
  local failed, answered = since(FAILS), since(SAYS)
  if failed and failed > (answered or 0) then
    return report(ctx, "error", 0.72, "error under the last prompt", { error = failure(rows[failed]:sub(#FAILS + 1)) })
  end
  if since(CANCELLED) then return report(ctx, "ready", 0.74, "cancelled, composer visible") end
  if submitted then
    if answered then return completed(ctx, "answer above an idle composer") end
    return report(ctx, "prompt_submitted", 0.5, "nothing under the prompt yet")
  end
  return report(ctx, "ready", 0.8, "composer visible")
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
  local box = bottom_box(rows)
  if box then
    local kind, options, focus = dialog_of(box)
    if kind then return SHOW[kind](ctx, box, options, focus) end
  end
  local composer = composer_of(rows)
  local working = row_above(rows, composer and composer - 1 or #rows, is_working)
  if working and (not composer or composer - working <= 8) then
    return report(ctx, "thinking", 0.76, "clock: " .. quote(rows[working]))
  end
  if composer then return with_composer(ctx, rows, composer) end
  return report(ctx, ctx.last_intent or "starting", 0.2, "nothing known on the screen")
end

-- A digit chooses at once, wherever the focus is; Enter is enough where it already stands.
-- Boxes open with the focus on their first row, so that is assumed when no box was seen.
local function pick(number)
  local focus = dialog and dialog.focus or 1
  if focus == number then return { actions = { action.key("enter") } } end
  return { actions = { action.text(tostring(number)) } }
end

-- Enter is ignored for 40 ms after a paste and means a new line for 30 ms after a typed character, but not after a key
-- such as End. So prompts are typed, new lines as line feeds, and End goes before Enter. Still, Enter looks at what was
-- last drawn: if it arrives together with the text it may find the composer empty. The classifier then says so, and
-- the intent `submit` presses it again.
local function type_and_submit(text)
  local typed = text:gsub("\r\n?", "\n"):gsub("\t", "    "):gsub("[\0-\9\11-\31\127]", "")
  -- As the first character these are switches (shell mode, list of shortcuts) and not text.
  if starts(typed, "!") or starts(typed, "?") then typed = " " .. typed end
  return action.text(typed), action.key("end"), action.key("enter")
end

function M.send_prompt(params)
  local prompt = object(params).prompt
  if type(prompt) ~= "string" or trim(prompt) == "" then return { actions = {}, last_intent = "" } end
  begin_turn(prompt)
  return {
    actions = { action.mark_transcript("turn_start"), type_and_submit(prompt) },
    last_intent = "prompt_submitted",
  }
end

-- Sends what stands in the composer.
function M.submit() return { actions = { action.key("enter") } } end

function M.approve(params)
  check_dialog(params)
  return pick(1)
end

function M.deny(params)
  check_dialog(params)
  return { actions = { action.key("escape") } }
end

M.approve_trust = M.approve

-- The refusal is the last option; there may or may not be one for the parent folder.
function M.deny_trust(params)
  check_dialog(params)
  local options = dialog and dialog.options or {}
  return pick(options[#options] and options[#options].number or 3)
end

function M.choose_option(params)
  check_dialog(params)
  return pick(wanted_option(params).number)
end

-- Escape cancels the request; Ctrl-C twice would quit.
function M.cancel() return { actions = { action.key("escape") }, last_intent = "cancelling" } end

function M.slash_command(params)
  local command = text_param(params, "slash_command", "command", "name")
  if not starts(command, "/") then command = "/" .. command end
  return { actions = { type_and_submit(command) } }
end

M.key = key

-- Waiting --------------------------------------------------------------------------------------------------------

local function stable(params) return matcher.screen_stable(object(params).completed_turn_stable_ms or 300) end

-- Woken by everything that needs the caller; the classifier then says what it is.
function M.wait_turn_matcher(params)
  return matcher.all({
    stable(params),
    matcher.any({
      -- A box ends the screen.
      matcher.screen_regex([[╰─+╯\s*(Press [^\n]*\s*)?\z]]),
      -- An answer, an error or a cancellation, no clock below it, and then the idle composer.
      matcher.screen_regex([[(?m)^(?:✦|✕|ℹ Request cancelled)[^▄⠀-⣿]*▄+\s*\n [>*!] +Type your message[^▄]*\z]]),
      -- A prompt that was not submitted: one space behind the mark of the last composer.
      matcher.screen_regex([[▄\s*\n [>*!] \S[^▄]*\z]]),
      matcher.process_exited(),
    }),
  })
end

function M.wait_cancel_settled_matcher(params) return stable(params) end

function M.describe()
  return {
    intents = names({
      "send_prompt", "submit", "approve", "deny", "approve_trust", "deny_trust", "choose_option", "cancel",
      "slash_command", "key",
    }),
    wait_matchers = names({ "wait_turn_matcher", "wait_cancel_settled_matcher" }),
    states = names({
      "starting", "ready", "prompt_submitted", "thinking", "waiting_for_permission", "waiting_for_plan_approval",
      "waiting_for_trust", "waiting_for_login", "waiting_for_user_input", "waiting_for_model_select", "completed_turn",
      "cancelling", "error", "exited",
    }),
  }
end

return M
