#include "store/records/partition/partition_book.h"

#include "common/base/text.h"
#include "store/records/dataset/edge_sections.h"
#include "store/records/section_checks.h"
#include "store/records/section_table.h"

#include <inttypes.h>
#include <string.h>

enum { RELATIONS_VERSION = 5 };

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

/* --- the book --- */

static void add_task(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct partition_book *book = from;
    (void)scratch;
    record_add_text(record, "task", task_name(book->task));
}

static enum error_code read_task(const struct record_view *view, void *out, struct error *err)
{
    struct partition_book *book = out;
    char name[64];
    const enum error_code rc = record_text_get(view, "task", name, sizeof name, err);
    if (rc != ERROR_NONE)
        return rc;
    book->task = task_named(name, strlen(name));
    return book->task != TASK_UNKNOWN
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT,
                           "record %s: task is %s, which this program does not have", view->key,
                           name);
}

static enum error_code check_parts(const struct record_view *view, void *out, struct error *err)
{
    struct partition_book *book = out;
    book->node_count = book->book[book->part_count];
    const enum error_code rc = check_ranges(book, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s", view->key);
}

static void add_widths(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct partition_book *book = from;
    (void)scratch;
    edge_sections_add_widths(record, &book->edge_width);
}

static enum error_code read_widths(const struct record_view *view, void *out, struct error *err)
{
    struct partition_book *book = out;
    return edge_sections_get_widths(view, &book->edge_width, err);
}

static const char graphs_name[] = "graphs", pair_count_name[] = "pair_count";

static enum error_code expect_graphs(const struct record_view *view, void *out, struct error *err)
{
    const struct partition_book *book = out;
    const bool has_graphs = task_has(book->task, TASK_HAS_GRAPHS);
    if (has_graphs == record_has(view, graphs_name))
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "record %s: expected %s section \"%s\" of task %s",
                     view->key, has_graphs ? "a" : "no", graphs_name, task_name(book->task));
}

static enum error_code check_graphs(const struct record_view *view, void *out, struct error *err)
{
    const struct partition_book *book = out;
    if (book->graph_count <= book->node_count && book->graph_nodes_most <= book->node_count &&
        book->graph_edges_most <= book->edge_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: %" PRIu32 " graphs of up to %" PRIu32 " nodes and %" PRIu64
                     " edges in a graph of %" PRIu32 " nodes and %" PRIu64 " edges",
                     view->key, book->graph_count, book->graph_nodes_most, book->graph_edges_most,
                     book->node_count, book->edge_count);
}

/* The pairs of relations that are no reverse are counted in a task of pairs. */
static bool counts_pairs(const struct partition_book *book)
{
    return task_has(book->task, TASK_HOLDS_OUT_EDGES) && book->relation;
}

static void add_pair_count(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct partition_book *book = from;
    (void)scratch;
    if (counts_pairs(book))
        record_add(record, pair_count_name, ELEMENT_U64, &book->pair_count, 1);
}

static enum error_code read_pair_count(const struct record_view *view, void *out, struct error *err)
{
    struct partition_book *book = out;
    const void *data = NULL;
    if (!counts_pairs(book))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, pair_count_name, ELEMENT_U64, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&book->pair_count, data, sizeof book->pair_count);
    if (book->pair_count <= book->edge_count && book->pair_type_count <= book->relation_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: %" PRIu64 " pairs of %" PRIu32 " types, expected at most %" PRIu64
                     " of %" PRIu32,
                     view->key, book->pair_count, book->pair_type_count, book->edge_count,
                     book->relation_count);
}

