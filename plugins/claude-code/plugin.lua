-- The adapter for Claude Code: reads its screen, says what state it is in, and knows what to type.
--
-- The host calls `classify(ctx)` with the screen as text, the intents below with the caller's params, and the wait
-- functions for a matcher. Nothing here knows terminals or processes. The order of this file: small helpers, how a
-- screen is read, one section per group of rules (in the order in which they are tried), events, intents, waits.
--
-- Two habits keep a call cheap and honest. Work is done line by line with plain comparisons, because pattern searches
-- are charged. And whatever leaves this file as metadata, evidence or event goes through `scrub`: the host redacts
-- states, too, but a caller can switch that off, and it does not know every spelling that is known here.

local action, matcher, kit = ptywright.action, ptywright.matcher, ptywright.kit
local trim, starts, ends, has = kit.trim, kit.starts, kit.ends, kit.has

-- What outlives a call -----------------------------------------------------------------------------------------

-- The dialog that the last classification saw: `id` and `options`. Intents compare with it.
local dialog = nil

-- Events in order of `seq`, which grows for as long as the adapter lives, and how long their texts are together.
local journal = { seq = 0, events = {}, bytes = 0 }

-- The turn that `send_prompt` began; nil before the first.
local turn = nil

-- What the last look saw of the latest turn on the screen; see `read_latest`.
local latest = nil

-- Whether the end of the running turn was marked in the transcript.
local turn_end_marked = false

local MAX_EVENTS = 1024
-- All kept events may be asked for at once, and a result has its limit.
local MAX_EVENT_BYTES = 1 << 20
local MAX_EVENT_TEXT = 1 << 18
local MAX_PROMPTS = 16
local MAX_FINGERPRINT = 16384
local MAX_TEXT = 2000
local MAX_LINES = 2000
local DEFAULT_STABLE_MS = 300

-- Text helpers ---------------------------------------------------------------------------------------------------

local function has_any(text, phrases)
  return kit.one_of(text, phrases, has) ~= nil
end

local function starts_any(text, prefixes)
  return kit.one_of(text, prefixes, starts)
end

local function is_one_of(text, words)
  for _, word in ipairs(words) do
    if text == word then
      return true
    end
  end
  return false
end

local function as_text(value)
  return type(value) == "string" and value or ""
end

-- Cuts on a character boundary, and shows that something was cut.
local function clip(text, limit)
  return #text <= limit and text or kit.clip(text, limit) .. "…"
end

-- Secrets --------------------------------------------------------------------------------------------------------

local REDACTED = "[REDACTED]"

-- Names that stand before a secret. What comes before the name does not matter: GITHUB_TOKEN is a token, too.
local SECRET_NAMES = {
  "api_key",
  "api-key",
  "apikey",
  "access_key",
  "token",
  "secret",
  "password",
  "passwd",
  "authorization",
}

local function any_case(word)
  return (word:gsub("%a", function(letter)
    return "[" .. letter:upper() .. letter .. "]"
  end):gsub("%-", "%%-"))
end

local SECRET_PATTERNS = {}
for _, name in ipairs(SECRET_NAMES) do
  SECRET_PATTERNS[name] = "(" .. any_case(name) .. "[\"']?%s*[:=]%s*[\"']?)([^%s,'\"%]}]+)"
end

local BEARER_PATTERN = "%f[%w_](" .. any_case("bearer") .. "%s+)([%w%._~%+/=%-]+)"

-- Looks for the words first: they are rare, and looking is much cheaper than matching.
local function scrub(text)
  local lower = text:lower()
  if has(lower, "bearer") then
    text = text:gsub(BEARER_PATTERN, function(word, value)
      return #value >= 8 and word .. REDACTED or nil
    end)
  end
  if has(text, "sk-") then
    text = text:gsub("%f[%w_]sk%-([%w_%-]+)", function(value)
      return #value >= 16 and REDACTED or nil
    end)
  end
  for _, name in ipairs(SECRET_NAMES) do
    if has(lower, name) then
      text = text:gsub(SECRET_PATTERNS[name], "%1" .. REDACTED)
    end
  end
  if has(text, "://") then
    text = text:gsub("(://[^%s/:@]+:)[^%s/@]+@", "%1" .. REDACTED .. "@")
  end
  return text
end

local function said(text)
  return clip(scrub(text), MAX_TEXT)
end

-- Reading a screen -----------------------------------------------------------------------------------------------

