-- A plugin whose fixtures are wrong, to test the runner of fixtures.
return {
  classify = function(ctx)
    return {
      state = "ready",
      confidence = 0.5,
      evidence = "saw " .. ctx.screen,
      sequence = ctx.sequence,
      metadata = { a = { b = 1, c = { 1, 2 } } },
    }
  end,
  act = function()
    return { actions = {}, last_intent = "acted" }
  end,
  fail = function()
    error("this")
  end,
  wait_matcher = function()
    return { type = "contains_text", value = "hello" }
  end,
}
