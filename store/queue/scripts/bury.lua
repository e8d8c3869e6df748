-- ARGV: stage, worker, id, deliveries, unit, reason. Puts the unit on the dead list.
-- needs: keys held bury
local stream = stream_of(ARGV[1])
if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end
bury(stream, ARGV[3], ARGV[5], ARGV[6], ARGV[2])
return 1
