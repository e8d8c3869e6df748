-- KEYS: drafts. ARGV: name of the draft. Something of several pieces begins to be put.
return redis.call('ZADD', KEYS[1], redis.call('TIME')[1], ARGV[1])
