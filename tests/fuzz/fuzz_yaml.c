/* fuzz_yaml - whatever the bytes, a settings file is refused by line or is a tree of bounded depth with unlike keys; and
 * as a list of maps it is refused by name or reads back as the same text. */
#include "common/base/yaml.h"

#include "tests/support/item_rows.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_node(const struct yaml_node *node, int depth)
{
    size_t count = 0;
    must(depth <= YAML_DEPTH_MAX && node->line >= 1);
    must((node->kind == YAML_SCALAR) == (node->text != NULL));
    for (const struct yaml_node *child = node->first; child; child = child->next, count++) {
        must((node->kind == YAML_MAP) == (child->key != NULL));
        for (const struct yaml_node *other = node->first; child->key && other != child;
             other = other->next)
            must(strcmp(other->key, child->key) != 0);
        check_node(child, depth + 1);
    }
    must(count == node->count);
}

static void check_items(const char *text)
{
    static const struct setting_source source = {.name = "fuzz"};
    const struct setting_spec *row = setting_row(item_table, "list");
    char printed[SETTING_VALUE_SIZE], again[SETTING_VALUE_SIZE];
    struct item_settings settings = {0}, back = {0};
    struct error err = {0};
    if (setting_assign_text(row, &settings, text, &source, &err) != ERROR_NONE) {
        must(err.code == ERROR_INVALID && strncmp(err.message, "fuzz:", 5) == 0);
        return;
    }
    must(setting_print(row, &settings, printed, sizeof printed) < (int)sizeof printed);
    must(setting_assign_text(row, &back, printed, &source, &err) == ERROR_NONE);
    (void)setting_print(row, &back, again, sizeof again);
    must(strcmp(printed, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct yaml_node *root = NULL;
    char *text = calloc(1, size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    if (yaml_parse(text, size, "fuzz.yaml", &root, &err) != ERROR_NONE)
        must(!root && err.code == ERROR_INVALID && strncmp(err.message, "fuzz.yaml:", 10) == 0);
    else if (root)
        check_node(root, 0);
    yaml_tree_free(root);
    check_items(text);
    free(text);
    return 0;
}
