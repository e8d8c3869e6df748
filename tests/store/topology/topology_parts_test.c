/* Tests when the parts of a topology are opened, and by which threads, in a store without paths,
 * where each part is downloaded. */
#include "common/base/memory.h"
#include "store/backends/memory/memory_backend.h"
#include "store/objects/keys.h"
#include "store/topology/topology.h"

#include "tests/support/store_watch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <unistd.h>

enum { PART_COUNT = 6, PART_NODES = 50, NODES = PART_COUNT * PART_NODES, THREADS = 4 };

static const char place[] = "topology-parts";

struct scene {
    struct temp_dir dir;
    struct store *store;
    uint32_t bounds[PART_COUNT + 1];
    struct partition_book book;
    struct error err;
};

/* Writes a part in which node v has the sources v and v + 1; the last one only v. */
static void write_part(struct scene *s, int part)
{
    uint64_t row_start[PART_NODES + 1] = {0};
    uint32_t neighbor[2 * PART_NODES];
    const uint32_t first = s->bounds[part];
    for (uint32_t row = 0; row < PART_NODES; row++) {
        uint64_t at = row_start[row];
        neighbor[at++] = first + row;
        if (first + row + 1 < NODES)
            neighbor[at++] = first + row + 1;
        row_start[row + 1] = at;
    }
    const struct topology_arrays arrays = {.first_node = first,
                                           .node_count = PART_NODES,
                                           .edge_count = row_start[PART_NODES],
                                           .row_start = row_start,
                                           .neighbor = neighbor};
    assert_ok(topology_write(s->store, "p", part, &arrays, &s->err), &s->err);
}

static int set_up(void **state)
{
    static struct scene s;
    s = (struct scene){.store = store_watch_open(&memory_backend, place)};
    for (uint32_t p = 0; p <= PART_COUNT; p++)
        s.bounds[p] = p * PART_NODES;
    s.book = (struct partition_book){
        .id = "p", .part_count = PART_COUNT, .node_count = NODES, .book = s.bounds};
    temp_dir_make(&s.dir);
    must(store_cache_set(s.store, s.dir.path, UINT64_MAX, false, &s.err) == ERROR_NONE);
    for (int p = 0; p < PART_COUNT; p++)
        write_part(&s, p);
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    store_close(s->store);
    memory_store_forget(place);
    temp_dir_remove(&s->dir);
    return memory_live_blocks() == 0 ? 0 : -1;
}

/* Removes the copies that writing has left, so that every part is downloaded. */
static void forget_copies(struct scene *s)
{
    char folder[FILE_PATH_SIZE];
    assert_ok(file_path(folder, &s->err, "%s/graphmill-cache-%ld", s->dir.path, (long)geteuid()),
              &s->err);
    assert_ok(file_remove_all(folder, &s->err), &s->err);
}

static void assert_part(const struct topology *t, int p)
{
    const struct topology_part *part = &t->part[p];
    for (uint32_t row = 0; row < PART_NODES; row++) {
        const uint64_t at = topology_row_start(part, row);
        assert_int_equal(topology_row_start(part, row + 1) - at,
                         part->first_node + row + 1 < NODES ? 2 : 1);
        assert_int_equal(*topology_neighbor(part, at), part->first_node + row);
    }
}

static void a_part_is_fetched_when_it_is_wanted_and_once(void **state)
{
    struct scene *s = *state;
    struct topology t = {0};
    forget_copies(s);
    store_watch_begin(PART_COUNT);
    assert_ok(topology_open(s->store, &s->book, &t, &s->err), &s->err);
    assert_int_equal(store_watch_end().calls, 1); /* for all seals together */
    assert_int_equal(t.edge_count, 2 * NODES - 1);
    assert_int_equal(t.part[5].edge_count, 2 * PART_NODES - 1);
    assert_int_equal(topology_copy_bytes(&t) > 0, true);
    store_watch_begin(0);
    assert_ok(topology_open_part(&t, 2, &s->err), &s->err);
    assert_ok(topology_open_part(&t, 2, &s->err), &s->err);
    assert_ok(topology_open_part(&t, 4, &s->err), &s->err);
    assert_int_equal(store_watch_end().reads, 2);
    for (int p = 0; p < PART_COUNT; p++)
        assert_int_equal(t.part[p].row_start_chunk != NULL, p == 2 || p == 4);
    assert_part(&t, 2);
    assert_part(&t, 4);
    topology_close(&t);
}

