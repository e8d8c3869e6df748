/* Tests the numbers before and after random updates against a table that is made node by node. */
#include "common/numbers/random.h"
#include "store/versions/delta_numbers.h"

#include "tests/support/test.h"

enum { ROUNDS = 3000, TYPES_MAX = 5, OF_TYPE_MAX = 9, NODES_MAX = 2 * TYPES_MAX * OF_TYPE_MAX };

struct scene {
    uint32_t base_of_type[TYPES_MAX], added_of_type[TYPES_MAX], columns[TYPES_MAX];
    uint32_t gone[NODES_MAX];
    struct dataset_delta delta;
    /* The expected results. */
    uint32_t version_of[NODES_MAX]; /* by the delta's own number */
    uint32_t own_of[NODES_MAX];     /* by the number in the version */
    uint32_t count;
};

static uint32_t drawn;

static uint32_t draw(uint32_t below)
{
    const struct random_stream stream = random_stream_of(11, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t word[4];
    random_block(&stream, drawn++, 0, word);
    return random_below(word[0], below);
}

static void number_naively(struct scene *s, uint32_t types)
{
    uint32_t base = 0, added = s->delta.base_nodes;
    s->count = 0;
    for (uint32_t t = 0; t < types; t++) {
        for (uint32_t i = 0; i < s->base_of_type[t]; i++, base++) {
            bool goes = false;
            for (uint64_t g = 0; g < s->delta.gone_nodes; g++)
                goes |= s->gone[g] == base;
            s->version_of[base] = goes ? DELTA_GONE : s->count;
            if (!goes)
                s->own_of[s->count++] = base;
        }
        for (uint32_t i = 0; i < s->added_of_type[t]; i++, added++) {
            s->version_of[added] = s->count;
            s->own_of[s->count++] = added;
        }
    }
}

/* Describes the version in a schema. */
static void describe(const struct scene *s, struct dataset_schema *schema)
{
    const uint32_t types = s->delta.type_count;
    uint64_t gone = 0;
    uint32_t base = 0, first = 0;
    *schema = (struct dataset_schema){.id = "d",
                                      .node_count = s->count,
                                      .has_relations = types != 0,
                                      .node_type_count = types ? types : 1};
    for (uint32_t t = 0; t < types; t++) {
        const uint64_t before = gone;
        base += s->base_of_type[t];
        while (gone < s->delta.gone_nodes && s->gone[gone] < base)
            gone++;
        schema->node_type[t].first_node = first;
        first += s->base_of_type[t] - (uint32_t)(gone - before) + s->added_of_type[t];
    }
}

static void draw_scene(struct scene *s)
{
    const uint32_t types = 1 + draw(TYPES_MAX), percent = draw(101);
    *s = (struct scene){.delta = {.gone_node = s->gone}};
    for (uint32_t t = 0; t < types; t++) {
        s->base_of_type[t] = draw(OF_TYPE_MAX);
        s->added_of_type[t] = draw(4) ? draw(OF_TYPE_MAX) : 0;
        s->delta.base_nodes += s->base_of_type[t];
        s->delta.added_nodes += s->added_of_type[t];
    }
    for (uint32_t node = 0; node < s->delta.base_nodes; node++)
        if (draw(100) < percent)
            s->gone[s->delta.gone_nodes++] = node;
    if (types > 1) {
        s->delta.type_count = types;
        s->delta.base_of_type = s->base_of_type;
        s->delta.added_of_type = s->added_of_type;
        s->delta.columns_of_type = s->columns;
    }
    number_naively(s, types);
}

static void numbers_are_those_of_a_walk_over_all_nodes(void **state)
{
    static struct scene s;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct delta_numbers numbers;
        draw_scene(&s);
        delta_numbers_init(&numbers, &s.delta);
        assert_int_equal(delta_numbers_count(&numbers), s.count);
        for (uint32_t node = 0; node < s.delta.base_nodes + s.delta.added_nodes; node++)
            assert_int_equal(delta_numbers_version(&numbers, node), s.version_of[node]);
        for (uint32_t node = 0; node < s.count; node++)
            assert_int_equal(delta_numbers_own(&numbers, node), s.own_of[node]);
    }
}

/* Converts many numbers at once, some of which are missing. */
static void many_are_answered_in_one_pass(void **state)
{
    static struct scene s;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct delta_numbers numbers;
        uint32_t node[NODES_MAX], expected[NODES_MAX], last = 0;
        draw_scene(&s);
        delta_numbers_init(&numbers, &s.delta);
        for (uint32_t i = 0; i < s.count; i++) {
            const bool is_missing = draw(5) == 0;
            const uint32_t own = s.own_of[i];
            node[i] = is_missing ? DELTA_GONE : i;
            expected[i] = is_missing || own >= s.delta.base_nodes ? DELTA_GONE : own;
        }
        delta_numbers_step_down(&numbers, node, s.count);
        for (uint32_t i = 0; i < s.count; i++) {
            assert_int_equal(node[i], expected[i]);
            if (node[i] == DELTA_GONE)
                continue;
            assert_true(node[i] >= last);
            last = node[i];
        }
    }
}

static void those_of_the_base_are_found_in_one_pass(void **state)
{
    static struct scene s;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct delta_numbers numbers;
        uint32_t number[NODES_MAX];
        draw_scene(&s);
        delta_numbers_init(&numbers, &s.delta);
        delta_numbers_of_base(&numbers, number);
        assert_memory_equal(number, s.version_of, s.delta.base_nodes * sizeof *number);
    }
}

static void a_schema_that_says_other_nodes_is_refused(void **state)
{
    static struct scene s;
    static struct dataset_schema schema;
    struct error err = {0};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct delta_numbers numbers;
        draw_scene(&s);
        describe(&s, &schema);
        delta_numbers_init(&numbers, &s.delta);
        assert_ok(delta_numbers_check(&numbers, &schema, &err), &err);
        schema.node_count++;
        assert_fails(delta_numbers_check(&numbers, &schema, &err), ERROR_CORRUPT, "by its delta",
                     &err);
        schema.node_count--;
        if (schema.has_relations) { /* types that a delta distinguishes by name */
            schema.has_relations = false;
            assert_ok(delta_numbers_check(&numbers, &schema, &err), &err);
            schema.has_relations = true;
        } else { /* types that it does not distinguish */
            schema.node_type_count++;
            assert_ok(delta_numbers_check(&numbers, &schema, &err), &err);
            schema.node_type_count--;
        }
        schema.node_type[schema.node_type_count - 1].first_node++;
        if (schema.has_relations)
            assert_fails(delta_numbers_check(&numbers, &schema, &err), ERROR_CORRUPT,
                         "begins at node", &err);
        schema.node_type_count++;
        if (schema.has_relations)
            assert_fails(delta_numbers_check(&numbers, &schema, &err), ERROR_CORRUPT,
                         "types by its delta", &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_a_walk_over_all_nodes),
        cmocka_unit_test(many_are_answered_in_one_pass),
        cmocka_unit_test(those_of_the_base_are_found_in_one_pass),
        cmocka_unit_test(a_schema_that_says_other_nodes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
