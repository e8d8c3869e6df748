-- KEYS: value, index, chunks... ARGV: what the value was seen to be, its name in the index.
-- 1: it went, with its chunks; 0: something else is there, and stays.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[2])
for i = 3, #KEYS do redis.call('UNLINK', KEYS[i]) end
redis.call('UNLINK', KEYS[1])
return 1
