/* Loops over compressed sparse rows. */
#include "core.h"

#define REAL float
#define INTEGER int32_t
#define NAMED(name) name##_fi
#include "sparse.inc"
#undef INTEGER
#undef NAMED
#define INTEGER int64_t
#define NAMED(name) name##_fl
#include "sparse.inc"
#undef REAL
#undef INTEGER
#undef NAMED
#define REAL double
#define INTEGER int32_t
#define NAMED(name) name##_di
#include "sparse.inc"
#undef INTEGER
#undef NAMED
#define INTEGER int64_t
#define NAMED(name) name##_dl
#include "sparse.inc"

/* Call the version of a function that is made for the types of a call. */
#define BY_TYPE(call, name, ...)                                                                   \
    ((call)->real == 'f' ? ((call)->index == 'i' ? name##_fi(__VA_ARGS__) : name##_fl(__VA_ARGS__)) \
                         : ((call)->index == 'i' ? name##_di(__VA_ARGS__) : name##_dl(__VA_ARGS__)))
#define DATA(i) (call->arguments[i].data)

static int with_reason(Call *call, int state)
{
    if (state == REFUSED)
        call->complaint = "an index or a row pointer lies outside its array";
    return state;
}

int AT_LEVEL(sparse_squared_norms)(Call *call)
{
    return with_reason(call, BY_TYPE(call, norms, DATA(0), call->arguments[0].rows, DATA(1),
                                     LENGTH(call, 'n'), DOUBLES(call, 2)));
}

int AT_LEVEL(project_sparse)(Call *call)
{
    return with_reason(call, BY_TYPE(call, project, DATA(0), DATA(1), LENGTH(call, 'z'), DATA(2),
                                     LENGTH(call, 'n'), &call->arguments[3], INDICES(call, 4),
                                     DOUBLES(call, 5)));
}

int AT_LEVEL(sparse_product)(Call *call)
{
    return with_reason(call, BY_TYPE(call, product, DATA(0), DATA(1), LENGTH(call, 'z'), DATA(2),
                                     DATA(3), DATA(4), LENGTH(call, 'y'), DATA(5),
                                     LENGTH(call, 'f'), &call->arguments[6]));
}

int AT_LEVEL(merged_distances)(Call *call)
{
    return with_reason(call, BY_TYPE(call, merge, DATA(0), DATA(1), LENGTH(call, 'z'), DATA(2),
                                     DATA(3), DATA(4), LENGTH(call, 'y'), DATA(5),
                                     (int)call->arguments[6].integer, &call->arguments[7]));
}
