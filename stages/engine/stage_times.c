#include "stages/engine/stage_times.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "stages/engine/part_shares.h"
#include "stages/plan/chain/unit_row.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const char *const phase_name[TIME_PHASE_COUNT] = {
    [TIME_OPEN] = "open",       [TIME_WAIT] = "wait",   [TIME_READ] = "read",
    [TIME_COMPUTE] = "compute", [TIME_WRITE] = "write", [TIME_HAND_OVER] = "hand_over",
};

struct moved {
    uint64_t rows, row_bytes, bytes_read, bytes_written;
};

/* The sums for units of one kind and one epoch. */
struct tally {
    bool used;
    int64_t epoch, units;
    double first, first_end, last_end;
    double seconds[TIME_PHASE_COUNT];
    double ahead;
    struct moved moved;
    struct encoding_work encoding;
};

struct stage_times {
    struct stage_times_config config;
    int fd;
    bool failed; /* a line could not be written */
    pthread_t owner;
    struct json_writer line; /* its memory is kept */
    enum time_phase phase;
    enum unit_kind kind; /* the present unit; UNIT_UNKNOWN between units */
    struct unit unit;    /* the present unit */
    struct part_shares shares;
    double started, since, open, waited;
    double unit_began;
    struct moved before; /* data moved before the unit began */
    struct tally tally[UNIT_KIND_COUNT];
    atomic_uint_least64_t rows, row_bytes;
};

/* --- lines --- */

static void begin_line(struct stage_times *t)
{
    t->line.size = 0;
    t->line.comma = false;
    json_open_object(&t->line, NULL);
    json_put_string(&t->line, "stage", t->config.stage);
    json_put_string(&t->line, "worker", t->config.worker);
    json_put_string(&t->line, "run", t->config.run_id ? t->config.run_id : "");
}

/* Writes a line with one write, so that lines of a process and of its successor do not mix. */
static void end_line(struct stage_times *t)
{
    struct error err = {0};
    json_close_object(&t->line);
    json_put_raw(&t->line, "\n");
    if (json_writer_finish(&t->line, &err) != ERROR_NONE ||
        file_write_all(t->fd, t->line.text, t->line.size, t->config.path, &err) != ERROR_NONE)
        t->failed = true;
}

static void put_count(struct stage_times *t, const char *name, uint64_t value)
{
    json_put_int64(&t->line, name, (int64_t)value);
}

static void write_tally(struct stage_times *t, enum unit_kind kind)
{
    struct tally *tally = &t->tally[kind];
    const struct unit unit = {.kind = kind};
    char name[UNIT_NAME_SIZE];
    if (!tally->used)
        return;
    unit_name(&unit, name);
    name[strcspn(name, "/")] = '\0';
    begin_line(t);
    json_put_string(&t->line, "unit", name);
    json_put_int64(&t->line, "epoch", tally->epoch);
    json_put_int64(&t->line, "units", tally->units);
    json_put_double(&t->line, "first", tally->first);
    json_put_double(&t->line, "first_end", tally->first_end);
    json_put_double(&t->line, "last_end", tally->last_end);
    for (int phase = TIME_WAIT; phase < TIME_PHASE_COUNT; phase++)
        json_put_double(&t->line, phase_name[phase], tally->seconds[phase]);
    json_put_double(&t->line, "ahead", tally->ahead);
    put_count(t, "rows", tally->moved.rows);
    put_count(t, "row_bytes", tally->moved.row_bytes);
    put_count(t, "record_bytes_read", tally->moved.bytes_read);
    put_count(t, "record_bytes_written", tally->moved.bytes_written);
    if (tally->encoding.seconds > 0) {
        json_put_double(&t->line, "encoding", tally->encoding.seconds);
        put_count(t, "gradient_bytes", tally->encoding.bytes);
        put_count(t, "gradient_float_bytes", tally->encoding.float_bytes);
    }
    part_shares_put(&t->shares, kind, &t->line);
    end_line(t);
    *tally = (struct tally){0};
}

