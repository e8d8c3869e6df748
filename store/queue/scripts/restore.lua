-- ARGV: token, length of the lock in ms, unit, stage, prerequisite count, then the prerequisites
-- that are done. Returns 0 when the queue has no life and the lock is not ours, since what was
-- restored so far may be gone; 2 when the unit was queued; else 1. While the queue is alive (a
-- check, not a rebuild) no lock is needed. An entry that was delivered once and that nobody holds
-- any more, because the group lost it, can no longer be claimed, and is replaced.
-- needs: keys advance take_off
local lock = stem .. 'rebuild'
if redis.call('EXISTS', KEYS[1]) == 0 then
  if redis.call('GET', lock) ~= ARGV[1] then return 0 end
  redis.call('PEXPIRE', lock, ARGV[2])
end
local unit, stage, needed = ARGV[3], ARGV[4], tonumber(ARGV[5])
local stream = stream_of(stage)
local function later(a, b)
  local a1, a2 = string.match(a, '^(%d+)-(%d+)$')
  local b1, b2 = string.match(b, '^(%d+)-(%d+)$')
  if a1 ~= b1 then return tonumber(a1) > tonumber(b1) end
  return tonumber(a2) > tonumber(b2)
end
local function out_of_reach(id)
  local p = redis.pcall('XPENDING', stream, 'workers', id, id, 1)
  if p.err or #p > 0 then return false end
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local field = {}
    for i = 1, #group - 1, 2 do field[group[i]] = group[i + 1] end
    if field['name'] == 'workers' then return not later(id, field['last-delivered-id']) end
  end
  return false
end
local id = stands(unit, stage)
if id and string.sub(id, 1, 5) ~= 'dead:' and out_of_reach(id) then
  take_off(stream, id, unit)
  id = nil
end
if id then return 1 end
local added = 0
if needed == 0 then added = enqueue(unit, stage) end
for i = 6, #ARGV do added = added + advance(unit, stage, needed, ARGV[i]) end
return added > 0 and 2 or 1
