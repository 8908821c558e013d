--- Adapter for Gemini CLI, the terminal agent of Google.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: a live dialog is the box that ends the screen.

local action, matcher, kit = ptywright.action, ptywright.matcher, ptywright.kit
local trim, starts, ends, has, one_of, quote = kit.trim, kit.starts, kit.ends, kit.has, kit.one_of, kit.quote
local row_above, report, failure = kit.row_above, kit.report, kit.failure
local option_of, options_between, labels = kit.option_of, kit.options_between, kit.labels
local dialogs, turns = kit.dialogs(), kit.turns()

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
    dialog_id = dialogs:open("trust:" .. (folder or "unknown"), options, focus),
  })
end

function SHOW.login(ctx, box, options, focus)
  local step = #options > 0 and "choose" or find_row(box, "api key") and "api_key" or "browser"
  return report(ctx, "waiting_for_login", 0.86, "login box: " .. step, {
    login = { step = step, options = labels(options) },
    dialog_id = dialogs:open("login:" .. step, options, focus),
  })
end

function SHOW.plan(ctx, box, options, focus)
  local title = find_row(box, "ready to start implementation?")
  local plan = quote(box_text(box, title + 1, function(row)
    local option, mark = option_of(row, FOCUS)
    return option ~= nil and mark ~= nil
  end))
  return report(ctx, "waiting_for_plan_approval", 0.84, "box with a plan", {
    plan = plan, options = labels(options), dialog_id = dialogs:open("plan:" .. plan, options, focus),
  })
end

function SHOW.model(ctx, _, options, focus)
  local list = labels(options) or {}
  return report(ctx, "waiting_for_model_select", 0.82, "box of models", {
    model_select = { options = labels(options) },
    dialog_id = dialogs:open("model_select:" .. table.concat(list, "|"), options, focus),
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
    dialog_id = dialogs:open("perm:" .. (tool or "unknown") .. ":" .. (summary or ""), options, focus),
  })
end

local function show_question(ctx, question, options, focus, confidence, evidence)
  return report(ctx, "waiting_for_user_input", confidence, evidence, {
    question = { text = quote(question), options = labels(options) },
    dialog_id = dialogs:open("question:" .. question, options, focus),
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
  local current, typed = turns:is_current(said and typed_in(rows[said])), typed_in(rows[composer])
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
    if answered then return turns:completed(ctx, "answer above an idle composer") end
    return report(ctx, "prompt_submitted", 0.5, "nothing under the prompt yet")
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

function M.send_prompt(params) return turns:send_prompt(params, type_and_submit) end

-- Sends what stands in the composer.
function M.submit() return { actions = { action.key("enter") } } end

function M.approve(params)
  dialogs:check(params)
  return dialogs:pick(1)
end

function M.deny(params)
  dialogs:check(params)
  return { actions = { action.key("escape") } }
end

M.approve_trust = M.approve

-- The refusal is the last option; there may or may not be one for the parent folder.
function M.deny_trust(params)
  dialogs:check(params)
  local options = dialogs.current and dialogs.current.options or {}
  return dialogs:pick(options[#options] and options[#options].number or 3)
end

function M.choose_option(params)
  dialogs:check(params)
  return dialogs:pick(dialogs:wanted_option(params).number)
end

-- Escape cancels the request; Ctrl-C twice would quit.
function M.cancel() return { actions = { action.key("escape") }, last_intent = "cancelling" } end

function M.slash_command(params) return kit.slash_command(params, type_and_submit) end

M.key = kit.key

-- Waiting --------------------------------------------------------------------------------------------------------

-- Woken by everything that needs the caller; the classifier then says what it is.
function M.wait_turn_matcher(params)
  return matcher.all({
    kit.stable(params),
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

M.wait_cancel_settled_matcher = kit.stable

function M.describe()
  return {
    intents = kit.names([[
      send_prompt submit approve deny approve_trust deny_trust choose_option cancel slash_command key
    ]]),
    wait_matchers = kit.names("wait_turn_matcher wait_cancel_settled_matcher"),
    states = kit.names([[
      starting ready prompt_submitted thinking waiting_for_permission waiting_for_plan_approval waiting_for_trust
      waiting_for_login waiting_for_user_input waiting_for_model_select completed_turn cancelling error exited
    ]]),
  }
end

return M
