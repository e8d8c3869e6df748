/*
 * work_queue_scripts - the state changes of work_queue.h, as the Lua that Redis runs.
 *
 * One script is one atomic step. KEYS[1] is always {tag}:life: it routes the script, and all other keys
 * are made from its stem, so that they have its hash tag. ARGV differs; each script says which.
 *
 * The rule that makes every one of them safe to repeat: a member of a wait set is a unit that is done,
 * for ever. So a unit can be queued once too often, never too early, and who claims a unit that is done
 * completes it without work.
 *
 * Traps that shaped them: XACK does not ask who acknowledges, hence held(); a stream entry that is
 * acknowledged stays in the stream, hence XDEL; XREADGROUP from 0 and XAUTOCLAIM count a delivery, XCLAIM
 * with JUSTID does not. Any key may be gone, for a server can lose each on its own: that a unit is queued is believed
 * only when its entry stands in the stream, hence stands(). A script that runs out of the server's memory is
 * broken off in the middle and repeated later, hence XADD before HSET. A key of another type makes the script
 * fail, on purpose: see script_call.c.
 */
#ifndef STORE_QUEUE_WORK_QUEUE_SCRIPTS_H
#define STORE_QUEUE_WORK_QUEUE_SCRIPTS_H

/* Names of keys; unit_of: the unit that a stream entry names, "" when it names none. */
#define LUA_KEYS                                                                                   \
    "local stem = string.sub(KEYS[1], 1, -5)\n" /* "{tag}:life" without "life" */                  \
    "local queued, count, dead = stem .. 'queued', stem .. 'count', stem .. 'dead'\n"              \
    "local function stream_of(stage) return stem .. 'queue:' .. stage end\n"                       \
    "local function unit_of(fields)\n"                                                             \
    "  for i = 1, #fields - 1, 2 do\n"                                                             \
    "    if fields[i] == 'unit' then return fields[i + 1] end\n"                                   \
    "  end\n"                                                                                      \
    "  return ''\n"                                                                                \
    "end\n"

/* held: is the entry leased to this worker by this very delivery? A missing group means no. */
#define LUA_HELD                                                                                   \
    "local function held(stream, id, worker, deliveries)\n"                                        \
    "  local p = redis.pcall('XPENDING', stream, 'workers', id, id, 1)\n"                          \
    "  if p.err or #p == 0 then return false end\n"                                                \
    "  return p[1][2] == worker and tostring(p[1][4]) == deliveries\n"                             \
    "end\n"

/* take_off: removes a held entry from its stream, and its unit from what is queued. A unit may stand there
 * twice; then the other entry is the one that counts. */
#define LUA_TAKE_OFF                                                                               \
    "local function take_off(stream, id, unit)\n"                                                  \
    "  redis.call('XACK', stream, 'workers', id)\n"                                                \
    "  redis.call('XDEL', stream, id)\n"                                                           \
    "  if redis.call('HGET', queued, unit) == id then redis.call('HDEL', queued, unit) end\n"      \
    "end\n"

/* stands: is the unit in its stream, or dead? What only says so is forgotten. enqueue: puts a unit in its stream,
 * once; answers 1 when it did. advance: notes that `finished` is done for `unit`, and queues it when that was the
 * last one it waited for. */
#define LUA_ADVANCE                                                                                \
    "local function stands(unit, stage)\n"                                                         \
    "  local id = redis.call('HGET', queued, unit)\n"                                              \
    "  if not id then return false end\n"                                                          \
    "  local entry\n"                                                                              \
    "  if string.sub(id, 1, 5) == 'dead:' then\n"                                                  \
    "    entry = redis.pcall('XRANGE', dead, string.sub(id, 6), string.sub(id, 6))\n"              \
    "  else\n"                                                                                     \
    "    entry = redis.pcall('XRANGE', stream_of(stage), id, id)\n"                                \
    "  end\n"                                                                                      \
    "  if not entry.err and entry[1] and unit_of(entry[1][2]) == unit then return id end\n"        \
    "  redis.call('HDEL', queued, unit)\n"                                                         \
    "  return false\n"                                                                             \
    "end\n"                                                                                        \
    "local function enqueue(unit, stage)\n"                                                        \
    "  if stands(unit, stage) then return 0 end\n"                                                 \
    "  local id = redis.call('XADD', stream_of(stage), '*', 'unit', unit)\n"                       \
    "  redis.call('HSET', queued, unit, id)\n"                                                     \
    "  return 1\n"                                                                                 \
    "end\n"                                                                                        \
    "local function advance(unit, stage, needed, finished)\n"                                      \
    "  local wait = stem .. 'wait:' .. unit\n"                                                     \
    "  redis.call('SADD', wait, finished)\n"                                                       \
    "  if redis.call('SCARD', wait) < needed then return 0 end\n"                                  \
    "  local added = enqueue(unit, stage)\n"                                                       \
    "  redis.call('DEL', wait)\n"                                                                  \
    "  return added\n"                                                                             \
    "end\n"

