#include "store/records/partition_book.h"

#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/records/edge_sections.h"

#include <inttypes.h>
#include <string.h>

enum { BOOK_VERSION = 4, RELATIONS_VERSION = 5, ASSIGNMENT_VERSION = 1 };

static const char pair_types_name[] = "pair_types", pair_count_name[] = "pair_count",
                  graphs_name[] = "graphs";

/* The order of the numbers in section "graphs". */
enum graph_fact { GRAPH_FACT_COUNT_OF, GRAPH_FACT_NODES, GRAPH_FACT_EDGES, GRAPH_FACT_COUNT };

/* The order of the numbers in section "facts". */
enum fact {
    FACT_EDGES,
    FACT_SELF_LOOPS,
    FACT_FEATURE_DIM,
    FACT_CLASSES,
    FACT_TRAIN,
    FACT_VALID,
    FACT_TEST,
    FACT_COUNT
};

static enum error_code check_ranges(const struct partition_book *book, struct error *err)
{
    if (book->part_count < 1 || book->node_count < 1)
        return error_set(err, ERROR_CORRUPT,
                         "%d parts of %" PRIu32 " nodes, expected at least one of each",
                         book->part_count, book->node_count);
    if (book->book[0] != 0)
        return error_set(err, ERROR_CORRUPT, "part 0 starts at node %" PRIu32 ", expected 0",
                         book->book[0]);
    for (int p = 0; p < book->part_count; p++)
        if (book->book[p + 1] < book->book[p])
            return error_set(err, ERROR_CORRUPT,
                             "part %d ends at node %" PRIu32 ", before its start %" PRIu32, p,
                             book->book[p + 1], book->book[p]);
    if (book->book[book->part_count] != book->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "the last part ends at node %" PRIu32 ", expected %" PRIu32,
                         book->book[book->part_count], book->node_count);
    return ERROR_NONE;
}

uint64_t partition_book_train_count(const struct partition_book *book)
{
    if (!task_has(book->task, TASK_HOLDS_OUT_EDGES))
        return book->train_count;
    return book->relation ? book->pair_count : book->edge_count;
}

_Static_assert(sizeof(struct relation) == RELATION_NAME_SIZE + 4, "as partition_book.h says");

uint32_t partition_book_types(const struct partition_book *book)
{
    return book->relation ? book->type_count : 1;
}

uint32_t partition_book_relations(const struct partition_book *book)
{
    return book->relation ? book->relation_count : 1;
}

void partition_book_reverses(const struct partition_book *book, struct relation_reverses *out)
{
    relation_reverses_of(partition_book_relation(book, 0), partition_book_relations(book), out);
    for (uint32_t r = 0; book->back_plus && r < out->count; r++)
        relation_reverses_add(out, r, book->back_plus[r]);
}

const struct relation *partition_book_relation(const struct partition_book *book, uint32_t relation)
{
    static const struct relation plain = {.name = "edge"};
    return book->relation ? &book->relation[relation] : &plain;
}

const char *partition_book_type_name(const struct partition_book *book, uint32_t type)
{
    return book->type_name ? book->type_name[type] : "node";
}

uint32_t partition_book_dim(const struct partition_book *book, uint32_t type)
{
    return book->relation ? book->type_dim[type] : book->feature_dim;
}

bool partition_book_has_shard(const struct partition_book *book, uint32_t type)
{
    return partition_book_dim(book, type) > 0 ||
           (type == book->target_type && task_has(book->task, TASK_LABELS_NODES));
}

struct type_ranges partition_book_ranges(const struct partition_book *book)
{
    return (struct type_ranges){.part_count = book->part_count,
                                .type_count = partition_book_types(book),
                                .part_start = book->book,
                                .type_start = book->type_start};
}