static void all_parts_are_fetched_side_by_side(void **state)
{
    struct scene *s = *state;
    struct topology t = {0};
    struct thread_pool *pool = NULL;
    assert_ok(thread_pool_new(THREADS, &pool, &s->err), &s->err);
    forget_copies(s);
    assert_ok(topology_open(s->store, &s->book, &t, &s->err), &s->err);
    store_watch_begin(THREADS);
    assert_ok(topology_open_parts(&t, pool, &s->err), &s->err);
    const struct store_watch_count count = store_watch_end();
    assert_int_equal(count.most, THREADS);
    assert_int_equal(count.reads, PART_COUNT);
    for (int p = 0; p < PART_COUNT; p++)
        assert_part(&t, p);
    topology_close(&t);
    thread_pool_free(pool);
}

/* Tests that of several damaged parts the first is named, whichever thread found which; that the
 * others are open; and that a damaged part can be opened after a repair. */
static void damage_of_one_part_is_told_and_may_be_mended(void **state)
{
    struct scene *s = *state;
    struct topology t = {0};
    struct thread_pool *pool = NULL;
    assert_ok(thread_pool_new(THREADS, &pool, &s->err), &s->err);
    forget_copies(s);
    assert_ok(topology_open(s->store, &s->book, &t, &s->err), &s->err);
    for (int p = 3; p <= 5; p += 2)
        assert_ok(store_remove(s->store, key_part("p", p, "topology").text, &s->err), &s->err);
    assert_fails(topology_open_parts(&t, pool, &s->err), ERROR_NOT_FOUND,
                 "partition/p/part/0000000003/topology", &s->err);
    for (int p = 0; p < PART_COUNT; p++)
        assert_int_equal(t.part[p].row_start_chunk != NULL, p != 3 && p != 5);
    write_part(s, 3);
    write_part(s, 5);
    assert_ok(topology_open_parts(&t, pool, &s->err), &s->err);
    for (int p = 0; p < PART_COUNT; p++)
        assert_part(&t, p);
    topology_close(&t);
    thread_pool_free(pool);
}

struct racer {
    pthread_t thread;
    const struct topology *topology;
    int first;
    bool good;
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    racer->good = true;
    for (int i = 0; i < PART_COUNT; i++) {
        const int p = (racer->first + i) % PART_COUNT;
        struct error err = {0};
        racer->good &=
            topology_open_part(racer->topology, p, &err) == ERROR_NONE &&
            *topology_neighbor(&racer->topology->part[p], 0) == racer->topology->part[p].first_node;
    }
    return NULL;
}

static void threads_that_want_the_same_parts_fetch_each_once(void **state)
{
    struct scene *s = *state;
    for (int turn = 0; turn < 10; turn++) {
        struct topology t = {0};
        struct racer racer[THREADS];
        forget_copies(s);
        assert_ok(topology_open(s->store, &s->book, &t, &s->err), &s->err);
        store_watch_begin(0);
        for (int i = 0; i < THREADS; i++) {
            racer[i] = (struct racer){.topology = &t, .first = i / 2};
            must(pthread_create(&racer[i].thread, NULL, race, &racer[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++) {
            (void)pthread_join(racer[i].thread, NULL);
            assert_true(racer[i].good);
        }
        assert_int_equal(store_watch_end().reads, PART_COUNT);
        topology_close(&t);
    }
}

#define with_scene(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_scene(a_part_is_fetched_when_it_is_wanted_and_once),
        with_scene(all_parts_are_fetched_side_by_side),
        with_scene(damage_of_one_part_is_told_and_may_be_mended),
        with_scene(threads_that_want_the_same_parts_fetch_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
