/* Tests small files in the forms in which people publish graphs: each is read as the graph that it
 * means, or is refused (tests/data/doors). */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/tables/edge_words.h"

#include "tests/stages/ingest/door_graph.h"
#include "tests/support/temp_dir.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/wait.h>

enum { WORDS_MAX = 16, FOUND_SIZE = 2048, CASES_LEAST = 120 };

struct door { /* the state of one case */
    char folder[FILE_PATH_SIZE];
    int status;
    char *answer; /* what the stage printed, owned */
    char *said;   /* the messages of the stage, without the folder's path, owned */
    /* the same without the names of files, because a name does not show what the stage found in
     * the file, owned */
    char *plain;
    const struct door_graph *graph;
    struct error err;
};

static struct temp_dir work;

/* ---- words
 * ---------------------------------------------------------------------------------------- */

/* Splits a line into words at blanks; "two words" in quotes are one. */
static size_t split_words(char *line, char *word[WORDS_MAX])
{
    size_t count = 0;
    while (count < WORDS_MAX) {
        line += strspn(line, " ");
        if (!line[0])
            break;
        const bool quoted = line[0] == '"';
        word[count++] = line += quoted;
        line += strcspn(line, quoted ? "\"" : " ");
        if (line[0])
            *line++ = '\0';
    }
    return count;
}

static bool has_word(const char *text, const char *word)
{
    const size_t size = strlen(word);
    while (*text && strncasecmp(text, word, size) != 0)
        text++;
    return *text != '\0';
}

/* A word with a dot may be the name of a file, so it is looked up in the text that has these
 * names. */
static bool has_words(const struct door *door, char *const *word, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has_word(strchr(word[i], '.') ? door->said : door->plain, word[i]))
            return false;
    return true;
}

/* Removes paths below `folder` from the text: only the folder, or also the file's name. */
static void cut_paths(char *text, const char *folder, bool with_names)
{
    const size_t size = strlen(folder);
    for (char *at = strstr(text, folder); at; at = strstr(at, folder)) {
        const char *end = at + size + strspn(at + size, "/");
        end += with_names ? strcspn(end, ": \n") : 0;
        memmove(at, end, strlen(end) + 1);
    }
}

/* ---- what a graph must have: each is a line of `expect`
 * --------------------------------------------- */

/* Returns whether the line holds; `found` [FOUND_SIZE] is what the graph has, if that differs. */
typedef bool (*door_check)(struct door *door, char *const *word, size_t count, char *found);

static bool is_number(uint64_t value, const char *word, char *found)
{
    (void)snprintf(found, FOUND_SIZE, "%" PRIu64, value);
    return strcmp(found, word) == 0;
}

static bool has_nodes(struct door *door, char *const *word, size_t count, char *found)
{
    (void)count;
    return is_number(door->graph->schema.node_count, word[1], found);
}

static bool has_edges(struct door *door, char *const *word, size_t count, char *found)
{
    (void)count;
    return is_number(door->graph->edge_count, word[1], found);
}

static bool has_relations(struct door *door, char *const *word, size_t count, char *found)
{
    (void)count;
    return is_number(door->graph->schema.edge_type_count, word[1], found);
}

static bool has_classes(struct door *door, char *const *word, size_t count, char *found)
{
    (void)count;
    return is_number(door->graph->schema.class_count, word[1], found);
}

static bool has_features(struct door *door, char *const *word, size_t count, char *found)
{
    (void)count;
    return is_number(door->graph->schema.feature_dim, word[1], found);
}

static bool has_split(struct door *door, char *const *word, size_t count, char *found)
{
    const struct dataset_schema *schema = &door->graph->schema;
    (void)count;
    return is_number(word[0][1] == 'r'   ? schema->train_count
                     : word[0][0] == 'v' ? schema->valid_count
                                         : schema->test_count,
                     word[1], found);
}

static bool has_labelled(struct door *door, char *const *word, size_t count, char *found)
{
    uint64_t labelled = 0;
    (void)count;
    for (uint32_t node = 0; node < door->graph->schema.node_count; node++)
        labelled += door->graph->label[node][0] != '\0';
    return is_number(labelled, word[1], found);
}

static bool has_direction(struct door *door, char *const *word, size_t count, char *found)
{
    (void)count;
    (void)snprintf(found, FOUND_SIZE, "%s",
                   door->graph->schema.undirected ? "undirected" : "directed");
    return strcmp(found, word[1]) == 0;
}

