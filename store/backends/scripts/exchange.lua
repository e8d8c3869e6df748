-- KEYS: refs. ARGV: name; word of this call; 1 and the expected value, or 0 and ""; 1 and the new
-- value, or 0 and "". Returns 1: it was exchanged, now or by a first try of the same call whose
-- answer was lost; 0: the ref has another value, which stays. A ref is stored as "<word of 16
-- digits> <text>".
local now = redis.call('HGET', KEYS[1], ARGV[1])
if now and string.sub(now, 1, 16) == ARGV[2] then return 1 end
if ARGV[3] == '1' then
    if not now or string.sub(now, 18) ~= ARGV[4] then return 0 end
elseif now then
    return 0
end
if ARGV[5] == '1' then
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[6])
else
    redis.call('HDEL', KEYS[1], ARGV[1])
end
return 1
