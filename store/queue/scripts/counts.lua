-- ARGV: stage. Returns {entries in the stream, leased ones among them, done, retried}.
-- needs: keys
local pending = redis.pcall('XPENDING', stream_of(ARGV[1]), 'workers')
local leased = 0
if not pending.err then leased = pending[1] end
local numbers = redis.call('HMGET', count, ARGV[1] .. ':done', ARGV[1] .. ':retried')
return {redis.call('XLEN', stream_of(ARGV[1])), leased, numbers[1] or 0, numbers[2] or 0}
