/*
 * work_queue_scripts - the state changes of work_queue.h, as the Lua that Redis runs.
 *
 * One script is one atomic step. KEYS[1] is always {run}:life: it routes the script, and all other keys
 * are made from its stem, so that they have its hash tag. ARGV differs; each script says which.
 *
 * The rule that makes every one of them safe to repeat: a member of a wait set is a unit that is done,
 * for ever. So a unit can be queued once too often, never too early, and who claims a unit that is done
 * completes it without work.
 *
 * Traps that shaped them: XACK does not ask who acknowledges, hence held(); a stream entry that is
 * acknowledged stays in the stream, hence XDEL; XREADGROUP from 0 and XAUTOCLAIM count a delivery, XCLAIM
 * with JUSTID does not.
 */
#ifndef STORE_WORK_QUEUE_SCRIPTS_H
#define STORE_WORK_QUEUE_SCRIPTS_H

/* Names of keys. */
#define LUA_KEYS                                                                                   \
    "local stem = string.sub(KEYS[1], 1, -5)\n" /* "{run}:life" without "life" */                  \
    "local queued, count = stem .. 'queued', stem .. 'count'\n"                                    \
    "local function stream_of(stage) return stem .. 'queue:' .. stage end\n"

/* held: is the entry leased to this worker by this very delivery? A missing group means no. */
#define LUA_HELD                                                                                   \
    "local function held(stream, id, worker, deliveries)\n"                                        \
    "  local p = redis.pcall('XPENDING', stream, 'workers', id, id, 1)\n"                          \
    "  if p.err or #p == 0 then return false end\n"                                                \
    "  return p[1][2] == worker and tostring(p[1][4]) == deliveries\n"                             \
    "end\n"

/* enqueue: puts a unit in its stream, once. advance: notes that `finished` is done for `unit`, and
 * queues it when that was the last one it waited for. */
#define LUA_ADVANCE                                                                                \
    "local function enqueue(unit, stage)\n"                                                        \
    "  if redis.call('SADD', queued, unit) == 1 then\n"                                            \
    "    redis.call('XADD', stream_of(stage), '*', 'unit', unit)\n"                                \
    "  end\n"                                                                                      \
    "end\n"                                                                                        \
    "local function advance(unit, stage, needed, finished)\n"                                      \
    "  local wait = stem .. 'wait:' .. unit\n"                                                     \
    "  redis.call('SADD', wait, finished)\n"                                                       \
    "  if redis.call('SCARD', wait) >= needed then\n"                                              \
    "    enqueue(unit, stage)\n"                                                                   \
    "    redis.call('DEL', wait)\n"                                                                \
    "  end\n"                                                                                      \
    "end\n"

/* bury: a dead unit stays in the queued set, so that no rebuild brings it back. */
#define LUA_BURY                                                                                   \
    "local function bury(stream, id, unit, reason, worker)\n"                                      \
    "  redis.call('XADD', stem .. 'dead', '*', 'unit', unit, 'reason', reason, 'worker', "         \
    "worker)\n"                                                                                    \
    "  redis.call('XACK', stream, 'workers', id)\n"                                                \
    "  redis.call('XDEL', stream, id)\n"                                                           \
    "end\n"

/* ARGV: stage, worker, lease in ms, most deliveries, look at own pending (0 or 1), look for expired.
 * Answers {'lost'}, {'nothing'} or {'unit', unit, id, deliveries}.
 * Own pending entries first: a worker that was restarted, or that never got the answer to a claim. The
 * group starts at 0, so that it may be made after the first entries. An entry without fields was deleted
 * while it was pending. */
static const char work_queue_claim_lua[] = LUA_KEYS LUA_BURY
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
    "local function accept(entry)\n"
    "  if not entry then return nil end\n"
    "  local id, fields = entry[1], entry[2]\n"
    "  if not fields then redis.call('XACK', stream, 'workers', id) return nil end\n"
    "  local p = redis.call('XPENDING', stream, 'workers', id, id, 1)\n"
    "  local deliveries = p[1][4]\n"
    "  if deliveries > 1 then redis.call('HINCRBY', count, stage .. ':retried', 1) end\n"
    "  if deliveries > most then\n"
    "    bury(stream, id, fields[2], 'given up after ' .. most .. ' deliveries: each time its ' "
    "..\n"
    "         'worker died or lost its lease', worker)\n"
    "    return nil\n"
    "  end\n"
    "  return {'unit', fields[2], id, deliveries}\n"
    "end\n"
    /* Takes entries from a source until one is fit for work or the source is dry. */
    "local function take(source, from)\n"
    "  local entry = source(from)\n"
    "  while entry do\n"
    "    local unit = accept(entry)\n"
    "    if unit then return unit end\n"
    "    entry = source(from)\n"
    "  end\n"
    "end\n"
    "return (ARGV[5] == '1' and take(entry_after, '0')) or\n"
    "       (ARGV[6] == '1' and take(expired_entry)) or take(entry_after, '>') or\n"
    "       take(expired_entry) or {'nothing'}\n";

