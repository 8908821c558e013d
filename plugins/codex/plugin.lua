--- Adapter for Codex, the terminal agent of OpenAI.
--
-- Reads a screen and says which state the agent is in; turns intents into keys. What an answer quotes must not fool it,
-- so evidence counts by its place and not by its words alone: a live menu ends the screen.

local action, matcher, kit = ptywright.action, ptywright.matcher, ptywright.kit
local trim, starts, has, one_of, quote = kit.trim, kit.starts, kit.has, kit.one_of, kit.quote
local row_above, filled, report, failure = kit.row_above, kit.filled, kit.report, kit.failure
local option_of, options_between, labels = kit.option_of, kit.options_between, kit.labels
local dialogs, turns = kit.dialogs(), kit.turns()

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
    dialog_id = dialogs:open("perm:" .. menu.tool .. ":" .. summary, menu.options, menu.focus),
  })
end

function SHOW.plan(ctx, rows, menu)
  local head = row_above(rows, menu.title, function(row) return starts(trim(row), "• Proposed Plan") end)
  local stop = row_above(rows, menu.title - 1, function(row) return filled(row) and not is_finish(row) end)
  local plan = head and stop and quote(between(rows, head + 1, stop)) or nil
  return report(ctx, "waiting_for_plan_approval", 0.84, "menu under a proposed plan", {
    plan = plan, options = labels(menu.options),
    dialog_id = dialogs:open("plan:" .. (plan or "unknown"), menu.options, menu.focus),
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
    dialog_id = dialogs:open("trust:" .. (path or "unknown"), menu.options, menu.focus),
  })
end

function SHOW.model(ctx, _, menu)
  local list = labels(menu.options)
  return report(ctx, "waiting_for_model_select", 0.82, "menu of models", {
    model_select = { options = list },
    dialog_id = dialogs:open("model_select:" .. table.concat(list, "|"), menu.options, menu.focus),
  })
end

local function show_question(ctx, question, menu, confidence, evidence)
  return report(ctx, "waiting_for_user_input", confidence, evidence, {
    question = { text = quote(question), options = labels(menu.options) },
    dialog_id = dialogs:open("question:" .. question .. table.concat(labels(menu.options), "|"), menu.options, menu.focus),
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
    dialog_id = dialogs:open("login:" .. step, options, focus),
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
  local current = turns:is_current(said and trim(rows[said]:sub(#"›" + 1)))
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
    if since(is_finish) then return turns:completed(ctx, "finish row above the composer") end
    -- While an answer streams no clock is shown, so only the finish row ends a turn.
    if since(filled) and said then return report(ctx, "thinking", 0.6, "answer without a finish row") end
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

function M.send_prompt(params) return turns:send_prompt(params) end

-- More words for a turn that is under way; Codex takes them in at the next step.
function M.steer(params)
  return { actions = { kit.paste_line(kit.text_param(params, "steer", "prompt")) } }
end

function M.approve(params)
  dialogs:check(params)
  return dialogs:pick(1)
end

function M.deny(params)
  dialogs:check(params)
  return { actions = { action.key("escape") } }
end

M.approve_trust = M.approve

-- Refusing leads back to the list of sessions or ends the program, depending on how it was started.
function M.deny_trust(params)
  dialogs:check(params)
  return dialogs:pick(2)
end

function M.choose_option(params)
  dialogs:check(params)
  return dialogs:pick(dialogs:wanted_option(params).number)
end

-- Escape interrupts; Ctrl-C would do so too, but quits when nothing runs.
function M.cancel() return { actions = { action.key("escape") }, last_intent = "cancelling" } end

M.slash_command = kit.slash_command

M.key = kit.key

-- Waiting --------------------------------------------------------------------------------------------------------

-- Woken by everything that needs the caller; the classifier then says what it is.
function M.wait_turn_matcher(params)
  return matcher.all({
    kit.stable(params),
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

M.wait_cancel_settled_matcher = kit.stable

function M.describe()
  return {
    intents = kit.names([[
      send_prompt steer approve deny approve_trust deny_trust choose_option cancel slash_command key
    ]]),
    wait_matchers = kit.names("wait_turn_matcher wait_cancel_settled_matcher"),
    states = kit.names([[
      starting ready prompt_submitted thinking waiting_for_permission waiting_for_plan_approval waiting_for_trust
      waiting_for_login waiting_for_user_input waiting_for_model_select completed_turn cancelling error exited
    ]]),
  }
end

return M
