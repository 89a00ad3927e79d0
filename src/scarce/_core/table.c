/* The functions of one CPU level. */
#include "core.h"

#define FUNCTION(name, parameters, results) int AT_LEVEL(name)(Call *);
#include "functions.def"

#define FUNCTION(name, parameters, results) {#name, parameters, results, AT_LEVEL(name)},
const Function AT_LEVEL(functions)[] = {
#include "functions.def"
    {NULL, NULL, NULL, NULL}};
