-- Returns a list for each live worker: name, age in ms, stage, unit, host, pid, done, memory, busy
-- share, note. Forgets workers whose beat has expired.
-- needs: keys
local now = redis.call('TIME')
local now_ms, out = now[1] * 1000 + math.floor(now[2] / 1000), {}
for _, worker in ipairs(redis.call('SMEMBERS', stem .. 'workers')) do
  local beat = redis.call('HMGET', stem .. 'worker:' .. worker, 'ms', 'stage', 'unit', 'host',
                          'pid', 'done', 'memory', 'busy', 'note')
  if beat[1] then
    beat[1] = tostring(now_ms - beat[1])
    table.insert(beat, 1, worker)
    table.insert(out, beat)
  else
    redis.call('SREM', stem .. 'workers', worker)
  end
end
return out
