/* item_rows - a setting that is a list of maps, with a row for each type of item. */
#ifndef TESTS_SUPPORT_ITEM_ROWS_H
#define TESTS_SUPPORT_ITEM_ROWS_H

#include "stages/plan/settings/setting_value.h"

enum { ITEM_COUNT_MAX = 4 };

struct item {
    int64_t kind, hidden;
    double rate;
    bool bias;
    struct int_list sizes;
};

struct item_settings {
    int64_t seed;
    struct {
        int64_t count;
        struct item item[ITEM_COUNT_MAX];
    } list;
};

static const char *const item_kinds[] = {"plain", "wide", NULL};

#define ITEM(field) offsetof(struct item, field), sizeof(((struct item *)0)->field)
#define FIELD(field)                                                                               \
    offsetof(struct item_settings, field), sizeof(((struct item_settings *)0)->field)
/* clang-format off */
static const struct setting_spec item_rows[] = {
    {"kind", SETTING_CHOICE, 0, NULL, ITEM(kind), NULL, 0, 0, item_kinds, "what it is", NULL, NULL},
    {"hidden", SETTING_INT, 0, NULL, ITEM(hidden), "64", 1, 100, NULL, "its width", NULL, NULL},
    {"rate", SETTING_DOUBLE, 0, "kind=wide", ITEM(rate), "0.5", 0, 1, NULL, "only of wide ones", NULL, NULL},
    {"bias", SETTING_BOOL, 0, NULL, ITEM(bias), "true", 0, 0, NULL, "whether", NULL, NULL},
    {"sizes", SETTING_INT_LIST, 0, NULL, ITEM(sizes), "", 1, 9, NULL, "inside", NULL, NULL},
    {.name = NULL},
};
static const struct setting_items item_shape = {item_rows, offsetof(struct item_settings, list.item) - offsetof(struct item_settings, list), sizeof(struct item)};
static const struct setting_spec item_table[] = {
    {"seed", SETTING_INT, 1, NULL, FIELD(seed), "1", 0, 9, NULL, "a number", NULL, NULL},
    {"list", SETTING_ITEMS, 1, NULL, FIELD(list), "", 0, ITEM_COUNT_MAX, NULL, "the items", &item_shape, NULL},
    {.name = NULL},
};
/* clang-format on */

#endif
