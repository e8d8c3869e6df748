#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/partition/topology_seal.h"
#include "store/topology/topology.h"

#include "tests/support/edge_values.h"
#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_COUNT = 4, ROW_EDGES_MAX = 7 };

/* Parts of odd sizes: no node, one, and several. */
static const uint32_t bounds[PART_COUNT + 1] = {0, 0, 1, 258, 1000};

struct fixture {
    struct temp_dir dir;
    char scratch[FILE_PATH_SIZE];
    struct store *store;
    struct partition_book book;
    struct error err;
};

static struct fixture open_fixture(void)
{
    struct fixture f = {.book = {.id = "p", .part_count = PART_COUNT, .node_count = 1000}};
    char path[FILE_PATH_SIZE];
    f.book.book = bounds;
    temp_dir_make(&f.dir);
    assert_ok(file_path(path, &f.err, "%s/store", f.dir.path), &f.err);
    assert_ok(file_path(f.scratch, &f.err, "%s/local", f.dir.path), &f.err);
    assert_ok(file_make_folders(f.scratch, &f.err), &f.err);
    assert_ok(store_open(path, 0, &f.store, &f.err), &f.err);
    return f;
}

static void close_fixture(struct fixture *f)
{
    store_close(f->store);
    temp_dir_remove(&f->dir);
}

/* --- the expected content: pure functions of node and edge --- */

static uint32_t degree_of(uint32_t node)
{
    return node * 2654435761U >> 16 & ROW_EDGES_MAX;
}

static uint32_t neighbor_of(uint32_t node, uint32_t i)
{
    return (node * 31 + i * 17) % 1000;
}

struct part_arrays {
    uint64_t row_start[1001];
    uint32_t neighbor[1000 * ROW_EDGES_MAX];
    float weight[1000 * ROW_EDGES_MAX];
    int64_t time[1000 * ROW_EDGES_MAX];
    uint16_t edge_type[1000 * ROW_EDGES_MAX];
    float feature[1000 * ROW_EDGES_MAX][5];
};

static struct topology_arrays make_part(struct part_arrays *a, int part, bool all)
{
    const uint32_t first = bounds[part], count = bounds[part + 1] - first;
    uint64_t at = 0;
    for (uint32_t row = 0; row < count; row++) {
        a->row_start[row] = at;
        for (uint32_t i = 0; i < degree_of(first + row); i++, at++) {
            a->neighbor[at] = neighbor_of(first + row, i);
            a->weight[at] = (float)a->neighbor[at] * 0.5F;
            a->time[at] = (int64_t)a->neighbor[at] * 25;
            a->edge_type[at] = (uint16_t)(a->neighbor[at] % 7);
            for (int k = 0; k < 5; k++)
                a->feature[at][k] = (float)a->neighbor[at] + (float)k * 0.125F;
        }
    }
    a->row_start[count] = at;
    struct edge_columns_view columns = edge_values(a->weight, a->time, a->edge_type);
    columns.width.of[EDGE_FEATURE] = 5;
    columns.data[EDGE_FEATURE] = a->feature;
    return (struct topology_arrays){.first_node = first,
                                    .node_count = count,
                                    .edge_count = at,
                                    .row_start = a->row_start,
                                    .neighbor = a->neighbor,
                                    .columns = all ? columns : edge_values(NULL, NULL, NULL)};
}

static enum error_code write_part(struct fixture *f, int part, bool all)
{
    static struct part_arrays a;
    const struct topology_arrays arrays = make_part(&a, part, all);
    return topology_write(f->store, "p", part, &arrays, &f->err);
}

static void write_all(struct fixture *f, bool all)
{
    for (int p = 0; p < PART_COUNT; p++)
        assert_ok(write_part(f, p, all), &f->err);
}