/* Writes a line for a layer of a part: the next layer begins when the last part is done, so each
 * part counts. */
static void write_part(struct stage_times *t)
{
    begin_line(t);
    json_put_int64(&t->line, "part", t->unit.slot);
    json_put_int64(&t->line, "layer", t->unit.layer);
    json_put_int64(&t->line, "weights", t->unit.round);
    json_put_double(&t->line, "begun", t->unit_began);
    json_put_double(&t->line, "ended", t->since);
    end_line(t);
}

static void write_process(struct stage_times *t)
{
    const struct host_usage usage = host_usage();
    begin_line(t);
    json_put_int64(&t->line, "pid", getpid());
    json_put_double(&t->line, "started", t->started);
    json_put_double(&t->line, "ended", t->since);
    json_put_double(&t->line, phase_name[TIME_OPEN], t->open);
    json_put_double(&t->line, "idle", t->waited);
    put_count(t, "peak_bytes", usage.peak_bytes);
    json_put_double(&t->line, "user", usage.user_seconds);
    json_put_double(&t->line, "system", usage.system_seconds);
    put_count(t, "disk_bytes_read", usage.disk_bytes_read);
    put_count(t, "disk_bytes_written", usage.disk_bytes_written);
    end_line(t);
}

/* --- phases --- */

static void enter(struct stage_times *t, enum time_phase phase)
{
    const double now = clock_seconds(), seconds = now - t->since;
    if (t->phase == TIME_OPEN)
        t->open += seconds;
    else if (t->phase == TIME_WAIT)
        t->waited += seconds;
    else
        t->tally[t->kind].seconds[t->phase] += seconds;
    t->phase = phase;
    t->since = now;
}

static bool is_own(const struct stage_times *t)
{
    return t && pthread_equal(t->owner, pthread_self());
}

void stage_times_enter(struct stage_times *times, enum time_phase phase)
{
    if (!is_own(times))
        return;
    /* between units there is nothing to read or compute */
    if (times->kind != UNIT_UNKNOWN || phase == TIME_OPEN || phase == TIME_WAIT)
        enter(times, phase);
}

static int64_t epoch_of(const struct stage_times *t, const struct unit *unit)
{
    const struct schedule *schedule = t->config.schedule;
    if (!schedule)
        return 0;
    const enum unit_line line = unit_row_of(unit->kind)->line;
    if (line == LINE_ROUNDS)
        return schedule_epoch(schedule, unit->round) + 1;
    return line == LINE_VERSIONS && unit->round > 0 ? schedule_epoch(schedule, unit->round - 1) + 1
                                                    : 0;
}

static struct moved moved_so_far(const struct stage_times *t)
{
    struct moved moved = {.rows = atomic_load(&t->rows), .row_bytes = atomic_load(&t->row_bytes)};
    if (t->config.store) {
        const struct store_traffic traffic = store_traffic(t->config.store);
        moved.bytes_read = traffic.bytes_read;
        moved.bytes_written = traffic.bytes_written;
    }
    return moved;
}

void stage_times_begin_unit(struct stage_times *times, const struct unit *unit)
{
    if (!is_own(times))
        return;
    struct tally *tally = &times->tally[unit->kind];
    const int64_t epoch = epoch_of(times, unit);
    enter(times, TIME_HAND_OVER); /* ends the wait */
    times->unit_began = times->since;
    if (tally->used && tally->epoch != epoch)
        write_tally(times, unit->kind);
    if (!tally->used)
        *tally = (struct tally){.used = true, .epoch = epoch, .first = times->since};
    times->kind = unit->kind;
    times->unit = *unit;
    times->before = moved_so_far(times);
    tally->seconds[TIME_WAIT] += times->waited;
    times->waited = 0;
}

