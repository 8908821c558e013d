-- Runs once in every new VM, before the plugin: takes away what plugins may not have, and puts counted
-- functions in the place of those that could run for long without being counted.
-- Originals live on only as locals of this file, which nothing outside can reach.

local native, permissions = ...

local error, getmetatable, next, pairs, rawget = error, getmetatable, next, pairs, rawget
local select, tonumber, tostring, type = select, tonumber, tostring, type
local real_load, real_pcall = load, pcall
local real_concat, real_pack, real_unpack = table.concat, table.pack, table.unpack
local format, real_rep, sub = string.format, string.rep, string.sub
local tointeger, MAX_INTEGER = math.tointeger, math.maxinteger
local string_metatable = getmetatable("")

-- Longest string, longest text that can be loaded, and most values that can be unpacked at once.
local MAX_STRING = (1 << 31) - 1
local MAX_CHUNK = 1 << 16
local MAX_UNPACK = 1 << 16

-- Checking arguments. `level` leads to the plugin's own line.

local function bad(position, name, why, level)
  error(format("bad argument #%d to '%s' (%s)", position, name, why), (level or 3) + 1)
end

local function a_string(value, position, name)
  local kind = type(value)
  if kind == "string" then
    return value
  elseif kind == "number" then
    return tostring(value)
  end
  bad(position, name, "string expected, got " .. (value == nil and "no value" or kind))
end

local function an_integer(value, default, position, name)
  if value == nil and default then
    return default
  end
  local number = tonumber(value)
  local integer = number and tointeger(number)
  if integer then
    return integer
  elseif number then
    bad(position, name, "number has no integer representation")
  end
  bad(position, name, "number expected, got " .. (value == nil and "no value" or type(value)))
end

local function a_table(value, position, name)
  if type(value) ~= "table" then
    bad(position, name, "table expected, got " .. (value == nil and "no value" or type(value)))
  end
  return value
end

-- Base library.

local keep = {}
for name in
  ([[_G _VERSION assert error getmetatable ipairs load math next pairs pcall print rawequal rawget rawlen
  rawset select setmetatable string table tonumber tostring type utf8 xpcall]]):gmatch("%S+")
do
  keep[name] = true
end
for name in pairs(_G) do
  if not keep[name] then
    _G[name] = nil
  end
end
string.dump = nil

-- A limit that was hit ends the call; catching the error gains nothing.
local function settle(ok, ...)
  if ok then
    return true, ...
  end
  return false, native.caught((...))
end

local function pcall(f, ...)
  return settle(real_pcall(f, ...))
end
_G.pcall = pcall

-- The handler runs after the failed call, not inside of it: an error that the meter raises is raised where
-- nothing is counted, and a handler would run there for ever.
function xpcall(f, handler, ...)
  if type(handler) ~= "function" then
    bad(2, "xpcall", "function expected, got " .. type(handler), 2)
  end
  local function handle(ok, ...)
    if ok then
      return true, ...
    end
    return false, (select(2, pcall(handler, native.caught((...)))))
  end
  return handle(real_pcall(f, ...))
end

