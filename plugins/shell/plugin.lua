--- Adapter for shells: sh, bash, zsh, fish and their kin.
--
-- Says whether a shell is at its prompt, runs a command, or runs one that asks for something; turns intents into keys.

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

-- The question that the last classification saw: { id }.
local dialog

local function open_dialog(fingerprint)
  dialog = { id = fnv1a(clip(fingerprint, 1000)) }
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

-- What a shell shows ---------------------------------------------------------------------------------------------
-- A shell with OSC 133 marks says itself where its prompts and commands are. Without them the last row has to tell.

-- What a program waits for, by its last row in lower case: { kind, confidence, test, phrases }.
local QUESTIONS = {
  { "pager", 0.84, function(row, phrase) return row == phrase end, { "(end)", ":", "--more--" } },
  { "pager", 0.84, starts, { "--more--(", "manual page " } },
  { "pager", 0.84, ends, { " (end)", "(press h for help or q to quit)" } },
  { "key", 0.78, ends, {
    "press any key to continue", "press any key to continue . . .", "press any key to continue...",
    "press enter to continue", "press return to continue", "[press enter]",
  } },
  { "repl", 0.6, function(row, phrase) return row == phrase end, {
    ">>>", "(gdb)", "(pdb)", "(lldb)", "sqlite>", "mysql>", "ftp>", "node>",
  } },
}

local SECRETS_ASKED = { "password", "passphrase", "passcode", "verification code", "pin for " }

local CONFIRMATIONS = {
  "[y/n]", "(y/n)", "[yes/no]", "(yes/no)", "(yes/no/[fingerprint])", "[y/n/a]", "[y/n/q]", "[y,n,q,a,d,e,?]", "(y or n)",
}

local ENDINGS = { "❯", "➜", "λ", "$", "#", "%", ">" }

-- The row without the marks that may follow an offer of answers, as in "(yes/no)?" and "[y/N]:".
local function without_tail(row)
  local stop = row:find("[%?:%s]+$")
  return stop and row:sub(1, stop - 1) or row
end

-- What the last row asks for: kind, confidence; nil if it does not ask.
local function question_of(row)
  local lower = trim(row):lower()
  if lower == "" then return end
  for _, question in ipairs(QUESTIONS) do
    if one_of(lower, question[4], question[3]) then return question[1], question[2] end
  end
  if ends(lower, ":") and one_of(lower, SECRETS_ASKED, has) then return "password", 0.86 end
  if one_of(without_tail(lower), CONFIRMATIONS, ends) then return "confirm", 0.84 end
  if ends(lower, "?") then return "question", 0.58 end
end

