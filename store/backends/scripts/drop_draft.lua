-- KEYS: head, drafts, chunks... ARGV: the text of the head, name of the draft. Removes the draft,
-- and its chunks unless the key has that head.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    for i = 3, #KEYS do redis.call('UNLINK', KEYS[i]) end
end
return redis.call('ZREM', KEYS[2], ARGV[2])
