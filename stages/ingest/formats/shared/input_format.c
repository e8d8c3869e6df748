#include "stages/ingest/formats/shared/input_format.h"

#include "stages/plan/settings/format_list.h"

#define DECLARE(name, init, note, ...) extern const struct input_format name##_format;
#define ADDRESS(name, init, note, ...) &name##_format,
#define PLACE(name, init, note, ...)   PLACE_OF_##name,

/* clang-format off */
FORMAT_LIST(DECLARE)
enum { FORMAT_LIST(PLACE) FORMAT_COUNT };
static const struct input_format *const formats[] = {FORMAT_LIST(ADDRESS)};
/* clang-format on */

const struct input_format *input_format_of(const struct pipeline_settings *settings)
{
    must(settings->ingest.format >= 0 && settings->ingest.format < FORMAT_COUNT);
    return formats[settings->ingest.format];
}