void stage_times_end_unit(struct stage_times *times, bool done)
{
    if (!is_own(times) || times->kind == UNIT_UNKNOWN)
        return;
    struct tally *tally = &times->tally[times->kind];
    const struct moved now = moved_so_far(times);
    enter(times, TIME_WAIT);
    part_shares_end(&times->shares, times->kind, times->since - times->unit_began, done);
    if (done && times->kind == UNIT_INFER)
        write_part(times);
    times->kind = UNIT_UNKNOWN;
    tally->moved.rows += now.rows - times->before.rows;
    tally->moved.row_bytes += now.row_bytes - times->before.row_bytes;
    tally->moved.bytes_read += now.bytes_read - times->before.bytes_read;
    tally->moved.bytes_written += now.bytes_written - times->before.bytes_written;
    tally->units += done;
    tally->last_end = times->since;
    if (tally->first_end <= 0)
        tally->first_end = times->since;
}

void stage_times_add_ahead(struct stage_times *times, double seconds)
{
    if (!is_own(times) || times->kind == UNIT_UNKNOWN)
        return;
    /* The work may have gone on after the unit began; that time is in the unit's phases already. */
    const double before = seconds - (clock_seconds() - times->unit_began);
    times->tally[times->kind].ahead += before > 0 ? before : 0;
}

void stage_times_add_encoding(struct stage_times *times, const struct encoding_work *work)
{
    if (!is_own(times) || times->kind == UNIT_UNKNOWN)
        return;
    struct encoding_work *sum = &times->tally[times->kind].encoding;
    sum->seconds += work->seconds;
    sum->bytes += work->bytes;
    sum->float_bytes += work->float_bytes;
}

void stage_times_add_part(struct stage_times *times, const struct partition_book *book,
                          uint32_t node, uint64_t amount)
{
    if (!is_own(times) || times->kind == UNIT_UNKNOWN)
        return;
    const struct type_ranges ranges = partition_book_ranges(book);
    part_shares_add(&times->shares, book->part_count, type_ranges_part(&ranges, node), amount);
}

void stage_times_add_nodes(struct stage_times *times, const struct partition_book *book,
                           const uint32_t *node, uint32_t count)
{
    if (!is_own(times) || times->kind == UNIT_UNKNOWN)
        return;
    const struct type_ranges ranges = partition_book_ranges(book);
    for (uint32_t i = 0; i < count; i++)
        part_shares_add(&times->shares, book->part_count, type_ranges_part(&ranges, node[i]), 1);
}

void stage_times_add_rows(struct stage_times *times, uint64_t rows, uint64_t bytes)
{
    if (!times)
        return;
    (void)atomic_fetch_add(&times->rows, rows);
    (void)atomic_fetch_add(&times->row_bytes, bytes);
}

/* --- open and close --- */

static enum error_code open_file(const char *path, int *fd, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    enum error_code rc = file_path(folder, err, "%s", path);
    char *slash = strrchr(folder, '/');
    if (rc == ERROR_NONE && slash && slash != folder) {
        *slash = '\0';
        rc = file_make_folders(folder, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return *fd < 0 ? error_set_errno(err, ERROR_IO, "%s", path) : ERROR_NONE;
}

enum error_code stage_times_open(const struct stage_times_config *config, struct stage_times **out,
                                 struct error *err)
{
    struct stage_times *t = NULL;
    enum error_code rc = memory_new(&t, 1, "the times of a worker", err);
    if (rc == ERROR_NONE)
        rc = open_file(config->path, &t->fd, err);
    if (rc != ERROR_NONE) {
        memory_free(t);
        return rc;
    }
    t->config = *config;
    t->owner = pthread_self();
    t->started = t->since = clock_seconds();
    *out = t;
    return ERROR_NONE;
}

enum error_code stage_times_close(struct stage_times *times, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!times)
        return ERROR_NONE;
    if (times->kind != UNIT_UNKNOWN)
        stage_times_end_unit(times, false);
    else
        enter(times, times->phase);
    for (int kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++)
        write_tally(times, (enum unit_kind)kind);
    write_process(times);
    if (close(times->fd) != 0 || times->failed)
        rc = error_set(err, ERROR_IO, "%s could not be written", times->config.path);
    json_writer_release(&times->line);
    part_shares_release(&times->shares);
    memory_free(times);
    return rc;
}