static void assert_row(const struct topology *t, uint32_t node, bool all)
{
    const struct topology_part *part = &t->part[topology_part_of(t, node)];
    const uint32_t row = node - part->first_node;
    const uint64_t from = topology_row_start(part, row), to = topology_row_start(part, row + 1);
    assert_true(row < part->node_count);
    assert_int_equal(to - from, degree_of(node));
    double sum = 0;
    bool has_loop = false;
    for (uint32_t i = 0; i < degree_of(node); i++) {
        sum += neighbor_of(node, i) * 0.5;
        has_loop |= neighbor_of(node, i) == node;
    }
    if (all)
        assert_true(*topology_weight_sum(part, row) == (float)(has_loop ? sum : sum + 1));
    for (uint64_t edge = from; edge < to; edge++) {
        const uint32_t neighbor = *topology_neighbor(part, edge);
        assert_int_equal(neighbor, neighbor_of(node, (uint32_t)(edge - from)));
        if (!all)
            continue;
        assert_true(*(const float *)topology_column(part, EDGE_WEIGHT, edge) ==
                    (float)neighbor * 0.5F);
        assert_true(topology_time(part, edge) == (int64_t)neighbor * 25);
        assert_int_equal(*(const uint16_t *)topology_column(part, EDGE_TYPE, edge), neighbor % 7);
        const float *feature = topology_column(part, EDGE_FEATURE, edge);
        for (int k = 0; k < 5; k++)
            assert_true(feature[k] == (float)neighbor + (float)k * 0.125F);
    }
}

static int count_name(const char *folder)
{
    char command[FILE_PATH_SIZE + 32];
    char text[32] = "";
    (void)snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): the test made the path */
    assert_non_null(pipe);
    assert_non_null(fgets(text, sizeof text, pipe));
    (void)pclose(pipe);
    return (int)strtol(text, NULL, 10);
}

/* Opens a topology with all its parts. */
static enum error_code open_all(struct fixture *f, struct thread_pool *pool, struct topology *out)
{
    const enum error_code rc = topology_open(f->store, &f->book, out, &f->err);
    const enum error_code parts = rc == ERROR_NONE ? topology_open_parts(out, pool, &f->err) : rc;
    if (parts != ERROR_NONE)
        topology_close(out);
    return parts;
}

static void every_row_of_every_part_reads_back(void **state)
{
    (void)state;
    for (int all = 0; all <= 1; all++) {
        struct fixture f = open_fixture();
        const long blocks = memory_live_blocks();
        struct topology t = {0};
        write_all(&f, all);
        assert_ok(open_all(&f, NULL, &t), &f.err);
        assert_int_equal(t.part_count, PART_COUNT);
        assert_int_equal(t.width.of[EDGE_WEIGHT] && t.width.of[EDGE_TIME] && t.width.of[EDGE_TYPE],
                         all);
        uint64_t edges = 0;
        for (uint32_t node = 0; node < 1000; node++) {
            assert_row(&t, node, all);
            edges += degree_of(node);
        }
        assert_int_equal(t.edge_count, edges);
        assert_int_equal((uintptr_t)t.part[2].row_start_chunk[0] % 16, 0);
        topology_close(&t);
        topology_close(&t);
        assert_int_equal(memory_live_blocks(), blocks);
        close_fixture(&f);
    }
}

static void artifact_path(struct fixture *f, int part, char path[FILE_PATH_SIZE])
{
    assert_ok(store_artifact(f->store, key_part("p", part, "topology").text, path, &f->err),
              &f->err);
}

/* Builds from nothing twice: the files are equal to the byte, so the second seal equals the
 * first. */
static void equal_arrays_give_equal_files(void **state)
{
    (void)state;
    struct fixture f = open_fixture(), g = open_fixture();
    char tmp[FILE_PATH_SIZE];
    write_all(&f, true);
    write_all(&g, true);
    write_all(&g, true);
    for (int p = 0; p < PART_COUNT; p++) {
        char a[FILE_PATH_SIZE], b[FILE_PATH_SIZE];
        struct checksum sum_a, sum_b;
        struct topology_seal seal;
        uint64_t size = 0;
        artifact_path(&f, p, a);
        artifact_path(&g, p, b);
        assert_ok(checksum_of_file(a, &sum_a, &size, &f.err), &f.err);
        assert_ok(checksum_of_file(b, &sum_b, NULL, &f.err), &f.err);
        assert_true(checksum_equal(&sum_a, &sum_b));
        assert_ok(topology_seal_get(f.store, "p", p, &seal, &f.err), &f.err);
        assert_true(checksum_equal(&seal.file, &sum_a));
        assert_int_equal(seal.file_size, size);
    }
    assert_ok(file_path(tmp, &f.err, "%s/tmp", store_root(g.store)), &f.err);
    assert_int_equal(count_name(tmp), 1); /* the scratch space of the open store */
    close_fixture(&f);
    close_fixture(&g);
}

