// Compares the float functions of cuda_std with CUDA's, on one GPU. bench/mathematics builds the kernels, and its Cargo.toml
// says how to run this.
//
//   mathematics MODULE tdep [NAME,…]
//
// t: the time of many calls in a kernel that is bound by them, ours and nvcc's at its default flags (median of 9 launches).
// d: the same for f64.
// e: the largest error over all 2^32 arguments of f32, in units in the last place of the true value, which CUDA's function of
//    f64 gives; and a hash of all results, to be compared with that of the host's.
// p: a hash of the results of 2^24 pairs, for the functions of two arguments and some of f64.
// s: each kernel once over little, for compute-sanitizer.
//
// With names, for these functions only.
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#define CHECK(call)                                                                        \
    do {                                                                                   \
        int error = static_cast<int>(call);                                                \
        if (error != 0) {                                                                  \
            std::fprintf(stderr, "mathematics: error %d of CUDA at %s\n", error, #call);   \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)

// Name here, function of f32, reference in f64, and the arguments that are timed.
#define OF_ONE(F)                                              \
    F(exp, expf, exp(x), -80, 80)                              \
    F(exp2, exp2f, exp2(x), -120, 120)                         \
    F(exp10, exp10f, exp10(x), -35, 35)                        \
    F(exp_m1, expm1f, expm1(x), -10, 10)                       \
    F(ln, logf, log(x), 0.01f, 1000)                           \
    F(log2, log2f, log2(x), 0.01f, 1000)                       \
    F(log10, log10f, log10(x), 0.01f, 1000)                    \
    F(ln_1p, log1pf, log1p(x), -0.9f, 100)                     \
    F(sin, sinf, sin(x), -100, 100)                            \
    F(cos, cosf, cos(x), -100, 100)                            \
    F(tan, tanf, tan(x), -100, 100)                            \
    F(sinpi, sinpif, sinpi(x), -100, 100)                      \
    F(cospi, cospif, cospi(x), -100, 100)                      \
    F(asin, asinf, asin(x), -1, 1)                             \
    F(acos, acosf, acos(x), -1, 1)                             \
    F(atan, atanf, atan(x), -10, 10)                           \
    F(sinh, sinhf, sinh(x), -10, 10)                           \
    F(cosh, coshf, cosh(x), -10, 10)                           \
    F(tanh, tanhf, tanh(x), -3, 3)                             \
    F(asinh, asinhf, asinh(x), -100, 100)                      \
    F(acosh, acoshf, acosh(x), 1, 100)                         \
    F(atanh, atanhf, atanh(x), -0.99f, 0.99f)                  \
    F(sqrt, sqrtf, sqrt(x), 1, 1000)                           \
    F(rsqrt, rsqrtf, rsqrt(x), 1, 1000)                        \
    F(cbrt, cbrtf, cbrt(x), -1000, 1000)                       \
    F(rcbrt, rcbrtf, rcbrt(x), 1, 1000)                        \
    F(erf, erff, erf(x), -3, 3)                                \
    F(erfc, erfcf, erfc(x), -3, 5)                             \
    F(erfcx, erfcxf, erfcx(x), -3, 5)                          \
    F(erfinv, erfinvf, erfinv(x), -0.99f, 0.99f)               \
    F(erfcinv, erfcinvf, erfcinv(x), 0.01f, 1.99f)             \
    F(normcdf, normcdff, normcdf(x), -5, 5)                    \
    F(normcdfinv, normcdfinvf, normcdfinv(x), 0.01f, 0.99f)    \
    F(gamma, tgammaf, tgamma(x), 0.1f, 20)                     \
    F(lgamma, lgammaf, lgamma(x), 0.1f, 20)                    \
    F(j0, j0f, j0(x), -20, 20)                                 \
    F(j1, j1f, j1(x), -20, 20)                                 \
    F(y0, y0f, y0(x), 0.1f, 20)                                \
    F(y1, y1f, y1(x), 0.1f, 20)                                \
    F(cyl_bessel_i0, cyl_bessel_i0f, cyl_bessel_i0(x), -10, 10) \
    F(cyl_bessel_i1, cyl_bessel_i1f, cyl_bessel_i1(x), -10, 10) \
    F(floor, floorf, floor(x), -100, 100)                      \
    F(ceil, ceilf, ceil(x), -100, 100)                         \
    F(round, roundf, round(x), -100, 100)                      \
    F(round_ties_even, rintf, rint(x), -100, 100)              \
    F(trunc, truncf, trunc(x), -100, 100)                      \
    F(fract, fraction, x - trunc(x), -100, 100)                \
    F(logb, logbf, logb(x), 0.01f, 1000)

// Name here, a call, and the arguments.
#define OF_MORE(F)                            \
    F(powf, powf(x, x + 0.3f), 0.1f, 10)      \
    F(atan2, atan2f(x, x + 0.3f), -10, 10)    \
    F(hypot, hypotf(x, x + 0.3f), -10, 10)    \
    F(fmod, fmodf(x, 0.3f), -100, 100)        \
    F(sin_cos, sine_less_cosine(x), -100, 100)

// CUDA has none.
__device__ float fraction(float x) { return x - truncf(x); }

__device__ float sine_less_cosine(float x) {
    float sine, cosine;
    sincosf(x, &sine, &cosine);
    return sine - cosine;
}

// Name here, a call of f64, and the arguments that are timed.
#define OF_DOUBLES(F)                              \
    F(exp, exp(x), -80, 80)                        \
    F(ln, log(x), 0.01, 1000)                      \
    F(sin, sin(x), -100, 100)                      \
    F(cos, cos(x), -100, 100)                      \
    F(tan, tan(x), -100, 100)                      \
    F(sinpi, sinpi(x), -100, 100)                  \
    F(cospi, cospi(x), -100, 100)                  \
    F(sin_cos, sine_less_cosine(x), -100, 100)     \
    F(asin, asin(x), -1, 1)                        \
    F(atan, atan(x), -10, 10)                      \
    F(atan2, atan2(x, x + 0.3), -10, 10)           \
    F(sqrt, sqrt(x), 1, 1000)                      \
    F(rsqrt, rsqrt(x), 1, 1000)                    \
    F(cbrt, cbrt(x), -1000, 1000)                  \
    F(rcbrt, rcbrt(x), 1, 1000)                    \
    F(hypot, hypot(x, x + 0.3), -10, 10)           \
    F(rhypot, rhypot(x, x + 0.3), -10, 10)         \
    F(erf, erf(x), -3, 3)                          \
    F(erfc, erfc(x), -3, 5)                        \
    F(erfinv, erfinv(x), -0.99, 0.99)              \
    F(erfcinv, erfcinv(x), 0.01, 1.99)             \
    F(normcdfinv, normcdfinv(x), 0.01, 0.99)       \
    F(tgamma, tgamma(x), 0.1, 20)                  \
    F(lgamma, lgamma(x), 0.1, 20)                  \
    F(cyl_bessel_i0, cyl_bessel_i0(x), -10, 10)    \
    F(cyl_bessel_i1, cyl_bessel_i1(x), -10, 10)

__device__ double sine_less_cosine(double x) {
    double sine, cosine;
    sincos(x, &sine, &cosine);
    return sine - cosine;
}

// The same loop as in bench/mathematics/kernels.
template <class Float, class Function>
__device__ void sum(Float start, Float per_thread, Float step, unsigned count, Float* y, Function f) {
    Float x = start + per_thread * (blockIdx.x * blockDim.x + threadIdx.x), sum = 0;
#pragma unroll 1
    for (unsigned i = 0; i < count; ++i) {
        Float terms[8];
#pragma unroll
        for (Float& term : terms) {
            term = f(x);
            x += step;
        }
#pragma unroll
        for (Float term : terms) sum += term;
    }
    if (sum == Float(12345)) *y = sum;
}

#define TIMED_ONE(name, single, reference, low, high)                                                          \
    __global__ void timed_##name(float start, float per_thread, float step, unsigned count, float* y) {        \
        sum(start, per_thread, step, count, y, [](float x) { return single(x); });                             \
    }
#define TIMED_MORE(name, call, low, high)                                                                      \
    __global__ void timed_##name(float start, float per_thread, float step, unsigned count, float* y) {        \
        sum(start, per_thread, step, count, y, [](float x) { return call; });                                  \
    }
#define TIMED_DOUBLE(name, call, low, high)                                                                    \
    __global__ void timed_double_##name(double start, double per_thread, double step, unsigned count, double* y) { \
        sum(start, per_thread, step, count, y, [](double x) { return call; });                                 \
    }
