#include "common/formats/bytes/text_kind.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct span {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(char c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

static struct span skip_space(struct span text)
{
    while (text.at < text.end && is_space(*text.at))
        text.at++;
    return text;
}

/* Returns the text after a byte order mark and blanks. */
static struct span begin(const char *text, size_t size)
{
    struct span all = {text, text + size};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        all.at += 3;
    return skip_space(all);
}

static bool starts_with(struct span text, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(text.end - text.at) >= size && strncasecmp(text.at, word, size) == 0;
}

/* Does the same, and requires that the word ends there. */
static bool starts_with_word(struct span text, const char *word)
{
    const char *behind = text.at + strlen(word);
    return starts_with(text, word) && (behind == text.end || is_space(*behind));
}

static bool starts_with_any(struct span text, const char *const *words)
{
    for (; *words; words++)
        if (starts_with(text, *words))
            return true;
    return false;
}

static bool has(struct span text, const char *word)
{
    for (; text.at < text.end; text.at++)
        if (starts_with(text, word))
            return true;
    return false;
}

/* Removes the first line from `text`; returns false after the last. */
static bool next_line(struct span *text, struct span *line)
{
    if (text->at >= text->end)
        return false;
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    *line = (struct span){text->at, end ? end : text->end};
    text->at = end ? end + 1 : text->end;
    if (line->end > line->at && line->end[-1] == '\r')
        line->end--;
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    return true;
}

/* Finds the first line that is neither empty nor begins with one of `comments`. */
static bool first_line(struct span text, const char *comments, struct span *line)
{
    while (next_line(&text, line))
        if (line->at < line->end && !strchr(comments, *line->at))
            return true;
    return false;
}

/* --- JSON --- */

static bool begins_json(struct span text)
{
    const int open = text.at < text.end ? *text.at : 0;
    if (open != '{' && open != '[')
        return false;
    text.at++;
    text = skip_space(text);
    if (text.at == text.end)
        return true;
    return open == '{' ? strchr("\"'}", *text.at) != NULL
                       : strchr("{[\"]-0123456789", *text.at) != NULL;
}

bool text_is_json(const char *text, size_t size)
{
    return begins_json(begin(text, size));
}

bool text_is_json_lines(const char *text, size_t size)
{
    struct span all = begin(text, size), line;
    if (!begins_json(all) || !next_line(&all, &line) || line.end - line.at < 2)
        return false;
    const char last = line.end[-1];
    all = skip_space(all);
    return last == (*line.at == '{' ? '}' : ']') && (all.at == all.end || begins_json(all));
}

/* --- encodings --- */

bool text_is_utf16(const char *text, size_t size)
{
    size_t zeros[2] = {0, 0};
    const size_t looked = size < 64 ? size : 64;
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return true;
    for (size_t i = 0; i < looked; i++)
        zeros[i % 2] += text[i] == '\0';
    return looked >= 8 && (zeros[0] == 0) != (zeros[1] == 0) &&
           4 * (zeros[0] + zeros[1]) >= looked + looked / 2;
}

/* --- XML --- */

bool text_is_xml(const char *text, size_t size)
{
    const struct span all = begin(text, size);
    if (!starts_with(all, "<") || all.end - all.at < 2)
        return false;
    return all.at[1] == '?' || all.at[1] == '!' ||
           (isalpha((unsigned char)all.at[1]) && !text_is_ntriples(text, size) &&
            !text_is_nquads(text, size) && !text_is_turtle(text, size));
}

static bool is_xml_with(const char *text, size_t size, const char *element)
{
    return text_is_xml(text, size) && has(begin(text, size), element);
}

bool text_is_graphml(const char *text, size_t size)
{
    return is_xml_with(text, size, "<graphml");
}

bool text_is_gexf(const char *text, size_t size)
{
    return is_xml_with(text, size, "<gexf");
}

bool text_is_rdf_xml(const char *text, size_t size)
{
    return is_xml_with(text, size, "<rdf:RDF") || is_xml_with(text, size, "22-rdf-syntax-ns");
}

bool text_is_html(const char *text, size_t size)
{
    static const char *const words[] = {"<!doctype html", "<html", "<head", "<body", NULL};
    return starts_with_any(begin(text, size), words);
}

/* --- RDF --- */

/* Removes <iri>, _:name or "text" with its suffix from `line`. */
static bool take_term(struct span *line)
{
    struct span at = *line;
    if (at.at < at.end && *at.at == '"') {
        for (at.at++; at.at < at.end && *at.at != '"'; at.at++)
            at.at += *at.at == '\\';
        if (at.at >= at.end)
            return false;
    } else if (at.at < at.end && *at.at == '<') {
        const char *close = memchr(at.at, '>', (size_t)(at.end - at.at));
        if (!close || !memchr(at.at, ':', (size_t)(close - at.at)))
            return false;
        at.at = close;
    } else if (!starts_with(at, "_:"))
        return false;
    while (at.at < at.end && !is_blank(*at.at))
        at.at++;
    while (at.at < at.end && is_blank(*at.at))
        at.at++;
    *line = at;
    return true;
}

/* Returns whether a line has this many terms and a dot. The dot may touch the last term. */
static bool is_statement(const char *text, size_t size, int terms)
{
    struct span line;
    if (!first_line(begin(text, size), "#", &line))
        return false;
    while (line.end > line.at && is_blank(line.end[-1]))
        line.end--;
    if (line.end == line.at || line.end[-1] != '.' || *line.at == '"')
        return false;
    line.end--;
    for (; terms > 0; terms--)
        if (!take_term(&line))
            return false;
    return line.at == line.end;
}

