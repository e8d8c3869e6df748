#include "pipelines/draft/input_facts.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/formats/bytes/file_kind.h"
#include "common/formats/bytes/zip_archive.h"
#include "common/formats/text/delimited.h"
#include "pipelines/draft/graphml_facts.h"
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/format_list.h"

#include <stdio.h>
#include <string.h>

enum { META_BYTES_MAX = 1 << 26, HEAD_BYTES = 1 << 12, HEADER_WORDS = 5 };

/* --- what lies in a folder --- */

struct search {
    const char *const *endings; /* NULL-terminated; a name must end in one of them */
    bool found;
};

static enum error_code look_at(void *context, const char *name, struct error *err)
{
    struct search *search = context;
    (void)err;
    for (const char *const *ending = search->endings; *ending; ending++)
        search->found |= text_ends(name, *ending);
    return ERROR_NONE;
}

/* Returns whether the folder `below` has a file with such an ending. A missing folder has none. */
static bool has_file(const struct input_facts *facts, const char *below, const char *const *endings)
{
    char folder[FILE_PATH_SIZE];
    struct search search = {endings, false};
    return file_path(folder, NULL, "%s%s", facts->path, below) == ERROR_NONE &&
           file_list(folder, look_at, &search, NULL) == ERROR_NONE && search.found;
}

#define ENDINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static enum error_code read_text(const struct input_facts *facts, const char *name, char **text,
                                 size_t *size, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", facts->path, name);
    return rc == ERROR_NONE ? file_read(path, META_BYTES_MAX, text, size, err) : rc;
}

/* --- formats --- */

static enum error_code folder_facts_find(struct input_facts *facts, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct json_document *document = NULL;
    bool is_directed = false;
    if (has_file(facts, "", ENDINGS("graph-label.csv", "graph-label.csv.gz", "graph-label.npy")))
        facts->targets = TARGETS_GRAPHS;
    else if (has_file(facts, "", ENDINGS("node-label.csv", "node-label.csv.gz", "node-label.npy")))
        facts->targets = TARGETS_NODES;
    facts->has_split =
        facts->targets && has_file(facts, "", ENDINGS("train.csv", "train.csv.gz", "train.npy"));
    facts->names_types = has_file(facts, "", ENDINGS("node-types.csv"));
    facts->has_triples = !facts->names_types && has_file(facts, "", ENDINGS("relations.csv"));
    enum error_code rc = read_text(facts, "meta.json", &text, &size, err);
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, "meta.json", &document, err);
    if (rc == ERROR_NONE && json_bool(json_get(json_root(document), "directed"), &is_directed))
        (void)snprintf(facts->direction, FACT_SIZE, "meta.json says directed: %s",
                       is_directed ? "true" : "false");
    json_free(document);
    memory_free(text);
    return rc;
}

static enum error_code ogb_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    if (has_file(facts, "/raw",
                 ENDINGS("graph-label.csv.gz", "graph-label.npz", "graph-label.csv")))
        facts->targets = TARGETS_GRAPHS;
    else if (has_file(facts, "/raw",
                      ENDINGS("node-label.csv.gz", "node-label.npz", "node-label.csv", "node-label",
                              "nodes-with-labels.csv.gz")))
        facts->targets = TARGETS_NODES;
    facts->has_split = has_file(facts, "", ENDINGS("split"));
    facts->names_types =
        has_file(facts, "/raw",
                 ENDINGS("triplet-type-list.csv.gz", "num_nodes_dict.npz", "num-node-dict.csv.gz"));
    return ERROR_NONE;
}

static enum error_code npz_facts_find(struct input_facts *facts, struct error *err)
{
    struct zip_archive archive = {0};
    bool found = true;
    enum error_code rc = zip_archive_open(&archive, facts->path, "an archive of NumPy arrays", err);
    while (rc == ERROR_NONE && found) {
        rc = zip_archive_next(&archive, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (strcmp(archive.member, "labels.npy") == 0 ||
            strcmp(archive.member, "node_labels.npy") == 0)
            facts->targets = TARGETS_NODES;
        facts->has_split |= strcmp(archive.member, "train_masks.npy") == 0;
    }
    zip_archive_close(&archive);
    return rc;
}

static enum error_code matrix_market_facts_find(struct input_facts *facts, struct error *err)
{
    char head[HEAD_BYTES];
    size_t got = 0;
    struct field word[HEADER_WORDS] = {{0}};
    const enum error_code rc = file_kind_peek(facts->path, NULL, 0, head, sizeof head, &got, err);
    const char *end = rc == ERROR_NONE ? memchr(head, '\n', got) : NULL;
    if (end && delimited_split(head, (size_t)(end - head), DELIMITER_BLANKS, word, HEADER_WORDS) ==
                   HEADER_WORDS)
        (void)snprintf(facts->direction, FACT_SIZE, "the first line says %.*s",
                       word[4].size < 40 ? (int)word[4].size : 40, word[4].text);
    return rc;
}

static enum error_code metis_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    (void)snprintf(facts->direction, FACT_SIZE, "a METIS graph is undirected");
    return ERROR_NONE;
}

static enum error_code tu_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    facts->targets =
        has_file(facts, "", ENDINGS("_graph_labels.txt")) ? TARGETS_GRAPHS : TARGETS_GRAPH_NUMBERS;
    return ERROR_NONE;
}

