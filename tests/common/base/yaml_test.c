#include "common/base/memory.h"
#include "common/base/yaml.h"

#include "tests/support/test.h"

#include <stdio.h>

/* Writes the tree in one line, such as "name=cora@2 sample={fanouts=[10@4 5@4]@4 ...}@3 ". */
static void write_tree(const struct yaml_node *node, char *out, size_t size)
{
    static const char brackets[][2] = {"", "[", "{"}, closing[][2] = {"", "]", "}"};
    size_t at = strlen(out);
    (void)snprintf(out + at, size - at, "%s%s%s%s", node->key ? node->key : "",
                   node->key ? "=" : "", node->text ? node->text : "", brackets[node->kind]);
    size_t count = 0;
    for (const struct yaml_node *child = node->first; child; child = child->next, count++)
        write_tree(child, out, size);
    assert_int_equal(count, node->count);
    at = strlen(out);
    (void)snprintf(out + at, size - at, "%s@%d ", closing[node->kind], node->line);
}

static void a_tree_has_keys_values_and_lines(void **state)
{
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"# a comment\nname: cora\nsample:\n  fanouts: [10, 5]\n  size: \"7\"\nempty:\n"
         "train-step: {hidden: 64}\nlist: []\n",
         "{name=cora@2 sample={fanouts=[10@4 5@4 ]@4 size=7@5 }@3 empty=@6 "
         "train-step={hidden=64@7 }@7 list=[]@8 }@2 "},
        {"layers:\n  - {kind: gat, heads: 8}\n  - kind: sage\n    sizes:\n    - 3\n",
         "{layers=[{kind=gat@2 heads=8@2 }@2 {kind=sage@3 sizes=[3@5 ]@4 }@3 ]@1 }@1 "},
        {"[{a: 1}, x, [y, 'p, q']]", "[{a=1@1 }@1 x@1 [y@1 p, q@1 ]@1 ]@1 "},
        {"just words\n", "just words@1 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yaml_node *root = NULL;
        struct error err = {0};
        char tree[400] = "";
        assert_ok(yaml_parse(cases[i].text, strlen(cases[i].text), "p.yaml", &root, &err), &err);
        write_tree(root, tree, sizeof tree);
        assert_string_equal(tree, cases[i].tree);
        yaml_tree_free(root);
    }
    struct yaml_node *root = NULL;
    struct error err = {0};
    assert_ok(yaml_parse("# only a comment\n", 17, "p.yaml", &root, &err), &err);
    assert_null(root);
}

static void what_is_not_used_is_refused_by_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a: 1\nb: &x 2\n", "p.yaml:2: anchors and tags"},
        {"a: 1\nb: !!int 2\n", "p.yaml:2: anchors and tags"},
        {"a: &x\n  b: 1\n", "anchors and tags"},
        {"a: 1\nb: &x [1, 2]\n", "p.yaml:2: anchors and tags"},
        {"a: 1\nb: !t {c: 1}\n", "p.yaml:2: anchors and tags"},
        {"a: 1\nb: *x\n", "p.yaml:2: aliases"},
        {"a: 1\n---\nb: 2\n", "p.yaml:2: one document"},
        {"a: 1\nb: [[[[[[[[1]]]]]]]]\n", "p.yaml:2: nested deeper than any setting"},
        {"? [a]\n: 2\n", "p.yaml:1: expected a key, found a list"},
        {"? {a: 1}\n: 2\n", "p.yaml:1: expected a key, found a map"},
        {"a: 1\nb: 2\na: 3\n", "p.yaml:3: a stands a second time; first on line 1"},
        {"a:\n  b: 1\n  b: 2\n", "p.yaml:3: b stands a second time; first on line 2"},
        {"a:\n  b: 1\nc: 1\na:\n  d: 2\n", "p.yaml:4: a stands a second time; first on line 1"},
        {"a: [{b: 1, b: 2}]\n", "p.yaml:1: b stands a second time; first on line 1"},
        {"a: 1\nb: \"x\\0y\"\n", "p.yaml:2: a NUL character"},
        {"a: 1\nb: [1\n", "p.yaml:3: expected YAML, found what is not valid YAML"},
        {"a: 1\n\tb: 2\n", "p.yaml:2: the line is indented by a tab"},
        {"a:\n  b: 1\n \tc: 2\n", "p.yaml:3: the line is indented by a tab"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yaml_node *root = NULL;
        struct error err = {0};
        assert_fails(yaml_parse(cases[i].text, strlen(cases[i].text), "p.yaml", &root, &err),
                     ERROR_INVALID, cases[i].message, &err);
        assert_null(root);
    }
}

static void more_values_than_any_settings_have_are_refused(void **state)
{
    static char text[2 * YAML_NODE_MAX + 8] = "a: [";
    struct yaml_node *root = NULL;
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < YAML_NODE_MAX - 2; i++) {
        text[4 + 2 * i] = '1';
        text[5 + 2 * i] = ',';
    }
    char *end = text + strlen(text);
    *end = ']';
    assert_ok(yaml_parse(text, strlen(text), "p.yaml", &root, &err), &err);
    assert_int_equal(root->first->count, YAML_NODE_MAX - 2);
    yaml_tree_free(root);
    end[0] = '1';
    end[1] = ']';
    assert_fails(yaml_parse(text, strlen(text), "p.yaml", &root, &err), ERROR_INVALID,
                 "p.yaml:1: more than 10000 values", &err);
}

static void without_memory_nothing_is_left(void **state)
{
    static const char text[] = "a: 1\nb: [2, {e: 4}]\nc:\n  d: 3\n";
    const long live = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    (void)state;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct yaml_node *root = NULL;
        struct error err = {0};
        memory_fail_after(n);
        rc = yaml_parse(text, sizeof text - 1, "p.yaml", &root, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        yaml_tree_free(root);
        assert_int_equal(memory_live_blocks(), live);
        assert_true(n < 40 && (n > 0 || rc != ERROR_NONE));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_has_keys_values_and_lines),
        cmocka_unit_test(what_is_not_used_is_refused_by_line),
        cmocka_unit_test(more_values_than_any_settings_have_are_refused),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
