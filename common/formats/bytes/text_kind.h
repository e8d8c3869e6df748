/*
 * text_kind - recognises texts that are no tables by their beginning.
 *
 * Each test examines the first bytes of a file; the last line may be cut off. A byte order mark is
 * skipped.
 */
#ifndef COMMON_FORMATS_BYTES_TEXT_KIND_H
#define COMMON_FORMATS_BYTES_TEXT_KIND_H

#include <stdbool.h>
#include <stddef.h>

bool text_is_json(const char *text, size_t size);
/* Returns whether each line is a JSON value. */
bool text_is_json_lines(const char *text, size_t size);
bool text_is_utf16(const char *text, size_t size);
bool text_is_xml(const char *text, size_t size);
bool text_is_graphml(const char *text, size_t size);
bool text_is_gexf(const char *text, size_t size);
bool text_is_rdf_xml(const char *text, size_t size);
bool text_is_html(const char *text, size_t size);
bool text_is_ntriples(const char *text, size_t size);
/* Returns whether the text is N-Triples with the name of a graph after each triple. */
bool text_is_nquads(const char *text, size_t size);
bool text_is_turtle(const char *text, size_t size);
bool text_is_gml(const char *text, size_t size);
bool text_is_dot(const char *text, size_t size);
bool text_is_pajek(const char *text, size_t size);
bool text_is_dimacs(const char *text, size_t size);
bool text_is_arff(const char *text, size_t size);
/* Returns whether lines have a label followed by `column:value`. */
bool text_is_libsvm(const char *text, size_t size);
bool text_is_sql(const char *text, size_t size);
/* Returns whether the text is a pickle of Python with protocol 0 or 1. */
bool text_is_old_pickle(const char *text, size_t size);

#endif
