/* Which CPU level to use: x86-64 processors with AVX2 and FMA have one of their own. */
#include "core.h"

extern const Function functions_base[];
#ifdef HAS_V3
extern const Function functions_v3[];
#endif

#if defined(HAS_V3)
static void ask_cpu(uint32_t leaf, uint32_t part, uint32_t answer[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(answer[0]), "=b"(answer[1]), "=c"(answer[2]), "=d"(answer[3])
                     : "a"(leaf), "c"(part));
}

/* Whether the processor has the instructions of the level, and the system keeps their registers. */
static int has_v3(void)
{
    uint32_t answer[4], kept, ignored;
    ask_cpu(0, 0, answer);
    if (answer[0] < 7)
        return 0;
    ask_cpu(1, 0, answer);
    const uint32_t fma = 1u << 12, movbe = 1u << 22, osxsave = 1u << 27, avx = 1u << 28;
    const uint32_t f16c = 1u << 29, wanted = fma | movbe | osxsave | avx | f16c;
    if ((answer[2] & wanted) != wanted)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(ignored) : "c"(0));
    if ((kept & 6u) != 6u)
        return 0;
    ask_cpu(7, 0, answer);
    const uint32_t bmi = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
    if ((answer[1] & (bmi | avx2 | bmi2)) != (bmi | avx2 | bmi2))
        return 0;
    ask_cpu(0x80000001u, 0, answer);
    return (answer[2] & (1u << 5)) != 0; /* lzcnt */
}
#endif

const Function *functions_of_cpu(const char **level)
{
    *level = "base";
#if defined(HAS_V3)
    const char *forced = getenv("SCARCE_CPU");
    if ((forced == NULL || strcmp(forced, "base") != 0) && has_v3()) {
        *level = "v3";
        return functions_v3;
    }
#endif
    return functions_base;
}
