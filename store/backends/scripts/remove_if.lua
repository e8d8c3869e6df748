-- KEYS: value, index, chunks... ARGV: the value that was seen, its name in the index. Returns 1: it
-- was removed, with its chunks; 0: another value is there, and stays.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[2])
for i = 3, #KEYS do redis.call('UNLINK', KEYS[i]) end
redis.call('UNLINK', KEYS[1])
return 1
