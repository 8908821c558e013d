--- Adapter for Codex, the terminal agent of OpenAI.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: a live menu ends the screen.

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

local function filled(row) return row ~= "" end

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

-- What Codex shows -----------------------------------------------------------------------------------------------

-- The row that has the focus in a menu; also the mark of the composer and of what the user said.
local FOCUS = { "›", ">" }

-- A menu is live only while its hint is the last row: an answer that quotes a menu has the composer below it.
local HINTS = {
  "press enter to confirm", "press enter to continue", "enter select", "enter continue", "enter to submit",
  "esc to cancel", "esc back",
}

-- Titles of menus, from the most specific; the first that is found above the options decides.
local MENUS = {
  { "implement this plan?", "plan" },
  { "trust this folder?", "trust" },
  { "do you trust the contents", "trust" },
  { "select model", "model" },
  { "select reasoning", "model" },
  { "would you like to run the following command?", "permission", "Shell" },
  { "would you like to make the following edits?", "permission", "Edit" },
  { "would you like to grant", "permission", "Permissions" },
  { "do you want to approve network access", "permission", "Network" },
  { "needs your approval", "permission", "MCP" },
}

-- The parts of the login screens: { phrase, step }.
local LOGIN_STEPS = {
  { "paste or type your api key", "api_key" },
  { "finish signing in via your browser", "browser" },
  { "enter this one-time code", "device_code" },
  { "sign in with chatgpt", "choose" },
}

local INTERRUPTED = "■ Conversation interrupted"

-- "• Working (1s • esc to interrupt)": a bullet, a clock in parentheses, the hint.
local function is_working(row)
  local text = trim(row)
  return (starts(text, "•") or starts(text, "◦")) and has(text, "esc to interrupt)") and text:find("%(%d") ~= nil
end

