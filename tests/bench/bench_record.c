/*
 * bench_record - milliseconds to store and to read a mini-batch, compared with the file system
 * alone.
 *
 *     bench_record [folder [repetitions]]
 *
 * The mini-batch is like one of the products-like graph: 1,024 seeds, fan-outs 15, 10, 5, 664 k
 * nodes, 865 k edges. It prints lines `name value unit ratio`, for one thread, with the best of the
 * repetitions, which alternate:
 *
 *   record_size          of the record, compared with the arrays it is made of
 *   record_write_floor   the bytes of the record written to a new file, linked to a second name,
 *                        the first one removed: the cost of publishing by link
 *   record_write         mini_batch_put(): the same, packing and the hash
 *   record_read_floor    read() of the file into a warm buffer
 *   record_read          mini_batch_get(): hash, unpacking, and a check of every index
 *   record_decode        mini_batch_decode(): unpacking and checks alone
 *
 * The file system reuses the pages of files that were removed before, so this measures the program
 * itself. In a run the pages of each record are new, and their first touch is most of the cost of
 * writing.
 *
 * `folder` is made if it is missing (default: bench_record.scratch); the files of the bench are
 * removed.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/numbers/random.h"
#include "store/records/batch/mini_batch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HOPS = 3, GRAPH_NODES = 2449029, EDGES_MAX = 900000 };

static const uint32_t hop_end[HOPS + 1] = {1024, 16264, 155764, 664264},
                                     fanouts[HOPS] = {15, 10, 5};
static const char run_id[] = "bench";

struct times {
    double write_floor, write, read_floor, read, decode;
};

struct bench {
    const char *folder;
    struct store *store;
    struct mini_batch batch, got;
    struct arena packed;
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

/* Makes the edges of one hop, the same number in each row, in the order of discovery. Which of them
 * discover a node is drawn so that the hop discovers all of its own. The first row is `row`, its
 * first edge `edge`. */
static uint32_t make_hop(struct bench *b, int hop, uint32_t row, uint32_t edge)
{
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    const uint32_t fanout = fanouts[hop];
    uint32_t known = hop_end[hop], left = (hop_end[hop] - row) * fanout;
    for (; row < hop_end[hop]; row++) {
        for (uint32_t i = 0; i < fanout; i++, edge++, left--) {
            const uint32_t word = random_word(&stream, edge, 0);
            const bool is_new = random_below(word, left) < hop_end[hop + 1] - known;
            b->neighbor[edge] = is_new ? known : random_below(random_word(&stream, edge, 1), known);
            known += is_new;
        }
        b->row_start[row + 1] = edge;
    }
    return edge;
}

static void make_batch(struct bench *b)
{
    const struct random_stream stream = random_stream_of(2, RANDOM_GENERATOR, 0, 0, 0);
    const uint32_t rows = hop_end[HOPS - 1], nodes = hop_end[HOPS];
    uint32_t edges = 0;
    struct error err = {0};
    stop_on(memory_new(&b->node, nodes, "nodes", &err), &err);
    stop_on(memory_new(&b->row_start, rows + 1, "rows", &err), &err);
    stop_on(memory_new(&b->neighbor, EDGES_MAX, "edges", &err), &err);
    for (uint32_t i = 0; i < nodes; i++)
        b->node[i] = (uint32_t)random_permute(&stream, i, GRAPH_NODES);
    for (int hop = 0; hop < HOPS; hop++)
        edges = make_hop(b, hop, hop ? hop_end[hop - 1] : 0, edges);
    b->batch = (struct mini_batch){.hop_count = HOPS,
                                   .seed_count = hop_end[0],
                                   .node_count = nodes,
                                   .row_count = rows,
                                   .edge_count = edges,
                                   .hop_end = hop_end,
                                   .node = b->node,
                                   .row_start = b->row_start,
                                   .neighbor = b->neighbor};
}

static void write_record(struct bench *b, const char *key)
{
    struct error err = {0};
    const double start = clock_seconds();
    stop_on(mini_batch_put(b->store, key, run_id, &b->batch, &b->packed, &err), &err);
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
    struct record_view view;
    double start = clock_seconds();
    stop_on(mini_batch_get(b->store, key, run_id, &b->got, &err), &err);
    keep_least(&b->best.read, start);
    stop_on(store_get(b->store, key, run_id, &view, &err), &err);
    start = clock_seconds();
    stop_on(mini_batch_decode(&view, &b->got, &err), &err);
    keep_least(&b->best.decode, start);
    store_release_record(&view);
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

/* Reads the bytes of a first record's file. */
static void load_bytes(struct bench *b)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    stop_on(mini_batch_put(b->store, "first", run_id, &b->batch, &b->packed, &err), &err);
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

/* Returns the size of the arrays in memory, four bytes for each element. */
static double plain_size(const struct bench *b)
{
    const struct mini_batch *batch = &b->batch;
    return 4.0 * ((double)batch->node_count + batch->row_count + batch->edge_count);
}

static void print_times(const struct bench *b)
{
    const struct times *t = &b->best;
    const double gigabytes = (double)b->size * 1e-6; /* per ms, which gives GB/s */
    printf("record_size %.2f MB %.2f\n", (double)b->size * 1e-6, (double)b->size / plain_size(b));
    printf("record_write_floor %.2f ms 1.00\n", t->write_floor);
    printf("record_write %.2f ms %.2f\n", t->write, t->write / t->write_floor);
    printf("record_read_floor %.2f ms 1.00\n", t->read_floor);
    printf("record_read %.2f ms %.2f\n", t->read, t->read / t->read_floor);
    printf("record_decode %.2f ms %.2f\n", t->decode, t->decode / t->read_floor);
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
    arena_release(&bench.packed);
    mini_batch_release(&bench.got);
    memory_free(bench.bytes);
    memory_free(bench.node);
    memory_free(bench.row_start);
    memory_free(bench.neighbor);
    return 0;
}
