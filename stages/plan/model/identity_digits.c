#include "stages/plan/model/identity_digits.h"

#include "common/files/checksum.h"

#include <stdio.h>
#include <string.h>

void identity_digits(const char *kind, const char *text, char digits[IDENTITY_DIGITS_SIZE])
{
    char front[64], all[CHECKSUM_TEXT_SIZE];
    const int size = snprintf(front, sizeof front, "%s %d\n", kind, IDENTITY_VERSION);
    must(size > 0 && (size_t)size < sizeof front);
    const struct checksum_part part[] = {{front, (size_t)size}, {text, strlen(text)}};
    const struct checksum sum = checksum_of_parts(part, 2);
    checksum_text(&sum, all);
    memcpy(digits, all, IDENTITY_DIGITS);
    digits[IDENTITY_DIGITS] = '\0';
}

enum error_code identity_outputs_tag(const struct pipeline_settings *settings,
                                     char tag[OUTPUTS_TAG_SIZE], struct error *err)
{
    char lines[SETTINGS_TEXT_SIZE], digits[IDENTITY_DIGITS_SIZE];
    struct pipeline_settings normal = *settings;
    normal.infer.weights = WEIGHTS_BEST;
    tag[0] = '\0';
    const enum error_code rc = pipeline_settings_identity(&normal, SETTING_OF_OUTPUTS, lines, err);
    if (rc != ERROR_NONE || !lines[0])
        return rc;
    identity_digits("outputs", lines, digits);
    (void)snprintf(tag, OUTPUTS_TAG_SIZE, "%.8s", digits);
    return ERROR_NONE;
}
