-- ARGV: worker, length of the lock in ms. Answers {won, alive, token}. The token names this attempt: a lock
-- that was lost with the rest of Redis, or expired and was taken by another, is not mistaken for it. A lock
-- of the same worker is one it left when it failed; one that does not expire within a day, the longest lease
-- there is, was not set here. Leases of workers may differ.
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
