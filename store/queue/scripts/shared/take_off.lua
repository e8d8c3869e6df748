-- take_off: removes a held entry from its stream, and its unit from what is queued. A unit may stand there
-- twice; then the other entry is the one that counts.
local function take_off(stream, id, unit)
  redis.call('XACK', stream, 'workers', id)
  redis.call('XDEL', stream, id)
  if redis.call('HGET', queued, unit) == id then redis.call('HDEL', queued, unit) end
end
