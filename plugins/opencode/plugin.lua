--- Adapter for OpenCode, an open terminal agent.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: a panel stands where the composer was.

local action, matcher, kit = ptywright.action, ptywright.matcher, ptywright.kit
local trim, starts, ends, has, one_of, quote = kit.trim, kit.starts, kit.ends, kit.has, kit.one_of, kit.quote
local row_above, filled, report, failure = kit.row_above, kit.filled, kit.report, kit.failure
local option_of, options_between, labels = kit.option_of, kit.options_between, kit.labels
local dialogs, turns = kit.dialogs(), kit.turns()

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
    window = { title = quote(title) }, dialog_id = dialogs:open("window:" .. title),
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
  local id = dialogs:open("perm:" .. (tool or "unknown") .. ":" .. (summary or ""), options)
  dialogs.current.buttons = true
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
    dialog_id = dialogs:open("question:" .. text, options),
  })
end

local function show_panel(ctx, panel)
  local title = find_row(panel, starts, "△ ")
  local buttons = find_row(panel, has, "enter confirm")
  if title and buttons and buttons > title then return show_permission(ctx, panel, title, buttons) end
  if title then
    return report(ctx, "waiting_for_user_input", 0.7, "panel: " .. quote(panel[title]), {
      dialog_id = dialogs:open("panel:" .. panel[title]),
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
  local current = turns:is_current(trim(rows[stamp]))
  local turn = turns.current
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
    if submitted then return turns:completed(ctx, "stamp with a time, nothing runs") end
  elseif how == "interrupted" then
    return report(ctx, "ready", 0.74, "interrupted, composer visible")
  elseif how == "open" then
    local message = error_of(rows, stamp)
    if message then return report(ctx, "error", 0.7, "message above an open stamp", { error = failure(message) }) end
    -- For a moment before the squares show, and for good when a permission was refused.
    if submitted and not kit.is_stable(ctx) then return report(ctx, "thinking", 0.55, "stamp without a time") end
    return report(ctx, "ready", 0.6, "the turn ended without a time")
  end
  return report(ctx, "ready", 0.8, "composer visible")
end

-- States and intents ---------------------------------------------------------------------------------------------

local M = {}

function M.classify(ctx)
  dialogs:forget()
  local rows = kit.rows(ctx.screen)
  local early = kit.early_state(ctx, rows)
  if early then return early end
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

function M.send_prompt(params) return turns:send_prompt(params) end

-- The focus is a color and cannot be read; panels open with it on "Allow once".
function M.approve(params)
  dialogs:check(params)
  return { actions = { action.key("enter") } }
end

function M.deny(params)
  dialogs:check(params)
  return { actions = { action.key("escape") } }
end

-- Buttons are reached with arrows from the first one; options of a question by their digit, which chooses at once.
function M.choose_option(params)
  dialogs:check(params)
  local option, place = dialogs:wanted_option(params)
  if not dialogs.current.buttons then return { actions = { action.text(tostring(option.number)) } } end
  local actions = {}
  for _ = 2, place do actions[#actions + 1] = action.key("right") end
  actions[#actions + 1] = action.key("enter")
  return { actions = actions }
end

-- The first Escape asks, the second interrupts; Ctrl-C would end the program.
function M.cancel()
  return { actions = { action.key("escape"), action.key("escape") }, last_intent = "cancelling" }
end

M.slash_command = kit.slash_command

M.key = kit.key

-- Waiting --------------------------------------------------------------------------------------------------------

-- Woken by everything that needs the caller; the classifier then says what it is.
-- An open stamp wakes only under an idle footer, which begins with the folder.
function M.wait_turn_matcher(params)
  return matcher.all({
    kit.stable(params),
    matcher.any({
      matcher.screen_regex([[┃ +△ [^╹]*enter confirm[^╹]*\z]]),
      matcher.screen_regex([[esc dismiss[^╹]*\z]]),
      matcher.screen_regex([[(?m)  esc\s*$]]),
      matcher.screen_regex([[▣[^▣\n]*\s[^▣╹]*╹▀+\s*[^\s■⬝▀][^\n]*\s*\z]]),
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
      starting ready prompt_submitted thinking waiting_for_permission waiting_for_login waiting_for_user_input
      waiting_for_model_select completed_turn cancelling error exited
    ]]),
  }
end

return M
