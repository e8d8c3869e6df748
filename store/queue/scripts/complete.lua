-- ARGV: stage, owner, id, deliveries, unit, last part (0 or 1), then unit, stage and prerequisite
-- count of each successor. Returns how many units the stage has done; 0 when the lease or the queue
-- is lost; 1 for a part that is not the last. A long list of successors is sent in parts, and only
-- the last part removes the entry. A worker that dies before it leaves the entry leased, and the
-- next worker sends all parts again. No successor is queued too early, since the unit's output was
-- stored before the first part.
-- needs: keys held advance take_off
local stage, owner, id, unit = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local stream = stream_of(stage)
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if not held(stream, id, owner, ARGV[4]) then return 0 end
for i = 7, #ARGV, 3 do advance(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), unit) end
if ARGV[6] == '1' then
  take_off(stream, id, unit)
  return redis.call('HINCRBY', count, stage .. ':done', 1)
end
return 1
