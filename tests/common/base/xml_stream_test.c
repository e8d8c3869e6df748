#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/xml_stream.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

struct seen {
    size_t elements, attributes;
    char text[64];
};

static enum error_code begin(void *context, const char *element, const char *const *attribute,
                             struct error *err)
{
    struct seen *seen = context;
    (void)element;
    (void)err;
    seen->elements++;
    for (size_t i = 0; attribute[i]; i += 2)
        seen->attributes++;
    return ERROR_NONE;
}

static enum error_code end(void *context, const char *element, const char *text, bool is_cut,
                           struct error *err)
{
    struct seen *seen = context;
    (void)err;
    if (strcmp(element, "t") == 0)
        (void)snprintf(seen->text, sizeof seen->text, "%s", text);
    assert_false(is_cut);
    return ERROR_NONE;
}

/* Reads the document in pieces, and records the elements. */
static enum error_code read_pieces(const char *text, size_t size, size_t piece, struct seen *seen,
                                   struct error *err)
{
    const struct xml_visitor visitor = {.context = seen,
                                        .begin = begin,
                                        .end = end,
                                        .text_max = 63,
                                        .name = "a document",
                                        .malformed = ERROR_INPUT};
    struct xml_stream *stream = NULL;
    *seen = (struct seen){0};
    enum error_code rc = xml_stream_new(&visitor, &stream, err);
    for (size_t at = 0; rc == ERROR_NONE && at < size; at += piece)
        rc = xml_stream_feed(stream, text + at, piece < size - at ? piece : size - at, false, err);
    if (rc == ERROR_NONE)
        rc = xml_stream_feed(stream, NULL, 0, true, err);
    xml_stream_free(stream);
    return rc;
}

static void pieces_of_any_size_are_one_document(void **state)
{
    static const char text[] = "<a x='1' y='2'><!-- a comment that is longer than the pieces --><t "
                               "long='attribute of an element'>words between</t><b/></a>\n";
    struct error err = {0};
    struct seen seen;
    (void)state;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        assert_ok(read_pieces(text, sizeof text - 1, piece, &seen, &err), &err);
        assert_int_equal(seen.elements, 3);
        assert_int_equal(seen.attributes, 3);
        assert_string_equal(seen.text, "words between");
    }
    assert_fails(read_pieces("<a><b></a>", 10, 3, &seen, &err), ERROR_INPUT, "a document is no XML",
                 &err);
    assert_fails(read_pieces("<a cut='", 8, 3, &seen, &err), ERROR_INPUT, "a document is no XML",
                 &err);
}

/* Eight times as many attributes take about eight times as long, not sixty-four times. */
static void a_large_tag_takes_linear_time(void **state)
{
    enum { FEW = 40000, TIMES = 8, ATTRIBUTE_BYTES = 16, PIECE = 4096 };
    const size_t room = (size_t)FEW * TIMES * ATTRIBUTE_BYTES + 64;
    double seconds[2];
    struct error err = {0};
    struct seen seen;
    char *text = memory_alloc(room, 1);
    (void)state;
    assert_non_null(text);
    for (int i = 0; i < 2; i++) {
        const size_t count = i ? (size_t)FEW * TIMES : FEW;
        size_t size = (size_t)snprintf(text, room, "<a");
        for (size_t a = 0; a < count; a++)
            size += (size_t)snprintf(text + size, room - size, " a%zu='1'", a);
        size += (size_t)snprintf(text + size, room - size, "/>");
        const double before = clock_seconds();
        assert_ok(read_pieces(text, size, PIECE, &seen, &err), &err);
        seconds[i] = clock_seconds() - before;
        assert_int_equal(seen.attributes, count);
    }
    memory_free(text);
    if (seconds[1] > 3 * TIMES * seconds[0] + 0.5)
        fail_msg("%.3f s, and %.3f s for %d times as many attributes", seconds[0], seconds[1],
                 TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_are_one_document),
        cmocka_unit_test(a_large_tag_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
