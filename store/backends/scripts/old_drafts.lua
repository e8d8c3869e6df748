-- KEYS: drafts. ARGV: seconds. Names of drafts that began so long ago, or longer: nobody works on them any more.
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1] - ARGV[1], 'LIMIT', 0, 100)
