/* How long libyaml alone takes for the events of one file.
 * Usage: libyaml FILE; prints `events NANOSECONDS`. */
#include <yaml.h>

#include "bench.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    size_t len, events = 0;
    char *text = bench_read(argv[1], &len);
    uint64_t start = bench_now_ns();
    yaml_parser_t parser;
    yaml_event_t event;
    if (!yaml_parser_initialize(&parser))
        return 2;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    for (yaml_event_type_t type = YAML_NO_EVENT; type != YAML_STREAM_END_EVENT; events++) {
        if (!yaml_parser_parse(&parser, &event))
            return 1;
        type = event.type;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    printf("events %llu\n", (unsigned long long)(bench_now_ns() - start));
    free(text);
    return events ? 0 : 1;
}