bool text_is_ntriples(const char *text, size_t size)
{
    return is_statement(text, size, 3);
}

bool text_is_nquads(const char *text, size_t size)
{
    return is_statement(text, size, 4);
}

bool text_is_turtle(const char *text, size_t size)
{
    struct span line;
    if (!first_line(begin(text, size), "#", &line))
        return false;
    const bool declares = starts_with_word(line, "@prefix") || starts_with_word(line, "@base") ||
                          (starts_with_word(line, "prefix") && has(line, ":") && has(line, "<"));
    const int last = line.end > line.at ? line.end[-1] : 0;
    return declares || (*line.at == '<' && take_term(&line) && (last == ';' || last == ','));
}

/* --- graphs --- */

bool text_is_gml(const char *text, size_t size)
{
    struct span all = begin(text, size), line;
    while (next_line(&all, &line)) {
        if (starts_with(line, "graph")) {
            struct span behind = {line.at + 5, all.end};
            behind = skip_space(behind);
            return behind.at < behind.end && *behind.at == '[';
        }
        if (line.at < line.end && *line.at != '#' && !starts_with_word(line, "creator") &&
            !starts_with_word(line, "version") && !starts_with_word(line, "comment"))
            return false;
    }
    return false;
}

bool text_is_dot(const char *text, size_t size)
{
    struct span all = begin(text, size);
    while (starts_with(all, "//") || starts_with(all, "#")) {
        struct span line;
        (void)next_line(&all, &line);
        all = skip_space(all);
    }
    if (starts_with_word(all, "strict"))
        all = skip_space((struct span){all.at + 6, all.end});
    const size_t word = starts_with(all, "digraph") ? 7 : starts_with(all, "graph") ? 5 : 0;
    struct span line;
    if (!word || !next_line(&all, &line))
        return false;
    line.at += word;
    if (line.at < line.end && !is_blank(*line.at) && *line.at != '{')
        return false;
    if (has(line, "{"))
        return true;
    all = skip_space(all);
    return all.at < all.end && *all.at == '{';
}

bool text_is_pajek(const char *text, size_t size)
{
    static const char *const words[] = {"*vertices", "*network", "*arcs",
                                        "*edges",    "*matrix",  NULL};
    struct span line;
    return first_line(begin(text, size), "%", &line) && starts_with_any(line, words);
}

bool text_is_dimacs(const char *text, size_t size)
{
    struct span all = begin(text, size), line;
    while (next_line(&all, &line)) {
        if (line.at == line.end || starts_with_word(line, "c"))
            continue;
        const char *at = line.at + 1;
        if (!starts_with_word(line, "p"))
            return false;
        while (at < line.end && is_blank(*at))
            at++;
        const char *word = at;
        while (at < line.end && isalpha((unsigned char)*at))
            at++;
        if (at == word)
            return false;
        while (at < line.end && is_blank(*at))
            at++;
        return at < line.end && isdigit((unsigned char)*at);
    }
    return false;
}

/* --- others --- */

bool text_is_arff(const char *text, size_t size)
{
    struct span line;
    return first_line(begin(text, size), "%", &line) && starts_with_word(line, "@relation");
}

/* Removes digits, a colon and a number from `at`. */
static bool take_pair(struct span *at)
{
    const char *from = at->at;
    while (at->at < at->end && isdigit((unsigned char)*at->at))
        at->at++;
    if (at->at == from || at->at == at->end || *at->at != ':')
        return false;
    from = ++at->at;
    while (at->at < at->end && !is_blank(*at->at) && strchr("+-.0123456789eE", *at->at))
        at->at++;
    return at->at > from && (at->at == at->end || is_blank(*at->at));
}

bool text_is_libsvm(const char *text, size_t size)
{
    struct span line;
    int pairs = 0;
    if (!first_line(begin(text, size), "#", &line))
        return false;
    while (line.at < line.end && !is_blank(*line.at))
        line.at++;
    for (;;) {
        while (line.at < line.end && is_blank(*line.at))
            line.at++;
        if (line.at == line.end)
            return pairs >= 2;
        if (!take_pair(&line))
            return false;
        pairs++;
    }
}

bool text_is_sql(const char *text, size_t size)
{
    static const char *const words[] = {"insert into ", "create table ", "drop table ",
                                        "begin transaction;", NULL};
    const struct span all = begin(text, size);
    if (starts_with_any(all, words))
        return true;
    return (starts_with(all, "--") || starts_with(all, "/*") || starts_with(all, "pragma ")) &&
           (has(all, "insert into ") || has(all, "create table ") || has(all, "sql dump") ||
            has(all, "database dump"));
}

bool text_is_old_pickle(const char *text, size_t size)
{
    static const char *const modules[] = {
        "copy_reg\n", "copyreg\n",     "numpy.",    "scipy.", "pandas.",   "__builtin__\n",
        "builtins\n", "collections\n", "networkx.", "torch.", "_codecs\n", NULL};
    static const char *const containers[] = {"(dp0\n", "(lp0\n", "(tp0\n", "(dp1\n",
                                             "(lp1\n", "(dq",    "(lq",    NULL};
    const struct span all = {text, text + size};
    if (size > 2 && strchr("}](", text[0]) && text[0] && text[1] == 'q' && text[2] == '\0')
        return true;
    if (size > 1 && text[0] == 'c' && memchr(text, '\n', size))
        return starts_with_any((struct span){text + 1, text + size}, modules);
    return starts_with_any(all, containers);
}
