--- Adapter for OpenCode, an open terminal agent.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: a panel stands where the composer was.

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

-- What OpenCode shows --------------------------------------------------------------------------------------------

-- Prompts, tool output, dialogs and the composer stand behind the same bar; the composer's ends in a foot.
local BAR, FOOT = "┃", "╹▀"

-- Under every answer: "▣  Build · Model · 8.6s"; no time while it runs, "interrupted" when it was.
local STAMP = "▣"

-- The last row while the agent works: squares that move, or a hint.
local SQUARES, BUSY = { "■", "⬝" }, { "esc interrupt", "esc again to interrupt" }

-- Titles of the windows that lie over the screen, with "esc" at the right end of their row: { title, kind }.
local WINDOWS = {
  { "select model", "model" },
  { "connect a provider", "login" },
  { "api key", "login" },
  { "select auth method", "login" },
}

local function behind_bar(row)
  local text = trim(row)
  return starts(text, BAR) and trim(text:sub(#BAR + 1)) or nil
end

local function is_stamp(row) return starts(trim(row), STAMP) end

-- The columns of a row: parts with two or more spaces between them.
local function columns(text)
  local list, from = {}, 1
  while true do
    local first = text:find("%S", from)
    if not first then return list end
    local gap = text:find("  ", first, true)
    list[#list + 1] = text:sub(first, gap and gap - 1 or #text)
    if not gap then return list end
    from = gap
  end
end

-- The time or the word at the end of a stamp.
local function stamp_of(row)
  local last = ""
  local text, from = trim(row), 1
  while true do
    local at = text:find(" · ", from, true)
    if not at then break end
    from = at + #" · "
    last = text:sub(from)
  end
  if last == "interrupted" then return "interrupted" end
  return last:find("^%d[%d%.hms ]*$") and "finished" or "open"
end

-- A window over the screen. Its own rows cannot be told from what lies under it, so its list is not read.
local function window_of(rows)
  for _, row in ipairs(rows) do
    if ends(row, "  esc") then
      local parts = columns(row)
      local title = parts[#parts - 1]
      if title and title ~= BAR then
        local lower = title:lower()
        for _, window in ipairs(WINDOWS) do
          if starts(lower, window[1]) then return title, window[2] end
        end
        return title, "other"
      end
    end
  end
end

local WINDOW_STATES = {
  model = { "waiting_for_model_select", 0.82 },
  login = { "waiting_for_login", 0.82 },
  other = { "waiting_for_user_input", 0.66 },
}

local function show_window(ctx, title, kind)
  local state = WINDOW_STATES[kind]
  return report(ctx, state[1], state[2], "window: " .. quote(title), {
    window = { title = quote(title) }, dialog_id = open_dialog("window:" .. title),
  })
end

-- The dialog that stands where the composer would: its rows without the bar, or nil if the composer is there.
local function panel_of(rows)
  local panel = {}
  for i = #rows, 1, -1 do
    local text = behind_bar(rows[i])
    if not text then break end
    table.insert(panel, 1, text)
  end
  return #panel > 0 and panel or nil
end

local function find_row(panel, test, needle)
  for i, row in ipairs(panel) do
    if test(row, needle) then return i end
  end
end

-- The buttons of a row, up to the hints.
local function buttons_of(row)
  local options = {}
  for _, part in ipairs(columns(row)) do
    if one_of(part, { "ctrl+", "⇆", "enter " }, starts) then break end
    options[#options + 1] = { number = #options + 1, label = part }
  end
  return options
end

-- "# Shell command" with the command below it, or "→ Edit hello.txt": the sign, the tool, what it is about.
local function request_of(panel, title, buttons)
  local head, command
  for i = title + 1, buttons - 1 do
    if starts(panel[i], "$ ") then
      command = command or panel[i]:sub(3)
    elseif panel[i] ~= "" then
      head = head or panel[i]
    end
  end
  if command then return "Shell", quote(command) end
  if not head then return nil, nil end
  local text = head:find("^%w") and head or trim(head:sub((head:find(" ", 1, true) or 0) + 1))
  local gap = text:find(" ", 1, true)
  return gap and text:sub(1, gap - 1) or text, gap and quote(text:sub(gap)) or nil
end

local function show_permission(ctx, panel, title, buttons)
  local options = buttons_of(panel[buttons])
  local stage = has(panel[title], "Always allow") and "always" or "request"
  local tool, summary = request_of(panel, title, buttons)
  if stage == "always" then
    local patterns = {}
    for i = title + 1, buttons - 1 do
      if starts(panel[i], "- ") then patterns[#patterns + 1] = panel[i]:sub(3) end
    end
    tool, summary = "Always allow", quote(table.concat(patterns, ", "))
  end
  local id = open_dialog("perm:" .. (tool or "unknown") .. ":" .. (summary or ""), options)
  dialog.buttons = true
  return report(ctx, "waiting_for_permission", 0.84, "permission panel", {
    permission = { tool = tool, summary = summary, stage = stage, options = labels(options) }, dialog_id = id,
  })
end

local function show_question(ctx, panel)
  local first = find_row(panel, function(row) return option_of(row, {}) ~= nil end) or #panel
  local question = {}
  for i = 1, first - 1 do
    if panel[i] ~= "" then question[#question + 1] = panel[i] end
  end
  local text, options = table.concat(question, "\n"), options_between(panel, 1, #panel, {})
  return report(ctx, "waiting_for_user_input", 0.84, "the agent asks a question", {
    question = { text = quote(text), options = labels(options) },
    dialog_id = open_dialog("question:" .. text, options),
  })
end

local function show_panel(ctx, panel)
  local title = find_row(panel, starts, "△ ")
  local buttons = find_row(panel, has, "enter confirm")
  if title and buttons and buttons > title then return show_permission(ctx, panel, title, buttons) end
  if title then
    return report(ctx, "waiting_for_user_input", 0.7, "panel: " .. quote(panel[title]), {
      dialog_id = open_dialog("panel:" .. panel[title]),
    })
  end
  if find_row(panel, has, "esc dismiss") then return show_question(ctx, panel) end
end

-- What stands under the composer while the agent works; nil when it is idle. A long message takes two rows.
local function busy_of(rows, foot)
  local text = trim(table.concat(rows, " ", foot + 1))
  if one_of(text, SQUARES, starts) or one_of(text, BUSY, has) then return text end
end

-- A message behind a bar, directly above a stamp that never finished: an error, unless it is the prompt itself.
local function error_of(rows, stamp)
  local bottom = row_above(rows, stamp - 1, filled)
  if not (bottom and behind_bar(rows[bottom])) then return end
  local top, message = bottom, {}
  while top > 0 and behind_bar(rows[top]) do
    local text = behind_bar(rows[top])
    if text ~= "" then table.insert(message, 1, text) end
    top = top - 1
  end
  -- The prompt stands under the stamp of the turn before it, or at the top; an error under its own prompt.
  local before = row_above(rows, top, filled)
  if not before or is_stamp(rows[before]) or #message == 0 then return end
  return table.concat(message, " ")
end

-- Whether the stamp belongs to the turn that send_prompt began: its prompt stands above it, or is out of sight.
local function is_under_prompt(rows, stamp)
  local current = is_current(trim(rows[stamp]))
  local prompt = turn and row_above(rows, #rows, function(row)
    local text = behind_bar(row)
    return text ~= nil and text ~= "" and starts(text, turn.first_row)
  end)
  if prompt then return prompt < stamp end
  return current
end

local function with_composer(ctx, rows, foot)
  local stamp = row_above(rows, foot, is_stamp)
  local submitted = ctx.last_intent == "prompt_submitted"
  local current = stamp and is_under_prompt(rows, stamp)
  if submitted and not current then
    return report(ctx, "prompt_submitted", 0.5, "nothing under the prompt yet")
  end
  local how = stamp and stamp_of(rows[stamp])
  if how == "finished" then
    if submitted then return completed(ctx, "stamp with a time, nothing runs") end
  elseif how == "interrupted" then
    return report(ctx, "ready", 0.74, "interrupted, composer visible")
  elseif how == "open" then
    local message = error_of(rows, stamp)
    if message then return report(ctx, "error", 0.7, "message above an open stamp", { error = failure(message) }) end
    -- For a moment before the squares show, and for good when a permission was refused.
    if submitted and not is_stable(ctx) then return report(ctx, "thinking", 0.55, "stamp without a time") end
    return report(ctx, "ready", 0.6, "the turn ended without a time")
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
  local title, kind = window_of(rows)
  if title then return show_window(ctx, title, kind) end
  local panel = panel_of(rows)
  local shown = panel and show_panel(ctx, panel)
  if shown then return shown end
  local foot = row_above(rows, #rows, function(row) return starts(trim(row), FOOT) end)
  if not foot then return report(ctx, ctx.last_intent or "starting", 0.2, "nothing known on the screen") end
  local busy = busy_of(rows, foot)
  if busy and has(busy, "[retrying") then
    local message = busy:gsub("⬝", " "):gsub("■", " "):gsub("%s+", " ")
    return report(ctx, "thinking", 0.76, "the request is retried", { error = failure(message) })
  end
  if busy then return report(ctx, "thinking", 0.76, "squares move under the composer") end
  return with_composer(ctx, rows, foot)
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

-- The focus is a color and cannot be read; panels open with it on "Allow once".
function M.approve(params)
  check_dialog(params)
  return { actions = { action.key("enter") } }
end

function M.deny(params)
  check_dialog(params)
  return { actions = { action.key("escape") } }
end

-- Buttons are reached with arrows from the first one; options of a question by their digit, which chooses at once.
function M.choose_option(params)
  check_dialog(params)
  local option, place = wanted_option(params)
  if not dialog.buttons then return { actions = { action.text(tostring(option.number)) } } end
  local actions = {}
  for _ = 2, place do actions[#actions + 1] = action.key("right") end
  actions[#actions + 1] = action.key("enter")
  return { actions = actions }
end

-- The first Escape asks, the second interrupts; Ctrl-C would end the program.
function M.cancel()
  return { actions = { action.key("escape"), action.key("escape") }, last_intent = "cancelling" }
end

function M.slash_command(params)
  local command = text_param(params, "slash_command", "command", "name")
  if not starts(command, "/") then command = "/" .. command end
  return { actions = { action.bracketed_paste(command), action.key("enter") } }
end

M.key = key

-- Waiting --------------------------------------------------------------------------------------------------------

local function stable(params) return matcher.screen_stable(object(params).completed_turn_stable_ms or 300) end

-- Woken by everything that needs the caller; the classifier then says what it is.
-- An open stamp wakes only under an idle footer, which begins with the folder.
function M.wait_turn_matcher(params)
  return matcher.all({
    stable(params),
    matcher.any({
      matcher.screen_regex([[┃ +△ [^╹]*enter confirm[^╹]*\z]]),
      matcher.screen_regex([[esc dismiss[^╹]*\z]]),
      matcher.screen_regex([[(?m)  esc\s*$]]),
      matcher.screen_regex([[▣[^▣\n]*\s[^▣╹]*╹▀+\s*[^\s■⬝▀][^\n]*\s*\z]]),
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
      "starting", "ready", "prompt_submitted", "thinking", "waiting_for_permission", "waiting_for_login",
      "waiting_for_user_input", "waiting_for_model_select", "completed_turn", "cancelling", "error", "exited",
    }),
  }
end

return M