/* ARGV: stage, worker, id, deliveries, unit, last part (0 or 1), then unit, stage, prerequisite count of
 * each successor. Answers how many units the stage has done, or 0 when the lease or the queue is lost; 1 for
 * a part that is not the last.
 * A long list of successors comes in parts. Only the last part gives the entry up, so a worker that dies
 * in between leaves it leased, the next one does all parts again, and nothing is freed too early: the
 * unit's output was stored before the first part. */
static const char work_queue_complete_lua[] = LUA_KEYS LUA_HELD LUA_ADVANCE
    "local stage, worker, id, unit = ARGV[1], ARGV[2], ARGV[3], ARGV[5]\n"
    "local stream = stream_of(stage)\n"
    "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end\n"
    "if not held(stream, id, worker, ARGV[4]) then return 0 end\n"
    "for i = 7, #ARGV, 3 do advance(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), unit) end\n"
    "if ARGV[6] == '1' then\n"
    "  redis.call('XACK', stream, 'workers', id)\n"
    "  redis.call('XDEL', stream, id)\n"
    "  redis.call('SREM', queued, unit)\n"
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
static const char work_queue_give_back_lua[] =
    LUA_KEYS LUA_HELD "local stream = stream_of(ARGV[1])\n"
                      "if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end\n"
                      "redis.call('XACK', stream, 'workers', ARGV[3])\n"
                      "redis.call('XDEL', stream, ARGV[3])\n"
                      "redis.call('SREM', queued, ARGV[5])\n"
                      "return 1\n";

/* ARGV: stage, worker, id, deliveries, unit, reason. */
static const char work_queue_bury_lua[] =
    LUA_KEYS LUA_HELD LUA_BURY "local stream = stream_of(ARGV[1])\n"
                               "if not held(stream, ARGV[3], ARGV[2], ARGV[4]) then return 0 end\n"
                               "bury(stream, ARGV[3], ARGV[5], ARGV[6], ARGV[2])\n"
                               "return 1\n";

/* ARGV: worker, length of the lock in ms. Answers {won, alive, token}.
 * The token names this attempt: a lock that was lost with the rest of Redis, or expired and was taken by
 * another, is not mistaken for it. A lock of the same worker is one it left when it failed. */
static const char work_queue_rebuild_begin_lua[] =
    LUA_KEYS "local lock = stem .. 'rebuild'\n"
             "if redis.call('EXISTS', KEYS[1]) == 1 then return {0, 1, ''} end\n"
             "local holder = redis.call('GET', lock)\n"
             "local mine = ARGV[1] .. '@'\n"
             "if holder and string.sub(holder, 1, #mine) ~= mine then return {0, 0, ''} end\n"
             "local now = redis.call('TIME')\n"
             "local token = mine .. now[1] .. '.' .. now[2]\n"
             "redis.call('SET', lock, token, 'PX', ARGV[2])\n"
             "return {1, 0, token}\n";

/* ARGV: token, length of the lock in ms, unit, stage, prerequisite count, then those that are done.
 * Answers 0 when the queue has no life and the lock is not ours: what was restored so far may be gone.
 * While the queue lives (a check, not a rebuild) no lock is asked for. */
static const char work_queue_restore_lua[] =
    LUA_KEYS LUA_ADVANCE "local lock = stem .. 'rebuild'\n"
                         "if redis.call('EXISTS', KEYS[1]) == 0 then\n"
                         "  if redis.call('GET', lock) ~= ARGV[1] then return 0 end\n"
                         "  redis.call('PEXPIRE', lock, ARGV[2])\n"
                         "end\n"
                         "local unit, stage, needed = ARGV[3], ARGV[4], tonumber(ARGV[5])\n"
                         "if redis.call('SISMEMBER', queued, unit) == 1 then return 1 end\n"
                         "if needed == 0 then enqueue(unit, stage) end\n"
                         "for i = 6, #ARGV do advance(unit, stage, needed, ARGV[i]) end\n"
                         "return 1\n";

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

/* Answers a list for each live worker: name, age in ms, stage, unit, host, pid, done, memory, busy share.
 * Forgets those whose beat has expired. */
static const char work_queue_beats_lua[] =
    LUA_KEYS "local now = redis.call('TIME')\n"
             "local now_ms, out = now[1] * 1000 + math.floor(now[2] / 1000), {}\n"
             "for _, worker in ipairs(redis.call('SMEMBERS', stem .. 'workers')) do\n"
             "  local beat = redis.call('HMGET', stem .. 'worker:' .. worker, 'ms', 'stage', "
             "'unit', 'host',\n"
             "                          'pid', 'done', 'memory', 'busy')\n"
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
