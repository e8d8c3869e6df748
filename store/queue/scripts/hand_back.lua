-- ARGV: stage, worker, id, deliveries, unit. Puts the unit at the end of the stream, for any
-- worker.
-- needs: keys held advance take_off
local stream = stream_of(ARGV[1])
if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end
take_off(stream, ARGV[3], ARGV[5])
enqueue(ARGV[5], ARGV[1])
return 1
