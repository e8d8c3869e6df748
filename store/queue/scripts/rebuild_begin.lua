-- ARGV: worker, length of the lock in ms. Returns {won, alive, token}. The token names this
-- attempt, so that a lock which was lost with the rest of Redis, or expired and was taken by
-- another worker, is not mistaken for ours. A lock of the same worker was left when it failed. A
-- lock that does not expire within a day, the longest lease, was not set here. The leases of
-- workers may differ.
-- needs: keys
local lock = stem .. 'rebuild'
if redis.call('EXISTS', KEYS[1]) == 1 then return {0, 1, ''} end
local holder, left = redis.call('GET', lock), redis.call('PTTL', lock)
if left < 0 or left > 86400000 then holder = nil end
local mine = ARGV[1] .. '@'
if holder and string.sub(holder, 1, #mine) ~= mine then return {0, 0, ''} end
local now = redis.call('TIME')
local token = mine .. now[1] .. '.' .. now[2]
redis.call('SET', lock, token, 'PX', ARGV[2])
return {1, 0, token}
