-- KEYS: refs. ARGV: name, word of this call, 1 or 0 (is one expected?) and which, 1 or 0 (is one to be put?) and which.
-- 1: it was exchanged, now or by the same call before, whose answer was lost; 0: something else was there, and stays.
-- A ref is kept as "<word of 16 digits> <text>".
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
