-- take_off: removes a held entry from its stream, and its unit from the queued ones. If the unit
-- has a second entry, the unit stays queued by that one.
local function take_off(stream, id, unit)
  redis.call('XACK', stream, 'workers', id)
  redis.call('XDEL', stream, id)
  if redis.call('HGET', queued, unit) == id then redis.call('HDEL', queued, unit) end
end