static void other_arrays_under_one_name_are_refused(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    assert_ok(write_part(&f, 2, true), &f.err);
    assert_fails(write_part(&f, 2, false), ERROR_CORRUPT,
                 "alarm: record partition/p/part/0000000002/topology_seal was made again", &f.err);
    close_fixture(&f);
}

static void a_replay_compares_the_file(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct store *stored = f.store, *replay = NULL;
    write_all(&f, true);
    assert_ok(store_open(store_root(stored), STORE_REPLAY, &replay, &f.err), &f.err);
    f.store = replay;
    assert_ok(write_part(&f, 3, true), &f.err);
    const struct store_replay report = store_replay_report(replay);
    assert_int_equal(report.matched, 1);
    assert_int_equal(report.differed, 0);
    store_close(replay);
    f.store = stored;
    close_fixture(&f);
}

static void assert_not_opened(struct fixture *f)
{
    struct topology t = {0};
    assert_fails(open_all(f, NULL, &t), ERROR_CORRUPT,
                 "artifact partition/p/part/0000000003/topology: expected hash ", &f->err);
    assert_non_null(strstr(f->err.message, ", found "));
    assert_null(t.part);
}

static void every_flipped_bit_is_reported_before_lmdb_sees_it(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    char path[FILE_PATH_SIZE];
    uint64_t size = 0;
    write_all(&f, true);
    artifact_path(&f, 3, path);
    assert_ok(file_size(path, &size, &f.err), &f.err);
    const struct random_stream stream = {0};
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t bit = random_permute(&stream, i, 8 * size);
        temp_dir_flip_bit(path, bit);
        assert_not_opened(&f);
        temp_dir_flip_bit(path, bit);
    }
    struct topology t = {0};
    assert_ok(open_all(&f, NULL, &t), &f.err);
    topology_close(&t);
    close_fixture(&f);
}

static void a_file_cut_short_or_missing_is_reported(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct topology t = {0};
    char path[FILE_PATH_SIZE];
    uint64_t size = 0;
    assert_fails(open_all(&f, NULL, &t), ERROR_NOT_FOUND, "topology_seal", &f.err);
    write_all(&f, false);
    artifact_path(&f, 3, path);
    assert_ok(file_size(path, &size, &f.err), &f.err);
    assert_int_equal(truncate(path, (off_t)size - 1), 0);
    assert_not_opened(&f);
    assert_int_equal(truncate(path, 0), 0);
    assert_not_opened(&f);
    assert_ok(store_remove(f.store, key_part("p", 3, "topology").text, &f.err), &f.err);
    assert_fails(open_all(&f, NULL, &t), ERROR_NOT_FOUND, "partition/p/part/0000000003/topology",
                 &f.err);
    close_fixture(&f);
}

static void parts_that_do_not_fit_book_or_each_other_are_refused(void **state)
{
    (void)state;
    static const uint32_t other[PART_COUNT + 1] = {0, 0, 1, 257, 1000};
    struct fixture f = open_fixture();
    struct topology t = {0};
    for (int p = 0; p < PART_COUNT; p++)
        assert_ok(write_part(&f, p, p != 2), &f.err);
    assert_fails(open_all(&f, NULL, &t), ERROR_CORRUPT,
                 "topology of part 2: expected the edge columns of part 0", &f.err);
    f.book.book = other;
    assert_fails(open_all(&f, NULL, &t), ERROR_CORRUPT,
                 "expected 256 nodes from 1, found 257 from 1", &f.err);
    close_fixture(&f);
}

