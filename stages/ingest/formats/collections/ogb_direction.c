#include "stages/ingest/formats/collections/ogb_direction.h"

#include <stdbool.h>
#include <string.h>

/* The column add_inverse_edge of the files master.csv of ogb/nodeproppred, linkproppred and
 * graphproppred. */
static const struct {
    const char *name; /* a star at the end stands for any ending */
    enum stated_direction stated;
} sets[] = {{"ogbn_products", STATED_UNDIRECTED}, {"ogbn_proteins", STATED_UNDIRECTED},
            {"ogbn_arxiv", STATED_DIRECTED},      {"ogbn_mag", STATED_DIRECTED},
            {"ogbn_papers100M", STATED_DIRECTED}, {"ogbl_ppa", STATED_UNDIRECTED},
            {"ogbl_collab", STATED_UNDIRECTED},   {"ogbl_ddi", STATED_UNDIRECTED},
            {"ogbl_citation*", STATED_DIRECTED},  {"ogbl_wikikg*", STATED_DIRECTED},
            {"ogbl_biokg", STATED_DIRECTED},      {"ogbg_mol*", STATED_UNDIRECTED},
            {"ogbg_ppa", STATED_UNDIRECTED},      {"ogbg_code*", STATED_DIRECTED}};

/* Returns whether two names of a set are the same: ogbn-products is ogbn_products. */
static bool is_called(const char *name, size_t size, const char *known)
{
    for (size_t i = 0; i < size; i++) {
        const char own = (char)(name[i] == '-' ? '_' : name[i]);
        if (known[i] == '*')
            return true;
        if (own != known[i])
            return false;
    }
    return known[size] == '\0' || known[size] == '*';
}

enum stated_direction ogb_direction_of(const char *folder)
{
    size_t end = strlen(folder);
    while (end > 0 && folder[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && folder[begin - 1] != '/')
        begin--;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (is_called(folder + begin, end - begin, sets[i].name))
            return sets[i].stated;
    return STATED_ONCE_IS_BOTH;
}