OF_ONE(TIMED_ONE)
OF_MORE(TIMED_MORE)
OF_DOUBLES(TIMED_DOUBLE)

struct Found {
    unsigned long long worst;  // the bits of the largest error, which order as errors do
    unsigned at;
    unsigned long long hash;
};

__device__ double ulp(double value) {
    int exponent = value == 0 ? -126 : max(ilogb(value), -126);
    return scalbn(1.0, exponent - 23);
}

// A result of the wrong sign, or a NaN without need, has the largest error.
__device__ double error(float found, double expected) {
    if (isnan(expected)) return isnan(found) ? 0 : 1e30;
    if (isnan(found)) return 1e30;
    if (found == 0 && expected == 0) return signbit(found) == signbit(expected) ? 0 : 1e30;
    const double most = 0x1p128;
    if (isinf(static_cast<float>(expected)) && found == static_cast<float>(expected)) return 0;
    double value = isinf(found) ? copysign(most, static_cast<double>(found)) : static_cast<double>(found);
    double of = isinf(expected) ? copysign(most, expected) : expected;
    return fabs(value - of) / fmin(ulp(of), 0x1p104);
}

template <class Reference>
__device__ void compare(const float* x, const float* y, size_t n, Found* found, Reference reference) {
    unsigned long long worst = 0, hash = 0;
    unsigned at = 0;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        unsigned argument = __float_as_uint(x[i]);
        auto off = static_cast<unsigned long long>(__double_as_longlong(error(y[i], reference(static_cast<double>(x[i])))));
        if (off > worst) worst = off, at = argument;
        unsigned result = isnan(y[i]) ? 0x7fc00000u : __float_as_uint(y[i]);
        hash += result * (2ull * argument + 0x9e3779b97f4a7c15ull);
    }
    if (worst > atomicMax(&found->worst, worst)) found->at = at;
    atomicAdd(&found->hash, hash);
}

