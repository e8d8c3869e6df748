-- ARGV: stage, worker, id, deliveries, unit, then names, or prefixes that end with "/". Exchanges a
-- held unit for a waiting one: the first name that any of the next units matches decides. The units
-- that waited before it, and the one that was held, go to the end of the stream. Returns
-- {'nothing'} or {'unit', unit, id, deliveries}. Entries that are read here are pending until they
-- are put back, so that they can be claimed again if the script is interrupted.
-- needs: keys held advance take_off
local NEXT = 64
local stream, worker = stream_of(ARGV[1]), ARGV[2]
local function last_delivered()
  local groups = redis.pcall('XINFO', 'GROUPS', stream)
  for _, group in ipairs(groups.err and {} or groups) do
    local field = {}
    for i = 1, #group - 1, 2 do field[group[i]] = group[i + 1] end
    if field['name'] == 'workers' then return field['last-delivered-id'] end
  end
end
local function has(unit, wanted)
  return unit == wanted or string.sub(wanted, -1) == '/' and string.sub(unit, 1, #wanted) == wanted
end
local function place_of_best(waiting)
  for i = 6, #ARGV do
    for place, entry in ipairs(waiting) do
      if has(unit_of(entry[2]), ARGV[i]) then return place end
    end
  end
end
local function to_the_end(id, unit)
  take_off(stream, id, unit)
  if unit ~= '' then enqueue(unit, ARGV[1]) end
end
if not held(stream, ARGV[3], worker, ARGV[4]) then return {'nothing'} end
local last = last_delivered()
if not last then return {'nothing'} end
local best = place_of_best(redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', NEXT))
if not best then return {'nothing'} end
local read = redis.call('XREADGROUP', 'GROUP', 'workers', worker, 'COUNT', best,
                        'STREAMS', stream, '>')
local entries = read[1][2]
for place = 1, best - 1 do to_the_end(entries[place][1], unit_of(entries[place][2])) end
to_the_end(ARGV[3], ARGV[5])
local got = entries[best]
local p = redis.call('XPENDING', stream, 'workers', got[1], got[1], 1)
return {'unit', unit_of(got[2]), got[1], p[1][4]}
