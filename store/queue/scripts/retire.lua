-- ARGV: time in ms (0: only asks), stages. Makes the keys of a finished run expire after that time,
-- all at once. Returns 0 when there is no queue, or when its keys expire already. Does not touch
-- keys of single units, whose names are not known here.
-- needs: keys
if redis.call('PTTL', KEYS[1]) ~= -1 then return 0 end
if ARGV[1] == '0' then return 1 end
for i = 2, #ARGV do redis.call('PEXPIRE', stream_of(ARGV[i]), ARGV[1]) end
for _, key in ipairs({queued, count, dead, stem .. 'crashed', stem .. 'workers', KEYS[1]}) do
  redis.call('PEXPIRE', key, ARGV[1])
end
return 1
