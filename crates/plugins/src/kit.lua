-- What most plugins need, written once: `ptywright.kit`.
--
-- A plugin that asks for it gets a copy in its own VM, and every call into it is counted like the plugin's own code.
-- The functions use each other as locals: a plugin that changes the table changes what it sees itself, and no more.
-- Rows count from 1. Places in a text count bytes, as everywhere in Lua.

local action, matcher, key_names = ...

local error, ipairs, setmetatable, tonumber, tostring, type = error, ipairs, setmetatable, tonumber, tostring, type
local format, tointeger = string.format, math.tointeger

-- For how long a screen must not change, by default.
local STABLE_MS = 300

-- Text ---------------------------------------------------------------------------------------------------------

--- The text without the space at its end. Greedy, because trying every end is slow on a row full of spaces.
local function rtrim(text)
  return text:match("^.*%S") or ""
end

--- The text without the space around it.
local function trim(text)
  local first = text:find("%S")
  return first and text:match("^.*%S", first) or ""
end

--- Whether the text begins with `prefix`.
local function starts(text, prefix)
  return text:sub(1, #prefix) == prefix
end

--- Whether the text ends with `suffix`.
local function ends(text, suffix)
  return suffix == "" or text:sub(-#suffix) == suffix
end

--- Whether `needle` occurs in the text. It is plain text and no pattern.
local function has(text, needle)
  return text:find(needle, 1, true) ~= nil
end

--- The first of `needles` for which `test(text, needle)` holds; nil if none. The test is `has`, `starts` or `ends`.
local function one_of(text, needles, test)
  for _, needle in ipairs(needles) do
    if test(text, needle) then
      return needle
    end
  end
  return nil
end

--- At most `max` bytes of the text, cut between two characters.
local function clip(text, max)
  if #text <= max then
    return text
  end
  -- Bytes of the form 10xxxxxx go on with a character.
  while max > 0 and (text:byte(max + 1) & 0xC0) == 0x80 do
    max = max - 1
  end
  return text:sub(1, max)
end

-- How the keys and tokens of well-known services begin.
local SECRETS = { "sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AIza", "AKIA", "ya29." }

--- What may be told of a text from the screen: at most 400 bytes, and of every key only how it begins. The host redacts
--- screens but not states.
local function quote(text)
  local clean = clip(trim(text), 400):gsub("[%w_%.%-]+", function(word)
    local prefix = one_of(word, SECRETS, starts)
    return prefix and prefix .. "***"
  end)
  return clean
end

--- The hash FNV-1a of 32 bits, as eight digits: a short name for a text.
local function fnv1a(text)
  local hash = 0x811c9dc5
  for i = 1, #text do
    hash = ((hash ~ text:byte(i)) * 0x01000193) & 0xffffffff
  end
  return format("%08x", hash)
end

-- Rows ---------------------------------------------------------------------------------------------------------

--- The rows of a screen, without padding and without the blank ones at the bottom; indentation stays.
local function rows(screen)
  local list, from = {}, 1
  while true do
    local stop = screen:find("\n", from, true)
    list[#list + 1] = rtrim(screen:sub(from, stop and stop - 1 or #screen))
    if not stop then
      break
    end
    from = stop + 1
  end
  while list[#list] == "" do
    list[#list] = nil
  end
  return list
end

--- The number of the nearest row, from row `from` upwards, for which `test(row)` holds; nil if none.
local function row_above(list, from, test)
  for i = from, 1, -1 do
    if test(list[i]) then
      return i
    end
  end
  return nil
end

--- Whether a row has something in it; a test for `row_above`.
local function filled(row)
  return row ~= ""
end

-- States -------------------------------------------------------------------------------------------------------

--- What `classify` returns.
local function report(ctx, state, confidence, evidence, metadata)
  return {
    state = state, confidence = confidence, evidence = evidence, sequence = ctx.sequence, metadata = metadata,
  }
end

--- Whether the screen is known to have been still for long enough to end a turn.
local function is_stable(ctx)
  return ctx.stable_ms ~= nil and ctx.stable_ms >= (ctx.completed_turn_stable_ms or STABLE_MS)
end

--- The state if no row has to be read to tell it: the program has ended, nothing is on the screen, or a cancel is not
--- settled. Otherwise nil.
local function early_state(ctx, list)
  if ctx.exited then
    return report(ctx, "exited", 1.0, "the program has ended")
  end
  if #list == 0 then
    return report(ctx, ctx.last_intent or "starting", 0.35, "no screen evidence yet")
  end
  if ctx.last_intent == "cancelling" and not is_stable(ctx) then
    return report(ctx, "cancelling", 0.72, "cancel was sent and the screen is not known to be stable")
  end
  return nil
end

-- The kinds of failure, and phrases in lower case that tell them; the first kind with a phrase in the message wins.
local FAILURES = {
  { "rate_limit", { "rate limit", "rate_limit", "ratelimit", "too many requests", "429" } },
  { "quota", { "quota", "usage limit", "credit", "billing" } },
  { "auth", { "api key", "api_key", "unauthorized", "authenticat", "401", "403", "log in", "sign in" } },
  { "connection", { "connect", "network", "timed out", "timeout", "error sending request", "resolve" } },
  { "api", { "high demand", "server error", "internal server", "overloaded", "api error", "500", "503", "status" } },
}

--- What an error message speaks of: `{ kind, message }`, the kind `unknown` if no phrase tells it.
local function failure(message)
  local lower, kind = message:lower(), "unknown"
  for _, entry in ipairs(FAILURES) do
    if one_of(lower, entry[2], has) then
      kind = entry[1]
      break
    end
  end
  return { kind = kind, message = quote(message) }
end

-- Params -------------------------------------------------------------------------------------------------------

--- The params as a table: they may be any JSON, but only an object means something.
local function object(params)
  return type(params) == "table" and params or {}
end

--- The first of the named params that is a string with something in it. Refuses the intent if there is none.
local function text_param(params, intent, ...)
  for _, name in ipairs({ ... }) do
    local value = object(params)[name]
    if type(value) == "string" and value ~= "" then
      return value
    end
  end
  error(intent .. ": " .. (...) .. " is required", 0)
end

--- A matcher for a screen that has been still for as long as the params of a wait say.
local function stable(params)
  return matcher.screen_stable(object(params).completed_turn_stable_ms or STABLE_MS)
end

-- Intents ------------------------------------------------------------------------------------------------------

--- The intent `key`: a named key, in any case and with - or _, or the text itself if no key has that name.
local function key(params)
  local wanted = text_param(params, "key", "key")
  local name = wanted:lower():gsub("%-", "_")
  return { actions = { key_names[name] and action.key(name) or action.text(wanted) } }
end

--- Two actions that enter a text: a paste, so that new lines in it do not send it, and Enter.
local function paste_line(text)
  return action.bracketed_paste(text), action.key("enter")
end

--- The intent `slash_command`. `enter_line` gives the actions that enter a text: `paste_line` if there is none.
local function slash_command(params, enter_line)
  local command = text_param(params, "slash_command", "command", "name")
  if not starts(command, "/") then
    command = "/" .. command
  end
  return { actions = { (enter_line or paste_line)(command) } }
end

--- A list for `describe`, from names with space between them.
local function names(words)
  local list = {}
  for word in words:gmatch("%S+") do
    list[#list + 1] = { name = word }
  end
  return list
end

-- Options ------------------------------------------------------------------------------------------------------

--- Reads a row such as "1. Yes" or "2) No", behind one of the `marks` of focus or not. Returns `{ number, label }` and
--- the mark, or nil for any other row. What stands two spaces behind the label is a description.
local function option_of(row, marks)
  row = trim(row)
  local mark = one_of(row, marks, starts)
  if mark then
    row = trim(row:sub(#mark + 1))
  end
  local number, label = row:match("^(%d+)[.)]%s+(%S.*)$")
  if not number then
    return nil
  end
  local column = label:find("  ", 1, true)
  return { number = tointeger(tonumber(number)), label = column and label:sub(1, column - 1) or label }, mark
end

--- The options in the rows `from` to `to`, and the number of the one that has the focus, if one has.
local function options_between(list, from, to, marks)
  local options, focus = {}, nil
  for i = from, to do
    local option, mark = option_of(list[i], marks)
    if option then
      options[#options + 1] = option
      if mark then
        focus = option.number
      end
    end
  end
  return options, focus
end

--- The labels of options as a list; nil if there are none.
local function labels(options)
  local list = {}
  for i, option in ipairs(options) do
    list[i] = option.label
  end
  return #list > 0 and list or nil
end

-- Dialogs ------------------------------------------------------------------------------------------------------

-- Remembers the dialog that the last classification saw, in `current`: `{ id, options, focus }`, or nil.
local Dialogs = {}
Dialogs.__index = Dialogs

--- A memory for dialogs; a plugin makes one when it starts.
local function dialogs()
  return setmetatable({}, Dialogs)
end

--- Forgets the dialog. Every classification begins with this.
function Dialogs:forget()
  self.current = nil
end

--- Remembers a dialog and returns its id. The fingerprint is a text that no other dialog has.
function Dialogs:open(fingerprint, options, focus)
  self.current = { id = fnv1a(clip(fingerprint, 1000)), options = options or {}, focus = focus }
  return self.current.id
end

--- Refuses an answer whose `dialog_id` is of another dialog. A caller who names none is not held up.
function Dialogs:check(params)
  local given = object(params).dialog_id
  if given == nil or type(given) == "userdata" then
    return
  end
  if not self.current then
    error("stale_dialog: supplied dialog_id=" .. tostring(given) .. " but no dialog is currently active", 0)
  elseif self.current.id ~= given then
    error("stale_dialog: supplied dialog_id=" .. tostring(given) .. " but the current dialog is " .. self.current.id, 0)
  end
end

--- The option that the caller means, and its place in the list: by number, or by label (the whole label first, then a
--- part of it, in any case). Refuses the intent if there is none.
function Dialogs:wanted_option(params)
  params = object(params)
  local wanted = params.index or params.option or params.choice
  local options = self.current and self.current.options or {}
  if #options == 0 then
    error("choose_option: no options are on the screen", 0)
  end
  local number = tointeger(tonumber(wanted))
  local text = type(wanted) == "string" and wanted:lower() or nil
  local tests = {
    function(option) return number and option.number == number end,
    function(option) return text and option.label:lower() == text end,
    function(option) return text and text ~= "" and not number and has(option.label:lower(), text) end,
  }
  for _, test in ipairs(tests) do
    for place, option in ipairs(options) do
      if test(option) then
        return option, place
      end
    end
  end
  error("choose_option: no option " .. tostring(wanted) .. " among " .. #options, 0)
end

--- What chooses an option where a digit chooses at once: its number, or Enter if the focus is there already. Dialogs
--- open with the focus on their first option, so that is assumed when none was seen.
function Dialogs:pick(number)
  local focus = self.current and self.current.focus or 1
  return { actions = { focus == number and action.key("enter") or action.text(tostring(number)) } }
end

-- Turns --------------------------------------------------------------------------------------------------------

-- Remembers the turn that the last prompt began, in `current`: `{ first_row, before, stop }`, or nil before the first;
-- and in `landmark` the row by which the last turn on the screen was known when it was last looked at.
local Turns = {}
Turns.__index = Turns

--- A memory for turns; a plugin makes one when it starts.
local function turns()
  return setmetatable({}, Turns)
end

--- The intent `send_prompt`: begins a turn and enters the prompt. A blank prompt does nothing. `enter_line` as for
--- `slash_command`.
function Turns:send_prompt(params, enter_line)
  local prompt = object(params).prompt
  if type(prompt) ~= "string" or trim(prompt) == "" then
    return { actions = {}, last_intent = "" }
  end
  self.current = { first_row = clip(trim(prompt:match("^%s*(%C*)")), 40), before = self.landmark }
  return {
    actions = { action.mark_transcript("turn_start"), (enter_line or paste_line)(prompt) },
    last_intent = "prompt_submitted",
  }
end

--- Whether the last turn on the screen, known by `row`, is the one that `send_prompt` began, and not the one before,
--- still standing there. A program may show a prompt in other words, so only the old landmark speaks against it.
function Turns:is_current(row)
  self.landmark = row
  local turn = self.current
  return not turn or row == nil or row ~= turn.before or starts(row, turn.first_row)
end

--- The state of a finished turn. Its end is marked once, so that the caller can cut its text out of the transcript.
function Turns:completed(ctx, evidence)
  local state = report(ctx, "completed_turn", is_stable(ctx) and 0.78 or 0.7, evidence)
  local turn, start = self.current, ctx.markers and ctx.markers.turn_start
  if turn and start and ctx.cursor then
    if not turn.stop then
      turn.stop = ctx.cursor
      state.host_marks = { { label = "turn_end" } }
    end
    state.metadata = { transcript = { turn_start = start, turn_end = turn.stop } }
  end
  return state
end

return {
  rtrim = rtrim, trim = trim, starts = starts, ends = ends, has = has, one_of = one_of, clip = clip,
  quote = quote, fnv1a = fnv1a,
  rows = rows, row_above = row_above, filled = filled,
  report = report, is_stable = is_stable, early_state = early_state, failure = failure,
  object = object, text_param = text_param, stable = stable,
  key = key, key_names = key_names, paste_line = paste_line, slash_command = slash_command, names = names,
  option_of = option_of, options_between = options_between, labels = labels,
  dialogs = dialogs, turns = turns,
}
