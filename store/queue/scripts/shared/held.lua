-- held: returns whether the entry is leased to this worker by this delivery. Without a group it is
-- not.
local function held(stream, id, worker, deliveries)
  local p = redis.pcall('XPENDING', stream, 'workers', id, id, 1)
  if p.err or #p == 0 then return false end
  return p[1][2] == worker and tostring(p[1][4]) == deliveries
end
