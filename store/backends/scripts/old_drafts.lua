-- KEYS: drafts. ARGV: seconds. Returns the names of drafts that were begun at least so long ago, so
-- that nobody works on them any more.
local latest = redis.call('TIME')[1] - ARGV[1]
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', latest, 'LIMIT', 0, 100)
