#include "common/base/progress.h"

#include <stddef.h>

static progress_reporter told;

void progress_report_to(progress_reporter reporter)
{
    told = reporter;
}

void progress_note(const char *what, uint64_t done, uint64_t total)
{
    if (told)
        told(what, done, total);
}