-- "Worked for 26s • 12:06", in a rule or not, is written under every finished turn.
local function is_finish(row)
  local text = trim(row)
  if starts(text, "─ ") then text = text:sub(#"─ " + 1) end
  local stop = select(2, text:find("^Worked for <?%d[%dhms ]*"))
  if not stop then return false end
  local rest = text:sub(stop + 1)
  return rest == "" or starts(rest, "•") or starts(rest, "─")
end

local function is_said(row) return starts(row, "› ") or row == "›" end

local function is_error(row) return starts(row, "■ ") and not starts(row, INTERRUPTED) end

-- Where the live menu is: its options, its title (the rows above it), and the kind that the title tells.
local function menu_of(rows)
  local last = rows[#rows]:lower()
  if not one_of(last, HINTS, has) then return end
  local bottom = row_above(rows, #rows, function(row) return option_of(row, FOCUS) ~= nil end)
  if not bottom then return end
  -- Descriptions may stand between options; a gap of more than three rows ends the menu.
  local top = bottom
  for i = bottom, 1, -1 do
    local option = option_of(rows[i], FOCUS)
    if option and top - i <= 3 then top = i end
    if option and option.number == 1 then break end
  end
  local options, focus = options_between(rows, top, #rows, FOCUS)
  if not focus then return end
  local from = math.max(1, top - 40)
  for i = top - 1, from, -1 do
    local lower = rows[i]:lower()
    for _, menu in ipairs(MENUS) do
      if has(lower, menu[1]) then
        return { kind = menu[2], tool = menu[3], title = i, top = top, options = options, focus = focus }
      end
    end
    if lower:find("^%s*question %d+/%d+") then
      return { kind = "question", title = i, top = top, options = options, focus = focus }
    end
    if is_said(rows[i]) then break end
  end
  return { kind = "other", title = row_above(rows, top - 1, filled), top = top, options = options, focus = focus }
end

-- The value behind "Label:" between two rows.
local function labelled(rows, from, to, label)
  for i = from, to do
    local text = trim(rows[i])
    if starts(text, label) then return trim(text:sub(#label + 1)) end
  end
end

-- What the permission is for: the command (its rows joined), else where the edits go, else the question.
local function summary_of(rows, menu)
  local command = {}
  for i = menu.title + 1, menu.top - 1 do
    local text = trim(rows[i])
    if starts(text, "$ ") then
      command[1] = text:sub(3)
    elseif #command > 0 and text ~= "" then
      command[#command + 1] = text
    end
  end
  if #command > 0 then return table.concat(command, "\n") end
  return labelled(rows, menu.title, menu.top - 1, "Destination:") or trim(rows[menu.title])
end

local function between(rows, from, to)
  local list = {}
  for i = from, to do
    local text = trim(rows[i])
    if text ~= "" then list[#list + 1] = text end
  end
  return table.concat(list, "\n")
end

-- Each kind of menu: ctx, rows, menu -> state.
local SHOW = {}

function SHOW.permission(ctx, rows, menu)
  local summary = quote(summary_of(rows, menu))
  local reason = labelled(rows, menu.title, menu.top - 1, "Reason:")
  return report(ctx, "waiting_for_permission", 0.84, "approval menu: " .. menu.tool, {
    permission = {
      tool = menu.tool, summary = summary, reason = reason and quote(reason), options = labels(menu.options),
    },
    dialog_id = open_dialog("perm:" .. menu.tool .. ":" .. summary, menu.options, menu.focus),
  })
end

function SHOW.plan(ctx, rows, menu)
  local head = row_above(rows, menu.title, function(row) return starts(trim(row), "• Proposed Plan") end)
  local stop = row_above(rows, menu.title - 1, function(row) return filled(row) and not is_finish(row) end)
  local plan = head and stop and quote(between(rows, head + 1, stop)) or nil
  return report(ctx, "waiting_for_plan_approval", 0.84, "menu under a proposed plan", {
    plan = plan, options = labels(menu.options),
    dialog_id = open_dialog("plan:" .. (plan or "unknown"), menu.options, menu.focus),
  })
end

function SHOW.trust(ctx, rows, menu)
  local path
  for i = 1, menu.top - 1 do
    local text = trim(rows[i])
    if starts(text, "/") or starts(text, "~") then path = path or text end
  end
  return report(ctx, "waiting_for_trust", 0.86, "menu asks whether the folder is trusted", {
    trust = { path = path, options = labels(menu.options) },
    dialog_id = open_dialog("trust:" .. (path or "unknown"), menu.options, menu.focus),
  })
end

function SHOW.model(ctx, _, menu)
  local list = labels(menu.options)
  return report(ctx, "waiting_for_model_select", 0.82, "menu of models", {
    model_select = { options = list },
    dialog_id = open_dialog("model_select:" .. table.concat(list, "|"), menu.options, menu.focus),
  })
end

local function show_question(ctx, question, menu, confidence, evidence)
  return report(ctx, "waiting_for_user_input", confidence, evidence, {
    question = { text = quote(question), options = labels(menu.options) },
    dialog_id = open_dialog("question:" .. question .. table.concat(labels(menu.options), "|"), menu.options, menu.focus),
  })
end

function SHOW.question(ctx, rows, menu)
  return show_question(ctx, between(rows, menu.title + 1, menu.top - 1), menu, 0.84, "the agent asks a question")
end

function SHOW.other(ctx, rows, menu)
  return show_question(ctx, menu.title and trim(rows[menu.title]) or "", menu, 0.66, "a menu waits for a choice")
end

local function login_of(rows)
  local text = table.concat(rows, "\n"):lower()
  if not has(text, "welcome to codex") then return end
  for _, step in ipairs(LOGIN_STEPS) do
    if has(text, step[1]) then return step[2] end
  end
end

local function show_login(ctx, rows, step)
  local options, focus = options_between(rows, 1, #rows, FOCUS)
  local list, url = labels(options), nil
  for _, row in ipairs(rows) do
    local text = trim(row)
    if starts(text, "https://") then url = url or text end
  end
  return report(ctx, "waiting_for_login", 0.86, "login screen: " .. step, {
    login = { step = step, url = url and quote(url), options = list },
    dialog_id = open_dialog("login:" .. step, options, focus),
  })
end

-- The composer is the last row of the user's mark; what was said before stands above it in the same form.
local function composer_of(rows)
  local row = row_above(rows, #rows, is_said)
  return row and #rows - row <= 12 and row or nil
end

local function with_composer(ctx, rows, composer)
  local said = row_above(rows, composer - 1, is_said)
  local first = (said or 0) + 1
  local function since(test)
    local row = row_above(rows, composer - 1, test)
    return row and row >= first and row or nil
  end
  local submitted = ctx.last_intent == "prompt_submitted"
  local current = is_current(said and trim(rows[said]:sub(#"›" + 1)))
  if submitted and not current then
    return report(ctx, "prompt_submitted", 0.5, "the prompt is not on the screen yet")
  end
  local failed = since(is_error)
  if failed and failed > (since(is_finish) or 0) then
    return report(ctx, "error", 0.72, "error under the last prompt", { error = failure(rows[failed]:sub(#"■ " + 1)) })
  end
  if since(function(row) return starts(row, INTERRUPTED) end) then
    return report(ctx, "ready", 0.74, "interrupted, composer visible")
  end
  if submitted then
    if since(is_finish) then return completed(ctx, "finish row above the composer") end
    -- While an answer streams no clock is shown, so only the finish row ends a turn.
    if since(filled) and said then return report(ctx, "thinking", 0.6, "answer without a finish row") end
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
  local step = login_of(rows)
  if step then return show_login(ctx, rows, step) end
  local menu = menu_of(rows)
  if menu then return SHOW[menu.kind](ctx, rows, menu) end
  local composer = composer_of(rows)
  local working = row_above(rows, composer and composer - 1 or #rows, is_working)
  if working then return report(ctx, "thinking", 0.76, "clock: " .. quote(rows[working])) end
  if composer then return with_composer(ctx, rows, composer) end
  return report(ctx, ctx.last_intent or "starting", 0.2, "nothing known on the screen")
end

-- A digit chooses at once, wherever the focus is; Enter is enough where it already stands.
-- Menus open with the focus on their first row, so that is assumed when no menu was seen.
local function pick(number)
  local focus = dialog and dialog.focus or 1
  if focus == number then return { actions = { action.key("enter") } } end
  return { actions = { action.text(tostring(number)) } }
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

-- More words for a turn that is under way; Codex takes them in at the next step.
function M.steer(params)
  return { actions = { action.bracketed_paste(text_param(params, "steer", "prompt")), action.key("enter") } }
end

function M.approve(params)
  check_dialog(params)
  return pick(1)
end

function M.deny(params)
  check_dialog(params)
  return { actions = { action.key("escape") } }
end

M.approve_trust = M.approve

-- Refusing leads back to the list of sessions or ends the program, depending on how it was started.
function M.deny_trust(params)
  check_dialog(params)
  return pick(2)
end

function M.choose_option(params)
  check_dialog(params)
  return pick(wanted_option(params).number)
end

-- Escape interrupts; Ctrl-C would do so too, but quits when nothing runs.
function M.cancel() return { actions = { action.key("escape") }, last_intent = "cancelling" } end

function M.slash_command(params)
  local command = text_param(params, "slash_command", "command", "name")
  if not starts(command, "/") then command = "/" .. command end
  return { actions = { action.bracketed_paste(command), action.key("enter") } }
end

M.key = key

-- Waiting --------------------------------------------------------------------------------------------------------

local function stable(params) return matcher.screen_stable(object(params).completed_turn_stable_ms or 300) end

-- Woken by everything that needs the caller; the classifier then says what it is.
function M.wait_turn_matcher(params)
  return matcher.all({
    stable(params),
    matcher.any({
      -- A live menu: its hint is the last row.
      matcher.screen_regex([[(?i)press enter to (?:confirm|continue)[^\n]*\s*\z]]),
      matcher.screen_regex([[(?i)(?:enter (?:select|continue|to submit)|esc (?:to cancel|back))[^\n]*\s*\z]]),
      matcher.screen_regex([[(?i)welcome to codex[\s\S]*(?:sign in with chatgpt|api key|browser|one-time code)]]),
      -- The finish row, an error or an interruption, and then nothing but the composer.
      matcher.screen_regex([[(?m)^ *(?:─ )?Worked for <?\d[^\n]*\n\s*(?:•[^\n]*\n\s*)*› [^\n]*\n(?: [^\n]*\n?|\n)*\z]]),
      matcher.screen_regex([[(?m)^■ [^\n]*\n(?: [^\n]*\n|\n)*› [^\n]*\n(?: [^\n]*\n?|\n)*\z]]),
      matcher.process_exited(),
    }),
  })
end

function M.wait_cancel_settled_matcher(params) return stable(params) end

function M.describe()
  return {
    intents = names({
      "send_prompt", "steer", "approve", "deny", "approve_trust", "deny_trust", "choose_option", "cancel",
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
