/*
 * bench_record - ms to store and to read a mini-batch beside what the file system alone takes.
 *
 *     bench_record [folder [repetitions]]
 *
 * A mini-batch as of the products-like graph: 1,024 seeds, fan-outs 15, 10, 5, 664 k nodes, 865 k edges,
 * 6.7 MB. Prints `name value unit ratio` lines, one thread, the best of the repetitions, which take turns:
 *
 *   record_write_floor   the bytes of the record written to a new file, linked to a second name, the first
 *                        one removed: what publishing by link costs
 *   record_write         mini_batch_put(): the same and the hash
 *   record_read_floor    read() of the file into a buffer that is warm
 *   record_read          mini_batch_get(): hash, and every index checked
 *   record_check         mini_batch_decode() less the hash: the checks alone
 *
 * `folder` is made when missing (default: bench_record.scratch); what the bench puts there is removed.
 */
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "store/records/mini_batch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HOPS = 3, GRAPH_NODES = 2449029, EDGES = 865000 };

static const uint32_t hop_end[HOPS + 1] = {1024, 16264, 155764, 664264};
static const char run_id[] = "bench";

struct times {
    double write_floor, write, read_floor, read, check;
};

struct bench {
    const char *folder;
    struct store *store;
    struct mini_batch batch;
    uint32_t *node, *row_start, *neighbor;
    char *bytes; /* of one record's file */
    size_t size;
    struct times best;
};

static void stop_on(enum error_code rc, const struct error *err)
{
    if (rc == ERROR_NONE)
        return;
    (void)fprintf(stderr, "bench_record: %s\n", err->message);
    exit(error_exit_status(rc));
}

static void keep_least(double *best, double start)
{
    const double ms = (clock_seconds() - start) * 1e3;
    if (*best <= 0 || ms < *best)
        *best = ms;
}

/* Rows of 15, 10 and 5 neighbours, the last ones shorter or longer so that the edges add up. */
static void make_batch(struct bench *b)
{
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    const uint32_t rows = hop_end[HOPS - 1], nodes = hop_end[HOPS];
    struct error err = {0};
    stop_on(memory_new(&b->node, nodes, "nodes", &err), &err);
    stop_on(memory_new(&b->row_start, rows + 1, "rows", &err), &err);
    stop_on(memory_new(&b->neighbor, EDGES, "edges", &err), &err);
    for (uint32_t i = 0; i < nodes; i++)
        b->node[i] = (uint32_t)random_permute(&stream, i, GRAPH_NODES);
    for (uint32_t i = 0; i <= rows; i++)
        b->row_start[i] = (uint32_t)((uint64_t)EDGES * i / rows);
    for (uint32_t row = 0, hop = 0; row < rows; row++) {
        hop += row >= hop_end[hop];
        for (uint32_t e = b->row_start[row]; e < b->row_start[row + 1]; e++)
            b->neighbor[e] = random_below(random_word(&stream, e, 0), hop_end[hop + 1]);
    }
    b->batch = (struct mini_batch){.hop_count = HOPS,
                                   .seed_count = hop_end[0],
                                   .node_count = nodes,
                                   .row_count = rows,
                                   .edge_count = EDGES,
                                   .hop_end = hop_end,
                                   .node = b->node,
                                   .row_start = b->row_start,
                                   .neighbor = b->neighbor};
}

static void write_record(struct bench *b, const char *key)
{
    struct error err = {0};
    const double start = clock_seconds();
    stop_on(mini_batch_put(b->store, key, run_id, &b->batch, &err), &err);
    keep_least(&b->best.write, start);
}

static void write_plain(struct bench *b, const char *name)
{
    struct error err = {0};
    char temporary[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    stop_on(file_path(temporary, &err, "%s/plain.tmp", b->folder), &err);
    stop_on(file_path(path, &err, "%s/%s", b->folder, name), &err);
    const double start = clock_seconds();
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 || write(fd, b->bytes, b->size) != (ssize_t)b->size || close(fd) != 0 ||
        link(temporary, path) != 0 || unlink(temporary) != 0)
        stop_on(error_set_errno(&err, ERROR_IO, "%s", path), &err);
    keep_least(&b->best.write_floor, start);
}

static void read_record(struct bench *b, const char *key)
{
    struct error err = {0};
    struct mini_batch got, again;
    double start = clock_seconds();
    stop_on(mini_batch_get(b->store, key, run_id, &got, &err), &err);
    keep_least(&b->best.read, start);
    start = clock_seconds();
    stop_on(mini_batch_decode(&got.view, &again, &err), &err);
    keep_least(&b->best.check, start);
    store_release_record(&got.view);
}

static void read_plain(struct bench *b, const char *name)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    stop_on(file_path(path, &err, "%s/%s", b->folder, name), &err);
    const double start = clock_seconds();
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, b->bytes, b->size) != (ssize_t)b->size)
        stop_on(error_set_errno(&err, ERROR_IO, "%s", path), &err);
    (void)close(fd);
    keep_least(&b->best.read_floor, start);
}

/* The file of a first record, for its bytes. */
static void load_bytes(struct bench *b)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    stop_on(mini_batch_put(b->store, "first", run_id, &b->batch, &err), &err);
    stop_on(file_path(path, &err, "%s/store/first.record", b->folder), &err);
    stop_on(file_read(path, 0, &b->bytes, &b->size, &err), &err);
}

static void measure(struct bench *b, int number)
{
    char name[32];
    (void)snprintf(name, sizeof name, "batch-%d", number);
    write_plain(b, name);
    write_record(b, name);
    read_plain(b, name);
    read_record(b, name);
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    stop_on(store_remove(b->store, name, &err), &err);
    stop_on(file_path(path, &err, "%s/%s", b->folder, name), &err);
    (void)unlink(path);
}

static void print_times(const struct bench *b)
{
    const struct times *t = &b->best;
    const double gigabytes = (double)b->size * 1e-6; /* per ms: GB/s */
    printf("record_write_floor %.2f ms 1.00\n", t->write_floor);
    printf("record_write %.2f ms %.2f\n", t->write, t->write / t->write_floor);
    printf("record_read_floor %.2f ms 1.00\n", t->read_floor);
    printf("record_read %.2f ms %.2f\n", t->read, t->read / t->read_floor);
    printf("record_check %.2f ms %.2f\n", t->check, t->check / t->read_floor);
    printf("record_write_rate %.2f GB/s %.2f\n", gigabytes / t->write, t->write_floor / t->write);
    printf("record_read_rate %.2f GB/s %.2f\n", gigabytes / t->read, t->read_floor / t->read);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    const int repetitions = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 30;
    bench.folder = argc > 1 ? argv[1] : "bench_record.scratch";
    if (argc > 3 || repetitions < 1) {
        (void)fprintf(stderr, "usage: bench_record [folder [repetitions]]\n");
        return error_exit_status(ERROR_USAGE);
    }
    make_batch(&bench);
    stop_on(file_make_folders(bench.folder, &err), &err);
    stop_on(file_path(path, &err, "%s/store", bench.folder), &err);
    stop_on(store_open(path, 0, &bench.store, &err), &err);
    load_bytes(&bench);
    for (int i = 0; i < repetitions; i++)
        measure(&bench, i);
    print_times(&bench);
    store_close(bench.store);
    stop_on(file_remove_all(path, &err), &err);
    (void)rmdir(bench.folder);
    memory_free(bench.bytes);
    memory_free(bench.node);
    memory_free(bench.row_start);
    memory_free(bench.neighbor);
    return 0;
}
