/* Which CPU level to use: x86-64 processors with AVX2 and FMA have one of their own, and those with
 * AVX-512 another. */
#include "core.h"

extern const Function functions_base[];

#if defined(HAS_LEVELS)
extern const Function functions_v3[], functions_v4[];

static void ask_cpu(uint32_t leaf, uint32_t part, uint32_t answer[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(answer[0]), "=b"(answer[1]), "=c"(answer[2]), "=d"(answer[3])
                     : "a"(leaf), "c"(part));
}

static int has_all(uint32_t answer, uint32_t wanted) { return (answer & wanted) == wanted; }

/* The highest level whose instructions the processor has and whose registers the system keeps: 1, 3
 * or 4. */
static int highest_level(void)
{
    uint32_t answer[4], kept, ignored;
    ask_cpu(0, 0, answer);
    if (answer[0] < 7)
        return 1;
    ask_cpu(1, 0, answer);
    const uint32_t fma = 1u << 12, movbe = 1u << 22, osxsave = 1u << 27, avx = 1u << 28;
    const uint32_t f16c = 1u << 29;
    if (!has_all(answer[2], fma | movbe | osxsave | avx | f16c))
        return 1;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(ignored) : "c"(0));
    ask_cpu(0x80000001u, 0, answer);
    const uint32_t lzcnt = 1u << 5;
    if (!has_all(kept, 6u) || !has_all(answer[2], lzcnt))
        return 1;
    ask_cpu(7, 0, answer);
    const uint32_t bmi = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
    const uint32_t f = 1u << 16, dq = 1u << 17, cd = 1u << 28, bw = 1u << 30, vl = 1u << 31;
    if (!has_all(answer[1], bmi | avx2 | bmi2))
        return 1;
    return has_all(answer[1], f | dq | cd | bw | vl) && has_all(kept, 0xe6u) ? 4 : 3;
}
#endif

const Function *functions_of_cpu(const char **level)
{
    *level = "base";
#if defined(HAS_LEVELS)
    const char *most = getenv("SCARCE_CPU");
    int highest = highest_level();
    if (most != NULL && strcmp(most, "base") == 0)
        highest = 1;
    else if (most != NULL && strcmp(most, "v3") == 0 && highest > 3)
        highest = 3;
    if (highest > 1) {
        *level = highest == 4 ? "v4" : "v3";
        return highest == 4 ? functions_v4 : functions_v3;
    }
#endif
    return functions_base;
}