static void every_refused_allocation_leaves_nothing_open(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    write_all(&f, true);
    const long blocks = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct topology t = {0};
        memory_fail_after(n);
        rc = open_all(&f, NULL, &t);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_true((t.part != NULL) == (rc == ERROR_NONE));
        topology_close(&t);
        assert_int_equal(memory_live_blocks(), blocks);
        assert_int_equal(count_name(f.scratch), 0);
        assert_true(n < 1000);
    }
    close_fixture(&f);
}

static bool is_in_copy(const struct topology *t, const void *p, size_t bytes)
{
    const char *at = p;
    return at >= t->copy.bytes && at + bytes <= t->copy.bytes + t->copy.size;
}

static void a_copy_has_every_row_and_needs_no_file(void **state)
{
    (void)state;
    for (int all = 0; all <= 1; all++) {
        struct fixture f = open_fixture();
        const long blocks = memory_live_blocks();
        struct topology t = {0};
        write_all(&f, all);
        assert_ok(open_all(&f, NULL, &t), &f.err);
        const uint64_t bytes = topology_copy_bytes(&t);
        assert_in_range(bytes, t.edge_count * 4 + 8000, t.edge_count * 4 + 10000);
        assert_ok(topology_copy(&t, false, NULL, &f.err), &f.err);
        assert_int_equal(t.copy.size, bytes);
        const char *copy = t.copy.bytes;
        assert_ok(topology_copy(&t, false, NULL, &f.err), &f.err);
        assert_ptr_equal(t.copy.bytes, copy);
        for (int p = 0; p < PART_COUNT; p++) {
            const struct topology_part *part = &t.part[p];
            assert_true(
                is_in_copy(&t, part->row_start_chunk[0], ((size_t)part->node_count + 1) * 8));
            assert_int_equal((uintptr_t)part->row_start_chunk[0] % 64, 0);
            if (part->edge_count)
                assert_true(is_in_copy(&t, part->neighbor_chunk[0], part->edge_count * 4));
        }
        for (uint32_t node = 0; node < 1000; node++)
            assert_row(&t, node, all);
        topology_close(&t);
        assert_null(t.copy.bytes);
        assert_int_equal(memory_live_blocks(), blocks);
        close_fixture(&f);
    }
}

static void a_copy_that_is_refused_leaves_the_files_to_read(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct topology t = {0};
    write_all(&f, true);
    assert_ok(open_all(&f, NULL, &t), &f.err);
    for (long n = 0; n < 2; n++) {
        memory_fail_after(n);
        const enum error_code rc = topology_copy(&t, false, NULL, &f.err);
        memory_fail_after(-1);
        assert_failed(rc, ERROR_NO_MEMORY,
                      n ? "no memory for a copy of the topology" : "the places of a topology",
                      &f.err);
    }
    assert_fails(topology_copy(&t, true, NULL, &f.err), ERROR_NO_MEMORY, "cannot be shared",
                 &f.err); /* it is too small to be shared */
    for (uint32_t node = 0; node < 1000; node++)
        assert_row(&t, node, true);
    topology_close(&t);
    close_fixture(&f);
}

