-- ARGV: token of a driver, length in ms. Returns 0 when another driver is at work.
-- needs: keys
local key = stem .. 'driver'
local left = redis.call('PTTL', key)
local other = left >= 0 and left <= tonumber(ARGV[2]) and redis.call('GET', key) ~= ARGV[1]
if other then return 0 end
redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
return 1