/* Whether names end, and numbers are of types that there are. */
static enum error_code check_relations(const struct partition_book *book, struct error *err)
{
    for (uint32_t t = 0; t < book->type_count; t++)
        if (!memchr(book->type_name[t], '\0', RELATION_NAME_SIZE))
            return error_set(err, ERROR_CORRUPT, "the name of type %" PRIu32 " has no end", t);
    for (uint32_t r = 0; r < book->relation_count; r++) {
        const struct relation *relation = &book->relation[r];
        if (!memchr(relation->name, '\0', RELATION_NAME_SIZE))
            return error_set(err, ERROR_CORRUPT, "the name of relation %" PRIu32 " has no end", r);
        if (relation->source_type >= book->type_count || relation->target_type >= book->type_count)
            return error_set(err, ERROR_CORRUPT,
                             "relation %s goes from type %d to type %d, expected below %" PRIu32,
                             relation->name, relation->source_type, relation->target_type,
                             book->type_count);
    }
    if (book->target_type >= book->type_count)
        return error_set(err, ERROR_CORRUPT,
                         "the target type is %" PRIu32 ", expected below %" PRIu32,
                         book->target_type, book->type_count);
    const struct type_ranges ranges = partition_book_ranges(book);
    return type_ranges_check(&ranges, err);
}

static const char back_name[] = "relation_back";

/* The sections of a graph with relations, if it is one. */
static void add_relations(struct record *record, const struct partition_book *book)
{
    if (!book->relation)
        return;
    record->version = RELATIONS_VERSION;
    record_add(record, "type_start", ELEMENT_U32, book->type_start,
               (uint64_t)book->part_count * (book->type_count + 1));
    record_add(record, "type_name", ELEMENT_U8, book->type_name,
               (uint64_t)book->type_count * RELATION_NAME_SIZE);
    record_add(record, "type_dim", ELEMENT_U32, book->type_dim, book->type_count);
    record_add(record, "target_type", ELEMENT_U32, &book->target_type, 1);
    record_add(record, "relation", ELEMENT_U8, book->relation,
               (uint64_t)book->relation_count * sizeof *book->relation);
    if (book->back_plus)
        record_add(record, back_name, ELEMENT_U16, book->back_plus, book->relation_count);
}