static void processes_of_a_host_share_one_copy(void **state)
{
    (void)state;
    enum { NODES = 1000, DEGREE = 300 };
    static uint64_t row_start[NODES + 1];
    static uint32_t neighbor[NODES * DEGREE];
    static const uint32_t halves[3] = {0, NODES / 2, NODES};
    struct fixture f = open_fixture();
    struct topology t[2] = {{0}};
    struct thread_pool *pool = NULL;
    f.book =
        (struct partition_book){.id = "p", .part_count = 2, .node_count = NODES, .book = halves};
    for (uint32_t i = 0; i <= NODES; i++)
        row_start[i] = (uint64_t)i * DEGREE;
    for (uint32_t i = 0; i < NODES * DEGREE; i++)
        neighbor[i] = i * 7919 % NODES;
    for (int part = 0; part < 2; part++) {
        const struct topology_arrays arrays = {.first_node = halves[part],
                                               .node_count = NODES / 2,
                                               .edge_count = (uint64_t)NODES / 2 * DEGREE,
                                               .row_start = row_start,
                                               .neighbor =
                                                   neighbor + (size_t)part * NODES / 2 * DEGREE};
        assert_ok(topology_write(f.store, "p", part, &arrays, &f.err), &f.err);
    }
    assert_ok(thread_pool_new(3, &pool, &f.err), &f.err);
    shared_area_folder_set(f.scratch);
    for (int i = 0; i < 2; i++) {
        assert_ok(open_all(&f, pool, &t[i]), &f.err);
        assert_ok(topology_copy(&t[i], true, pool, &f.err), &f.err);
        assert_true(t[i].copy.is_shared);
    }
    for (uint32_t node = 0; node < NODES; node++)
        for (int i = 0; i < 2; i++) {
            const int p = topology_part_of(&t[i], node);
            const struct topology_part *part = &t[i].part[p];
            const uint64_t first = topology_row_start(part, node - part->first_node);
            assert_memory_equal(topology_neighbor(part, first), neighbor + (size_t)node * DEGREE,
                                DEGREE * sizeof *neighbor);
            assert_true(is_in_copy(&t[i], topology_neighbor(part, first), (size_t)4 * DEGREE));
        }
    topology_close(&t[0]);
    assert_int_equal(*topology_neighbor(&t[1].part[1], 0), neighbor[(size_t)NODES / 2 * DEGREE]);
    topology_close(&t[1]);
    thread_pool_free(pool);
    shared_area_folder_set("/dev/shm");
    close_fixture(&f);
}

/* Writes more than one chunk, which takes half a gigabyte of disk; runs only if asked for. */
static void an_array_of_two_chunks_reads_back(void **state)
{
    (void)state;
    if (!getenv("GRAPHMILL_SLOW_TESTS")) {
        print_message("skipped: set GRAPHMILL_SLOW_TESTS to write 0.5 GiB\n");
        skip();
    }
    static const uint32_t whole[2] = {0, 1};
    const uint64_t edges = (UINT64_C(1) << TOPOLOGY_CHUNK_SHIFT) + 5;
    const uint64_t row_start[2] = {0, edges};
    struct fixture f = open_fixture();
    struct topology t = {0};
    f.book = (struct partition_book){.id = "p", .part_count = 1, .node_count = 1, .book = whole};
    uint32_t *neighbor = calloc(edges, sizeof *neighbor);
    assert_non_null(neighbor);
    for (uint64_t i = 0; i < 5; i++)
        neighbor[edges - 1 - i * 3] = (uint32_t)i + 1;
    const struct topology_arrays arrays = {
        .node_count = 1, .edge_count = edges, .row_start = row_start, .neighbor = neighbor};
    assert_ok(topology_write(f.store, "p", 0, &arrays, &f.err), &f.err);
    assert_ok(open_all(&f, NULL, &t), &f.err);
    for (uint64_t edge = edges - 20; edge < edges; edge++)
        assert_int_equal(*topology_neighbor(&t.part[0], edge), neighbor[edge]);
    assert_ok(topology_copy(&t, false, NULL, &f.err), &f.err);
    for (uint64_t edge = edges - 20; edge < edges; edge++)
        assert_int_equal(*topology_neighbor(&t.part[0], edge), neighbor[edge]);
    assert_true(is_in_copy(&t, t.part[0].neighbor_chunk[1], 5 * sizeof *neighbor));
    topology_close(&t);
    free(neighbor);
    close_fixture(&f);
}

static void assert_all_read(struct fixture *f)
{
    struct topology t = {0};
    assert_ok(open_all(f, NULL, &t), &f->err);
    for (uint32_t node = 0; node < 1000; node++)
        assert_row(&t, node, true);
    topology_close(&t);
}

/* Tests that whichever read fails, the file is right, or there is none and the next attempt is
 * right. */
static void whichever_read_fails_while_writing_no_bad_file_is_sealed(void **state)
{
    (void)state;
    static const enum failing_call calls[] = {CALL_PREAD, CALL_READ, CALL_OPEN, CALL_WRITE};
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (long passed = 0, failed = 1; failed; passed++) {
            struct fixture f = open_fixture();
            for (int p = 1; p < PART_COUNT; p++)
                assert_ok(write_part(&f, p, true), &f.err);
            failing_calls_plan(calls[c], passed, 1, EIO);
            const enum error_code rc = write_part(&f, 0, true);
            failed = failing_calls_end();
            assert_true(rc == ERROR_NONE || rc == ERROR_IO);
            if (rc != ERROR_NONE)
                assert_ok(write_part(&f, 0, true), &f.err);
            assert_all_read(&f);
            close_fixture(&f);
        }
}