/* The starts of the types stand before the section whose length says how many types there are. */
static enum error_code count_types(const struct record_view *view, void *out, struct error *err)
{
    struct partition_book *book = out;
    const void *data = NULL;
    uint64_t types = 0;
    if (view->version < RELATIONS_VERSION)
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, "type_dim", ELEMENT_U32, -1, &data, &types, err);
    if (rc != ERROR_NONE)
        return rc;
    if (types < 1 || types > NODE_TYPE_COUNT_MAX)
        return section_refuse_number(view, "type_dim", "length", 1, NODE_TYPE_COUNT_MAX, types,
                                     err);
    book->type_count = (uint32_t)types;
    return ERROR_NONE;
}

static enum error_code check_types(const struct record_view *view, void *out, struct error *err)
{
    const struct partition_book *book = out;
    const enum error_code rc = book->relation ? check_relations(book, err) : ERROR_NONE;
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s", view->key);
}

#define SECTION_STRUCT struct partition_book
static const struct section_number facts[] = {
    {"edges", AT(edge_count), 0, 0},        {"self loops", AT(self_loop_count), 0, 0},
    {"columns", AT(feature_dim), 0, 0},     {"classes", AT(class_count), 0, 0},
    {"train nodes", AT(train_count), 0, 0}, {"valid nodes", AT(valid_count), 0, 0},
    {"test nodes", AT(test_count), 0, 0},
};
static const struct section_number graph_facts[] = {
    {"graphs", AT(graph_count), 1, 0},
    {"nodes", AT(graph_nodes_most), 1, 0},
    {"edges", AT(graph_edges_most), 0, 0},
};
/* The sizes are those of pointers. NOLINTBEGIN(bugprone-sizeof-expression) */
static const struct section_row book_rows[] = {
    {SECTION_ARRAY("book", U32, book), .sets = AT(part_count), .plus = 1, .least = 1,
     .most = INT32_MAX - 1, .read = check_parts},
    {SECTION_TEXT("dataset", dataset_id)},
    {SECTION_HAND(add_task, read_task)},
    {SECTION_NUMBERS("facts", U64, facts)},
    {SECTION_HAND(add_widths, read_widths)},
    {SECTION_VALUE("pair_types", U32, pair_type_count), .when = AT(pair_type_count),
     .if_there = true, .least = 1, .most = EDGE_TYPE_COUNT_MAX},
    {SECTION_HAND(NULL, expect_graphs)},
    {SECTION_NUMBERS(graphs_name, U64, graph_facts), .when = AT(graph_count), .if_there = true,
     .read = check_graphs},
    {SECTION_HAND(add_pair_count, count_types)},
    {SECTION_ARRAY("type_start", U32, type_start), .count = AT(part_count), .times = AT(type_count),
     .times_plus = 1, .when = AT(relation), .since = RELATIONS_VERSION},
    {SECTION_ARRAY("type_name", U8, type_name), .count = AT(type_count), .unit = RELATION_NAME_SIZE,
     .when = AT(relation), .since = RELATIONS_VERSION},
    {SECTION_ARRAY("type_dim", U32, type_dim), .count = AT(type_count), .when = AT(relation),
     .since = RELATIONS_VERSION},
    {SECTION_VALUE("target_type", U32, target_type), .when = AT(relation),
     .since = RELATIONS_VERSION},
    {SECTION_ARRAY("relation", U8, relation), .sets = AT(relation_count),
     .unit = sizeof(struct relation), .least = 1, .most = RELATION_COUNT_MAX,
     .since = RELATIONS_VERSION},
    {SECTION_ARRAY("relation_back", U16, back_plus), .count = AT(relation_count), .if_there = true},
    {SECTION_HAND(NULL, check_types)},
    {SECTION_HAND(NULL, read_pair_count)},
};
/* NOLINTEND(bugprone-sizeof-expression) */
static const struct section_table book_table =
    SECTION_TABLE(RECORD_PARTITION_BOOK, 4, 5, book_rows);
#undef SECTION_STRUCT

