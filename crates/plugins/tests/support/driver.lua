-- Runs a function on arguments and writes down what it does, byte by byte. Strings come as lists of bytes.
local unpack, char, byte, tostring, type, pcall = table.unpack, string.char, string.byte, tostring, type, pcall
local math_type = math.type

local function show(value)
  if type(value) == "string" then
    local codes = "s"
    for i = 1, #value do codes = codes .. ":" .. byte(value, i) end
    return codes
  elseif type(value) == "table" then
    local parts = "{"
    for k = -3, 14 do parts = parts .. show(value[k]) .. "," end
    return parts .. "}"
  end
  return (math_type(value) or type(value)) .. " " .. tostring(value)
end

local function show_all(ok, ...)
  local parts = tostring(ok)
  for i = 1, select("#", ...) do parts = parts .. "; " .. show((select(i, ...))) end
  return parts
end

local ops = {
  gmatch_all = function(s, p, init)
    local seen, count = {}, 0
    for a, b, c in string.gmatch(s, p, init) do
      count = count + 1
      if count > 10 then break end
      seen[count] = { a, b, c }
    end
    return seen, count
  end,
  gsub_function = function(s, p, most)
    return string.gsub(s, p, function(a, b) return b and a .. "<" .. b .. ">" or type(a) == "string" and #a % 2 == 0 and a .. "!" end, most)
  end,
  gsub_table = function(s, p) return string.gsub(s, p, { a = "A", b = 7, [""] = "-", c = false, [1] = "one" }) end,
  gsub_bad = function(s, p) return string.gsub(s, p, function() return {} end) end,
  insert = function(t, ...) table.insert(t, ...) return t end,
  remove = function(t, ...) return table.remove(t, ...), t end,
  move = function(t, a, b, c) return table.move(t, a, b, c) end,
  move_into = function(t, a, b, c) return table.move(t, a, b, c, { 9, 9 }) end,
  sort = function(t) table.sort(t) return t end,
  sort_down = function(t) table.sort(t, function(a, b) return a > b end) return t end,
}

return function(params)
  local arguments = {}
  for i = 1, params.n do
    local value = params.arguments[i]
    if type(value) == "table" and value.bytes then value = char(unpack(value.bytes)) end
    arguments[i] = value
  end
  local op = ops[params.op] or string[params.op] or table[params.op]
  return show_all(pcall(op, unpack(arguments, 1, params.n)))
end
