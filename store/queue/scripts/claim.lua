-- ARGV: stage, worker, lease in ms, most crashes, check own pending entries (0 no, 1 yes, 2 for the
-- first time), check expired entries. Returns {'lost'}, {'nothing'}, {'refused', '', id, 0} or
-- {'unit', unit, id, deliveries}. Own pending entries come first: they belong to a worker that was
-- restarted, or that never got the answer to a claim; only the former counts as a crash. The group
-- starts at 0, so that it may be made after the first entries. An entry without fields was deleted
-- while it was pending.
-- needs: keys bury done
if redis.call('EXISTS', KEYS[1]) == 0 then return {'lost'} end
local stage, worker, lease, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local stream = stream_of(stage)
local function read(from)
  return redis.pcall('XREADGROUP', 'GROUP', 'workers', worker, 'COUNT', 1,
                     'STREAMS', stream, from)
end
local function entry_after(from)
  local r = read(from)
  if r and r.err then
    redis.call('XGROUP', 'CREATE', stream, 'workers', '0', 'MKSTREAM')
    r = read(from)
  end
  return r and r[1] and r[1][2][1]
end
local function expired_entry()
  local cursor = '0-0'
  repeat
    local r = redis.pcall('XAUTOCLAIM', stream, 'workers', worker, lease, cursor, 'COUNT', 1)
    if r.err then return nil end
    if r[2][1] then return r[2][1] end
    cursor = r[1]
  until cursor == '0-0'
end
-- Returns how often the unit's worker died while it held the unit and no other unit was completed.
local function crashes_of(unit)
  local now, key = done_units(), stem .. 'crashed'
  local seen = redis.call('HGET', key, unit) or ''
  local times, at = string.match(seen, '^(%d+)@(%d+)$')
  times = tonumber(at) == now and tonumber(times) + 1 or 1
  redis.call('HSET', key, unit, string.format('%d@%d', times, now))
  return times
end
local function accept(entry, crashed)
  local id, fields = entry[1], entry[2]
  if not fields then redis.call('XACK', stream, 'workers', id) return nil end
  local unit = unit_of(fields)
  if unit == '' then
    redis.call('XACK', stream, 'workers', id)
    redis.call('XDEL', stream, id)
    return {'refused', '', id, 0}
  end
  local p = redis.call('XPENDING', stream, 'workers', id, id, 1)
  local deliveries = p[1][4]
  if deliveries > 1 then redis.call('HINCRBY', count, stage .. ':retried', 1) end
  if crashed and crashes_of(unit) >= most then
    bury(stream, id, unit, 'given up: its worker died ' .. most .. ' times while it worked on it, '
         .. 'and nothing else was done in between', worker)
    return nil
  end
  return {'unit', unit, id, deliveries}
end
-- Takes entries from a source until one can be worked on or the source is empty.
local function take(source, from, crashed)
  local entry = source(from)
  while entry do
    local unit = accept(entry, crashed)
    if unit then return unit end
    entry = source(from)
  end
end
return (ARGV[5] ~= '0' and take(entry_after, '0', ARGV[5] == '2')) or
       (ARGV[6] == '1' and take(expired_entry)) or take(entry_after, '>') or
       take(expired_entry) or {'nothing'}
