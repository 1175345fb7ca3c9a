#include "runtime.h"

/* One line per target. */
const struct rt_engine *const rt_engines[] = {
    &rt_engine_landlock,
    &rt_engine_bwrap,
    &rt_engine_seatbelt,
    &rt_engine_docker,
};
const size_t rt_n_engines = sizeof rt_engines / sizeof *rt_engines;
