/* fuzz_switch_text - the line of a switch: what is read must be what would be written. */
#include "store/objects/switch_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as text in a block of just its size. */
static char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char value[SWITCH_VALUE_MAX + 1], small[8], line[SWITCH_LINE_SIZE];
    char *text = text_of(data, size);
    struct error err = {0};
    if (switch_text_decode("key", text, value, sizeof value, &err) == ERROR_NONE) {
        switch_text_encode("key", value, line);
        must(strcmp(line, text) == 0);
    }
    (void)!switch_text_decode("key", text, small, sizeof small, &err);
    if (size <= SWITCH_VALUE_MAX && !strpbrk(text, "\n\r") && strlen(text) == size) {
        switch_text_encode("key", text, line);
        must(switch_text_decode("key", line, value, sizeof value, &err) == ERROR_NONE);
        must(strcmp(value, text) == 0);
        must(switch_text_decode("other", line, value, sizeof value, &err) == ERROR_CORRUPT);
    }
    free(text);
    return 0;
}