/* bury: a dead unit counts as queued, so that no rebuild brings it back. */
#define LUA_BURY                                                                                   \
    "local function bury(stream, id, unit, reason, worker)\n"                                      \
    "  local grave = redis.call('XADD', dead, '*', 'unit', unit, 'reason', reason, 'worker', "     \
    "worker)\n"                                                                                    \
    "  redis.call('HSET', queued, unit, 'dead:' .. grave)\n"                                       \
    "  redis.call('XACK', stream, 'workers', id)\n"                                                \
    "  redis.call('XDEL', stream, id)\n"                                                           \
    "end\n"

/* done_units: completed so far, of all stages. */
#define LUA_DONE                                                                                   \
    "local function done_units()\n"                                                                \
    "  local sum, fields = 0, redis.call('HGETALL', count)\n"                                      \
    "  for i = 1, #fields, 2 do\n"                                                                 \
    "    if string.sub(fields[i], -5) == ':done' then\n"                                           \
    "      sum = sum + (tonumber(fields[i + 1]) or 0)\n"                                           \
    "    end\n"                                                                                    \
    "  end\n"                                                                                      \
    "  return sum\n"                                                                               \
    "end\n"

/* ARGV: stage, worker, lease in ms, most crashes, look at own pending (0 no, 1 yes, 2 for the first time), look for
 * expired. Answers {'lost'}, {'nothing'}, {'refused', '', id, 0} or {'unit', unit, id, deliveries}.
 * Own pending entries first: of a worker that was restarted, or that never got the answer to a claim; only the
 * first is a crash. The group starts at 0, so that it may be made after the first entries. An entry without fields was
 * deleted while it was pending. */
static const char work_queue_claim_lua[] = LUA_KEYS LUA_BURY LUA_DONE
    "if redis.call('EXISTS', KEYS[1]) == 0 then return {'lost'} end\n"
    "local stage, worker, lease, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])\n"
    "local stream = stream_of(stage)\n"
    "local function read(from)\n"
    "  return redis.pcall('XREADGROUP', 'GROUP', 'workers', worker, 'COUNT', 1,\n"
    "                     'STREAMS', stream, from)\n"
    "end\n"
    "local function entry_after(from)\n"
    "  local r = read(from)\n"
    "  if r and r.err then\n"
    "    redis.call('XGROUP', 'CREATE', stream, 'workers', '0', 'MKSTREAM')\n"
    "    r = read(from)\n"
    "  end\n"
    "  return r and r[1] and r[1][2][1]\n"
    "end\n"
    "local function expired_entry()\n"
    "  local cursor = '0-0'\n"
    "  repeat\n"
    "    local r = redis.pcall('XAUTOCLAIM', stream, 'workers', worker, lease, cursor, 'COUNT', "
    "1)\n"
    "    if r.err then return nil end\n"
    "    if r[2][1] then return r[2][1] end\n"
    "    cursor = r[1]\n"
    "  until cursor == '0-0'\n"
    "end\n"
    /* How often its worker died with the unit in hand while nothing else was done. */
    "local function crashes_of(unit)\n"
    "  local now, key = done_units(), stem .. 'crashed'\n"
    "  local seen = redis.call('HGET', key, unit) or ''\n"
    "  local times, at = string.match(seen, '^(%d+)@(%d+)$')\n"
    "  times = tonumber(at) == now and tonumber(times) + 1 or 1\n"
    "  redis.call('HSET', key, unit, string.format('%d@%d', times, now))\n"
    "  return times\n"
    "end\n"
    "local function accept(entry, crashed)\n"
    "  local id, fields = entry[1], entry[2]\n"
    "  if not fields then redis.call('XACK', stream, 'workers', id) return nil end\n"
    "  local unit = unit_of(fields)\n"
    "  if unit == '' then\n"
    "    redis.call('XACK', stream, 'workers', id)\n"
    "    redis.call('XDEL', stream, id)\n"
    "    return {'refused', '', id, 0}\n"
    "  end\n"
    "  local p = redis.call('XPENDING', stream, 'workers', id, id, 1)\n"
    "  local deliveries = p[1][4]\n"
    "  if deliveries > 1 then redis.call('HINCRBY', count, stage .. ':retried', 1) end\n"
    "  if crashed and crashes_of(unit) >= most then\n"
    "    bury(stream, id, unit, 'given up: its worker died ' .. most .. ' times while it worked on "
    "it, '\n"
    "         .. 'and nothing else was done in between', worker)\n"
    "    return nil\n"
    "  end\n"
    "  return {'unit', unit, id, deliveries}\n"
    "end\n"
    /* Takes entries from a source until one is fit for work or the source is dry. */
    "local function take(source, from, crashed)\n"
    "  local entry = source(from)\n"
    "  while entry do\n"
    "    local unit = accept(entry, crashed)\n"
    "    if unit then return unit end\n"
    "    entry = source(from)\n"
    "  end\n"
    "end\n"
    "return (ARGV[5] ~= '0' and take(entry_after, '0', ARGV[5] == '2')) or\n"
    "       (ARGV[6] == '1' and take(expired_entry)) or take(entry_after, '>') or\n"
    "       take(expired_entry) or {'nothing'}\n";

