-- ARGV: worker, expiry in ms, then pairs of field and value. The time of the beat is the server's,
-- because the clocks of workers may differ.
-- needs: keys
local key = stem .. 'worker:' .. ARGV[1]
local now = redis.call('TIME')
redis.call('SADD', stem .. 'workers', ARGV[1])
redis.call('HSET', key, 'ms', now[1] * 1000 + math.floor(now[2] / 1000))
for i = 3, #ARGV, 2 do redis.call('HSET', key, ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', key, ARGV[2])
return 1