-- Whether a row looks like an empty prompt. Numbers with a sign ("45%", "5$") and markup ("</p>") are not.
local function is_prompt(row)
  local text = trim(row)
  local ending = one_of(text, ENDINGS, ends)
  if not ending then return false end
  local before = text:sub(1, -#ending - 1)
  if before == "" then return true end
  if ending == "%" then return not before:find("%d$") end
  if ending == "$" or ending == "#" then return not before:find("^%d[%d%.,]*$") and not before:find("%s%d[%d%.,]*$") end
  if ending == ">" then return not starts(text, "<") and before:find("[@~/]") ~= nil and not before:find("[<=%-]") end
  return true
end

-- The code of the last command that ended, and the kind of the last mark.
local function marks_of(blocks)
  local last, code
  for i = #blocks, 1, -1 do
    last = last or blocks[i].kind
    if blocks[i].kind == "end" then
      code = blocks[i].exit_code
      break
    end
  end
  return last, code
end

local PASTE_ON, PASTE_OFF = "\27[?2004h", "\27[?2004l"

-- Whether the line editor understands bracketed paste: it switches it on with every prompt and off for commands.
local function takes_paste(transcript)
  local tail, at, on = transcript:sub(-4096), 1, false
  while true do
    local stop = tail:find("\27[?2004", at, true)
    if not stop then return on end
    local switch = tail:sub(stop, stop + #PASTE_ON - 1)
    on = switch == PASTE_ON or (switch ~= PASTE_OFF and on)
    at = stop + 1
  end
end

-- States and intents ---------------------------------------------------------------------------------------------

local M = {}

-- Remembered from the last classification, for `run`.
local pasteable = false

local function show_question(ctx, row, kind, confidence, metadata)
  metadata.question = { kind = kind, text = quote(row) }
  metadata.dialog_id = open_dialog("question:" .. kind .. ":" .. trim(row))
  return report(ctx, "waiting_for_user_input", confidence, "asks: " .. kind, metadata)
end

-- Whether nothing at all was written since `run` typed its command, so the prompt on the screen is the old one.
local function is_unheard(ctx)
  local start = ctx.markers and ctx.markers.command_start
  return ctx.last_intent == "running" and start ~= nil and start == ctx.cursor
end

local function by_marks(ctx, row, last, code)
  local metadata = { integration = "osc133", last_exit_code = code }
  if last == "prompt" or last == "input" then return report(ctx, "ready", 0.95, "mark: at a prompt", metadata) end
  if last == "end" then return report(ctx, "running", 0.6, "mark: command ended, prompt not drawn yet", metadata) end
  local kind, confidence = question_of(row)
  if kind then return show_question(ctx, row, kind, confidence, metadata) end
  return report(ctx, "running", 0.92, "mark: a command runs", metadata)
end

local function by_looks(ctx, row)
  local kind, confidence = question_of(row)
  if kind and kind ~= "question" then return show_question(ctx, row, kind, confidence, {}) end
  if is_prompt(row) then return report(ctx, "ready", is_stable(ctx) and 0.7 or 0.6, "last row looks like a prompt") end
  if kind then return show_question(ctx, row, kind, confidence, {}) end
  return report(ctx, "running", 0.5, "last row does not look like a prompt")
end

function M.classify(ctx)
  dialog = nil
  local blocks = ctx.blocks or {}
  local last, code = marks_of(blocks)
  if ctx.exited then
    return report(ctx, "exited", 1.0, "the shell has ended", code and { last_exit_code = code } or nil)
  end
  pasteable = takes_paste(ctx.transcript or "")
  if is_unheard(ctx) then return report(ctx, "running", 0.5, "nothing written since the command was sent") end
  local rows = rows_of(ctx.screen)
  local row = rows[#rows] or ""
  if last then return by_marks(ctx, row, last, code) end
  if #rows == 0 then return report(ctx, ctx.last_intent or "starting", 0.35, "no screen evidence yet") end
  return by_looks(ctx, row)
end

-- Several lines go as one bracketed paste if the line editor asked for it, so that they are one entry and a "y" in them
-- cannot answer a question of an earlier line. Shells without it (dash, for one) would read the markers as text, so
-- there every line is entered by itself.
function M.run(params)
  local command = text_param(params, "run", "command"):gsub("\r\n?", "\n")
  command = rtrim(command)
  local actions = { action.mark_transcript("command_start") }
  if has(command, "\n") and pasteable then
    actions[2], actions[3] = action.bracketed_paste(command), action.key("enter")
    return { actions = actions, last_intent = "running" }
  end
  for line in (command .. "\n"):gmatch("([^\n]*)\n") do
    actions[#actions + 1] = action.text(line)
    actions[#actions + 1] = action.key("enter")
  end
  return { actions = actions, last_intent = "running" }
end

-- An empty answer is an Enter, which takes the default. Pagers want single keys: see `key`.
function M.answer(params)
  check_dialog(params)
  local text = object(params).text
  if type(text) ~= "string" then error("answer: text is required", 0) end
  if text == "" then return { actions = { action.key("enter") } } end
  return { actions = { action.text(text), action.key("enter") } }
end

function M.interrupt() return { actions = { action.interrupt() } } end

function M.eof() return { actions = { action.eof() } } end

M.key = key

-- Waiting --------------------------------------------------------------------------------------------------------

local function stable(params) return matcher.screen_stable(object(params).completed_turn_stable_ms or 300) end

-- The last OSC 133 mark opens a prompt; or the last row looks like a prompt or a question; or the shell is gone.
function M.wait_turn_matcher(params)
  return matcher.all({
    stable(params),
    matcher.any({
      matcher.transcript_regex(
        [=[\x1b\]133;[AB][^\x07\x1b]*(?:\x07|\x1b\\)(?:[^\x1b]|\x1b[^\]]|\x1b\][^1]|\x1b\]1[^3]|\x1b\]13[^3])*\z]=]),
      matcher.screen_regex([[(?:^|\n)[$#%>]\s*\z]]),
      matcher.screen_regex([[(?:[❯➜λ]|[^\d\s][%$#]|[~@][^\n<=-]*>|[-:~][^\s]*[$#])\s*\z]]),
      matcher.screen_regex([[(?i)(?:password|passphrase|passcode|verification code|pin for )[^\n]*:\s*\z]]),
      matcher.screen_regex([=[(?i)(?:[\[(](?:y/n|yes/no)[^\n]*[\])]|\(y or n\))[?:]*\s*\z]=]),
      matcher.screen_regex([[(?i)(?:press any key|press enter|press return) [^\n]*\s*\z|\?\s*\z]]),
      matcher.screen_regex([[(?:\(END\)|--More--[^\n]*|\n:|q to quit\))\s*\z]]),
      matcher.screen_regex([[(?:^|\n)(?:>>>|\(gdb\)|\(Pdb\)|\(lldb\)|sqlite>|mysql>)\s*\z]]),
      matcher.process_exited(),
    }),
  })
end

function M.describe()
  return {
    intents = names({ "run", "answer", "interrupt", "eof", "key" }),
    wait_matchers = names({ "wait_turn_matcher" }),
    states = names({ "starting", "ready", "running", "waiting_for_user_input", "exited" }),
  }
end

return M
