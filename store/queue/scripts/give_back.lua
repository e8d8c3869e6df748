-- ARGV: stage, worker, id, deliveries, unit. Takes the unit off the queue, so that it can be queued
-- again.
-- needs: keys held take_off
local stream = stream_of(ARGV[1])
if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end
take_off(stream, ARGV[3], ARGV[5])
return 1
