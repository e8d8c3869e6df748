-- stands: returns the id of the unit's entry in its stream or on the dead list, or false. Forgets a
-- unit that is only marked as queued.
local function stands(unit, stage)
  local id = redis.call('HGET', queued, unit)
  if not id then return false end
  local entry
  if string.sub(id, 1, 5) == 'dead:' then
    entry = redis.pcall('XRANGE', dead, string.sub(id, 6), string.sub(id, 6))
  else
    entry = redis.pcall('XRANGE', stream_of(stage), id, id)
  end
  if not entry.err and entry[1] and unit_of(entry[1][2]) == unit then return id end
  redis.call('HDEL', queued, unit)
  return false
end
-- enqueue: puts a unit in its stream unless it is there. Returns 1 when it did.
local function enqueue(unit, stage)
  if stands(unit, stage) then return 0 end
  local id = redis.call('XADD', stream_of(stage), '*', 'unit', unit)
  redis.call('HSET', queued, unit, id)
  return 1
end
-- advance: notes for `unit` that `finished` is done, and queues it after its last prerequisite.
local function advance(unit, stage, needed, finished)
  local wait = stem .. 'wait:' .. unit
  redis.call('SADD', wait, finished)
  if redis.call('SCARD', wait) < needed then return 0 end
  local added = enqueue(unit, stage)
  redis.call('DEL', wait)
  return added
end