-- Only text, and the plugin's own globals.
function load(chunk, name, mode, ...)
  if type(chunk) ~= "string" then
    return nil, "only a string can be loaded"
  elseif #chunk > MAX_CHUNK then
    return nil, "chunk is too long"
  elseif mode ~= nil and mode ~= "t" and mode ~= "bt" then
    return nil, "only text can be loaded"
  end
  native.charge(#chunk)
  name = name ~= nil and a_string(name, 2, "load") or "=(load)"
  if select("#", ...) > 0 then
    return real_load(chunk, name, "t", (...))
  end
  return real_load(chunk, name, "t")
end

function print(...)
  local words = real_pack(...)
  for i = 1, words.n do
    words[i] = tostring(words[i])
  end
  native.log(real_concat(words, "\t", 1, words.n))
end

-- A table gets a copy of its metatable, with the events that are safe. Finalizers run where nothing is
-- counted, weak tables can keep the collector busy for minutes, and closing handlers would run while a call
-- is being ended: none of the three exists here.

local events = {
  "__index", "__newindex", "__call", "__tostring", "__name", "__len", "__eq", "__lt", "__le", "__concat",
  "__unm", "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__idiv", "__band", "__bor", "__bxor",
  "__bnot", "__shl", "__shr", "__pairs",
}
local refused = { "__gc", "__mode", "__close" }
local SEALED = {}

function setmetatable(object, metatable)
  a_table(object, 1, "setmetatable")
  if metatable ~= nil and type(metatable) ~= "table" then
    bad(2, "setmetatable", "nil or table expected", 2)
  end
  local old = native.get_metatable(object)
  if old and rawget(old, SEALED) then
    error("cannot change a protected metatable", 2)
  end
  if metatable == nil then
    native.set_metatable(object, nil)
    return object
  end
  for i = 1, #refused do
    if rawget(metatable, refused[i]) ~= nil then
      error(format("metatables with %s are not available to plugins", refused[i]), 2)
    end
  end
  local copy = {}
  for i = 1, #events do
    local event = events[i]
    copy[event] = rawget(metatable, event)
  end
  local shown = rawget(metatable, "__metatable")
  if shown == nil then
    copy.__metatable = metatable
  else
    copy.__metatable = shown
    copy[SEALED] = true
  end
  native.set_metatable(object, copy)
  return object
end

string_metatable.__metatable = false

-- Strings. The matching itself is native, and counted there.

-- Where to begin, counted from 0.
local function beginning(init, length, name)
  init = an_integer(init, 1, 3, name)
  if init > 0 then
    return init - 1
  elseif init == 0 or init < -length then
    return 0
  end
  return length + init
end

-- Called as a tail call, so that level 2 is the plugin.
local function answer(ok, ...)
  if ok then
    return ...
  elseif ok == false then
    error((...), 2)
  end
  return nil
end

function string.find(s, pattern, init, plain)
  s, pattern = a_string(s, 1, "find"), a_string(pattern, 2, "find")
  return answer(native.find(s, pattern, init and beginning(init, #s, "find") or 0, plain and true or false))
end

function string.match(s, pattern, init)
  s, pattern = a_string(s, 1, "match"), a_string(pattern, 2, "match")
  return answer(native.match(s, pattern, init and beginning(init, #s, "match") or 0))
end

function string.gmatch(s, pattern, init)
  s, pattern = a_string(s, 1, "gmatch"), a_string(pattern, 2, "gmatch")
  local at, last = beginning(init, #s, "gmatch"), nil
  local function advance(ok, _, to, ...)
    if ok then
      at, last = to, to
      return ...
    elseif ok == false then
      error(_, 2)
    end
    at = #s + 1
    return nil
  end
  return function()
    return advance(native.step(s, pattern, at, last, false, false))
  end
end

local function gsub_by(s, pattern, replacement, most)
  local anchored = sub(pattern, 1, 1) == "^"
  local by_function = type(replacement) == "function"
  local pieces, n, count, at, last = {}, 0, 0, 0, nil
  local function apply(ok, from, to, first, ...)
    if ok == false then
      error(from, 4)
    elseif ok and by_function then
      return from, to, (replacement(first, ...))
    elseif ok then
      return from, to, replacement[first]
    end
  end
  while count < most do
    local from, to, value = apply(native.step(s, pattern, at, last, anchored, not by_function))
    if not from then
      break
    end
    count = count + 1
    if not value then
      value = sub(s, from + 1, to)
    elseif type(value) ~= "string" and type(value) ~= "number" then
      error(format("invalid replacement value (a %s)", type(value)), 3)
    end
    pieces[n + 1], pieces[n + 2] = sub(s, at + 1, from), value
    n, at, last = n + 2, to, to
    if anchored then
      break
    end
  end
  pieces[n + 1] = sub(s, at + 1)
  return real_concat(pieces), count
end

function string.gsub(s, pattern, replacement, most)
  s, pattern = a_string(s, 1, "gsub"), a_string(pattern, 2, "gsub")
  most = an_integer(most, #s + 1, 4, "gsub")
  local kind = type(replacement)
  if kind == "number" then
    replacement, kind = tostring(replacement), "string"
  end
  if kind == "string" then
    return answer(native.replace(s, pattern, replacement, most))
  elseif kind == "table" or kind == "function" then
    local text, count = gsub_by(s, pattern, replacement, most)
    return text, count
  end
  bad(3, "gsub", "string/function/table expected, got " .. (replacement == nil and "no value" or kind), 2)
end

-- The original counts up to `n` even if there is nothing to repeat.
function string.rep(s, n, separator)
  s, n = a_string(s, 1, "rep"), an_integer(n, nil, 2, "rep")
  separator = separator == nil and "" or a_string(separator, 3, "rep")
  if n <= 0 or (s == "" and separator == "") then
    return ""
  elseif n > MAX_STRING // (#s + #separator) then
    error("resulting string too large", 2)
  end
  return real_rep(s, n, separator)
end

-- Tables. The originals trust `#`, which can be made to lie, and walk as far as it says in C.

function table.concat(t, separator, first, last)
  a_table(t, 1, "concat")
  separator = separator == nil and "" or a_string(separator, 2, "concat")
  first = an_integer(first, 1, 3, "concat")
  last = an_integer(last, nil == last and #t or nil, 4, "concat")
  local pieces, n = {}, 0
  for i = first, last do
    local value = t[i]
    if type(value) ~= "string" and type(value) ~= "number" then
      error(format("invalid value (%s) at index %d in table for 'concat'", type(value), i), 2)
    end
    n = n + 1
    pieces[n] = value
  end
  return real_concat(pieces, separator, 1, n)
end

function table.insert(t, ...)
  a_table(t, 1, "insert")
  local count, free = select("#", ...), #t + 1
  if count == 1 then
    t[free] = (...)
  elseif count == 2 then
    local position, value = ...
    position = an_integer(position, nil, 2, "insert")
    if position < 1 or position > free then
      bad(2, "insert", "position out of bounds", 2)
    end
    for i = free, position + 1, -1 do
      t[i] = t[i - 1]
    end
    t[position] = value
  else
    error("wrong number of arguments to 'insert'", 2)
  end
end

function table.remove(t, position)
  a_table(t, 1, "remove")
  local size = #t
  if position == nil then
    position = size
  else
    position = an_integer(position, nil, 2, "remove")
    if position ~= size and (position < 1 or position > size + 1) then
      bad(2, "remove", "position out of bounds", 2)
    end
  end
  local value = t[position]
  while position < size do
    t[position] = t[position + 1]
    position = position + 1
  end
  t[position] = nil
  return value
end

function table.move(from, first, last, to, into)
  a_table(from, 1, "move")
  first, last = an_integer(first, nil, 2, "move"), an_integer(last, nil, 3, "move")
  to = an_integer(to, nil, 4, "move")
  into = into == nil and from or a_table(into, 5, "move")
  if last < first then
    return into
  elseif first <= 0 and last >= MAX_INTEGER + first then
    bad(3, "move", "too many elements to move", 2)
  end
  local count = last - first + 1
  if to > MAX_INTEGER - count + 1 then
    bad(4, "move", "destination wrap around", 2)
  end
  if to > last or to <= first or into ~= from then
    for i = 0, count - 1 do
      into[to + i] = from[first + i]
    end
  else
    for i = count - 1, 0, -1 do
      into[to + i] = from[first + i]
    end
  end
  return into
end

function table.unpack(t, first, last)
  first = an_integer(first, 1, 2, "unpack")
  last = an_integer(last, nil == last and #t or nil, 3, "unpack")
  -- A difference below zero has wrapped around.
  if first <= last and (last - first >= MAX_UNPACK or last - first < 0) then
    error("too many results to unpack", 2)
  end
  return real_unpack(t, first, last)
end

-- Merges runs of `width` elements of `from` into `to`.
local function merge(from, to, n, width, before)
  for left = 1, n, 2 * width do
    local i, j = left, left + width
    local i_end = j - 1 < n and j - 1 or n
    local j_end = left + 2 * width - 1 < n and left + 2 * width - 1 or n
    for k = left, j_end do
      if i <= i_end and (j > j_end or not before(from[j], from[i])) then
        to[k] = from[i]
        i = i + 1
      else
        to[k] = from[j]
        j = j + 1
      end
    end
  end
end

function table.sort(t, before)
  a_table(t, 1, "sort")
  if before == nil then
    before = function(a, b)
      return a < b
    end
  elseif type(before) ~= "function" then
    bad(2, "sort", "function expected, got " .. type(before), 2)
  end
  local n = #t
  local from, to = {}, {}
  for i = 1, n do
    from[i] = t[i]
  end
  local width = 1
  while width < n do
    merge(from, to, n, width, before)
    from, to = to, from
    width = width * 2
  end
  for i = 1, n do
    t[i] = from[i]
  end
end

-- What plugins build actions and matchers with. What the manifest does not permit is not there.

local action, matcher = {}, {}
ptywright = { action = action, matcher = matcher }

-- The kit is read when it is first asked for: many plugins do without. The metatable is out of reach, because what
-- is written into one later, such as `__mode`, would count.
local kit
native.set_metatable(ptywright, {
  __index = function(_, name)
    if name == "kit" then
      kit = kit or native.kit(action, matcher)
      return kit
    end
    return nil
  end,
  __metatable = false,
  [SEALED] = true,
})

local function of_string(target, kind)
  target[kind] = function(value)
    return { type = kind, value = a_string(value, 1, kind) }
  end
end

local function alone(target, kind)
  target[kind] = function()
    return { type = kind }
  end
end

if permissions["input.write"] then
  of_string(action, "text")
  of_string(action, "paste")
  of_string(action, "bracketed_paste")
  of_string(action, "key")
  alone(action, "interrupt")
  alone(action, "eof")
  function action.mark_transcript(label)
    return { type = "mark_transcript", value = { label = a_string(label, 1, "mark_transcript") } }
  end
end

if permissions["session.kill"] then
  alone(action, "kill")
  of_string(action, "signal")
end

if permissions["matcher.wait"] then
  of_string(matcher, "contains_text")
  of_string(matcher, "screen_regex")
  of_string(matcher, "transcript_contains")
  of_string(matcher, "transcript_regex")
  alone(matcher, "process_exited")
  function matcher.screen_stable(ms)
    return { type = "screen_stable", value = { min_ms = an_integer(ms, nil, 1, "screen_stable") } }
  end
  for _, kind in next, { "any", "all" } do
    matcher[kind] = function(matchers)
      return { type = kind, value = a_table(matchers, 1, kind) }
    end
  end
end
