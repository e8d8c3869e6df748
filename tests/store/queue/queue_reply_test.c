/* Tests the parsers of answers to the work queue, with the right shapes and every wrong one. */
#include "store/queue/queue_reply.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

enum { WIRE_SIZE = 8192, LONG_SIZE = 400 };

/* Appends to `out`. A text that does not fit is a mistake in the test. */
static void append(char out[WIRE_SIZE], const char *format, ...) PRINTF_LIKE(2, 3);
static void append(char out[WIRE_SIZE], const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(out + used, WIRE_SIZE - used, format, args);
    va_end(args);
    must(size >= 0 && (size_t)size < WIRE_SIZE - used);
}

static int count_items(const char *text)
{
    int count = 0, depth = 0;
    for (; depth >= 0 && *text; text++) {
        const bool begins = *text != ' ' && *text != ')' &&
                            (*text == '(' || text[1] == ' ' || text[1] == ')' || !text[1]);
        count += depth == 0 && begins;
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    }
    return count;
}

/* Writes the bytes that a server sends for items separated by blanks: words, :1 numbers, nil,
 * (lists), and LONG for a long word. */
static void write_wire(const char *text, char out[WIRE_SIZE])
{
    char word[LONG_SIZE + 1];
    while (*text) {
        const size_t size = strcspn(text, " ()");
        if (*text == '(')
            append(out, "*%d\r\n", count_items(text + 1));
        if (size == 0) {
            text++;
            continue;
        }
        (void)snprintf(word, sizeof word, "%.*s", (int)size, text);
        if (strcmp(word, "LONG") == 0) {
            memset(word, 'l', LONG_SIZE);
            word[LONG_SIZE] = '\0';
        }
        if (strcmp(word, "nil") == 0)
            append(out, "$-1\r\n");
        else if (word[0] == ':')
            append(out, "%s\r\n", word);
        else
            append(out, "$%zu\r\n%s\r\n", strlen(word), word);
        text += size;
    }
}

static struct redisReply *reply_of(const char *text)
{
    char wire[WIRE_SIZE] = "";
    struct error err = {0};
    struct redisReply *reply = NULL;
    write_wire(text, wire);
    assert_ok(redis_reply_decode(wire, strlen(wire), &reply, &err), &err);
    assert_non_null(reply);
    return reply;
}

/* A parser whose result is not used. */
typedef enum error_code (*parser)(const struct redisReply *reply, struct error *err);

static struct work_claim claim;
static enum claim_result result;

static enum error_code parse_number(const struct redisReply *reply, struct error *err)
{
    int64_t number = 0;
    return queue_reply_number(reply, &number, err);
}

static enum error_code parse_claim(const struct redisReply *reply, struct error *err)
{
    claim = (struct work_claim){0};
    return queue_reply_claim(reply, &result, &claim, err);
}

static enum error_code parse_entry(const struct redisReply *reply, struct error *err)
{
    claim = (struct work_claim){0};
    return queue_reply_entry(reply, &result, &claim, err);
}

static struct {
    bool found;
    char unit[QUEUE_UNIT_SIZE], reason[8];
} dead;

static enum error_code parse_dead(const struct redisReply *reply, struct error *err)
{
    return queue_reply_dead(reply, &dead.found, dead.unit, dead.reason, sizeof dead.reason, err);
}

static struct {
    bool won, alive;
    char token[16];
} rebuild;

static enum error_code parse_rebuild(const struct redisReply *reply, struct error *err)
{
    return queue_reply_rebuild(reply, &rebuild.won, &rebuild.alive, rebuild.token,
                               sizeof rebuild.token, err);
}

static struct queue_look look;

static enum error_code parse_look(const struct redisReply *reply, struct error *err)
{
    return queue_reply_look(reply, &look, err);
}

enum { CAPACITY = 2 };
static struct held_unit held[CAPACITY];
static struct worker_beat beat[CAPACITY];
static int item_count;

static enum error_code parse_held(const struct redisReply *reply, struct error *err)
{
    return queue_reply_held(reply, held, CAPACITY, &item_count, err);
}

static enum error_code parse_beats(const struct redisReply *reply, struct error *err)
{
    return queue_reply_beats(reply, beat, CAPACITY, &item_count, err);
}

static struct stage_counts counts;

static enum error_code parse_counts(const struct redisReply *reply, struct error *err)
{
    return queue_reply_counts(reply, &counts, err);
}

static char cursor[8];

static enum error_code parse_scan(const struct redisReply *reply, struct error *err)
{
    return queue_reply_scan(reply, cursor, sizeof cursor, err);
}

