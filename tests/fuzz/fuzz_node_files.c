/*
 * fuzz_node_files - whatever stands in the files beside an edge list (labels, features, splits, keyed by
 * its ids), they are refused or all that is pushed belongs to its nodes.
 *
 * The input is up to six files, each behind a byte 0x1e: edges, labels, features, train, valid, test. A
 * file that is missing or empty is left out.
 */
#include "stages/ingest/formats/columns/node_files.h"
#include "stages/ingest/formats/files/edge_list_reader.h"

#include "tests/fuzz/checking_builder.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_COUNT = 6, SEPARATOR = 0x1e };

/* A copy of its own, so that a read beyond its end is seen. */
struct part {
    char *data;
    size_t size;
};

static void cut(const uint8_t *data, size_t size, struct part part[FILE_COUNT])
{
    const uint8_t *end = data + size;
    for (int i = 0; i < FILE_COUNT && data < end; i++) {
        const uint8_t *stop = memchr(data, SEPARATOR, (size_t)(end - data));
        const uint8_t *last = stop ? stop : end;
        part[i].size = (size_t)(last - data);
        part[i].data = part[i].size ? malloc(part[i].size) : NULL;
        if (part[i].data)
            memcpy(part[i].data, data, part[i].size);
        data = stop ? stop + 1 : end;
    }
}

static struct keyed_file file_of(const struct part *part, const char *name, enum keyed_form form)
{
    return (struct keyed_file){
        .path = part->data ? name : NULL, .form = form, .data = part->data, .size = part->size};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct dataset_builder builder = {0};
    struct part part[FILE_COUNT] = {0};
    cut(data, size, part);
    struct node_files files = {
        .labels = file_of(&part[1], "labels.csv", KEYED_VALUES),
        .features = file_of(&part[2], "features.csv", KEYED_VALUES),
        .split = {file_of(&part[3], "train.csv", KEYED_ID_ONLY),
                  file_of(&part[4], "valid.csv", KEYED_ID_ONLY),
                  file_of(&part[5], "test.csv", KEYED_ID_ONLY)},
    };
    const struct edge_list_input input = {
        .name = "edges.csv",
        .data = part[0].data ? part[0].data : "",
        .size = part[0].size,
        .nodes = &files,
    };
    const enum error_code rc = edge_list_reader_run(&input, ID_TYPE_AUTO, 1 << 24, &builder, &err);
    must(rc == ERROR_NONE || err.message[0]);
    must(rc != ERROR_NONE || !part[1].data || builder.label_count == builder.node_count);
    must(rc != ERROR_NONE || !part[2].data || builder.feature_rows == builder.node_count);
    node_files_release(&files);
    for (int i = 0; i < FILE_COUNT; i++)
        free(part[i].data);
    return 0;
}