/* ARGV: stage, owner, id, deliveries, unit, last part (0 or 1), then unit, stage, prerequisite count of
 * each successor. Answers how many units the stage has done, or 0 when the lease or the queue is lost; 1 for
 * a part that is not the last.
 * A long list of successors comes in parts. Only the last part gives the entry up, so a worker that dies
 * in between leaves it leased, the next one does all parts again, and nothing is freed too early: the
 * unit's output was stored before the first part. */
static const char work_queue_complete_lua[] = LUA_KEYS LUA_HELD LUA_ADVANCE LUA_TAKE_OFF
    "local stage, owner, id, unit = ARGV[1], ARGV[2], ARGV[3], ARGV[5]\n"
    "local stream = stream_of(stage)\n"
    "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end\n"
    "if not held(stream, id, owner, ARGV[4]) then return 0 end\n"
    "for i = 7, #ARGV, 3 do advance(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), unit) end\n"
    "if ARGV[6] == '1' then\n"
    "  take_off(stream, id, unit)\n"
    "  return redis.call('HINCRBY', count, stage .. ':done', 1)\n"
    "end\n"
    "return 1\n";

/* ARGV: stage, worker, id, deliveries. Starts the lease again without counting a delivery. */
static const char work_queue_renew_lua[] =
    LUA_KEYS LUA_HELD "local stream = stream_of(ARGV[1])\n"
                      "if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end\n"
                      "redis.call('XCLAIM', stream, 'workers', ARGV[2], 0, ARGV[3], 'JUSTID')\n"
                      "return 1\n";

/* ARGV: stage, worker, id, deliveries, unit. Forgets that the unit was queued, so that it can be again. */
static const char work_queue_give_back_lua[] = LUA_KEYS LUA_HELD LUA_TAKE_OFF
    "local stream = stream_of(ARGV[1])\n"
    "if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end\n"
    "take_off(stream, ARGV[3], ARGV[5])\n"
    "return 1\n";

/* ARGV: stage, worker, id, deliveries, unit. Puts the unit at the end of the line, for anyone. */
static const char work_queue_hand_back_lua[] = LUA_KEYS LUA_HELD LUA_ADVANCE LUA_TAKE_OFF
    "local stream = stream_of(ARGV[1])\n"
    "if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end\n"
    "take_off(stream, ARGV[3], ARGV[5])\n"
    "enqueue(ARGV[5], ARGV[1])\n"
    "return 1\n";

/* ARGV: stage, worker, id, deliveries, unit, reason. */
static const char work_queue_bury_lua[] =
    LUA_KEYS LUA_HELD LUA_BURY "local stream = stream_of(ARGV[1])\n"
                               "if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end\n"
                               "bury(stream, ARGV[3], ARGV[5], ARGV[6], ARGV[2])\n"
                               "return 1\n";

/* Answers {unit, reason} of the first dead unit, or {}. An entry that no dead unit points at is removed: the unit
 * was queued again since, or never was one. */
static const char work_queue_first_dead_lua[] =
    LUA_KEYS "for _, entry in ipairs(redis.call('XRANGE', dead, '-', '+', 'COUNT', 100)) do\n"
             "  local unit, reason = unit_of(entry[2]), ''\n"
             "  if redis.call('HGET', queued, unit) == 'dead:' .. entry[1] then\n"
             "    for i = 1, #entry[2] - 1, 2 do\n"
             "      if entry[2][i] == 'reason' then reason = entry[2][i + 1] end\n"
             "    end\n"
             "    return {unit, reason}\n"
             "  end\n"
             "  redis.call('XDEL', dead, entry[1])\n"
             "end\n"
             "return {}\n";

