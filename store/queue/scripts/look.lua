-- ARGV: period in ms, then the stages. Returns {alive, may check, done, entries, leased ones among
-- them}. A mark without an expiry within the period was not set here, and is replaced.
-- needs: keys done
local check, period, may = stem .. 'check', tonumber(ARGV[1]), 0
if period > 0 then
  local left = redis.call('PTTL', check)
  if left < 0 or left > period then
    redis.call('SET', check, '1', 'PX', period)
    may = 1
  end
end
local entries, leased = 0, 0
for i = 2, #ARGV do
  entries = entries + redis.call('XLEN', stream_of(ARGV[i]))
  local pending = redis.pcall('XPENDING', stream_of(ARGV[i]), 'workers')
  if not pending.err then leased = leased + pending[1] end
end
return {redis.call('EXISTS', KEYS[1]), may, done_units(), entries, leased}