/* LMDB writes with pwrite or writev, and either may meet the full disk, so all calls fail. */
static void a_full_disk_is_told_from_other_trouble(void **state)
{
    (void)state;
    static const struct {
        int number;
        enum error_code code;
    } failures[] = {{ENOSPC, ERROR_NO_SPACE}, {EDQUOT, ERROR_NO_SPACE}, {ENOMEM, ERROR_NO_MEMORY}};
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct fixture f = open_fixture();
        assert_ok(write_part(&f, 1, true), &f.err); /* the scratch space exists */
        failing_calls_plan(CALL_WRITE, 0, -1, failures[i].number);
        const enum error_code rc = write_part(&f, 0, true);
        assert_true(failing_calls_end() > 0);
        assert_failed(rc, failures[i].code, "topology: LMDB cannot write the arrays", &f.err);
        assert_ok(write_part(&f, 0, true), &f.err);
        close_fixture(&f);
    }
}

/* Tests a part that lacks one kind of array which the first part has. */
static void parts_with_other_arrays_are_refused(void **state)
{
    (void)state;
    static struct part_arrays a;
    static const int columns[] = {EDGE_WEIGHT, EDGE_TYPE, EDGE_TIME};
    for (int c = 0; c < 3; c++) {
        const int lacking = columns[c];
        struct fixture f = open_fixture();
        struct topology t = {0};
        assert_ok(write_part(&f, 0, true), &f.err);
        for (int p = 1; p < PART_COUNT; p++) {
            struct topology_arrays arrays = make_part(&a, p, true);
            arrays.columns.width.of[lacking] = 0;
            arrays.columns.data[lacking] = NULL;
            assert_ok(topology_write(f.store, "p", p, &arrays, &f.err), &f.err);
        }
        assert_fails(
            open_all(&f, NULL, &t), ERROR_CORRUPT,
            "topology of part 1: expected the edge columns of part 0 (edge weights, edge types, "
            "edge features, edge times) in the same widths, found",
            &f.err);
        assert_int_equal(count_name(f.scratch), 0);
        close_fixture(&f);
    }
}

static void a_damaged_file_makes_way_when_it_is_written_again(void **state)
{
    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        struct fixture f = open_fixture();
        char path[FILE_PATH_SIZE];
        write_all(&f, true);
        artifact_path(&f, 2, path);
        temp_dir_flip_bit(path, 8ULL * 5000);
        if (!sealed)
            assert_ok(store_remove(f.store, key_part("p", 2, "topology_seal").text, &f.err),
                      &f.err);
        assert_ok(write_part(&f, 2, true), &f.err);
        assert_all_read(&f);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_read_fails_while_writing_no_bad_file_is_sealed),
        cmocka_unit_test(a_full_disk_is_told_from_other_trouble),
        cmocka_unit_test(parts_with_other_arrays_are_refused),
        cmocka_unit_test(a_damaged_file_makes_way_when_it_is_written_again),
        cmocka_unit_test(every_row_of_every_part_reads_back),
        cmocka_unit_test(equal_arrays_give_equal_files),
        cmocka_unit_test(other_arrays_under_one_name_are_refused),
        cmocka_unit_test(a_replay_compares_the_file),
        cmocka_unit_test(every_flipped_bit_is_reported_before_lmdb_sees_it),
        cmocka_unit_test(a_file_cut_short_or_missing_is_reported),
        cmocka_unit_test(parts_that_do_not_fit_book_or_each_other_are_refused),
        cmocka_unit_test(every_refused_allocation_leaves_nothing_open),
        cmocka_unit_test(a_copy_has_every_row_and_needs_no_file),
        cmocka_unit_test(a_copy_that_is_refused_leaves_the_files_to_read),
        cmocka_unit_test(processes_of_a_host_share_one_copy),
        cmocka_unit_test(an_array_of_two_chunks_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
