--- Adapter for shells: sh, bash, zsh, fish and their kin.
--
-- Says whether a shell is at its prompt, runs a command, or runs one that asks for something; turns intents into keys.

local action, matcher, kit = ptywright.action, ptywright.matcher, ptywright.kit
local trim, starts, ends, has, one_of, quote = kit.trim, kit.starts, kit.ends, kit.has, kit.one_of, kit.quote
local report, is_stable = kit.report, kit.is_stable
local dialogs = kit.dialogs()

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
  metadata.dialog_id = dialogs:open("question:" .. kind .. ":" .. trim(row))
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
  dialogs:forget()
  local blocks = ctx.blocks or {}
  local last, code = marks_of(blocks)
  if ctx.exited then
    return report(ctx, "exited", 1.0, "the shell has ended", code and { last_exit_code = code } or nil)
  end
  pasteable = takes_paste(ctx.transcript or "")
  if is_unheard(ctx) then return report(ctx, "running", 0.5, "nothing written since the command was sent") end
  local rows = kit.rows(ctx.screen)
  local row = rows[#rows] or ""
  if last then return by_marks(ctx, row, last, code) end
  if #rows == 0 then return report(ctx, ctx.last_intent or "starting", 0.35, "no screen evidence yet") end
  return by_looks(ctx, row)
end

-- Several lines go as one bracketed paste if the line editor asked for it, so that they are one entry and a "y" in them
-- cannot answer a question of an earlier line. Shells without it (dash, for one) would read the markers as text, so
-- there every line is entered by itself.
function M.run(params)
  local command = kit.text_param(params, "run", "command"):gsub("\r\n?", "\n")
  command = kit.rtrim(command)
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
  dialogs:check(params)
  local text = kit.object(params).text
  if type(text) ~= "string" then error("answer: text is required", 0) end
  if text == "" then return { actions = { action.key("enter") } } end
  return { actions = { action.text(text), action.key("enter") } }
end

function M.interrupt() return { actions = { action.interrupt() } } end

function M.eof() return { actions = { action.eof() } } end

M.key = kit.key

-- Waiting --------------------------------------------------------------------------------------------------------

-- The last OSC 133 mark opens a prompt; or the last row looks like a prompt or a question; or the shell is gone.
function M.wait_turn_matcher(params)
  return matcher.all({
    kit.stable(params),
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
    intents = kit.names("run answer interrupt eof key"),
    wait_matchers = kit.names("wait_turn_matcher"),
    states = kit.names("starting ready running waiting_for_user_input exited"),
  }
end

return M
