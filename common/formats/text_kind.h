/*
 * text_kind - texts that are no tables, told by how they begin.
 *
 * Each test looks at the first bytes of a file, in which the last line may be cut off. A byte
 * order mark is passed over.
 */
#ifndef COMMON_FORMATS_TEXT_KIND_H
#define COMMON_FORMATS_TEXT_KIND_H

#include <stdbool.h>
#include <stddef.h>

bool text_is_json(const char *text, size_t size);
/* A JSON value a line. */
bool text_is_json_lines(const char *text, size_t size);
bool text_is_utf16(const char *text, size_t size);
bool text_is_xml(const char *text, size_t size);
bool text_is_graphml(const char *text, size_t size);
bool text_is_gexf(const char *text, size_t size);
bool text_is_rdf_xml(const char *text, size_t size);
bool text_is_html(const char *text, size_t size);
bool text_is_ntriples(const char *text, size_t size);
/* N-Triples with the name of a graph behind each triple. */
bool text_is_nquads(const char *text, size_t size);
bool text_is_turtle(const char *text, size_t size);
bool text_is_gml(const char *text, size_t size);
bool text_is_dot(const char *text, size_t size);
bool text_is_pajek(const char *text, size_t size);
bool text_is_dimacs(const char *text, size_t size);
bool text_is_arff(const char *text, size_t size);
/* A label, and `column:value` behind it. */
bool text_is_libsvm(const char *text, size_t size);
bool text_is_sql(const char *text, size_t size);
/* Python's pickle with protocol 0 or 1. */
bool text_is_old_pickle(const char *text, size_t size);

#endif
