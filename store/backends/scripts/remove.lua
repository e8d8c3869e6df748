-- KEYS: value, index. ARGV: its name in the index. Removes a value without chunks. Returns the head
-- of a value with chunks, which stays.
if redis.call('GETRANGE', KEYS[1], 0, 0) == 'c' then return redis.call('GET', KEYS[1]) end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('UNLINK', KEYS[1])
return false
