-- ARGV: token. Ends the rebuild. Returns 0 when the lock was lost.
-- needs: keys
local lock = stem .. 'rebuild'
if redis.call('GET', lock) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('DEL', lock)
return 1