static void parse(parser parse_reply, const char *text)
{
    struct error err = {0};
    struct redisReply *reply = reply_of(text);
    if (parse_reply(reply, &err) != ERROR_NONE)
        fail_msg("%s: %s", text, err.message);
    redis_reply_free(reply);
}

static const struct wrong_shape {
    const char *what; /* text that the message must have */
    parser parse;
    const char *text;
} wrong_shapes[] = {
    {"a script", parse_number, "word"},
    {"a script", parse_number, "nil"},
    {"a script", parse_number, "(:1)"},
    {"a claim", parse_claim, "nil"},
    {"a claim", parse_claim, ":1"},
    {"a claim", parse_claim, "()"},
    {"a claim", parse_claim, "(other u 5-1 :2)"},
    {"a claim", parse_claim, "(unit u)"},
    {"a claim", parse_claim, "(unit u LONG :2)"},
    {"a claim", parse_claim, "(unit u :5 :2)"},
    {"a claim", parse_claim, "(unit u 5-1)"},
    {"a claim", parse_claim, "(unit u 5-1 often)"},
    {"a claim", parse_claim, "(refused u 5-1 nil)"},
    {"XREADGROUP", parse_entry, "(stream)"},
    {"XREADGROUP", parse_entry, "((stream entries))"},
    {"XREADGROUP", parse_entry, "((stream nil))"},
    {"XREADGROUP", parse_entry, "((stream (5-1)))"},
    {"XREADGROUP", parse_entry, "((stream ((LONG (unit u)))))"},
    {"the list of dead units", parse_dead, "nil"},
    {"the list of dead units", parse_dead, "unit"},
    {"the list of dead units", parse_dead, "(u)"},
    {"the list of dead units", parse_dead, "(LONG why)"},
    {"the list of dead units", parse_dead, "(:1 why)"},
    {"the list of dead units", parse_dead, "(u (why))"},
    {"the beginning of a rebuild", parse_rebuild, "nil"},
    {"the beginning of a rebuild", parse_rebuild, "(won :0 token)"},
    {"the beginning of a rebuild", parse_rebuild, "(:1 alive token)"},
    {"the beginning of a rebuild", parse_rebuild, "(:1 :0)"},
    {"the beginning of a rebuild", parse_rebuild, "(:1 :0 LONG)"},
    {"a look at the queue", parse_look, "nil"},
    {"a look at the queue", parse_look, "(:1 :0 :3 :7)"},
    {"a look at the queue", parse_look, "(:1 :0 some :7 :2)"},
    {"XPENDING", parse_held, "nil"},
    {"XPENDING", parse_held, "(5-1)"},
    {"XPENDING", parse_held, "((LONG worker :9 :2))"},
    {"XPENDING", parse_held, "((5-1 worker :9))"},
    {"XPENDING", parse_held, "((5-1 worker :9 often))"},
    {"the heartbeats", parse_beats, "nil"},
    {"the heartbeats", parse_beats, ":4"},
    {"the counts of a stage", parse_counts, "nil"},
    {"the counts of a stage", parse_counts, "(:1 :2 :3)"},
    {"the counts of a stage", parse_counts, "(:1 :2 :3 many)"},
    {"SCAN", parse_scan, "nil"},
    {"SCAN", parse_scan, "(0)"},
    {"SCAN", parse_scan, "(0 key)"},
    {"SCAN", parse_scan, "(LONG (key))"},
    {"SCAN", parse_scan, "((0) (key))"},
    {"SCAN", parse_scan, "(0 (key :5))"},
};

static void every_wrong_shape_is_refused_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_shapes / sizeof *wrong_shapes; i++) {
        const struct wrong_shape *wrong = &wrong_shapes[i];
        struct error err = {0};
        char expected[80];
        struct redisReply *reply = reply_of(wrong->text);
        (void)snprintf(expected, sizeof expected, "Redis answered %s in a form", wrong->what);
        const enum error_code rc = wrong->parse(reply, &err);
        if (rc != ERROR_UNAVAILABLE)
            fail_msg("%s of %s: code %d", wrong->text, wrong->what, (int)rc);
        assert_failed(rc, ERROR_UNAVAILABLE, expected, &err);
        redis_reply_free(reply);
    }
}

static void a_claim_has_unit_entry_and_delivery(void **state)
{
    (void)state;
    parse(parse_claim, "(nothing)");
    assert_int_equal(result, CLAIM_NOTHING);
    parse(parse_claim, "(lost)");
    assert_int_equal(result, CLAIM_LOST);
    parse(parse_claim, "(unit sample/0/3 5-1 :2)");
    assert_int_equal(result, CLAIM_UNIT);
    assert_string_equal(claim.unit, "sample/0/3");
    assert_string_equal(claim.id, "5-1");
    assert_int_equal(claim.delivery_count, 2);
    static const char *const no_names[] = {"(unit LONG 5-1 :2)", "(unit nil 5-1 :2)",
                                           "(unit a\x7f 5-1 :2)", "(refused nil 5-1 :2)"};
    for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++) {
        parse(parse_claim, no_names[i]);
        assert_int_equal(result, CLAIM_REFUSED);
        assert_string_equal(claim.unit, "");
        assert_string_equal(claim.id, "5-1");
    }
}

