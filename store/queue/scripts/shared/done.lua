-- done_units: returns how many units of all stages were completed so far.
local function done_units()
  local sum, fields = 0, redis.call('HGETALL', count)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], -5) == ':done' then
      sum = sum + (tonumber(fields[i + 1]) or 0)
    end
  end
  return sum
end