/* Checks "has weight", "lacks time". */
static bool has_column(struct door *door, char *const *word, size_t count, char *found)
{
    const struct edge_widths *width = &door->graph->schema.edge_width;
    (void)count;
    edge_widths_text(width, found, FOUND_SIZE);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const char *name = edge_word_for((enum edge_column)c);
        if (name && strcmp(name, word[1]) == 0)
            return (width->of[c] > 0) == (word[0][0] == 'h');
    }
    return false;
}

/* Checks "type user 6". */
static bool has_type(struct door *door, char *const *word, size_t count, char *found)
{
    const struct dataset_schema *schema = &door->graph->schema;
    size_t at = 0;
    (void)count;
    for (uint32_t t = 0; t < schema->node_type_count && at < FOUND_SIZE / 2; t++) {
        if (strcmp(schema->node_type[t].name, word[1]) == 0)
            return is_number(schema->node_type[t].node_count, word[2], found);
        at += (size_t)snprintf(found + at, FOUND_SIZE - at, "%s ", schema->node_type[t].name);
    }
    return false;
}

/* Checks "relation KNOWS 5". */
static bool has_relation(struct door *door, char *const *word, size_t count, char *found)
{
    const struct door_graph *graph = door->graph;
    size_t at = 0;
    (void)count;
    for (uint32_t t = 0; t < graph->schema.edge_type_count && at < FOUND_SIZE / 2; t++) {
        uint64_t edges = 0;
        for (uint64_t i = 0; i < graph->edge_count; i++)
            edges += graph->edge[i].type == t;
        if (strcmp(graph->schema.edge_type[t].name, word[1]) == 0)
            return is_number(edges, word[2], found);
        at += (size_t)snprintf(found + at, FOUND_SIZE - at, "%s ", graph->schema.edge_type[t].name);
    }
    return false;
}

/* Returns whether an edge has the values that follow its ends: "weight 1.5", "time 12", "relation
 * KNOWS". */
static bool edge_has(const struct door_graph *graph, const struct door_edge *edge,
                     char *const *word, size_t count)
{
    char text[32];
    for (size_t i = 0; i + 1 < count; i += 2) {
        double weight = 0.0;
        (void)snprintf(text, sizeof text, "%" PRId64, edge->time);
        const bool holds = strcmp(word[i], "weight") == 0
                               ? text_double(word[i + 1], strlen(word[i + 1]), &weight) &&
                                     edge->weight == (float)weight
                           : strcmp(word[i], "time") == 0
                               ? strcmp(text, word[i + 1]) == 0
                               : strcmp(graph->schema.edge_type[edge->type].name, word[i + 1]) == 0;
        if (!holds)
            return false;
    }
    return true;
}

/* Checks "edge a b weight 1.5", "no_edge a b". */
static bool has_edge(struct door *door, char *const *word, size_t count, char *found)
{
    const struct door_graph *graph = door->graph;
    const int64_t source = door_graph_node(graph, word[1]),
                  target = door_graph_node(graph, word[2]);
    bool is_there = false;
    (void)snprintf(found, FOUND_SIZE, "%s",
                   source < 0   ? "no such source"
                   : target < 0 ? "no such target"
                                : "no such edge");
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        const struct door_edge *edge = &graph->edge[i];
        const bool joins =
            (edge->source == source && edge->target == target) ||
            (graph->schema.undirected && edge->source == target && edge->target == source);
        if (!joins)
            continue;
        (void)snprintf(found, FOUND_SIZE, "relation %s weight %g time %" PRId64,
                       graph->schema.edge_type[edge->type].name, (double)edge->weight, edge->time);
        is_there |= edge_has(graph, edge, word + 3, count - 3);
    }
    return is_there == (word[0][0] == 'e');
}

/* Checks "label a cat", "unlabelled a". */
static bool has_label(struct door *door, char *const *word, size_t count, char *found)
{
    const int64_t node = door_graph_node(door->graph, word[1]);
    (void)snprintf(found, FOUND_SIZE, "%s", node < 0 ? "(no such node)" : door->graph->label[node]);
    return strcmp(found, count > 2 ? word[2] : "") == 0;
}

