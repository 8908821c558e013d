-- Repeats what it is told; for the vectors.
local act, match = ptywright.action, ptywright.matcher
local plugin = {}
local count = 0

function plugin.classify(ctx)
  count = count + 1
  local state = "listening"
  if ctx.exited then
    state = "exited"
  elseif ctx.last_intent == "asked" then
    state = "asked"
  end
  return {
    state = state,
    confidence = 0.12345,
    evidence = "first line: " .. (ctx.screen:match("[^\n]*") or ""),
    sequence = ctx.sequence,
    metadata = { stable = ctx.stable_ms ~= nil, markers = ctx.markers, count = count },
  }
end

function plugin.say(params)
  return { actions = { act.mark_transcript("said"), act.text(params.text .. "\n") }, last_intent = "asked" }
end

function plugin.forget()
  return { actions = {}, last_intent = "" }
end

function plugin.nothing()
  return { actions = {} }
end

function plugin.stop()
  return { actions = { act.kill() } }
end

function plugin.grow()
  return { actions = { { type = "text", value = "never typed\n" }, { type = "resize", value = { rows = 9, cols = 9, pixel_width = 0, pixel_height = 0 } } } }
end

function plugin.nonsense()
  return { actions = { { type = "dance" } } }
end

function plugin.fail()
  error("no such luck")
end

function plugin.wait_turn_matcher(params)
  return match.all({
    match.any({ match.contains_text("never"), match.screen_regex("h(el+)o") }),
    match.screen_stable(params.completed_turn_stable_ms),
  })
end

function plugin.wait_text_matcher(params)
  return match.contains_text(params.text)
end

function plugin.wait_lua_matcher(params)
  return { type = "lua", value = { plugin = "parrot", predicate = "shows", params = params } }
end

function plugin.wait_bad_matcher()
  return { type = "moon" }
end

function plugin.shows(input)
  local from = input.screen:find(input.params.text, 1, true)
  if from then
    return { matched = true, evidence = "at " .. from, capture = input.params.text }
  end
end

return plugin
