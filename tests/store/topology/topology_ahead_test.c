#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/topology/topology_ahead.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NODE_COUNT = 100000, DEGREE = 40, EDGE_COUNT = NODE_COUNT * DEGREE, ROW = 50000 };

static const uint32_t bounds[] = {0, NODE_COUNT};
static const struct partition_book book = {
    .id = "p", .part_count = 1, .node_count = NODE_COUNT, .book = bounds};

static void write_part(struct temp_store *s)
{
    uint64_t *row_start = NULL;
    uint32_t *neighbor = NULL;
    assert_ok(memory_new(&row_start, NODE_COUNT + 1, "row starts", &s->err), &s->err);
    assert_ok(memory_new(&neighbor, EDGE_COUNT, "neighbours", &s->err), &s->err);
    for (uint32_t v = 0; v <= NODE_COUNT; v++)
        row_start[v] = (uint64_t)v * DEGREE;
    for (uint32_t e = 0; e < EDGE_COUNT; e++)
        neighbor[e] = e % NODE_COUNT;
    const struct topology_arrays arrays = {.node_count = NODE_COUNT,
                                           .edge_count = EDGE_COUNT,
                                           .row_start = row_start,
                                           .neighbor = neighbor};
    assert_ok(topology_write(s->store, "p", 0, &arrays, &s->err), &s->err);
    memory_free(row_start);
    memory_free(neighbor);
}

/* Drops the file from the page cache, as a shortage of memory would. */
static void forget_file(struct temp_store *s)
{
    char path[FILE_PATH_SIZE];
    assert_ok(store_artifact(s->store, key_part("p", 0, "topology").text, path, &s->err), &s->err);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    (void)close(fd);
}

/* Returns how many pages of the neighbours are in memory. */
static uint32_t count_there(const struct topology_part *part)
{
    static unsigned char is_there[EDGE_COUNT * sizeof(uint32_t) / 4096 + 2];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const char *from = (const char *)part->neighbor_chunk[0];
    void *address = NULL;
    uint32_t count = 0;
    from -= (uintptr_t)from % page;
    memcpy(&address, &from, sizeof address);
    const size_t pages = (EDGE_COUNT * sizeof(uint32_t) + page - 1) / page;
    assert_int_equal(mincore(address, pages * page, is_there), 0);
    for (size_t i = 0; i < pages; i++)
        count += is_there[i] & 1;
    return count;
}

static bool is_there(const struct topology_part *part, uint64_t edge)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const char *from = (const char *)topology_neighbor(part, edge);
    void *address = NULL;
    unsigned char there = 0;
    from -= (uintptr_t)from % page;
    memcpy(&address, &from, sizeof address);
    assert_int_equal(mincore(address, page, &there), 0);
    return there & 1;
}

/* Opens a topology whose file is not in memory. Returns false if this file system keeps it
 * there. */
static bool open_cold(struct temp_store *s, struct topology *t)
{
    write_part(s);
    assert_ok(topology_open(s->store, &book, t, &s->err), &s->err);
    assert_ok(topology_open_part(t, 0, &s->err), &s->err);
    forget_file(s);
    if (count_there(&t->part[0]) < 200)
        return true;
    print_message("skipped: files of %s do not leave memory\n", s->dir.path);
    topology_close(t);
    return false;
}

static void a_row_that_is_touched_is_read_alone(void **state)
{
    struct temp_store *s = *state;
    struct topology t = {0};
    if (!open_cold(s, &t))
        return;
    topology_read_at_random(&t);
    assert_true(t.is_at_random);
    const uint32_t before = count_there(&t.part[0]);
    for (uint32_t row = 1000; row < NODE_COUNT; row += 1000) {
        const uint64_t start = topology_row_start(&t.part[0], row);
        assert_int_equal(*topology_neighbor(&t.part[0], start), start % NODE_COUNT);
    }
    /* 99 rows of one or two pages each, of about 3,900 pages; opening read some of them */
    assert_in_range(count_there(&t.part[0]) - before, 1, 2 * 99);
    topology_close(&t);
}

static void rows_that_are_asked_for_come_by_themselves(void **state)
{
    struct temp_store *s = *state;
    struct topology t = {0};
    if (!open_cold(s, &t))
        return;
    const struct topology_part *part = &t.part[0];
    topology_read_at_random(&t);
    topology_ask_row_start(part, ROW);
    const uint64_t start = topology_row_start(part, ROW);
    assert_false(is_there(part, start));
    topology_ask_neighbors(part, start, DEGREE);
    for (int i = 0; i < 1000 && !is_there(part, start); i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_true(is_there(part, start));
    assert_true(is_there(part, start + DEGREE - 1));
    topology_close(&t);
}

static void a_row_that_is_too_long_is_left_alone(void **state)
{
    struct temp_store *s = *state;
    struct topology t = {0};
    if (!open_cold(s, &t))
        return;
    const struct topology_part *part = &t.part[0];
    topology_read_at_random(&t);
    const uint32_t before = count_there(part);
    topology_ask_neighbors(part, 100000, 1000000);
    topology_ask_neighbors(part, 100000, 0);
    (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal(count_there(part), before);
    topology_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_row_that_is_touched_is_read_alone),
        test_with_store(rows_that_are_asked_for_come_by_themselves),
        test_with_store(a_row_that_is_too_long_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
