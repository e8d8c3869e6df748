-- ARGV: stage, owner, id, deliveries, worker, length in ms. Returns the unit that `worker` may make
-- a second copy of, or "".
-- needs: keys held
local stream = stream_of(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then return '' end
if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return '' end
local entry = redis.call('XRANGE', stream, ARGV[3], ARGV[3])[1]
local key = stem .. 'copy:' .. ARGV[3]
if not entry or not redis.call('SET', key, ARGV[5], 'NX', 'PX', ARGV[6]) then return '' end
return unit_of(entry[2])
