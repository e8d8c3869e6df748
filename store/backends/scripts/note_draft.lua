-- KEYS: drafts. ARGV: name of the draft. Notes that a value of several pieces is being put.
return redis.call('ZADD', KEYS[1], redis.call('TIME')[1], ARGV[1])