/* Checks "feature a 0.5 1". */
static bool has_feature(struct door *door, char *const *word, size_t count, char *found)
{
    const int64_t node = door_graph_node(door->graph, word[1]);
    bool holds = node >= 0;
    size_t at = 0;
    found[0] = '\0';
    for (size_t i = 2; node >= 0 && i < count; i++) {
        double wanted = 0.0;
        const float value =
            door_graph_feature(door->graph, (uint32_t)node, (uint32_t)i - 2, &door->err);
        at += (size_t)snprintf(found + at, FOUND_SIZE - at, "%g ", (double)value);
        holds = holds && text_double(word[i], strlen(word[i]), &wanted) && value == (float)wanted;
    }
    return holds;
}

/* Checks "says no such words". */
static bool has_said(struct door *door, char *const *word, size_t count, char *found)
{
    (void)snprintf(found, FOUND_SIZE, "not these words");
    return has_words(door, word + 1, count - 1);
}

static const struct {
    const char *word;
    size_t least; /* the least number of words in the line */
    door_check check;
} checks[] = {
    {"nodes", 2, has_nodes},         {"edges", 2, has_edges},       {"relations", 2, has_relations},
    {"classes", 2, has_classes},     {"features", 2, has_features}, {"train", 2, has_split},
    {"valid", 2, has_split},         {"test", 2, has_split},        {"labelled", 2, has_labelled},
    {"direction", 2, has_direction}, {"has", 2, has_column},        {"lacks", 2, has_column},
    {"type", 3, has_type},           {"relation", 3, has_relation}, {"edge", 3, has_edge},
    {"no_edge", 3, has_edge},        {"label", 3, has_label},       {"unlabelled", 2, has_label},
    {"feature", 3, has_feature},     {"says", 2, has_said},
};

/* Returns whether the line holds for the graph; prints what does not hold. */
static bool graph_has(struct door *door, const char *line)
{
    char copy[FOUND_SIZE], found[FOUND_SIZE] = "", *word[WORDS_MAX];
    (void)snprintf(copy, sizeof copy, "%s", line);
    const size_t count = split_words(copy, word);
    for (size_t i = 0; count && i < sizeof checks / sizeof checks[0]; i++)
        if (strcmp(checks[i].word, word[0]) == 0) {
            assert_true(count >= checks[i].least);
            if (checks[i].check(door, word, count, found))
                return true;
            (void)printf("FAILED %s: expected `%s`, found: %s\n", strrchr(door->folder, '/') + 1,
                         line, found);
            return false;
        }
    fail_msg("%s: expect has a line `%s`", door->folder, line);
    return false;
}

/* ---- one case
 * ------------------------------------------------------------------------------------- */

/* Runs the stage into a store of its own. */
static void ingest(struct door *door, const char *store)
{
    char command[6 * FILE_PATH_SIZE];
    size_t size = 0;
    const char *bin = getenv("GRAPHMILL_BIN");
    (void)snprintf(command, sizeof command,
                   "'%s/graphmill-ingest' --store '%s' --pipeline '%s/p.yaml' >'%s/out' 2>'%s/err'",
                   bin ? bin : "build/bin", store, door->folder, work.path, work.path);
    const int rc = system(command); /* NOLINT(cert-env33-c): paths made by the test */
    door->status = WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
    (void)snprintf(command, sizeof command, "%s/out", work.path);
    assert_ok(file_read(command, 0, &door->answer, &size, &door->err), &door->err);
    (void)snprintf(command, sizeof command, "%s/err", work.path);
    assert_ok(file_read(command, 0, &door->said, &size, &door->err), &door->err);
    assert_ok(file_read(command, 0, &door->plain, &size, &door->err), &door->err);
    cut_paths(door->said, door->folder, false);
    cut_paths(door->plain, door->folder, true);
}

/* Returns whether the line is "refused 65 these words" and allows this refusal; "or" before it
 * allows a graph, too. */
static bool allows_refusal(const struct door *door, const char *line, bool *is_one)
{
    char copy[FOUND_SIZE], status[16], *word[WORDS_MAX];
    (void)snprintf(copy, sizeof copy, "%s", line);
    const size_t count = split_words(copy, word);
    const size_t at = count && strcmp(word[0], "or") == 0;
    *is_one = count > at + 1 && strcmp(word[at], "refused") == 0;
    (void)snprintf(status, sizeof status, "%d", door->status);
    return *is_one && strcmp(word[at + 1], status) == 0 &&
           has_words(door, word + at + 2, count - at - 2);
}

