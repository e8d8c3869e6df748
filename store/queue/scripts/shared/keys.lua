-- The names of the keys. unit_of: returns the unit that a stream entry names, or "".
local stem = string.sub(KEYS[1], 1, -5) -- "{tag}:life" without "life"
local queued, count, dead = stem .. 'queued', stem .. 'count', stem .. 'dead'
local function stream_of(stage) return stem .. 'queue:' .. stage end
local function unit_of(fields)
  for i = 1, #fields - 1, 2 do
    if fields[i] == 'unit' then return fields[i + 1] end
  end
  return ''
end