-- A row has `raw`, `text` (without the sides of a box and the space around), `lower`, and `boxed`.
local function read_row(raw)
  local text = trim(raw)
  local boxed = #text > 6 and starts(text, "│") and ends(text, "│")
  if boxed then
    text = trim(text:sub(#"│" + 1, -#"│" - 1))
  end
  return { raw = raw, text = text, lower = text:lower(), boxed = boxed }
end

-- The program writes no-break spaces and curly apostrophes; one spelling of each is enough for every list below.
local function plain(text)
  return (text:gsub("\u{A0}", " "):gsub("’", "'"))
end

local function read_rows(text)
  local rows = {}
  local from = 1
  while true do
    local stop = text:find("\n", from, true)
    rows[#rows + 1] = read_row(text:sub(from, stop and stop - 1 or -1))
    if not stop then
      return rows
    end
    from = stop + 1
  end
end

local BULLETS = { "●", "⏺" }

local function is_blank(row)
  return row.text == ""
end

-- A rule, or the upper or lower side of a box.
local function is_rule(row)
  return starts(row.text, "────") or starts(row.text, "╭─") or starts(row.text, "╰─")
end

local function is_bullet(row)
  return starts_any(row.text, BULLETS) ~= nil
end

local function is_prompt(row)
  return starts(row.text, "❯")
end

local function is_bare_prompt(row)
  return row.text == "❯" or row.text == ">"
end

-- What stands behind the callout glyph, if the row has one.
local function callout(row)
  if starts(row.text, "⎿") then
    return trim(row.text:sub(#"⎿" + 1))
  end
  return nil
end

local function after_bullet(row)
  local glyph = starts_any(row.text, BULLETS)
  return glyph and trim(row.text:sub(#glyph + 1)) or nil
end

-- The number and the label of a row such as `❯ 1. Yes`.
local function focused_option(row)
  if not is_prompt(row) then
    return nil
  end
  local number, label = trim(row.text:sub(#"❯" + 1)):match("^(%d+)[%.%)]%s+(.*)$")
  return tonumber(number), label
end

local function plain_option(row)
  local number, label = row.text:match("^(%d+)[%.%)]%s+(.*)$")
  return tonumber(number), label
end

-- The row of the input box: the last prompt row, if it is empty or has a rule under it. Otherwise that row is a
-- prompt that was sent, with an answer or a dialog below.
local function find_input(rows)
  for index = #rows, 1, -1 do
    local row = rows[index]
    if is_bare_prompt(row) then
      return index
    end
    if is_prompt(row) then
      local below = rows[index + 1]
      return below and is_rule(below) and index or nil
    end
  end
  return nil
end

local function is_sent_prompt(row)
  return is_prompt(row) and not is_bare_prompt(row) and not focused_option(row)
end

-- The last row that shows a prompt that was sent; 0 if there is none.
local function find_submitted(rows, input)
  for index = (input or #rows + 1) - 1, 1, -1 do
    if is_sent_prompt(rows[index]) then
      return index
    end
  end
  return 0
end

local function find_focused(rows)
  for index = #rows, 1, -1 do
    if focused_option(rows[index]) then
      return index
    end
  end
  return nil
end

-- An empty input box under a reply. A dialog takes the place of the input box, so the phrases of dialogs on such a
-- screen are words of a conversation.
local function is_conversation(rows, input)
  if not input or not is_bare_prompt(rows[input]) then
    return false
  end
  for index = 1, input - 1 do
    if is_bullet(rows[index]) then
      return true
    end
  end
  return false
end

local function shows_prompt(rows)
  for _, row in ipairs(rows) do
    if is_prompt(row) or row.text == ">" or starts(row.text, "> ") or ends(row.text, " >") then
      return true
    end
  end
  return false
end

-- Completion marker ----------------------------------------------------------------------------------------------

-- A row such as `✻ Worked for 5s`.
local function is_marker(row)
  return starts(row.text, "✻") and not ends(row.text, "…") and row.text:find(" for %d") ~= nil
end

local function is_chrome(row)
  local text = row.text
  return text == ""
    or is_prompt(row)
    or is_rule(row)
    or has(text, "⏵⏵")
    or text:find("%[[^%[%]]*%d[^%[%]]*%]") ~= nil
    or (has(text, "@") and has(text, "["))
    or starts(text, "⏸")
    or starts(text, "? for shortcuts")
end

-- Everything under the lower edge of the input box is status, whatever it says.
local function below_input_box(view, index)
  local edge = view.input and view.rows[view.input + 1]
  return edge ~= nil and is_rule(edge) and index > view.input
end

-- The row of the marker that ends the turn. A marker counts if nothing but chrome follows it, if no newer prompt was
-- sent, and if it ends something: a marker directly under the prompt belongs to a turn that said nothing yet.
local function find_marker(view)
  local rows = view.rows
  local marker
  for index = #rows, 1, -1 do
    if is_marker(rows[index]) then
      marker = index
      break
    end
    if not is_chrome(rows[index]) and not below_input_box(view, index) then
      return nil
    end
  end
  if not marker or view.submitted > marker then
    return nil
  end
  if view.submitted == 0 then
    return marker
  end
  for index = view.submitted + 1, marker - 1 do
    if not is_chrome(rows[index]) then
      return marker
    end
  end
  return nil
end

-- What all rules look at, found once.
local function read_view(ctx)
  local screen = plain(as_text(ctx.screen))
  local body = plain(as_text(ctx.body_text))
  local rows = read_rows(screen)
  local view = { rows = rows, lower = screen:lower(), body_lower = body:lower() }
  view.status = plain(as_text(ctx.status_text))
  local _, breaks = body:gsub("\n", "\n")
  view.body_rows = math.min(breaks + 1, #rows)
  view.input = find_input(rows)
  view.submitted = find_submitted(rows, view.input)
  view.focused = find_focused(rows)
  view.conversation = is_conversation(rows, view.input)
  view.marker = find_marker(view)
  view.last_intent = ctx.last_intent ~= "" and ctx.last_intent or nil
  view.stable = kit.is_stable(ctx)
  view.blank = body:find("%S") == nil and as_text(ctx.transcript):find("%S") == nil
  return view
end

-- Dialogs: options and identity ----------------------------------------------------------------------------------

-- How many rows an option may take, with its description.
local OPTION_ROWS = 5

-- A label ends where its description begins: behind a check mark or two spaces.
local function option_label(text)
  local gap = text:find("  ", 1, true)
  local label = gap and text:sub(1, gap - 1) or text
  return said(trim((label:gsub("✔", ""))))
end

-- The labels of the numbered list around the focused row.
local function read_options(rows, focused)
  local number, label = focused_option(rows[focused])
  local labels = { [number] = option_label(label) }
  local function collect(from, to, step, wanted)
    local left = OPTION_ROWS
    for index = from, to, step do
      local found, text = plain_option(rows[index])
      if found == wanted then
        labels[found] = option_label(text)
        wanted, left = wanted + step, OPTION_ROWS
      else
        left = left - 1
      end
      if left == 0 or wanted == 0 then
        break
      end
    end
  end
  collect(focused - 1, 1, -1, number - 1)
  collect(focused + 1, #rows, 1, number + 1)
  -- A list whose beginning scrolled away has no labels that could be counted on.
  return labels[1] and labels or {}
end

local function focused_options(view)
  return view.focused and read_options(view.rows, view.focused) or {}
end

-- Remembers the dialog, so that an intent can tell whether its caller speaks of this one.
local function open_dialog(metadata, fingerprint, options, block, focus)
  dialog = { id = kit.fnv1a(fingerprint:sub(1, MAX_FINGERPRINT)), options = options, focus = focus }
  metadata.dialog_id = dialog.id
  if block then
    block.dialog_id = dialog.id
    block.options = #options > 0 and options or nil
  end
  return metadata
end

-- A dialog that is known by its options.
local function open_list(view, kind, block)
  local options = focused_options(view)
  return open_dialog({ [kind] = block }, kind .. ":" .. table.concat(options, "|"), options, block)
end

-- A rule answers with this, or with nil if it does not hold.
local function verdict(state, confidence, evidence, metadata)
  return { state = state, confidence = confidence, evidence = evidence, metadata = metadata }
end

-- Before all others: the program has ended ------------------------------------------------------------------------

local function exited(_, ctx)
  if ctx.exited then
    return verdict("exited", 1.0, "the program has ended")
  end
end

-- Rule 1: nothing to see yet --------------------------------------------------------------------------------------

local function blank(view)
  if view.blank then
    return verdict(view.last_intent or "starting", 0.35, "no screen evidence yet")
  end
end

-- Rule 2: an interrupt is under way -------------------------------------------------------------------------------

local function cancelling(view)
  if view.last_intent == "cancelling" and not view.stable then
    return verdict("cancelling", 0.72, "interrupt sent, screen not settled")
  end
end

-- Rule 3: login ---------------------------------------------------------------------------------------------------

local LOGIN_TITLES = {
  "welcome to claude code",
  "log in to claude",
  "login to claude",
  "sign in to claude",
  "continue with anthropic",
  "continue with google",
}
local LOGIN_PROOFS = { "press enter to log in", "open the link", "anthropic_api_key" }
-- Rows of the login panel of 2.1.
local LOGIN_ROWS = {
  "select login method:",
  "browser didn't open? use the url below to sign in",
  "paste code here if prompted",
}
local LOGIN_HOSTS = { "claude.ai", "anthropic.com", "claude.com" }
-- The welcome page gives up with a link of its own; that is a connection error, not a login.
local NO_SERVICE = "unable to connect to anthropic services"

-- Whether the text begins with an address of the vendor. The host must end where it ends: `claude.ai.example` and
-- `claude.ai@example` are other sites.
local function is_login_url(text)
  local rest = text:match("^https?://(.*)$")
  local host, stop = (rest or text):match("^([%w%.%-]+)()")
  if not host then
    return false
  end
  local next_char = (rest or text):sub(stop, stop)
  if not (next_char == "/" or rest and (next_char == "" or next_char == "?")) then
    return false
  end
  for _, known in ipairs(LOGIN_HOSTS) do
    if host == known or ends(host, "." .. known) then
      return true
    end
  end
  return false
end

-- A long address goes on in the next rows until there is a space or an empty row.
local function login_url(view)
  for index = 1, #view.rows do
    local text = view.rows[index].text
    if is_login_url(text) and not has(text, " ") then
      for below = index + 1, #view.rows do
        local more = view.rows[below].text
        if more == "" or has(more, " ") then
          break
        end
        text = text .. more
      end
      return clip(text, MAX_TEXT)
    end
  end
  return nil
end

local function has_login_row(view)
  for index = 1, #view.rows do
    if starts_any(view.rows[index].lower, LOGIN_ROWS) then
      return true
    end
  end
  return false
end

local function login(view)
  if view.conversation or has(view.body_lower, NO_SERVICE) then
    return nil
  end
  local titled = has_any(view.body_lower, LOGIN_TITLES)
  local url = titled and login_url(view)
  if titled and (url or has_any(view.body_lower, LOGIN_PROOFS)) then
    return verdict("waiting_for_login", 0.86, "login screen", { login = url and { url = url } or nil })
  end
  if has_login_row(view) then
    local metadata = open_list(view, "login", { url = login_url(view) })
    return verdict("waiting_for_login", 0.86, "login panel", metadata)
  end
end

-- Rule 4: trust in the workspace ----------------------------------------------------------------------------------

local TRUST_QUESTIONS = { "trust the files", "trust this folder", "accessing workspace" }
local TRUST_ANSWERS = { "yes, proceed", "yes, i trust this folder", "no, exit" }

local function trust_path(view)
  local asked = false
  for _, row in ipairs(view.rows) do
    if asked and (starts(row.text, "/") or starts(row.text, "~") or row.text:find("^%a:\\")) then
      return row.text
    end
    asked = asked or has_any(row.lower, TRUST_QUESTIONS)
  end
  return nil
end

-- The answers of versions that do not number them: where they stand among each other, and which has the focus.
local function trust_menu(rows)
  local menu, place = {}, 0
  for _, row in ipairs(rows) do
    local label = trim(is_prompt(row) and row.text:sub(#"❯" + 1) or row.text):lower()
    local answer = starts(label, "yes,") and "yes" or starts(label, "no,") and "no" or nil
    if answer then
      place = place + 1
      menu[answer] = place
      menu.focus = is_prompt(row) and place or menu.focus
    end
  end
  return menu.yes and menu.no and menu.focus and menu or nil
end

local function trust(view)
  local asked = has_any(view.body_lower, TRUST_QUESTIONS) and has_any(view.lower, TRUST_ANSWERS)
  if view.conversation or not asked then
    return nil
  end
  local path = trust_path(view)
  local block = { path = path }
  local metadata = open_dialog({ trust = block }, "trust:" .. (path or "unknown"), focused_options(view), block)
  dialog.menu = trust_menu(view.rows)
  return verdict("waiting_for_trust", 0.86, "workspace trust dialog", metadata)
end

-- Rule 5: an editor has the terminal ------------------------------------------------------------------------------

local function external_editor(view)
  if not view.conversation and has(view.body_lower, "save and close editor to continue") then
    return verdict("waiting_for_external_editor", 0.78, "an external editor is open")
  end
end

-- Rule 6: model picker --------------------------------------------------------------------------------------------

local PICKER_HEADERS = {
  "select model",
  "select a model",
  "switch to model:",
  "switch between claude models",
  "choose a model:",
  "available models:",
}
local PICKER_HINTS = {
  "enter to select",
  "enter confirm",
  "enter to confirm",
  "enter to set",
  "esc to cancel",
  "esc exit",
  "↑/↓",
  "←/→",
  "effort",
}

local function model_picker(view)
  if view.conversation or not view.focused then
    return nil
  end
  if not (has_any(view.body_lower, PICKER_HEADERS) and has_any(view.lower, PICKER_HINTS)) then
    return nil
  end
  return verdict("waiting_for_model_select", 0.82, "model picker", open_list(view, "model_select", {}))
end

-- Rule 7: may plan mode begin -------------------------------------------------------------------------------------

local ENTER_PLAN_ANSWERS = { "yes, enter plan mode", "no, start implementing now" }

local function enter_plan_mode(view)
  if view.conversation or not has(view.body_lower, "enter plan mode?") then
    return nil
  end
  if not (view.focused or has_any(view.lower, ENTER_PLAN_ANSWERS)) then
    return nil
  end
  return verdict("waiting_for_enter_plan_mode", 0.82, "plan mode question", open_list(view, "enter_plan_mode", {}))
end

-- Rule 8: plan approval -------------------------------------------------------------------------------------------

local PLAN_HEADERS = { "ready to code?", "exit plan mode?" }
local PLAN_ANSWERS = {
  "yes, and auto-accept",
  "yes, and bypass",
  "yes, auto-accept",
  "yes, and manually approve",
  "yes, manually approve",
  "yes, and use auto mode",
  "no, keep planning",
  "type here to tell claude",
  "tell claude what to change",
}
-- Lines that belong to the dialog and not to the plan.
local PLAN_FOOTERS = {
  "claude has written up a plan",
  "would you like to proceed",
  "do you want to proceed",
  "approve",
  "[enter]",
  "press enter",
  "enter to",
  "esc to",
}
local PLAN_INTROS = { "here is claude's plan", "claude wants to exit plan mode" }

-- The row under which the plan stands.
local function plan_header(view)
  local pending = nil
  for index = 1, view.body_rows do
    local row = view.rows[index]
    if pending and not is_blank(row) then
      if starts(row.text, "1.") or starts(row.text, "1)") then
        return pending, true
      end
      pending = nil
    end
    if starts(row.lower, "plan") then
      pending = index
    end
  end
  for index = #view.rows, 1, -1 do
    if is_one_of(view.rows[index].lower, PLAN_HEADERS) then
      return index, false
    end
  end
  return nil
end

local function plan_text(view, header)
  local lines = {}
  for index = header + 1, #view.rows do
    local row = view.rows[index]
    if is_prompt(row) or is_rule(row) or starts_any(row.lower, PLAN_FOOTERS) or row.text == ">" then
      break
    end
    local is_frame = starts(row.text, "╌╌╌╌") or starts_any(row.lower, PLAN_INTROS)
    if not is_frame and (#lines > 0 or not is_blank(row)) then
      lines[#lines + 1] = row.text
    end
  end
  while lines[#lines] == "" do
    lines[#lines] = nil
  end
  return scrub(clip(table.concat(lines, "\n"), MAX_FINGERPRINT))
end

-- `Exit plan mode?` without a plan is answered with a bare yes or no.
local function has_plan_answer(options)
  for _, label in ipairs(options) do
    local answer = label:lower()
    if answer == "yes" or answer == "no" or starts_any(answer, PLAN_ANSWERS) then
      return true
    end
  end
  return false
end

local function plan_approval(view)
  if view.conversation then
    return nil
  end
  local header, listed = plan_header(view)
  if not header then
    return nil
  end
  local options = focused_options(view)
  if not listed and not (view.focused and view.focused > header and has_plan_answer(options)) then
    return nil
  end
  local text = plan_text(view, header)
  local focus = view.focused and focused_option(view.rows[view.focused]) or nil
  local shown = { plan = text, options = #options > 0 and options or nil }
  local metadata = open_dialog(shown, "plan:" .. text, options, nil, focus)
  return verdict("waiting_for_plan_approval", 0.8, "plan approval dialog", metadata)
end

-- Rules 9 and 10: permission --------------------------------------------------------------------------------------

local PERMISSION_QUESTIONS = {
  "do you want to proceed",
  "do you want to make this edit",
  "do you want to create",
  "do you want to overwrite",
  "do you want to write",
  "do you want to allow claude",
}
local QUESTION_REACH = 6
local TITLE_REACH = 8
-- How far above the focused row a title is looked for when the question is there: diffs are long.
local TITLE_SEARCH = 40

-- Dialog titles and the tools they speak of. `X command` and `X tool` are read by `titled_tool`.
local TOOL_TITLES = {
  ["create file"] = "Write",
  ["write file"] = "Write",
  ["file write"] = "Write",
  ["overwrite file"] = "Write",
  ["edit file"] = "Edit",
  ["file edit"] = "Edit",
  ["read file"] = "Read",
  ["file read"] = "Read",
  ["edit notebook"] = "NotebookEdit",
  ["notebook edit"] = "NotebookEdit",
  ["fetch"] = "WebFetch",
  ["webfetch"] = "WebFetch",
  ["web fetch"] = "WebFetch",
  ["web search"] = "WebSearch",
  ["websearch"] = "WebSearch",
  ["tool use"] = "unknown",
}

local function titled_tool(row)
  if TOOL_TITLES[row.lower] then
    return TOOL_TITLES[row.lower]
  end
  if #row.text > 80 then
    return nil
  end
  return row.text:match("^(%u[%w_%-]*) command$") or row.text:match("^([%w_%-]+) tool$")
end

-- `Bash(cargo test)` gives `Bash` and `cargo test`.
local function call_parts(text)
  local name, input = text:match("^(%u[%w_%-]*)%((.*)$")
  if not name then
    return nil
  end
  return name, (input:gsub("%)[^%)]*$", ""))
end

-- A rule, a reply or a marker between two rows: they are not parts of one dialog.
local function is_divider(row)
  return is_rule(row) or is_bullet(row) or is_marker(row)
end

-- The nearest row above that `test` accepts, within `reach` rows and the same dialog.
local function look_up(rows, from, reach, test)
  for index = from - 1, math.max(1, from - reach), -1 do
    if is_divider(rows[index]) then
      return nil
    end
    local found = test(rows[index])
    if found then
      return index, found
    end
  end
  return nil
end

local function is_permission_question(row)
  return has_any(row.lower, PERMISSION_QUESTIONS)
end

local function is_not_blank(row)
  return not is_blank(row)
end

-- The rows between the title and the question, as they stand: what is to be allowed.
local function detail_lines(rows, from, to)
  local lines = {}
  for index = from, to do
    local row = rows[index]
    if is_permission_question(row) or is_prompt(row) or has(row.lower, "[enter]") then
      break
    end
    if not is_blank(row) and not starts(row.text, "╌╌╌╌") then
      lines[#lines + 1] = row.text
    end
  end
  return lines
end

-- A tool call that a row names, as in `● Bash(ls)` or `Allow Bash(ls)?`.
local function named_call(rows, from)
  for index = from, math.max(1, from - TITLE_SEARCH), -1 do
    local text = after_bullet(rows[index]) or rows[index].text:match("%u[%w_%-]*%(.*$")
    local name, input = call_parts(text or "")
    if name then
      return name, input
    end
  end
  return nil
end

local function permission_verdict(view, row, title, tool)
  local lines = title and detail_lines(view.rows, title + 1, row - 1) or {}
  local summary = lines[1]
  if not tool or tool == "unknown" then
    local name, input = named_call(view.rows, row)
    tool, summary = name or tool, summary or input
  end
  summary = said(summary or "")
  local detail = #lines > 1 and said(table.concat(lines, "\n")) or nil
  local block = { tool = tool or "unknown", summary = summary, detail = detail }
  local focus = focused_option(view.rows[row])
  local options = focus and read_options(view.rows, row) or {}
  local metadata = open_dialog({ permission = block }, "perm:" .. block.tool .. ":" .. summary, options, block, focus)
  return verdict("waiting_for_permission", 0.84, "permission dialog", metadata)
end

local function key_hint_row(view)
  for index, row in ipairs(view.rows) do
    if has(row.lower, "[enter]") and has(row.lower, "[esc]") then
      return index
    end
  end
  return nil
end

local function permission(view)
  if view.conversation then
    return nil
  end
  local rows = view.rows
  local hint = key_hint_row(view)
  if hint then
    local title, tool = look_up(rows, hint, TITLE_SEARCH, titled_tool)
    return permission_verdict(view, view.focused or hint, title, tool)
  end
  if not view.focused then
    return nil
  end
  local title, tool = look_up(rows, view.focused, TITLE_SEARCH, titled_tool)
  local asked = look_up(rows, view.focused, QUESTION_REACH, is_permission_question)
  if asked or (title and view.focused - title <= TITLE_REACH) then
    return permission_verdict(view, view.focused, title, tool)
  end
end

-- Rule 10: the dialog itself is not drawn, only a line that says so.
local function suppressed_permission(view)
  for _, row in ipairs(view.rows) do
    local text = row.lower
    if starts(text, "waiting for permission") and text:gsub("…", ""):gsub("%.", "") == "waiting for permission" then
      return verdict("waiting_for_permission", 0.72, "waiting for permission")
    end
  end
end

-- Beside rule 10: a question of the model with answers to choose from. It has no state of its own, and without this
-- a submitted prompt would count as thinking while the program waits for an answer.
local function question(view)
  if view.conversation or not view.focused then
    return nil
  end
  local box = look_up(view.rows, view.focused, TITLE_SEARCH, function(row)
    return starts(row.text, "☐") or starts(row.text, "☒") or has(row.text, "← ☐") or has(row.text, "←  ☐")
  end)
  if not box or not has(view.lower, "enter to select") then
    return nil
  end
  local _, asked = look_up(view.rows, view.focused, view.focused - box, function(row)
    return is_not_blank(row) and row.text
  end)
  local metadata = open_list(view, "question", { text = asked and said(asked) })
  return verdict("waiting_for_user_input", 0.8, "a question with options", metadata)
end

-- Rule 11: at work ------------------------------------------------------------------------------------------------

local SPINNERS = { "✶", "✻", "✺", "✦", "✽", "✢", "✳", "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" }
-- These also begin the items of a list, so they count only where no text of a reply can stand.
local DOT_SPINNERS = { "·", "•" }
local SPINNER_BYTES = 80
local INTERRUPT_HINT = "esc to interrupt"
local EXPAND_HINT = "(ctrl+o to expand)"

-- In the hint's own place a bracket, a dot or nothing comes before it; in a sentence it is a word.
local function shows_interrupt_hint(view)
  for _, row in ipairs(view.rows) do
    local at = row.lower:find(INTERRUPT_HINT, 1, true)
    if at then
      local before = trim(row.lower:sub(1, at - 1))
      if not before:find("[%w`'\",]$") or not view.input then
        return true
      end
    end
  end
  return false
end

local function is_spinner(row)
  local text = row.text
  if #text > SPINNER_BYTES or not (starts_any(text, SPINNERS) or starts_any(row.raw, DOT_SPINNERS)) then
    return false
  end
  if ends(text, ")") then
    local counter = text:find("(", 1, true)
    text = counter and trim(text:sub(1, counter - 1)) or text
  end
  return ends(text, "…")
end

local function is_collapsed_work(row)
  return is_bullet(row) and ends(row.text, EXPAND_HINT)
end

-- Rows above an accepted marker, or above an interrupt, tell of work that is over.
local function thinking(view)
  if shows_interrupt_hint(view) then
    return verdict("thinking", 0.76, "the program can be interrupted")
  end
  if view.marker then
    return nil
  end
  for index = #view.rows, view.submitted + 1, -1 do
    local row = view.rows[index]
    local inset = callout(row)
    if inset and starts(inset:lower(), "interrupted") then
      return nil
    end
    if is_spinner(row) then
      return verdict("thinking", 0.76, "spinner")
    end
    if is_collapsed_work(row) then
      return verdict("thinking", 0.76, "tool row")
    end
  end
end

-- Which turn the screen shows ----------------------------------------------------------------------------------

local PASTED = "[Pasted text"
local PROMPT_BYTES = 16

-- How a prompt begins. The program draws tabs and line breaks as spaces, and not always as many.
local function prompt_head(text)
  local head = trim(plain(text:sub(1, 16 * PROMPT_BYTES))):gsub("%s+", " ")
  return head:sub(1, PROMPT_BYTES)
end

local function shows_head(row, head)
  local shown = prompt_head(row.text:sub(#"❯" + 1))
  local length = math.min(#shown, #head)
  return shown:sub(1, length) == head:sub(1, length)
end

-- Whether the row shows a prompt of this turn: the one that began it, or one that steered it. Long prompts are shown as
-- a note that something was pasted, and every prompt is wrapped.
local function is_our_prompt(row)
  if starts(trim(row.text:sub(#"❯" + 1)), PASTED) then
    return true
  end
  for _, head in ipairs(turn.prompts) do
    if shows_head(row, head) then
      return true
    end
  end
  return false
end

-- The rows of the latest turn if it has ended, as one text.
local function ended_text(view)
  if not view.marker then
    return nil
  end
  local texts = {}
  for index = view.submitted + 1, view.marker do
    texts[#texts + 1] = view.rows[index].text
  end
  return table.concat(texts, "\n")
end

-- The latest turn on the screen: the row of its prompt, and its text once it has ended.
local function read_latest(view)
  local row = view.rows[view.submitted]
  return row and { prompt = row.text, text = ended_text(view) }
end

-- Whether the latest turn on the screen is the one that was there when `send_prompt` was called.
local function shows_turn_before(view)
  local before, now = turn.before, read_latest(view)
  if not before or before.prompt ~= now.prompt then
    return false
  end
  return not before.text or not now.text or before.text == now.text
end

-- Whether the latest turn on the screen is the one that `send_prompt` began. A prompt that was not there before belongs
-- to it even if its words are unknown: it may be drawn otherwise, or be typed by a person. With none on the
-- screen it scrolled away, and everything belongs to the turn.
local function shows_this_turn(view)
  return not turn or view.submitted == 0 or is_our_prompt(view.rows[view.submitted]) or not shows_turn_before(view)
end

-- The prompt arrived, but the Enter after it did not.
local function is_unsent(view)
  local row = turn and not turn.drawn and view.input and view.rows[view.input]
  return row and not is_bare_prompt(row) and is_our_prompt(row)
end

-- Right after a prompt was sent the screen still shows how the turn before it ended. A screen that stays that way for
-- long enough is believed.
local function is_stale(view)
  return turn ~= nil and not turn.over and not view.stable and not shows_this_turn(view)
end

-- Rule 12: errors -------------------------------------------------------------------------------------------------

-- Banners: `text` begins the row, `kind` says what it is. With `bullet` the row may begin with a reply's glyph, which
-- 2.1 puts before errors of the service; with `callout` it must stand behind the callout glyph.
local BANNERS = {
  { text = "api error", kind = "api", bullet = true },
  { text = "request failed", kind = "unknown" },
  { text = "5-hour limit", kind = "rate_limit", bullet = true },
  { text = "rate limit reached", kind = "rate_limit" },
  { text = "you've used your pro", kind = "quota" },
  { text = "you've used your max", kind = "quota" },
  { text = "you've reached your usage limit", kind = "quota" },
  { text = "credit balance is too low", kind = "quota", bullet = true },
  { text = "connection error", kind = "connection" },
  { text = "connection issue", kind = "connection" },
  { text = "could not connect", kind = "connection" },
  { text = "network error", kind = "connection" },
  { text = NO_SERVICE, kind = "connection" },
  { text = "invalid api key", kind = "auth", bullet = true },
  { text = "authentication failed", kind = "auth" },
  { text = "unauthorized", kind = "auth" },
  { text = "oauth failed", kind = "auth" },
  { text = "not logged in", kind = "auth", callout = true },
  { text = "please retry", kind = "unknown" },
  { text = "press r to retry", kind = "unknown" },
  { text = "error:", kind = "unknown" },
}

-- Words that say more than a general banner does.
local KIND_WORDS = {
  { "rate limit", "rate_limit" },
  { "rate_limit", "rate_limit" },
  { "(429)", "rate_limit" },
  { "error: 429", "rate_limit" },
  { "credit balance", "quota" },
  { "usage limit", "quota" },
  { "error: 401", "auth" },
  { "authentication", "auth" },
  { "invalid x-api-key", "auth" },
  { "/login", "auth" },
  { "connection error", "connection" },
  { "unable to connect", "connection" },
  { "connectionrefused", "connection" },
  { "econn", "connection" },
  { "enotfound", "connection" },
}
local GENERAL_KINDS = { unknown = true, api = true }

local RETRY_WORDS = { "retry after", "retry in", "retrying in", "try again in", "retry-after:" }
local SECONDS = { s = 1, m = 60, h = 3600 }

local function retry_after(text)
  for _, phrase in ipairs(RETRY_WORDS) do
    local _, stop = text:find(phrase, 1, true)
    local amount, unit = text:match("^%s*(%d+)%s*(%a?)", stop and stop + 1 or #text + 1)
    if amount and #amount <= 9 then
      return math.tointeger(tonumber(amount)) * (SECONDS[unit] or 1)
    end
  end
  return nil
end

local function find_banner(text, inset, bullet)
  if starts(text, "you've hit your ") and has(text, " limit") then
    return "rate_limit"
  end
  for _, banner in ipairs(BANNERS) do
    if starts(text, banner.text) and (not bullet or banner.bullet) and (not banner.callout or inset) then
      return banner.kind
    end
  end
  return nil
end

local function refine_kind(kind, text)
  if GENERAL_KINDS[kind] then
    for _, word in ipairs(KIND_WORDS) do
      if has(text, word[1]) then
        return word[2]
      end
    end
  end
  return kind
end

-- Whether a reply begins above, in the same turn.
local function is_in_reply(rows, from, submitted)
  for index = from - 1, submitted + 1, -1 do
    if is_bullet(rows[index]) then
      return true
    end
  end
  return false
end

-- Looks upwards through the latest turn. A reply below a banner means that the turn outlived it: a tool that failed,
-- for one. A row that is indented under a reply, without a callout, is text of that reply.
local function error_banner(view)
  local replies_below = false
  local rows = view.rows
  for index = view.body_rows, view.submitted + 1, -1 do
    local row = rows[index]
    local inset, bullet = callout(row), after_bullet(row)
    local text = (inset or bullet or row.text):lower()
    local kind = not row.boxed and text ~= "" and find_banner(text, inset, bullet)
    if kind and not replies_below then
      local indented = not inset and not bullet and starts(row.raw, "  ")
      if not (indented and is_in_reply(rows, index, view.submitted)) then
        local below = rows[index + 1] and rows[index + 1].lower or ""
        local whole = text .. " " .. below
        return inset or bullet or row.text, refine_kind(kind, text), retry_after(whole)
      end
    end
    replies_below = replies_below or bullet ~= nil
  end
  return nil
end

local function error_state(view)
  if view.last_intent == "prompt_submitted" and is_stale(view) then
    return nil
  end
  local message, kind, seconds = error_banner(view)
  if not message then
    return nil
  end
  local block = { kind = kind, message = said(message), retry_after_s = seconds }
  return verdict("error", 0.72, "error banner: " .. kind, { error = block })
end

-- Rules 13 and 15: usage ------------------------------------------------------------------------------------------

-- Rows of the panel, `label: value`, and the names that they get.
local USAGE_FIELDS = {
  ["total cost"] = "total_cost",
  ["total duration (api)"] = "api_duration",
  ["total duration (wall)"] = "wall_duration",
  ["total code changes"] = "code_changes",
  ["usage"] = "tokens",
}
local USAGE_SCOPES = { "session", "week", "duration" }
local LIMIT_HEADS = { "current session", "current week" }
local LIMIT_ROWS = 4

-- The rows of the latest turn that no reply has said: a panel, or what a command printed.
local function panel_rows(view)
  local found = {}
  for index = view.submitted + 1, #view.rows do
    local row = view.rows[index]
    if is_bullet(row) then
      break
    end
    found[#found + 1] = (callout(row) or row.text)
  end
  return found
end

local function read_limit(texts, head)
  local limit = { name = texts[head] }
  for index = head + 1, math.min(#texts, head + LIMIT_ROWS) do
    local text = texts[index]
    local percent = text:match("(%d+)%% used")
    limit.used_percent = limit.used_percent or math.tointeger(tonumber(percent))
    limit.resets = limit.resets or text:match("^[Rr]esets%s+(.*)$")
    if starts_any(text:lower(), LIMIT_HEADS) then
      break
    end
  end
  return limit
end

local function read_usage(view)
  local texts = panel_rows(view)
  local usage, limits, seen = {}, {}, {}
  local scoped, mentions_usage = false, false
  for index, text in ipairs(texts) do
    local lower = text:lower()
    local label, value = lower:match("^([%a %(%)]+):()%s+%S")
    local field = label and USAGE_FIELDS[label]
    if field then
      usage[field] = said(trim(text:sub(value)))
    end
    local head = starts_any(lower, LIMIT_HEADS)
    if head then
      seen[head] = true
      limits[#limits + 1] = read_limit(texts, index)
    end
    scoped = scoped or has_any(lower, USAGE_SCOPES)
    mentions_usage = mentions_usage or has(lower, "usage")
  end
  if #limits > 0 then
    usage.limits = limits
  end
  local costs = usage.total_cost and scoped and mentions_usage
  local both_limits = seen[LIMIT_HEADS[1]] and seen[LIMIT_HEADS[2]]
  return (costs or both_limits) and usage or nil
end

local function usage_after_prompt(view)
  view.usage = read_usage(view)
  if view.usage and view.last_intent == "prompt_submitted" and view.stable then
    return verdict("completed_turn", 0.86, "usage panel", { usage = view.usage })
  end
end

-- Beside rule 14: the turn was interrupted, by a denied dialog or from the keyboard. No marker will come for it.
local function interrupted_turn(view)
  if view.last_intent ~= "prompt_submitted" or not view.input or view.marker or is_stale(view) then
    return nil
  end
  for index = view.input - 1, view.submitted + 1, -1 do
    local row = view.rows[index]
    local inset = callout(row)
    if inset and starts(inset:lower(), "interrupted") then
      return verdict("waiting_for_user_input", 0.62, "the turn was interrupted")
    end
    if is_bullet(row) then
      return nil
    end
  end
end

-- Rule 14: a prompt is out and its turn has not ended.
local function turn_under_way(view)
  if view.last_intent ~= "prompt_submitted" then
    return nil
  end
  if is_unsent(view) then
    return verdict("thinking", 0.6, "the prompt still stands in the input box")
  end
  if not view.marker then
    return verdict("thinking", 0.6, "prompt submitted, no completion marker")
  end
  if is_stale(view) then
    return verdict("thinking", 0.6, "prompt submitted, not drawn yet")
  end
end

local function usage_screen(view)
  if view.usage then
    return verdict("usage_screen", 0.74, "usage panel", { usage = view.usage })
  end
end

-- Rule 16: panels of the program itself ---------------------------------------------------------------------------

local PANEL_TITLES = {
  "claude code health",
  "mcp servers",
  "manage mcp servers",
  "installed plugins",
  "select theme",
  "resume conversation",
  "resume session",
  "rate limit options",
  "extra usage",
  "settings  status",
  "help  general",
  "agents  running",
  "diagnostics",
}
local PANEL_WORDS = { "tasks", "agents", "theme" }
local PANEL_HINTS = { "esc to cancel", "esc to close", "enter to confirm", "enter confirm", "enter to close", "↑/↓" }

local function local_panel(view)
  if view.conversation or not has_any(view.lower, PANEL_HINTS) then
    return nil
  end
  for _, row in ipairs(view.rows) do
    if starts_any(row.lower, PANEL_TITLES) or is_one_of(row.lower, PANEL_WORDS) then
      return verdict("local_ui_screen", 0.68, "local panel: " .. said(row.text))
    end
  end
end

-- Rules 17 and 18: the turn has ended -----------------------------------------------------------------------------

local function completed(view)
  if view.last_intent ~= "prompt_submitted" or not view.marker or not shows_prompt(view.rows) then
    return nil
  end
  if view.stable then
    return verdict("completed_turn", 0.78, "completion marker, stable screen")
  end
  return verdict("completed_turn", 0.7, "completion marker")
end

-- Rule 19: the welcome panel --------------------------------------------------------------------------------------

local WELCOME_TITLES = { "welcome back", "claude code v", "welcome to claude code" }
local WELCOME_PROOFS = { "tips", "what's new", "ask claude to", "/release-notes", "/help" }

-- The panel stays on the screen above a conversation; a prompt that was sent tells the two apart.
local function welcome(view)
  if view.last_intent == "prompt_submitted" or view.submitted > 0 or not shows_prompt(view.rows) then
    return nil
  end
  if has_any(view.body_lower, WELCOME_TITLES) and has_any(view.body_lower, WELCOME_PROOFS) then
    return verdict("starting", 0.7, "welcome panel")
  end
end

-- Rules 20 and 21: what is left -----------------------------------------------------------------------------------

local function user_input(view)
  if shows_prompt(view.rows) then
    return verdict("waiting_for_user_input", 0.62, "input prompt")
  end
end

local function otherwise(view)
  return verdict(view.last_intent or "ready", 0.2, "no rule matched")
end

-- The first that holds wins.
local RULES = {
  exited,
  blank,
  cancelling,
  login,
  trust,
  external_editor,
  model_picker,
  enter_plan_mode,
  plan_approval,
  permission,
  suppressed_permission,
  question,
  thinking,
  error_state,
  usage_after_prompt,
  interrupted_turn,
  turn_under_way,
  usage_screen,
  local_panel,
  completed,
  welcome,
  user_input,
  otherwise,
}

-- What every state carries ----------------------------------------------------------------------------------------

local PERMISSION_MODES = {
  { "bypass permissions on", "bypass" },
  { "auto mode on", "auto" },
  { "plan mode on", "plan" },
  { "accept edits on", "accept_edits" },
}

-- Brackets around these are keys to press, not the name of a model.
local KEY_HINTS = { "enter", "esc", "tab" }

local function read_status(text)
  local status = {}
  for _, row in ipairs(read_rows(text)) do
    if not is_prompt(row) then
      for name in row.text:gmatch("%[([^%[%]]+)%]") do
        if not is_one_of(name:lower(), KEY_HINTS) then
          status.model = said(name)
        end
      end
    end
  end
  local lower = text:lower()
  for _, mode in ipairs(PERMISSION_MODES) do
    if has(lower, mode[1]) then
      status.permission_mode = mode[2]
      break
    end
  end
  return next(status) and status or nil
end

-- Where the turn stands in the transcript, in characters, and whether its end is marked already. The host keeps marks
-- when this file is loaded anew, so they are asked first. A mark at the beginning itself is of the turn before.
local function turn_span(ctx)
  local markers = type(ctx.markers) == "table" and ctx.markers or {}
  local from, to = markers.turn_start, markers.turn_end
  local is_marked = from ~= nil and to ~= nil and to > from
  local span = from and { turn_start = from, turn_end = is_marked and to or ctx.cursor }
  return span, is_marked or turn_end_marked
end

-- Events ----------------------------------------------------------------------------------------------------------
--
-- A screen shows what there is, not what happened. Events are what two looks at the same turn differ in: text that
-- grew, tool rows that came, callouts that changed. What was drawn and gone between two looks is lost, and text that
-- was redrawn differently is not told again; `turn_complete` carries what the last look saw.

local follower = {}

-- In a block of its own, because a function of Lua has room for 200 locals, and this file is one.
do
  local function event_bytes(event)
    return #(event.text or event.result or event.message or event.input or event.summary or "")
  end

  -- What was returned stays: the next who asks may not have seen it.
  local function emit(event)
    journal.seq = journal.seq + 1
    event.seq = journal.seq
    event.text = event.text and clip(event.text, MAX_EVENT_TEXT)
    local events = journal.events
    events[#events + 1] = event
    journal.bytes = journal.bytes + event_bytes(event)
    while #events > MAX_EVENTS or journal.bytes > MAX_EVENT_BYTES do
      journal.bytes = journal.bytes - event_bytes(table.remove(events, 1))
    end
  end

  function follower.events_after(seq)
    local news = {}
    for _, event in ipairs(journal.events) do
      if event.seq > seq then
        news[#news + 1] = event
      end
    end
    return news
  end

  -- A tool row of the turn. While a tool runs its bullet blinks, so the row may begin with two spaces instead.
  local function tool_head(rows, index)
    local row = rows[index]
    local text = after_bullet(row)
    if not text then
      local below = rows[index + 1]
      text = starts(row.raw, "  ") and below and callout(below) and row.text or ""
    end
    return call_parts(text)
  end

  -- Replies stand two columns in; what they indent further is theirs.
  local function reply_line(row)
    return (starts(row.raw, "  ") and row.raw:sub(3) or row.raw):match("^.*%S") or ""
  end

  -- The row of the prompt that began the turn; 0 if it scrolled away. Prompts that steered the turn stand below it.
  local function turn_beginning(view)
    for index = view.submitted, 1, -1 do
      local row = view.rows[index]
      if is_sent_prompt(row) and (row.text == turn.drawn or shows_head(row, turn.prompts[1])) then
        return index
      end
    end
    return turn.drawn and 0 or view.submitted
  end

  -- Splits the rows of the turn into lines of text and tools with what their callouts say; `above` says how many of the
  -- lines stand above a tool. Also tells whether the last rows are text.
  local function read_turn(view, beginning)
    local rows, lines, tools = view.rows, {}, {}
    -- Where the beginning of the turn was seen and scrolled away, the first rows are what is left of a reply.
    local tool, in_text = nil, beginning == 0 and turn.drawn ~= nil
    local last = (view.marker or view.input or #rows + 1) - 1
    for index = beginning + 1, last do
      local row = rows[index]
      local name, input = tool_head(rows, index)
      local inset = callout(row)
      if starts(row.raw, "────") or is_spinner(row) then
        break
      elseif is_sent_prompt(row) then
        tool, in_text = nil, false
      elseif name then
        tool, in_text = { head = name .. "(" .. input, name = name, input = input, notes = {}, above = #lines }, false
        tools[#tools + 1] = tool
      elseif is_bullet(row) then
        tool, in_text = nil, not is_collapsed_work(row)
        lines[#lines + 1] = in_text and after_bullet(row) or nil
      elseif inset or (tool and not in_text) then
        if tool and (inset or not is_blank(row)) then
          tool.notes[#tool.notes + 1] = inset or row.text
        end
        in_text = false
      elseif in_text and not ends(row.text, EXPAND_HINT) then
        lines[#lines + 1] = reply_line(row)
      end
    end
    while lines[#lines] == "" do
      lines[#lines] = nil
    end
    return lines, tools, in_text
  end

  -- A reply that still grows may move its last word to the next row, so that word is not told yet.
  local function hold_back_last_word(lines)
    local line = lines[#lines]
    lines[#lines] = line and line:match("^(.*%S)%s+%S*$")
  end

  -- How many of the items in `seen` lie above the first of `shown`, so that the two agree where they overlap. Only the
  -- last seen one may have grown since. Nothing agrees if the turn was redrawn differently, which the caller tells by
  -- `is_whole` (its beginning is on the screen), or if all of `seen` scrolled away.
  local function overlap(seen, shown, is_whole)
    for offset = math.max(0, #seen - #shown), #seen do
      local fits = true
      for index = offset + 1, #seen do
        local now = shown[index - offset]
        if not (now == seen[index] or (index == #seen and starts(now, seen[index]))) then
          fits = false
          break
        end
      end
      if fits and (offset < #seen or #seen == 0) then
        return offset
      end
    end
    return is_whole and 0 or #seen
  end

  -- What each of the lines adds to those that were told: nothing, the rest of the last one told, or itself. Of lines
  -- that were redrawn, only those beyond the old ones are new. Remembers the lines as told.
  local function take_news(lines, is_whole)
    local seen, news = turn.lines, {}
    local offset = overlap(seen, lines, is_whole)
    local known = #seen - offset
    for index, line in ipairs(lines) do
      if index > known then
        news[index] = (index + offset > 1 and "\n" or "") .. line
      elseif index == known and starts(line, seen[#seen]) then
        news[index] = line:sub(#seen[#seen] + 1)
      else
        news[index] = ""
      end
    end
    table.move(lines, 1, #lines, offset + 1, seen)
    if #seen > MAX_LINES then
      turn.lines = table.move(seen, #seen - MAX_LINES + 1, #seen, 1, {})
    end
    return news
  end

  local RUNNING = { "running", "waiting", "in progress" }
  local TOOL_FAILURES = {
    { "error", "error" },
    { "interrupted", "cancelled" },
    { "user rejected", "denied" },
  }

  local function tool_status(note)
    for _, failure in ipairs(TOOL_FAILURES) do
      if starts(note, failure[1]) then
        return failure[2]
      end
    end
    return "completed"
  end

  -- Tells what is new about one tool. Its callout counts seconds while it runs; the count alone is no news.
  local function follow_tool(known, shown, is_over)
    local note = shown.notes[1] or ""
    local lower = note:lower()
    local running = note == "" or starts_any(lower, RUNNING) ~= nil
    if known.done then
      return
    end
    if running and not is_over then
      local summary = trim((note:gsub("%b()", "")))
      if summary ~= "" and summary ~= known.summary then
        known.summary = summary
        emit({ kind = "tool_progress", id = known.id, summary = said(summary) })
      end
      return
    end
    known.done = true
    local status = running and "completed" or tool_status(lower)
    local result = not running and said(table.concat(shown.notes, "\n")) or nil
    emit({ kind = "tool_completed", id = known.id, status = status, result = result })
  end

  -- How many of the turn's tools lie above the first one on the screen.
  local function tools_above(tools, is_whole)
    local heads = {}
    for index, tool in ipairs(tools) do
      heads[index] = tool.head
    end
    return overlap(turn.heads, heads, is_whole)
  end

  local function start_tool(at, tool)
    local known = { id = string.format("t%d.%d", turn.number, at) }
    turn.tools[at] = known
    local input = tool.input ~= "" and said(tool.input) or nil
    emit({ kind = "tool_started", id = known.id, name = tool.name, input = input })
    return known
  end

  -- Tells the news in the order in which they stand on the screen. Line breaks before a tool go to the text after it.
  local function tell_in_order(news, tools, above, is_over)
    local pending, next_line = "", 1
    local function tell_text(last, pattern)
      pending = pending .. table.concat(news, "", next_line, math.max(last, next_line - 1))
      next_line = math.max(last + 1, next_line)
      local text = pending:match(pattern) or ""
      if text ~= "" then
        emit({ kind = "text_delta", text = scrub(text) })
      end
      pending = pending:sub(#text + 1)
    end
    for index, tool in ipairs(tools) do
      tell_text(math.min(tool.above, #news), "^.*%S")
      local at = above + index
      turn.heads[at] = tool.head
      follow_tool(turn.tools[at] or start_tool(at, tool), tool, is_over)
    end
    tell_text(#news, "^.*$")
  end

  local function complete_turn()
    turn.over = true
    local text = scrub(table.concat(turn.lines, "\n"))
    emit({ kind = "turn_complete", text = text ~= "" and text or nil })
  end

  -- Tools whose end scrolled away unseen have ended with the turn.
  local function close_tools()
    for _, known in ipairs(turn.tools) do
      if not known.done then
        known.done = true
        emit({ kind = "tool_completed", id = known.id, status = "completed" })
      end
    end
  end

  local function follow_rows(view, state)
    local is_over = state.state == "completed_turn" or state.state == "error" or state.state == "exited"
    local beginning = turn_beginning(view)
    local is_whole = beginning > 0
    turn.drawn = turn.drawn or is_whole and view.rows[beginning].text or nil
    local lines, tools, is_growing = read_turn(view, beginning)
    if is_growing and not is_over then
      hold_back_last_word(lines)
    end
    -- An error is told as an error, not once more as text.
    local is_told = #lines > 0 and state.state ~= "error"
    local news = is_told and take_news(lines, is_whole) or {}
    tell_in_order(news, tools, tools_above(tools, is_whole), is_over)
    if is_over then
      close_tools()
    end
  end

  function follower.follow(view, state)
    if not turn or turn.over then
      return
    end
    if shows_this_turn(view) then
      follow_rows(view, state)
      local failure = state.metadata and state.metadata.error
      if failure then
        turn.over = true
        emit({ kind = "error", category = failure.kind, message = failure.message })
      end
    end
    if state.state == "completed_turn" then
      complete_turn()
    end
  end
end

-- Classification --------------------------------------------------------------------------------------------------

local M = {}

function M.classify(ctx)
  dialog = nil
  local view = read_view(ctx)
  local state
  for _, rule in ipairs(RULES) do
    state = rule(view, ctx)
    if state then
      break
    end
  end
  local metadata = state.metadata or {}
  metadata.status = read_status(view.status)
  if state.state == "completed_turn" then
    local is_marked
    metadata.transcript, is_marked = turn_span(ctx)
    turn_end_marked = true
    if not is_marked then
      state.host_marks = { { label = "turn_end" } }
    end
  end
  state.metadata = next(metadata) and metadata or nil
  follower.follow(view, state)
  latest = read_latest(view)
  local events = follower.events_after(tonumber(ctx.last_event_seq) or 0)
  state.events = #events > 0 and events or nil
  state.candidates = {}
  state.sequence = ctx.sequence or 0
  return state
end

-- Intents ---------------------------------------------------------------------------------------------------------

-- How a prompt is sent, in one place: some versions need more than one Enter around the paste.
local function prompt_actions(prompt)
  return { action.mark_transcript("turn_start"), action.bracketed_paste(prompt), action.key("enter") }
end

-- How a turn is interrupted. Newer versions also take Escape.
local function cancel_actions()
  return { action.interrupt() }
end

local function fail(...)
  error(table.concat({ ... }), 0)
end

-- A string from the params; nil if there is none or it is blank.
local function given(params, name)
  local value = kit.object(params)[name]
  if type(value) ~= "string" or not value:find("%S") then
    return nil
  end
  return value
end

-- Refuses to answer a dialog that is not on the screen any more. A caller who names none is not held up.
local function check_dialog(params)
  local supplied = kit.object(params).dialog_id
  if type(supplied) ~= "string" and type(supplied) ~= "number" then
    return
  end
  supplied = clip(tostring(supplied), 64)
  if not dialog then
    fail("stale_dialog: supplied dialog_id=", supplied, " but no dialog is currently active")
  end
  if supplied ~= dialog.id then
    fail("stale_dialog: supplied dialog_id=", supplied, " but the current dialog is ", dialog.id)
  end
end

local function pressing(...)
  local actions = {}
  for _, name in ipairs({ ... }) do
    actions[#actions + 1] = action.key(name)
  end
  return { actions = actions }
end

local function typing_line(text)
  return { actions = { action.text(text), action.key("enter") } }
end

function M.send_prompt(params)
  local prompt = given(params, "prompt")
  if not prompt then
    return { actions = {}, last_intent = "" }
  end
  turn_end_marked = false
  local number = turn and turn.number + 1 or 1
  turn = { number = number, prompts = { prompt_head(trim(prompt)) }, lines = {}, heads = {}, tools = {}, over = false }
  -- `drawn` is the row of its first prompt, once it was seen.
  turn.before, turn.drawn = latest, nil
  return { actions = prompt_actions(prompt), last_intent = "prompt_submitted" }
end

-- A prompt into a running turn; the turn stays the one that is waited for.
function M.steer(params)
  local prompt = given(params, "prompt")
  if not prompt then
    return { actions = {} }
  end
  if turn and #turn.prompts < MAX_PROMPTS then
    turn.prompts[#turn.prompts + 1] = prompt_head(trim(prompt))
  end
  return { actions = { action.bracketed_paste(prompt), action.key("enter") } }
end

-- Enter takes the answer that has the focus. Who names the dialog wants its first answer, so the focus goes there.
function M.approve(params)
  check_dialog(params)
  local named = kit.object(params).dialog_id ~= nil
  local keys = {}
  for _ = 2, named and dialog and dialog.focus or 1 do
    keys[#keys + 1] = "up"
  end
  keys[#keys + 1] = "enter"
  return pressing(table.unpack(keys))
end

function M.deny(params)
  check_dialog(params)
  return pressing("escape")
end

-- In this dialog a bare Enter did not always choose the first answer, so the answer is typed.
local function answer_trust(params, answer, number)
  check_dialog(params)
  local menu = dialog and dialog.menu
  if not menu then
    return typing_line(number)
  end
  local keys, step = {}, menu[answer] - menu.focus
  for _ = 1, math.abs(step) do
    keys[#keys + 1] = step > 0 and "down" or "up"
  end
  keys[#keys + 1] = "enter"
  return pressing(table.unpack(keys))
end

function M.approve_trust(params)
  return answer_trust(params, "yes", "1")
end

function M.deny_trust(params)
  return answer_trust(params, "no", "2")
end

function M.cancel()
  return { actions = cancel_actions(), last_intent = "cancelling" }
end

function M.force_cancel()
  return { actions = { action.key("escape"), action.key("escape") }, last_intent = "cancelling" }
end

function M.dismiss_welcome()
  return pressing("enter")
end

-- The number that a label stands for: the same label first, then one that contains it.
local function option_number(options, wanted)
  wanted = trim(wanted):lower()
  for number, label in ipairs(options) do
    if label:lower() == wanted then
      return number
    end
  end
  for number, label in ipairs(options) do
    if wanted ~= "" and has(label:lower(), wanted) then
      return number
    end
  end
  return nil
end

function M.choose_option(params)
  check_dialog(params)
  params = kit.object(params)
  local wanted = params.index or params.option or params.choice
  if type(wanted) ~= "number" and type(wanted) ~= "string" then
    fail("choose_option: index, option or choice is required")
  end
  local options = dialog and dialog.options or {}
  if #options == 0 then
    fail("choose_option: no options are on the screen")
  end
  local number = math.tointeger(tonumber(wanted))
  if not tonumber(wanted) then
    number = option_number(options, wanted)
    if not number then
      fail("choose_option: no option is called `", clip(scrub(wanted), 64), "`")
    end
  elseif not number or number < 1 or number > #options then
    fail("choose_option: index ", clip(tostring(wanted), 32), " is not between 1 and ", tostring(#options))
  end
  return typing_line(string.format("%d", number))
end

function M.slash_command(params)
  local name = trim((given(params, "command") or given(params, "name") or ""):gsub("^%s*/+", ""))
  if name == "" then
    return { actions = {} }
  end
  if name:find("[\r\n]") then
    fail("slash_command: command must be one line")
  end
  return { actions = { action.bracketed_paste("/" .. name), action.key("enter") } }
end

function M.attach_file(params)
  local path = given(params, "path")
  if not path then
    fail("attach_file: path is required")
  end
  if path:find("[\r\n]") then
    fail("attach_file: path must not contain a newline")
  end
  return { actions = { action.bracketed_paste(path) } }
end

function M.expand()
  return pressing("ctrl_o")
end

function M.model_effort_left()
  return pressing("left")
end

function M.model_effort_right()
  return pressing("right")
end

function M.key(params)
  local key = kit.object(params).key
  if type(key) ~= "string" or key == "" then
    fail("key: key is required")
  end
  local name = key:gsub("%-", "_")
  if kit.key_names[name] then
    return pressing(name)
  end
  return { actions = { action.text(key) } }
end

-- Waits -----------------------------------------------------------------------------------------------------------

-- Texts that can end a wait, as they are spelled on the screen. They wake the wait; the classifier decides.
local WAKE_TEXTS = {
  "Do you want to proceed",
  "Do you want to make this edit",
  "Do you want to create",
  "Do you want to overwrite",
  "Do you want to write",
  "Do you want to allow Claude",
  "[Enter]",
  "[enter]",
  "aiting for permission",
  "Ready to code?",
  "Exit plan mode?",
  "Enter plan mode?",
  "Enter to select",
  "Yes, proceed",
  "Yes, I trust this folder",
  "No, exit",
  "ress Enter to log in",
  "pen the link",
  "Select login method:",
  "Paste code here if prompted",
  "ave and close editor to continue",
  "Select model",
  "Select a model",
  "Switch to model:",
  "Switch between Claude models",
  "Choose a model:",
  "Available models:",
  "Total cost",
  "Current week",
}

-- Rows down to the input box, with no newer prompt between: what stands above them is of the latest turn. Earlier turns
-- stay on the screen, and a spinner rests now and then for as long as a screen must be stable.
local TO_INPUT = [[(?:\n(?:[^❯\n][^\n]*)?)*?\n(?:[\s│]*[❯>][\s│]*$|─{4,}[^\n]*\n[\s│]*❯)]]
local WAKE_MARKER = [[(?m)^\s*✻ \S+ for \d[^\n]*]] .. TO_INPUT
local WAKE_INTERRUPTED = [[(?m)^\s*⎿\s*Interrupted[^\n]*]] .. TO_INPUT

-- Error banners and the plan list are words of every second reply, so they count only at the beginning of a row. A
-- bare `Error:` in a callout is how a tool failed, unless it answers the prompt itself.
local WAKE_BANNER = [[(?mi)^\s*(?:[⎿●⏺]\s*)?(?:api error|request failed|5-hour limit|rate limit reached|]]
  .. [[you['’]ve (?:used|reached|hit) your|credit balance is too low|connection (?:error|issue)|could not connect|]]
  .. [[network error|unable to connect to anthropic|please retry|press r to retry|invalid api key|]]
  .. [[authentication failed|unauthorized|oauth failed|not logged in · please)]]
local WAKE_ERROR = [[(?mi)^(?:❯ [^\n]*\n\s*⎿)?\s*error:]]
local WAKE_PLAN = [[(?mi)^[\s│]*plan\b.*\n[\s│]*1[.)]\s]]

local function stable_for(params)
  local needed = tonumber(kit.object(params).completed_turn_stable_ms) or DEFAULT_STABLE_MS
  return matcher.screen_stable(math.max(0, math.floor(needed)))
end

function M.wait_turn_matcher(params)
  local ends_turn = {
    matcher.screen_regex(WAKE_MARKER),
    matcher.screen_regex(WAKE_INTERRUPTED),
    matcher.screen_regex(WAKE_BANNER),
    matcher.screen_regex(WAKE_ERROR),
    matcher.screen_regex(WAKE_PLAN),
    matcher.process_exited(),
  }
  for _, text in ipairs(WAKE_TEXTS) do
    ends_turn[#ends_turn + 1] = matcher.contains_text(text)
  end
  return matcher.all({ stable_for(params), matcher.any(ends_turn) })
end

function M.wait_cancel_settled_matcher(params)
  return stable_for(params)
end

-- What there is ---------------------------------------------------------------------------------------------------

local INTENTS = [[approve approve_trust attach_file cancel choose_option deny deny_trust dismiss_welcome expand
  force_cancel key model_effort_left model_effort_right send_prompt slash_command steer]]

local STATES = [[starting ready prompt_submitted thinking waiting_for_permission waiting_for_plan_approval
  waiting_for_trust waiting_for_user_input waiting_for_login waiting_for_model_select waiting_for_enter_plan_mode
  waiting_for_external_editor usage_screen local_ui_screen completed_turn cancelling exited error plugin_error]]

function M.describe()
  return {
    intents = kit.names(INTENTS),
    wait_matchers = kit.names("wait_turn_matcher wait_cancel_settled_matcher"),
    states = kit.names(STATES),
  }
end

return M