static enum error_code graphsaint_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    facts->targets = has_file(facts, "", ENDINGS("class_map.json")) ? TARGETS_NODES : TARGETS_NONE;
    facts->has_split = facts->targets && has_file(facts, "", ENDINGS("role.json"));
    return ERROR_NONE;
}

static enum error_code linqs_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    facts->targets = TARGETS_NODES;
    return ERROR_NONE;
}

/* Returns the number of occurrences of `word` in a text. */
static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

static enum error_code graphbolt_facts_find(struct input_facts *facts, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    const enum error_code rc = read_text(facts, "metadata.yaml", &text, &size, err);
    if (rc == ERROR_NONE) {
        const char *edges = strstr(text, "edges:");
        facts->targets = count_of(text, "name: labels") + count_of(text, "name: \"labels\"")
                             ? TARGETS_NODES
                             : TARGETS_NONE;
        facts->has_split = facts->targets && count_of(text, "train_set");
        for (const char *at = edges; at && (at = strstr(at, "type:")); at += 5)
            facts->names_types |= memchr(at + 5, ':', strcspn(at + 5, "\n,}")) != NULL;
    }
    memory_free(text);
    return rc;
}

static enum error_code distdgl_facts_find(struct input_facts *facts, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct json_document *document = NULL;
    enum error_code rc = read_text(facts, "metadata.json", &text, &size, err);
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, "metadata.json", &document, err);
    if (rc == ERROR_NONE) {
        const struct json_node *root = json_root(document), *data = json_get(root, "node_data");
        const struct json_node *type = NULL;
        facts->names_types = json_count(json_get(root, "node_type")) > 1 ||
                             json_count(json_get(root, "edge_type")) > 1;
        for (size_t i = 0; i < json_count(data) && json_member(data, i, &type); i++) {
            if (json_get(type, "label"))
                facts->targets = TARGETS_NODES;
            facts->has_split |= json_get(type, "train_mask") != NULL;
        }
    }
    json_free(document);
    memory_free(text);
    return rc;
}

struct headers {
    struct input_facts *facts;
};

/* Reads the header of one file of the folder. */
static enum error_code take_header(void *context, const char *name, struct error *err)
{
    const struct headers *headers = context;
    char path[FILE_PATH_SIZE], head[HEAD_BYTES + 1];
    size_t got = 0;
    if (!text_ends(name, ".csv") && !text_ends(name, ".tsv"))
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s", headers->facts->path, name);
    if (rc == ERROR_NONE)
        rc = file_kind_peek(path, NULL, 0, head, HEAD_BYTES, &got, err);
    if (rc != ERROR_NONE)
        return rc;
    head[got] = '\0';
    head[strcspn(head, "\r\n")] = '\0';
    if (strstr(head, "node_id") && strstr(head, "label"))
        headers->facts->targets = TARGETS_NODES;
    headers->facts->has_split |= strstr(head, "node_id") && strstr(head, "train_mask");
    return rc;
}

static enum error_code dgl_csv_facts_find(struct input_facts *facts, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct headers headers = {facts};
    enum error_code rc = read_text(facts, "meta.yaml", &text, &size, err);
    if (rc == ERROR_NONE)
        facts->names_types = count_of(text, "etype:") > 1 || count_of(text, "ntype:") > 1;
    if (rc == ERROR_NONE)
        rc = file_list(facts->path, take_header, &headers, err);
    memory_free(text);
    return rc;
}

/* Finds the facts of an HGB folder. Its label.dat has no validation nodes, so a drawn split is
 * better; held-out links have no validation part either. */
static enum error_code hgb_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    facts->targets = has_file(facts, "", ENDINGS("label.dat")) ? TARGETS_NODES : TARGETS_NONE;
    facts->names_types = true;
    return ERROR_NONE;
}

static enum error_code openke_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    facts->has_triples = true;
    facts->has_split = has_file(facts, "", ENDINGS("test2id.txt"));
    return ERROR_NONE;
}

static enum error_code ntriples_facts_find(struct input_facts *facts, struct error *err)
{
    (void)err;
    facts->has_triples = true;
    return ERROR_NONE;
}

static enum error_code sif_facts_find(struct input_facts *facts, struct error *err)
{
    return ntriples_facts_find(facts, err);
}

#define LOOKED_AT(name)               name##_facts_find
#define NOT_LOOKED_AT(name)           NULL
#define FINDER(name, init, note, ...) init(name),

static enum error_code (*const finders[])(struct input_facts *facts,
                                          struct error *err) = {FORMAT_LIST(FINDER)};

enum error_code input_facts_look(int64_t format, struct input_facts *out, struct error *err)
{
    (void)text_copy(out->format_name, sizeof out->format_name, dataset_formats[format].name);
    if (!finders[format])
        return error_set(err, ERROR_INPUT,
                         "%s: graphmill init does not look into this format: " ADVICE
                         "write a pipeline file with `format: %s` below `ingest:`",
                         out->path, out->format_name);
    return finders[format](out, err);
}

enum error_code input_facts_find(const char *path, struct input_facts *out, struct error *err)
{
    int64_t format = 0;
    *out = (struct input_facts){.path = path};
    const enum error_code rc = format_detect(path, &format, out->seen, err);
    out->is_table = dataset_formats[format].traits & FORMAT_IS_TABLE;
    return rc == ERROR_NONE && !out->is_table ? input_facts_look(format, out, err) : rc;
}