enum error_code partition_book_put(struct store *store, const struct partition_book *book,
                                   struct error *err)
{
    const struct key key = key_partition(book->id, "book");
    const uint64_t facts[FACT_COUNT] = {
        [FACT_EDGES] = book->edge_count,        [FACT_SELF_LOOPS] = book->self_loop_count,
        [FACT_FEATURE_DIM] = book->feature_dim, [FACT_CLASSES] = book->class_count,
        [FACT_TRAIN] = book->train_count,       [FACT_VALID] = book->valid_count,
        [FACT_TEST] = book->test_count,
    };
    const uint64_t graph_facts[GRAPH_FACT_COUNT] = {[GRAPH_FACT_COUNT_OF] = book->graph_count,
                                                    [GRAPH_FACT_NODES] = book->graph_nodes_most,
                                                    [GRAPH_FACT_EDGES] = book->graph_edges_most};
    enum error_code rc = check_ranges(book, err);
    if (rc == ERROR_NONE && book->relation)
        rc = check_relations(book, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", key.text);
    struct record record = {.kind = RECORD_PARTITION_BOOK, .version = BOOK_VERSION};
    record_add(&record, "book", ELEMENT_U32, book->book, (uint64_t)book->part_count + 1);
    record_add_text(&record, "dataset", book->dataset_id);
    record_add_text(&record, "task", task_name(book->task));
    record_add(&record, "facts", ELEMENT_U64, facts, FACT_COUNT);
    edge_sections_add_widths(&record, &book->edge_width);
    if (book->pair_type_count)
        record_add(&record, pair_types_name, ELEMENT_U32, &book->pair_type_count, 1);
    if (book->graph_count)
        record_add(&record, graphs_name, ELEMENT_U64, graph_facts, GRAPH_FACT_COUNT);
    if (book->relation && task_has(book->task, TASK_HOLDS_OUT_EDGES))
        record_add(&record, pair_count_name, ELEMENT_U64, &book->pair_count, 1);
    add_relations(&record, book);
    return store_put(store, key.text, book->id, &record, STORE_DURABLE, err);
}

/* Numbers that stand as 64 bits and must fit their field. */
static enum error_code read_facts(struct partition_book *out, struct error *err)
{
    const void *data = NULL;
    enum error_code rc =
        record_section_get(&out->view, "facts", ELEMENT_U64, FACT_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *facts = data;
    for (int i = FACT_FEATURE_DIM; i < FACT_COUNT; i++)
        if (facts[i] > UINT32_MAX)
            return error_set(err, ERROR_CORRUPT, "fact %d is %" PRIu64 ", expected 32 bits", i,
                             facts[i]);
    out->edge_count = facts[FACT_EDGES];
    out->self_loop_count = facts[FACT_SELF_LOOPS];
    out->feature_dim = (uint32_t)facts[FACT_FEATURE_DIM];
    out->class_count = (uint32_t)facts[FACT_CLASSES];
    out->train_count = (uint32_t)facts[FACT_TRAIN];
    out->valid_count = (uint32_t)facts[FACT_VALID];
    out->test_count = (uint32_t)facts[FACT_TEST];
    return check_ranges(out, err);
}

static enum error_code read_task(struct partition_book *out, struct error *err)
{
    char name[64];
    const enum error_code rc = record_text_get(&out->view, "task", name, sizeof name, err);
    if (rc != ERROR_NONE)
        return rc;
    out->task = task_named(name, strlen(name));
    return out->task != TASK_UNKNOWN
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT, "task is %s, which this program does not have",
                           name);
}

static enum error_code read_ranges(struct partition_book *out, struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    const enum error_code rc =
        record_section_get(&out->view, "book", ELEMENT_U32, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (count < 2 || count > INT32_MAX)
        return error_set(err, ERROR_CORRUPT, "book has %" PRIu64 " entries, expected parts + 1",
                         count);
    out->book = data;
    out->part_count = (int)(count - 1);
    out->node_count = out->book[count - 1];
    return ERROR_NONE;
}

static enum error_code read_pair_types(struct partition_book *out, struct error *err)
{
    const void *data = NULL;
    if (!record_has(&out->view, pair_types_name))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(&out->view, pair_types_name, ELEMENT_U32, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->pair_type_count = *(const uint32_t *)data;
    if (out->pair_type_count == 0 || out->pair_type_count > EDGE_TYPE_COUNT_MAX)
        return error_set(err, ERROR_CORRUPT, "%" PRIu32 " types of edges, expected 1 to %d",
                         out->pair_type_count, EDGE_TYPE_COUNT_MAX);
    return ERROR_NONE;
}

static enum error_code read_graphs(struct partition_book *out, struct error *err)
{
    const void *data = NULL;
    const bool has_graphs = task_has(out->task, TASK_HAS_GRAPHS);
    if (has_graphs != record_has(&out->view, graphs_name))
        return error_set(err, ERROR_CORRUPT, "expected %s section \"%s\" of task %s",
                         has_graphs ? "a" : "no", graphs_name, task_name(out->task));
    if (!has_graphs)
        return ERROR_NONE;
    const enum error_code rc = record_section_get(&out->view, graphs_name, ELEMENT_U64,
                                                  GRAPH_FACT_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *facts = data;
    if (facts[GRAPH_FACT_COUNT_OF] < 1 || facts[GRAPH_FACT_COUNT_OF] > out->node_count ||
        facts[GRAPH_FACT_NODES] < 1 || facts[GRAPH_FACT_NODES] > out->node_count ||
        facts[GRAPH_FACT_EDGES] > out->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "%" PRIu64 " graphs of up to %" PRIu64 " nodes and %" PRIu64
                         " edges in a graph of %" PRIu32 " nodes and %" PRIu64 " edges",
                         facts[GRAPH_FACT_COUNT_OF], facts[GRAPH_FACT_NODES],
                         facts[GRAPH_FACT_EDGES], out->node_count, out->edge_count);
    out->graph_count = (uint32_t)facts[GRAPH_FACT_COUNT_OF];
    out->graph_nodes_most = (uint32_t)facts[GRAPH_FACT_NODES];
    out->graph_edges_most = facts[GRAPH_FACT_EDGES];
    return ERROR_NONE;
}

/* Of a task of pairs with relations. */
static enum error_code read_pair_count(struct partition_book *out, struct error *err)
{
    const void *data = NULL;
    if (!task_has(out->task, TASK_HOLDS_OUT_EDGES) || !out->relation)
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(&out->view, pair_count_name, ELEMENT_U64, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->pair_count = *(const uint64_t *)data;
    if (out->pair_count > out->edge_count || out->pair_type_count > out->relation_count)
        return error_set(
            err, ERROR_CORRUPT,
            "%" PRIu64 " pairs of %" PRIu32 " types, expected at most %" PRIu64 " of %" PRIu32,
            out->pair_count, out->pair_type_count, out->edge_count, out->relation_count);
    return ERROR_NONE;
}

static enum error_code read_relations(struct partition_book *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *start = NULL, *name = NULL, *dim = NULL, *target = NULL, *relation = NULL;
    uint64_t types = 0, bytes = 0;
    if (view->version != RELATIONS_VERSION)
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, "type_dim", ELEMENT_U32, -1, &dim, &types, err);
    if (rc == ERROR_NONE && (types < 1 || types > NODE_TYPE_COUNT_MAX))
        rc = error_set(err, ERROR_CORRUPT, "%" PRIu64 " node types, expected 1 to %d", types,
                       NODE_TYPE_COUNT_MAX);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "type_name", ELEMENT_U8, (int64_t)types * RELATION_NAME_SIZE,
                                &name, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "type_start", ELEMENT_U32,
                                (int64_t)out->part_count * ((int64_t)types + 1), &start, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "target_type", ELEMENT_U32, 1, &target, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "relation", ELEMENT_U8, -1, &relation, &bytes, err);
    if (rc == ERROR_NONE && (bytes == 0 || bytes % sizeof *out->relation != 0 ||
                             bytes / sizeof *out->relation > RELATION_COUNT_MAX))
        rc = error_set(err, ERROR_CORRUPT, "relations take %" PRIu64 " bytes, expected %zu each",
                       bytes, sizeof *out->relation);
    if (rc != ERROR_NONE)
        return rc;
    out->type_count = (uint32_t)types;
    out->relation_count = (uint32_t)(bytes / sizeof *out->relation);
    out->target_type = *(const uint32_t *)target;
    out->type_start = start;
    out->type_name = (const char(*)[RELATION_NAME_SIZE])name;
    out->type_dim = dim;
    out->relation = relation;
    if (record_has(view, back_name)) {
        const void *back = NULL;
        rc = record_section_get(view, back_name, ELEMENT_U16, (int64_t)out->relation_count, &back,
                                NULL, err);
        out->back_plus = back;
    }
    return rc == ERROR_NONE ? check_relations(out, err) : rc;
}

static enum error_code read_widths(struct partition_book *out, struct error *err)
{
    return edge_sections_get_widths(&out->view, &out->edge_width, err);
}

enum error_code partition_book_get(struct store *store, const char *partition_id,
                                   struct partition_book *out, struct error *err)
{
    static enum error_code (*const read[])(struct partition_book *, struct error *) = {
        read_ranges,     read_facts,  read_task,      read_widths,
        read_pair_types, read_graphs, read_relations, read_pair_count};
    const struct key key = key_partition(partition_id, "book");
    *out = (struct partition_book){0};
    enum error_code rc = store_get(store, key.text, partition_id, &out->view, err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(out->id, sizeof out->id, partition_id)); /* keys bound the length of ids */
    rc = record_expect(&out->view, RECORD_PARTITION_BOOK,
                       out->view.version == RELATIONS_VERSION ? RELATIONS_VERSION : BOOK_VERSION,
                       err);
    if (rc == ERROR_NONE)
        rc = record_text_get(&out->view, "dataset", out->dataset_id, sizeof out->dataset_id, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof read / sizeof *read; i++)
        rc = read[i](out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&out->view);
    *out = (struct partition_book){0};
    return error_context(err, rc, "%s", key.text);
}

enum error_code assignment_put(struct store *store, const char *partition_id, const uint32_t *part,
                               uint32_t node_count, const char *method, struct error *err)
{
    const struct key key = key_partition(partition_id, "assignment");
    struct record record = {.kind = RECORD_ASSIGNMENT, .version = ASSIGNMENT_VERSION};
    record_add(&record, "part", ELEMENT_U32, part, node_count);
    if (method)
        record_add_text(&record, "method", method);
    return store_put(store, key.text, partition_id, &record, STORE_DURABLE, err);
}

enum error_code assignment_put_edges(struct store *store, const char *partition_id,
                                     const uint32_t *part, uint32_t node_count,
                                     const uint16_t *edge_part, uint64_t edge_count,
                                     struct error *err)
{
    const struct key key = key_partition(partition_id, "assignment");
    struct record record = {.kind = RECORD_ASSIGNMENT, .version = ASSIGNMENT_VERSION};
    record_add(&record, "part", ELEMENT_U32, part, node_count);
    record_add(&record, "edge_part", ELEMENT_U16, edge_part, edge_count);
    return store_put(store, key.text, partition_id, &record, STORE_DURABLE, err);
}

enum error_code assignment_edges(const struct record_view *view, uint64_t edge_count,
                                 uint32_t part_count, const uint16_t **edge_part, struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, "edge_part", ELEMENT_U16, (int64_t)edge_count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *edge_part = data;
    for (uint64_t e = 0; e < edge_count; e++)
        if ((*edge_part)[e] >= part_count)
            return error_set(err, ERROR_CORRUPT,
                             "%s: edge %" PRIu64 " is in part %u, expected 0 to %" PRIu32,
                             view->key, e, (*edge_part)[e], part_count - 1);
    return ERROR_NONE;
}

enum error_code assignment_put_kept(struct store *store, const char *partition_id,
                                    const uint32_t *part, uint32_t node_count, const char *method,
                                    double full_cut, struct error *err)
{
    const struct key key = key_partition(partition_id, "assignment");
    struct record record = {.kind = RECORD_ASSIGNMENT, .version = ASSIGNMENT_VERSION};
    record_add(&record, "part", ELEMENT_U32, part, node_count);
    record_add_text(&record, "method", method);
    record_add(&record, "full_cut", ELEMENT_F64, &full_cut, 1);
    return store_put(store, key.text, partition_id, &record, STORE_DURABLE, err);
}

enum error_code assignment_full_cut(const struct record_view *view, double *full_cut,
                                    struct error *err)
{
    const void *data = NULL;
    *full_cut = -1.0;
    if (!record_has(view, "full_cut"))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, "full_cut", ELEMENT_F64, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(full_cut, data, sizeof *full_cut);
    if (*full_cut >= 0.0 && *full_cut <= 1.0)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "%s: \"full_cut\": expected a share from 0 to 1, found %g",
                     view->key, *full_cut);
}

enum error_code assignment_get(struct store *store, const char *partition_id, const uint32_t **part,
                               uint32_t *node_count, struct record_view *view, struct error *err)
{
    const struct key key = key_partition(partition_id, "assignment");
    const void *data = NULL;
    uint64_t count = 0;
    *view = (struct record_view){0};
    enum error_code rc = store_get(store, key.text, partition_id, view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = record_expect(view, RECORD_ASSIGNMENT, ASSIGNMENT_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "part", ELEMENT_U32, -1, &data, &count, err);
    if (rc == ERROR_NONE && count >= UINT32_MAX)
        rc = error_set(err, ERROR_CORRUPT, "%" PRIu64 " nodes, expected below 2^32 - 1", count);
    if (rc != ERROR_NONE) {
        store_release_record(view);
        *view = (struct record_view){0};
        return error_context(err, rc, "%s", key.text);
    }
    *part = data;
    *node_count = (uint32_t)count;
    return ERROR_NONE;
}

enum error_code assignment_method(const struct record_view *view, char *method, size_t size,
                                  struct error *err)
{
    method[0] = '\0';
    return record_has(view, "method") ? record_text_get(view, "method", method, size, err)
                                      : ERROR_NONE;
}