#define COMPARED(name, single, reference, low, high)                                                    \
    __global__ void compared_##name(const float* x, const float* y, size_t n, Found* found) {           \
        compare(x, y, n, found, [](double x) { return static_cast<double>(reference); });               \
    }
OF_ONE(COMPARED)

__global__ void fill(float* x, unsigned first) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = __uint_as_float(first + i);
}

struct Timed {
    const char* name;
    const void* kernel;
    float low, high;
};
#define TIMED_ONE_ENTRY(name, single, reference, low, high) {#name, (const void*)timed_##name, low, high},
#define TIMED_MORE_ENTRY(name, call, low, high) {#name, (const void*)timed_##name, low, high},
#define TIMED_DOUBLE_ENTRY(name, call, low, high) {#name, (const void*)timed_double_##name, low, high},
static const std::vector<Timed> TIMED = {OF_ONE(TIMED_ONE_ENTRY) OF_MORE(TIMED_MORE_ENTRY)};
static const std::vector<Timed> TIMED_DOUBLES = {OF_DOUBLES(TIMED_DOUBLE_ENTRY)};

struct Compared {
    const char* name;
    const void* kernel;
};
#define COMPARED_ENTRY(name, single, reference, low, high) {#name, (const void*)compared_##name},
static const Compared COMPARED_FUNCTIONS[] = {OF_ONE(COMPARED_ENTRY)};

static std::string wanted;

static bool is_wanted(const std::string& name) {
    return wanted.empty() || ("," + wanted + ",").find("," + name + ",") != wanted.npos;
}

template <class Launch>
static float median_milliseconds(Launch launch) {
    cudaEvent_t before, after;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    std::vector<float> times(9);
    for (float& time : times) {
        CHECK(cudaEventRecord(before));
        launch();
        CHECK(cudaEventRecord(after));
        CHECK(cudaEventSynchronize(after));
        CHECK(cudaEventElapsedTime(&time, before, after));
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static CUfunction ours(CUmodule module, const std::string& name) {
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, module, name.c_str()));
    return function;
}

template <class Float>
static void time_all(CUmodule module, unsigned blocks, const std::vector<Timed>& all, const char* prefix) {
    const unsigned threads = 256;
    for (const Timed& timed : all) {
        if (!is_wanted(timed.name)) continue;
        Float* y = nullptr;  // a view of no elements
        unsigned long long len = 0;
        // The Bessel functions and similar ones take as long as a hundred others.
        unsigned count = 256;
        Float low = timed.low, per_thread = (timed.high - timed.low) / (blocks * threads), step = per_thread / (9 * count);
        CUfunction function = ours(module, std::string(prefix) + timed.name);
        void* of_ours[] = {&low, &per_thread, &step, &count, &y, &len};
        void* of_nvcc[] = {&low, &per_thread, &step, &count, &y};
        float first = median_milliseconds(
            [&] { CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, of_ours, nullptr)); });
        float second = median_milliseconds(
            [&] { CHECK(cudaLaunchKernel(timed.kernel, dim3(blocks), dim3(threads), of_nvcc, 0, nullptr)); });
        std::printf("time %s%-16s %8.4f ms, nvcc %8.4f ms, ratio %.2f\n", prefix, timed.name, first, second, first / second);
        std::fflush(stdout);
    }
}