/* ARGV: stage, owner, id, deliveries, worker, length in ms. Answers the unit that worker may make a second copy
 * of, or "". */
static const char work_queue_begin_copy_lua[] = LUA_KEYS LUA_HELD
    "local stream = stream_of(ARGV[1])\n"
    "if redis.call('EXISTS', KEYS[1]) == 0 then return '' end\n"
    "if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return '' end\n"
    "local entry = redis.call('XRANGE', stream, ARGV[3], ARGV[3])[1]\n"
    "local key = stem .. 'copy:' .. ARGV[3]\n"
    "if not entry or not redis.call('SET', key, ARGV[5], 'NX', 'PX', ARGV[6]) then return '' end\n"
    "return unit_of(entry[2])\n";

/* ARGV: period in ms, then the stages. Answers {alive, may check, done, entries, of them leased}.
 * A mark that does not expire within a period was not set here. */
static const char work_queue_look_lua[] = LUA_KEYS LUA_DONE
    "local check, period, may = stem .. 'check', tonumber(ARGV[1]), 0\n"
    "if period > 0 then\n"
    "  local left = redis.call('PTTL', check)\n"
    "  if left < 0 or left > period then\n"
    "    redis.call('SET', check, '1', 'PX', period)\n"
    "    may = 1\n"
    "  end\n"
    "end\n"
    "local entries, leased = 0, 0\n"
    "for i = 2, #ARGV do\n"
    "  entries = entries + redis.call('XLEN', stream_of(ARGV[i]))\n"
    "  local pending = redis.pcall('XPENDING', stream_of(ARGV[i]), 'workers')\n"
    "  if not pending.err then leased = leased + pending[1] end\n"
    "end\n"
    "return {redis.call('EXISTS', KEYS[1]), may, done_units(), entries, leased}\n";

/* ARGV: token of a driver, length in ms. Answers 0 when another driver is at work. */
static const char work_queue_take_charge_lua[] = LUA_KEYS
    "local key = stem .. 'driver'\n"
    "local left = redis.call('PTTL', key)\n"
    "local other = left >= 0 and left <= tonumber(ARGV[2]) and redis.call('GET', key) ~= ARGV[1]\n"
    "if other then return 0 end\n"
    "redis.call('SET', key, ARGV[1], 'PX', ARGV[2])\n"
    "return 1\n";

/* ARGV: worker, length of the lock in ms. Answers {won, alive, token}.
 * The token names this attempt: a lock that was lost with the rest of Redis, or expired and was taken by
 * another, is not mistaken for it. A lock of the same worker is one it left when it failed; one that does not
 * expire within a day, the longest lease there is, was not set here. Leases of workers may differ. */
static const char work_queue_rebuild_begin_lua[] =
    LUA_KEYS "local lock = stem .. 'rebuild'\n"
             "if redis.call('EXISTS', KEYS[1]) == 1 then return {0, 1, ''} end\n"
             "local holder, left = redis.call('GET', lock), redis.call('PTTL', lock)\n"
             "if left < 0 or left > 86400000 then holder = nil end\n"
             "local mine = ARGV[1] .. '@'\n"
             "if holder and string.sub(holder, 1, #mine) ~= mine then return {0, 0, ''} end\n"
             "local now = redis.call('TIME')\n"
             "local token = mine .. now[1] .. '.' .. now[2]\n"
             "redis.call('SET', lock, token, 'PX', ARGV[2])\n"
             "return {1, 0, token}\n";

/* ARGV: token, length of the lock in ms, unit, stage, prerequisite count, then those that are done.
 * Answers 0 when the queue has no life and the lock is not ours: what was restored so far may be gone; 2 when the
 * unit was queued, else 1. While the queue lives (a check, not a rebuild) no lock is asked for.
 * An entry that was delivered once and that nobody holds any more (the group lost it) is out of reach. */
