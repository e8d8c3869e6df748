-- KEYS: head, drafts, chunks... ARGV: what the head is once the draft is put, name of the draft. Its chunks go unless it was put.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    for i = 3, #KEYS do redis.call('UNLINK', KEYS[i]) end
end
return redis.call('ZREM', KEYS[2], ARGV[2])
