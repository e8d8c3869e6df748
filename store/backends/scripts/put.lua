-- KEYS: value, index. ARGV: the value, its name in the index. Returns 1: it was put; 0: there is
-- one. The index is written first: if the script is interrupted, a name without a value is left,
-- and a repetition completes it.
redis.call('ZADD', KEYS[2], 0, ARGV[2])
return redis.call('SET', KEYS[1], ARGV[1], 'NX') and 1 or 0
