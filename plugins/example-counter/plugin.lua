-- Reads and drives a small program that counts: it prints "count: 3> ", reads a number and adds it.

local action, matcher, kit = ptywright.action, ptywright.matcher, ptywright.kit

-- What the last classification saw. It lives as long as the adapter.
local shown

local function classify(ctx)
  shown = nil
  if ctx.exited then
    return kit.report(ctx, "exited", 1, "the program has ended")
  end
  -- The prompt is the last line of the screen.
  local count = ctx.screen:match("count: (%-?%d+)> *$")
  if count then
    shown = math.tointeger(tonumber(count))
    return kit.report(ctx, "waiting_for_number", 0.9, "prompt with " .. count, { count = shown })
  elseif ctx.last_intent == "number_sent" then
    return kit.report(ctx, "counting", 0.6, "a number was sent, and no prompt since")
  end
  return kit.report(ctx, "starting", 0.4, "no prompt yet")
end

-- Adds a number.
local function add(params)
  local by = math.tointeger(params.by or 1)
  if not by then
    error("add: `by` must be a whole number", 0)
  end
  return { actions = { action.text(tostring(by)), action.key("enter") }, last_intent = "number_sent" }
end

-- Takes off what has been counted. That takes a classification, so that the count is known.
local function reset()
  if not shown then
    error("reset: no count is on the screen", 0)
  end
  return add({ by = -shown })
end

-- Ends the program.
local function stop()
  return { actions = { action.eof() }, last_intent = "" }
end

local function wait_turn_matcher(params)
  return matcher.any({
    matcher.process_exited(),
    matcher.all({
      matcher.screen_regex("count: -?[0-9]+> *$"),
      matcher.screen_stable(params.completed_turn_stable_ms),
    }),
  })
end

-- A predicate, for a matcher of the type `lua`: has the count reached `params.least`?
local function reached(input)
  local count = input.screen:match("count: (%-?%d+)> *$")
  if count and tonumber(count) >= input.params.least then
    return { matched = true, evidence = "the count is " .. count, capture = count }
  end
  return false
end

local function describe()
  return {
    intents = { { name = "add", params = { by = "integer" } }, { name = "reset" }, { name = "stop" } },
    wait_matchers = kit.names("wait_turn_matcher"),
    states = kit.names("starting waiting_for_number counting exited"),
  }
end

return {
  classify = classify,
  add = add,
  reset = reset,
  stop = stop,
  wait_turn_matcher = wait_turn_matcher,
  reached = reached,
  describe = describe,
}