static void compare_all(CUmodule module, unsigned blocks) {
    size_t n = size_t(1) << 28;
    float *x, *y;
    Found *found, result;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaMalloc(&found, sizeof(Found)));
    unsigned long long len = n;
    void* arrays[] = {&x, &len, &y, &len};
    void* compared[] = {&x, &y, &n, &found};
    for (const Compared& entry : COMPARED_FUNCTIONS) {
        if (!is_wanted(entry.name)) continue;
        CUfunction function = ours(module, std::string("k_") + entry.name);
        CHECK(cudaMemset(found, 0, sizeof(Found)));
        for (unsigned part = 0; part < 16; ++part) {
            fill<<<unsigned(n / 256), 256>>>(x, part << 28);
            CHECK(cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, nullptr, arrays, nullptr));
            CHECK(cudaLaunchKernel(entry.kernel, dim3(blocks), dim3(256), compared, 0, nullptr));
        }
        CHECK(cudaMemcpy(&result, found, sizeof(Found), cudaMemcpyDeviceToHost));
        double worst;
        std::memcpy(&worst, &result.worst, sizeof worst);
        std::printf("error %-16s %.4f ulp at bits %08x, hash %016llx\n", entry.name, worst, result.at, result.hash);
        std::fflush(stdout);
    }
    fill<<<unsigned(n / 256), 256>>>(x, 0x3f000000);
    CUfunction function = ours(module, "exp_vectors");
    len = n / 4;
    float exp = median_milliseconds(
        [&] { CHECK(cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, nullptr, arrays, nullptr)); });
    float copy = median_milliseconds([&] { CHECK(cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
    std::printf("exp over 2^28: %.0f GB/s, a copy %.0f GB/s\n", n * 8 / exp / 1e6, n * 8 / copy / 1e6);
}

__global__ void hash_results(const unsigned long long* y, size_t n, unsigned long long* found) {
    unsigned long long hash = 0;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        hash += y[i] * (2 * i + 0x9e3779b97f4a7c15ull);
    atomicAdd(found, hash);
}

// The names of kernels in the text of the module that begin with `prefix`.
static std::vector<std::string> kernels(const char* path, const std::string& prefix) {
    std::ifstream text(path);
    std::vector<std::string> names;
    std::string line, entry = ".entry ";
    while (std::getline(text, line)) {
        size_t at = line.find(entry + prefix);
        if (at != line.npos) names.push_back(line.substr(at + entry.size(), line.find('(') - at - entry.size()));
    }
    return names;
}

static void hash_pairs(CUmodule module, const char* path, unsigned blocks, unsigned long long n) {
    unsigned long long *y, *found, result;
    CHECK(cudaMalloc(&y, n * sizeof *y));
    CHECK(cudaMalloc(&found, sizeof *found));
    void* arrays[] = {&y, &n};
    for (const std::string& name : kernels(path, "p_")) {
        if (!is_wanted(name)) continue;
        CHECK(cudaMemset(found, 0, sizeof *found));
        CHECK(cuLaunchKernel(ours(module, name), blocks, 1, 1, 256, 1, 1, 0, nullptr, arrays, nullptr));
        hash_results<<<blocks, 256>>>(y, n, found);
        CHECK(cudaMemcpy(&result, found, sizeof result, cudaMemcpyDeviceToHost));
        std::printf("pairs %-16s hash %016llx\n", name.c_str(), result);
        std::fflush(stdout);
    }
}

static void run_each(CUmodule module, const char* path) {
    hash_pairs(module, path, 4, 4096);
    unsigned long long len = 65536;
    float *x, *y;
    CHECK(cudaMalloc(&x, len * sizeof *x));
    CHECK(cudaMalloc(&y, len * sizeof *y));
    // Bits from all over the floats.
    std::vector<unsigned> bits(len);
    for (unsigned i = 0; i < len; ++i) bits[i] = i * 65537u;
    CHECK(cudaMemcpy(x, bits.data(), len * sizeof *x, cudaMemcpyHostToDevice));
    void* arrays[] = {&x, &len, &y, &len};
    for (const std::string& name : kernels(path, "k_"))
        CHECK(cuLaunchKernel(ours(module, name), 16, 1, 1, 256, 1, 1, 0, nullptr, arrays, nullptr));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

int main(int count, char** arguments) {
    if (count != 3 && count != 4) {
        std::fprintf(stderr, "usage: mathematics MODULE [t][d][e][p][s] [NAME,…]\n");
        return 1;
    }
    if (count == 4) wanted = arguments[3];
    int multiprocessors;
    CUmodule module;
    CHECK(cudaFree(nullptr));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cuModuleLoad(&module, arguments[1]));
    if (std::strchr(arguments[2], 't')) time_all<float>(module, 8 * multiprocessors, TIMED, "t_");
    if (std::strchr(arguments[2], 'd')) time_all<double>(module, 8 * multiprocessors, TIMED_DOUBLES, "d_");
    if (std::strchr(arguments[2], 'e')) compare_all(module, 8 * multiprocessors);
    if (std::strchr(arguments[2], 'p')) hash_pairs(module, arguments[1], 8 * multiprocessors, 1 << 24);
    if (std::strchr(arguments[2], 's')) run_each(module, arguments[1]);
}