enum error_code partition_book_put(struct store *store, const struct partition_book *book,
                                   struct error *err)
{
    const struct key key = key_partition(book->id, "book");
    enum error_code rc = check_ranges(book, err);
    if (rc == ERROR_NONE && book->relation)
        rc = check_relations(book, err);
    return rc == ERROR_NONE
               ? section_table_put(store, &book_table, key.text, book->id, book, STORE_DURABLE, err)
               : error_context(err, rc, "%s", key.text);
}

enum error_code partition_book_get(struct store *store, const char *partition_id,
                                   struct partition_book *out, struct error *err)
{
    const enum error_code rc = section_table_get(
        store, &book_table, key_partition(partition_id, "book").text, partition_id, out, err);
    if (rc == ERROR_NONE)
        must(text_copy(out->id, sizeof out->id, partition_id)); /* keys bound the length of ids */
    return rc;
}

/* --- the assignment --- */

struct assignment {
    uint32_t node_count;
    const uint32_t *part; /* [node_count] */
    char method[64];
    double full_cut;
    bool is_kept;
    uint64_t edge_count;
    const uint16_t *edge_part; /* [edge_count] */
    struct record_view view;
};

#define SECTION_STRUCT struct assignment
static const struct section_row assignment_rows[] = {
    {SECTION_ARRAY("part", U32, part), .sets = AT(node_count), .most = UINT32_MAX - 1},
    {SECTION_TEXT("method", method), .when = AT(method[0]), .if_there = true},
    {SECTION_VALUE("full_cut", F64, full_cut), .when = AT(is_kept), .if_there = true},
    {SECTION_ARRAY("edge_part", U16, edge_part), .sets = AT(edge_count), .if_there = true},
};
static const struct section_table assignment_table =
    SECTION_TABLE(RECORD_ASSIGNMENT, 1, 1, assignment_rows);

static enum error_code put_assignment(struct store *store, const char *partition_id,
                                      const struct assignment *assignment, struct error *err)
{
    return section_table_put(store, &assignment_table,
                             key_partition(partition_id, "assignment").text, partition_id,
                             assignment, STORE_DURABLE, err);
}

enum error_code assignment_put(struct store *store, const char *partition_id, const uint32_t *part,
                               uint32_t node_count, const char *method, struct error *err)
{
    struct assignment assignment = {.node_count = node_count, .part = part};
    must(text_copy(assignment.method, sizeof assignment.method, method ? method : ""));
    return put_assignment(store, partition_id, &assignment, err);
}

enum error_code assignment_put_edges(struct store *store, const char *partition_id,
                                     const uint32_t *part, uint32_t node_count,
                                     const uint16_t *edge_part, uint64_t edge_count,
                                     struct error *err)
{
    const struct assignment assignment = {
        .node_count = node_count, .part = part, .edge_count = edge_count, .edge_part = edge_part};
    return put_assignment(store, partition_id, &assignment, err);
}

enum error_code assignment_put_kept(struct store *store, const char *partition_id,
                                    const uint32_t *part, uint32_t node_count, const char *method,
                                    double full_cut, struct error *err)
{
    struct assignment assignment = {
        .node_count = node_count, .part = part, .full_cut = full_cut, .is_kept = true};
    must(text_copy(assignment.method, sizeof assignment.method, method));
    return put_assignment(store, partition_id, &assignment, err);
}

enum error_code assignment_get(struct store *store, const char *partition_id, const uint32_t **part,
                               uint32_t *node_count, struct record_view *view, struct error *err)
{
    struct assignment assignment;
    const enum error_code rc =
        section_table_get(store, &assignment_table, key_partition(partition_id, "assignment").text,
                          partition_id, &assignment, err);
    *view = assignment.view;
    if (rc != ERROR_NONE)
        return rc;
    *part = assignment.part;
    *node_count = assignment.node_count;
    return ERROR_NONE;
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

enum error_code assignment_method(const struct record_view *view, char *method, size_t size,
                                  struct error *err)
{
    method[0] = '\0';
    return record_has(view, "method") ? record_text_get(view, "method", method, size, err)
                                      : ERROR_NONE;
}