static void an_entry_of_a_stream_is_a_claim(void **state)
{
    (void)state;
    static const char *const nothing[] = {"nil", "()", "((stream ()))"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        parse(parse_entry, nothing[i]);
        assert_int_equal(result, CLAIM_NOTHING);
    }
    parse(parse_entry, "((stream ((7-0 (x y unit sample/0/3)))))");
    assert_int_equal(result, CLAIM_UNIT);
    assert_string_equal(claim.unit, "sample/0/3");
    assert_string_equal(claim.id, "7-0");
    assert_int_equal(claim.delivery_count, 1);
    static const char *const refused[] = {"((stream ((7-0 (x y)))))", "((stream ((7-0 (unit)))))",
                                          "((stream ((7-0 nil))))"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        parse(parse_entry, refused[i]);
        assert_int_equal(result, CLAIM_REFUSED);
        assert_string_equal(claim.id, "7-0");
    }
}

static void a_dead_unit_has_the_start_of_its_reason(void **state)
{
    (void)state;
    parse(parse_dead, "()");
    assert_false(dead.found);
    parse(parse_dead, "(sample/0/3 whatever)");
    assert_true(dead.found);
    assert_string_equal(dead.unit, "sample/0/3");
    assert_string_equal(dead.reason, "whateve");
}

static void numbers_come_as_numbers_or_texts(void **state)
{
    (void)state;
    parse(parse_rebuild, "(:1 :0 token)");
    assert_true(rebuild.won && !rebuild.alive);
    assert_string_equal(rebuild.token, "token");
    parse(parse_rebuild, "(0 1 token)");
    assert_true(!rebuild.won && rebuild.alive);
    parse(parse_look, "(:1 0 :3 7 :2)");
    assert_true(look.alive && !look.may_check);
    assert_int_equal(look.done, 3);
    assert_int_equal(look.waiting, 5);
    assert_int_equal(look.leased, 2);
    parse(parse_counts, "(:9 :4 :2 :1)");
    assert_int_equal(counts.waiting, 5);
    assert_int_equal(counts.leased, 4);
    assert_int_equal(counts.done, 2);
    assert_int_equal(counts.retried, 1);
}

static void a_server_that_says_nonsense_is_not_believed(void **state)
{
    (void)state;
    parse(parse_counts, "(:3 :4 :2 :1)");
    assert_int_equal(counts.waiting, 0);
    parse(parse_counts, "(:3 :-4 :2 :1)");
    assert_int_equal(counts.waiting, 0);
}

static void lists_stop_where_there_is_no_room(void **state)
{
    (void)state;
    parse(parse_held, "((5-1 a :9 :2) (5-2 LONG :9 :2) (5-3 c :9 :4) (5-4 d :9 :4))");
    assert_int_equal(item_count, 2);
    assert_string_equal(held[0].owner, "a");
    assert_string_equal(held[1].id, "5-3"); /* no worker has so long a name */
    assert_int_equal(held[1].delivery_count, 4);
    parse(parse_beats, "((a :2500 sample u1 host :7 :3 :100 0.5 note) () (b) (c))");
    assert_int_equal(item_count, 2);
    assert_string_equal(beat[0].worker, "a");
    assert_string_equal(beat[0].stage, "sample");
    assert_string_equal(beat[0].note, "note");
    assert_int_equal(beat[0].pid, 7);
    assert_int_equal((int)(10 * beat[0].age_seconds), 25);
    assert_int_equal((int)(10 * beat[0].busy_share), 5);
    assert_string_equal(beat[1].worker, "b");
    assert_string_equal(beat[1].host, "");
    parse(parse_scan, "(17 (k1 k2))");
    assert_string_equal(cursor, "17");
    parse(parse_scan, "(0 ())");
    assert_string_equal(cursor, "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wrong_shape_is_refused_and_named),
        cmocka_unit_test(a_claim_has_unit_entry_and_delivery),
        cmocka_unit_test(an_entry_of_a_stream_is_a_claim),
        cmocka_unit_test(a_dead_unit_has_the_start_of_its_reason),
        cmocka_unit_test(numbers_come_as_numbers_or_texts),
        cmocka_unit_test(a_server_that_says_nonsense_is_not_believed),
        cmocka_unit_test(lists_stop_where_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
