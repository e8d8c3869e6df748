-- KEYS: head, index, drafts, chunks... ARGV: the text of the head, its name in the index, name of
-- the draft, sizes of the chunks... Returns 1: it was put; 0: there is one; -1: a chunk is missing.
local there = redis.call('GET', KEYS[1])
if there then
    if there ~= ARGV[1] then -- other content, so other chunks
        for i = 4, #KEYS do redis.call('UNLINK', KEYS[i]) end
    end
    redis.call('ZREM', KEYS[3], ARGV[3])
    return 0
end
for i = 4, #KEYS do
    if redis.call('STRLEN', KEYS[i]) ~= tonumber(ARGV[i]) then return -1 end
end
redis.call('ZADD', KEYS[2], 0, ARGV[2])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[3])
return 1
