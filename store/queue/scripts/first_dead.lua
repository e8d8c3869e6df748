-- Returns {unit, reason} of the first dead unit, or {}. Removes an entry that no dead unit refers
-- to: its unit was queued again since, or was never a unit.
-- needs: keys
for _, entry in ipairs(redis.call('XRANGE', dead, '-', '+', 'COUNT', 100)) do
  local unit, reason = unit_of(entry[2]), ''
  if redis.call('HGET', queued, unit) == 'dead:' .. entry[1] then
    for i = 1, #entry[2] - 1, 2 do
      if entry[2][i] == 'reason' then reason = entry[2][i + 1] end
    end
    return {unit, reason}
  end
  redis.call('XDEL', dead, entry[1])
end
return {}
