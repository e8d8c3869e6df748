-- bury: puts a unit on the dead list. A dead unit counts as queued, so that no rebuild queues it
-- again.
local function bury(stream, id, unit, reason, worker)
  local grave = redis.call('XADD', dead, '*', 'unit', unit, 'reason', reason, 'worker', worker)
  redis.call('HSET', queued, unit, 'dead:' .. grave)
  redis.call('XACK', stream, 'workers', id)
  redis.call('XDEL', stream, id)
end
