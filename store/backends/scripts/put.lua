-- KEYS: value, index. ARGV: the value, its name in the index. 1: it was put; 0: there is one.
-- The index first: what a script that is broken off leaves is a name without a value, which a repeated one completes.
redis.call('ZADD', KEYS[2], 0, ARGV[2])
return redis.call('SET', KEYS[1], ARGV[1], 'NX') and 1 or 0
