#include "stages/ingest/formats/mending.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Mistakes that are mended alike in each format, by words of their messages. */
static const struct {
    const char *words, *advice;
} alike[] = {
    {"found the end of the file", "copy the file again, or add what lacks"},
    {"found damaged", "copy the file again, or pack it anew"},
    {"'s magic", "rename the file without .gz or .zst, or pack it"},
    {"that are not gzip", "copy the file again, or pack it anew"},
    {"NUL byte", "save the file as text in UTF-8"},
    {"finite number", "write a number there"},
    {"is out of range", "write the id of a node that there is, or correct the number of nodes"},
    {"has no label", "give it one, or remove it from the split"},
    {"is in no other file", "write the id of a node that has an edge, or remove the line"},
    {"another split", "remove it from one of them"},
    {"in the valid split", "remove it from one of them"},
    {"another time", "remove one of the lines"},
    {"found both", "remove one of them"},
    {"them in both", "remove one of them"},
    {" columns, found ",
     "give each line as many columns as the first has, with quotes around a field that "
     "has a separator"},
    {" columns as ",
     "give each line as many columns as the first has, with quotes around a field that "
     "has a separator"},
    {"in the header", "write the name as the header has it, or add the column"},
};

/* Whether a clause of the message begins with what to do. */
static bool says_what_to_do(const char *message)
{
    static const char *const clauses[] = {": ", "; ", ", or ", " (", ", "};
    static const char *const verbs[] = {"write ",      "give ",   "remove ", "add ",   "close ",
                                        "save ",       "rename ", "leave ",  "make ",  "keep ",
                                        "name ",       "set ",    "raise ",  "are ",   "start ",
                                        "in Python, ", "change ", "use ",    "unpack "};
    char start[32];
    for (size_t c = 0; c < sizeof clauses / sizeof *clauses; c++)
        for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
            (void)snprintf(start, sizeof start, "%s%s", clauses[c], verbs[v]);
            if (strstr(message, start))
                return true;
        }
    return false;
}

enum error_code mending_add(const char *form, enum error_code rc, struct error *err)
{
    if ((rc != ERROR_INPUT && rc != ERROR_NOT_FOUND) || !err || !form ||
        says_what_to_do(err->message))
        return rc;
    const size_t size = strlen(err->message);
    const char *advice = form;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (strstr(err->message, alike[i].words)) {
            advice = alike[i].advice;
            break;
        }
    (void)snprintf(err->message + size, sizeof err->message - size, ": %s", advice);
    return rc;
}