/* Reads the dataset whose id is in "dataset=<id> nodes=...". */
static void read_graph(struct door *door, struct store *store)
{
    static struct door_graph graph;
    char id[80] = "";
    const char *at = strstr(door->answer, "dataset=");
    assert_non_null(at);
    (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(at + 8, " \n"), at + 8);
    door_graph_read(&graph, store, id, &door->err);
    door->graph = &graph;
}

static void say_refused(const struct door *door, bool wants_graph)
{
    const char *last = strstr(door->said, " error ");
    (void)printf("FAILED %s: ended with %d, expected %s: %.*s\n", strrchr(door->folder, '/') + 1,
                 door->status, wants_graph ? "a graph" : "a refusal with other words",
                 last ? (int)strcspn(last, "\n") : 0, last ? last : "");
}

/* Returns whether the case ends as its `expect` says; cuts `expect` into lines. */
static bool compare(struct door *door, char *expect)
{
    bool holds = true, wants_graph = false, may_refuse = false;
    for (char *line = strtok(expect, "\n"); line; line = strtok(NULL, "\n")) {
        bool is_refusal = false;
        may_refuse |= allows_refusal(door, line, &is_refusal);
        wants_graph |= !is_refusal;
        if (!is_refusal && door->graph)
            holds &= graph_has(door, line);
    }
    if (door->graph && !wants_graph) {
        (void)printf("FAILED %s: came in, expected a refusal: %.*s\n",
                     strrchr(door->folder, '/') + 1, (int)strcspn(door->answer, "\n"),
                     door->answer);
        return false;
    }
    if (!door->graph && !may_refuse)
        say_refused(door, wants_graph);
    return door->graph ? holds : may_refuse;
}

static bool run_case(const char *folder)
{
    struct door door = {0};
    char store_path[FILE_PATH_SIZE], path[FILE_PATH_SIZE], *expect = NULL;
    struct store *store = NULL;
    size_t size = 0;
    assert_ok(file_path(door.folder, &door.err, "%s", folder), &door.err);
    assert_ok(file_path(store_path, &door.err, "%s/store", work.path), &door.err);
    assert_ok(file_path(path, &door.err, "%s/expect", folder), &door.err);
    assert_ok(file_read(path, 0, &expect, &size, &door.err), &door.err);
    ingest(&door, store_path);
    if (door.status == 0) {
        assert_ok(store_open(store_path, 0, &store, &door.err), &door.err);
        read_graph(&door, store);
    }
    const bool holds = compare(&door, expect);
    store_close(store);
    memory_free(expect);
    memory_free(door.answer);
    memory_free(door.said);
    memory_free(door.plain);
    assert_ok(file_remove_all(store_path, &door.err), &door.err);
    return holds;
}

/* ---- all
 * ------------------------------------------------------------------------------------------ */

struct walk {
    char folder[FILE_PATH_SIZE];
    int count, failed;
};

static enum error_code visit(void *context, const char *name, struct error *err)
{
    struct walk *walk = context;
    char folder[FILE_PATH_SIZE];
    const char *only = getenv("DOORS"); /* a part of a name, to run only some cases */
    enum file_kind kind = FILE_ABSENT;
    enum error_code rc = file_path(folder, err, "%s/%s", walk->folder, name);
    if (rc == ERROR_NONE)
        rc = file_look(folder, &kind, err);
    if (rc != ERROR_NONE || kind != FILE_FOLDER || (only && !strstr(name, only)))
        return rc;
    walk->count++;
    walk->failed += !run_case(folder);
    return ERROR_NONE;
}

static void comes_in_as_what_it_means_or_not_at_all(void **state)
{
    struct walk walk = {.count = 0};
    struct error err = {0};
    const char *source = getenv("GRAPHMILL_SOURCE");
    (void)state;
    temp_dir_make(&work);
    assert_ok(file_path(walk.folder, &err, "%s/tests/data/doors", source ? source : "."), &err);
    assert_ok(file_list(walk.folder, visit, &walk, &err), &err);
    temp_dir_remove(&work);
    assert_true(walk.count >= CASES_LEAST || getenv("DOORS"));
    if (walk.failed)
        fail_msg("%d of %d files came in as another graph, or were refused with other words",
                 walk.failed, walk.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_in_as_what_it_means_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
