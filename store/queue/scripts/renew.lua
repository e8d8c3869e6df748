-- ARGV: stage, worker, id, deliveries. Starts the lease again without counting a delivery.
-- needs: keys held
local stream = stream_of(ARGV[1])
if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end
redis.call('XCLAIM', stream, 'workers', ARGV[2], 0, ARGV[3], 'JUSTID')
return 1