static const char work_queue_restore_lua[] = LUA_KEYS LUA_ADVANCE LUA_TAKE_OFF
    "local lock = stem .. 'rebuild'\n"
    "if redis.call('EXISTS', KEYS[1]) == 0 then\n"
    "  if redis.call('GET', lock) ~= ARGV[1] then return 0 end\n"
    "  redis.call('PEXPIRE', lock, ARGV[2])\n"
    "end\n"
    "local unit, stage, needed = ARGV[3], ARGV[4], tonumber(ARGV[5])\n"
    "local stream = stream_of(stage)\n"
    "local function later(a, b)\n"
    "  local a1, a2 = string.match(a, '^(%d+)-(%d+)$')\n"
    "  local b1, b2 = string.match(b, '^(%d+)-(%d+)$')\n"
    "  if a1 ~= b1 then return tonumber(a1) > tonumber(b1) end\n"
    "  return tonumber(a2) > tonumber(b2)\n"
    "end\n"
    "local function out_of_reach(id)\n"
    "  local p = redis.pcall('XPENDING', stream, 'workers', id, id, 1)\n"
    "  if p.err or #p > 0 then return false end\n"
    "  for _, group in ipairs(redis.call('XINFO', 'GROUPS', stream)) do\n"
    "    local field = {}\n"
    "    for i = 1, #group - 1, 2 do field[group[i]] = group[i + 1] end\n"
    "    if field['name'] == 'workers' then return not later(id, field['last-delivered-id']) end\n"
    "  end\n"
    "  return false\n"
    "end\n"
    "local id = stands(unit, stage)\n"
    "if id and string.sub(id, 1, 5) ~= 'dead:' and out_of_reach(id) then\n"
    "  take_off(stream, id, unit)\n"
    "  id = nil\n"
    "end\n"
    "if id then return 1 end\n"
    "local added = 0\n"
    "if needed == 0 then added = enqueue(unit, stage) end\n"
    "for i = 6, #ARGV do added = added + advance(unit, stage, needed, ARGV[i]) end\n"
    "return added > 0 and 2 or 1\n";

/* ARGV: token. Answers 0 when the lock was lost. */
static const char work_queue_rebuild_end_lua[] =
    LUA_KEYS "local lock = stem .. 'rebuild'\n"
             "if redis.call('GET', lock) ~= ARGV[1] then return 0 end\n"
             "redis.call('SET', KEYS[1], ARGV[1])\n"
             "redis.call('DEL', lock)\n"
             "return 1\n";

/* ARGV: worker, expiry in ms, then pairs of field and value. The time is the server's: clocks of workers
 * may differ. */
static const char work_queue_beat_lua[] =
    LUA_KEYS "local key = stem .. 'worker:' .. ARGV[1]\n"
             "local now = redis.call('TIME')\n"
             "redis.call('SADD', stem .. 'workers', ARGV[1])\n"
             "redis.call('HSET', key, 'ms', now[1] * 1000 + math.floor(now[2] / 1000))\n"
             "for i = 3, #ARGV, 2 do redis.call('HSET', key, ARGV[i], ARGV[i + 1]) end\n"
             "redis.call('PEXPIRE', key, ARGV[2])\n"
             "return 1\n";

/* Answers a list for each live worker: name, age in ms, stage, unit, host, pid, done, memory, busy share,
 * note.
 * Forgets those whose beat has expired. */
static const char work_queue_beats_lua[] =
    LUA_KEYS "local now = redis.call('TIME')\n"
             "local now_ms, out = now[1] * 1000 + math.floor(now[2] / 1000), {}\n"
             "for _, worker in ipairs(redis.call('SMEMBERS', stem .. 'workers')) do\n"
             "  local beat = redis.call('HMGET', stem .. 'worker:' .. worker, 'ms', 'stage', "
             "'unit', 'host',\n"
             "                          'pid', 'done', 'memory', 'busy', 'note')\n"
             "  if beat[1] then\n"
             "    beat[1] = tostring(now_ms - beat[1])\n"
             "    table.insert(beat, 1, worker)\n"
             "    table.insert(out, beat)\n"
             "  else\n"
             "    redis.call('SREM', stem .. 'workers', worker)\n"
             "  end\n"
             "end\n"
             "return out\n";

/* ARGV: stage. Answers {entries in the stream, of them leased, done, retried}. */
static const char work_queue_counts_lua[] = LUA_KEYS
    "local pending = redis.pcall('XPENDING', stream_of(ARGV[1]), 'workers')\n"
    "local leased = 0\n"
    "if not pending.err then leased = pending[1] end\n"
    "local numbers = redis.call('HMGET', count, ARGV[1] .. ':done', ARGV[1] .. ':retried')\n"
    "return {redis.call('XLEN', stream_of(ARGV[1])), leased, numbers[1] or 0, numbers[2] or 0}\n";

#endif
