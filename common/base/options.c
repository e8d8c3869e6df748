#include "common/base/options.h"

#include "common/base/host.h"
#include "common/base/text.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_COUNT_MAX = 48 };

/* Parses "75%" of the memory of the machine or container, so that a manifest states its limit
 * once. */
static bool share_of_memory(const char *text, uint64_t *out)
{
    const size_t size = strlen(text);
    int64_t percent = 0;
    if (size < 2 || text[size - 1] != '%' || !text_int64(text, size - 1, &percent) || percent < 1 ||
        percent > 100)
        return false;
    *out = host_memory_bytes() / 100 * (uint64_t)percent;
    return true;
}

static enum error_code assign_int(const struct option_spec *spec, const char *text,
                                  const char *or_what, int64_t *field, struct error *err)
{
    int64_t number = 0;
    if (!text_int64(text, strlen(text), &number) || number < spec->least || number > spec->most)
        return error_set(err, ERROR_USAGE,
                         "--%s is '%s', expected a whole number from %" PRId64 " to %" PRId64 "%s",
                         spec->name, text, spec->least, spec->most, or_what);
    *field = number;
    return ERROR_NONE;
}

static enum error_code assign(const struct option_spec *spec, const char *text, void *values,
                              struct error *err)
{
    void *field = (char *)values + spec->offset;
    switch (spec->type) {
    case OPTION_TEXT:
        *(const char **)field = text;
        return ERROR_NONE;
    case OPTION_INT:
        return assign_int(spec, text, "", field, err);
    case OPTION_INT_OR_AUTO:
        if (strcmp(text, "auto") != 0)
            return assign_int(spec, text, ", or auto", field, err);
        *(int64_t *)field = 0;
        return ERROR_NONE;
    case OPTION_BYTES:
        if (!text_bytes(text, field) && !share_of_memory(text, field))
            return error_set(err, ERROR_USAGE,
                             "--%s is '%s', expected a size such as 512M or 2G, or a share of the "
                             "memory such as 75%%",
                             spec->name, text);
        return ERROR_NONE;
    case OPTION_FLAG:
        *(bool *)field = true;
        return ERROR_NONE;
    case OPTION_LIST: {
        struct option_list *list = field;
        if (list->count == OPTION_LIST_MAX)
            return error_set(err, ERROR_USAGE, "--%s is given more than %d times", spec->name,
                             OPTION_LIST_MAX);
        list->item[list->count++] = text;
        return ERROR_NONE;
    }
    }
    return ERROR_NONE;
}

static enum error_code unknown_option(const struct option_spec *specs, const char *text,
                                      struct error *err)
{
    const char *names[OPTION_COUNT_MAX + 1] = {0};
    char word[64];
    size_t count = 0;
    for (; specs[count].name && count < OPTION_COUNT_MAX; count++)
        names[count] = specs[count].name;
    const char *start = text + strspn(text, "-");
    const size_t size = strcspn(start, "=");
    if (size >= sizeof word)
        return error_set(err, ERROR_USAGE, "unknown option '%.80s'; " ADVICE "see --help", text);
    memcpy(word, start, size);
    word[size] = '\0';
    const char *nearest = text_nearest(word, names);
    if (nearest && strcmp(nearest, word) == 0)
        return error_set(err, ERROR_USAGE, "--%s takes no value, found '%s'", word, text);
    if (nearest)
        return error_set(err, ERROR_USAGE, "unknown option '--%s'; did you mean '--%s'?", word,
                         nearest);
    return error_set(err, ERROR_USAGE, "unknown option '%s'; " ADVICE "see --help", text);
}

static enum error_code set_defaults(const struct option_spec *specs, void *values,
                                    struct option known[OPTION_COUNT_MAX + 1], struct error *err)
{
    for (int i = 0; specs[i].name; i++) {
        must(i < OPTION_COUNT_MAX);
        known[i] = (struct option){.name = specs[i].name,
                                   .has_arg = specs[i].type == OPTION_FLAG ? no_argument
                                                                           : required_argument,
                                   .val = i};
        if (!specs[i].default_text)
            continue;
        const enum error_code rc = assign(&specs[i], specs[i].default_text, values, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    return ERROR_NONE;
}

static enum error_code add_rest(struct option_list *rest, const char *text, struct error *err)
{
    if (rest->count == OPTION_LIST_MAX)
        return error_set(err, ERROR_USAGE, "more than %d arguments", OPTION_LIST_MAX);
    rest->item[rest->count++] = text;
    return ERROR_NONE;
}

enum error_code options_parse(const struct option_spec *specs, int argc, char **argv, void *values,
                              struct option_list *rest, struct error *err)
{
    struct option known[OPTION_COUNT_MAX + 1] = {{0}};
    enum error_code rc = set_defaults(specs, values, known, err);
    must(rc == ERROR_NONE);
    optind = 0; /* resets the state that getopt kept from an earlier call */
    opterr = 0;
    for (bool only_rest = false; rc == ERROR_NONE && (optind ? optind : 1) < argc;) {
        const int at = optind ? optind : 1;
        /* '+' stops getopt at a word that is no option, so that options and words may be mixed. */
        const int c = only_rest ? -1 : getopt_long(argc, argv, "+:", known, NULL);
        if (c == -1) {
            only_rest = only_rest || strcmp(argv[at], "--") == 0;
            if (optind < argc)
                rc = add_rest(rest, argv[optind++], err);
        } else if (c == ':') {
            rc = error_set(err, ERROR_USAGE, "%s needs a value", argv[at]);
        } else if (c == '?') {
            rc = unknown_option(specs, argv[at], err);
        } else {
            rc = assign(&specs[c], optarg, values, err);
        }
    }
    return rc;
}

bool options_want_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

void options_print_help(const struct option_spec *specs)
{
    enum { NAME_COLUMNS = 28, HELP_SIZE = 2048 };
    for (; specs->name; specs++) {
        char left[64], help[HELP_SIZE];
        (void)snprintf(left, sizeof left, "--%s %s", specs->name,
                       specs->value_name ? specs->value_name : "");
        const char *value = specs->default_text;
        (void)snprintf(help, sizeof help, value ? "%s (default: %s)" : "%s", specs->help,
                       value && !value[0] ? "empty" : value);
        printf("  %-*s ", NAME_COLUMNS, left);
        text_print_wrapped(help, NAME_COLUMNS + 3);
    }
}
