// NVIDIA's libraries at the works of `host bench`: CUB, cuBLAS and cudaMemcpyAsync, measured as host/src/bench/meter.rs does.
//
//   peers --about
//   peers ALGORITHM TYPE VARIANT SIZES SEED DEVICE FLUSH_BYTES FEWEST MOST SECONDS
//
// The first prints what it was built with and what it can measure, the second a row for each size, as JSON. VARIANT is
// inclusive or exclusive for a scan, BINS-KEYS for a histogram, where KEYS are uniform, constant or skewed, and - for all
// else; SIZES are elements, or WIDTHxHEIGHT of matrices, with commas between; FLUSH_BYTES are read before every run, FEWEST
// to MOST runs are timed, and none begins after SECONDS. Of sums and scans of few elements a row says what a call takes in a
// series, too.
//
// A size for which there is no room has no row. Any other failure ends the program with `error: ...` and code 1.
//
// `cargo xtask bench --build` compiles it: nvcc -O3 -std=c++17 -arch=native peers.cu -lcublas

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <cub/cub.cuh>
#include <cuda_runtime.h>

[[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "error: %s\n", what.c_str());
    std::exit(1);
}

static void check(cudaError_t code, const char* call, int line) {
    if (code != cudaSuccess) {
        fail(std::string(call) + " in line " + std::to_string(line) + ": " + cudaGetErrorString(code));
    }
}

static void check(cublasStatus_t code, const char* call, int line) {
    if (code != CUBLAS_STATUS_SUCCESS) {
        fail(std::string(call) + " in line " + std::to_string(line) + ": cuBLAS status " + std::to_string(int(code)));
    }
}

#define CHECK(call) check((call), #call, __LINE__)

// ---- data: element i of a vector is a function of the seed, the vector's number and i, as in host/src/inputs.rs

__host__ __device__ inline uint64_t mix(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

template <typename T> __device__ T from_bits(uint64_t bits);
template <> __device__ inline float from_bits<float>(uint64_t bits) {
    return float(bits >> 40) / 8388608.0f - 1.0f;
}
template <> __device__ inline double from_bits<double>(uint64_t bits) {
    return double(bits >> 11) / 4503599627370496.0 - 1.0;
}
template <> __device__ inline int32_t from_bits<int32_t>(uint64_t bits) {
    return int32_t(uint32_t(bits >> 32));
}

template <> __device__ inline uint8_t from_bits<uint8_t>(uint64_t bits) {
    return uint8_t(bits >> 56);
}
template <> __device__ inline uint32_t from_bits<uint32_t>(uint64_t bits) {
    return uint32_t(bits >> 32);
}

// The keys of a histogram: all alike; the product of two uniform ones as fractions, of which small ones are more; or uniform.
enum class Keys { uniform, constant, skewed };

template <typename K> __device__ K key_of(uint64_t bits, Keys keys) {
    if (keys == Keys::constant) return K(42);
    if (keys == Keys::uniform) return from_bits<K>(bits);
    return K((uint64_t(from_bits<K>(bits)) * from_bits<K>(bits << 8 * sizeof(K))) >> 8 * sizeof(K));
}

template <typename K> __global__ void fill_keys(K* out, size_t n, uint64_t key, Keys keys) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        out[i] = key_of<K>(mix(key + uint64_t(i) * 0x9e3779b97f4a7c15ull), keys);
    }
}

template <typename T> __global__ void fill(T* out, size_t n, uint64_t key) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        out[i] = from_bits<T>(mix(key + uint64_t(i) * 0x9e3779b97f4a7c15ull));
    }
}

// ---- measuring

// Reads all of `x`. `y` is null: whether the result is stored is known at run time alone, so that the loads are needed.
__global__ void read_all(const uint4* x, size_t n, uint32_t* y) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    uint32_t all = 0;
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i + 3 * stride < n; i += 4 * stride) {
        const uint4 a = x[i], b = x[i + stride], c = x[i + 2 * stride], d = x[i + 3 * stride];
        all ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    }
    for (; i < n; i += stride) {
        all ^= x[i].x ^ x[i].y ^ x[i].z ^ x[i].w;
    }
    if (y != nullptr) {
        y[size_t(blockIdx.x) * blockDim.x + threadIdx.x] = all;
    }
}

// The timed series of a point, and the calls of each: as many as `Limits::GPU` of host/src/bench/meter.rs has.
constexpr size_t SERIES = 11;
constexpr size_t CALLS = 64;

struct Times {
    size_t runs;
    double low, median, high;
};

// The quartiles of at least one time.
static Times quartiles(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const size_t n = times.size();
    return {n, times[n / 4], times[n / 2], times[n * 3 / 4]};
}

class Meter {
public:
    Meter(size_t flush_bytes, size_t fewest, size_t most, double seconds)
        : flush_len_(flush_bytes / sizeof(uint4)), fewest_(fewest), most_(most), seconds_(seconds) {
        int device = 0;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
        // Of the kind that ours is, which synchronous copies wait for: all work begins 0.1 us later there than in one for which
        // they do not (docs/notes/saxpy.md).
        CHECK(cudaStreamCreate(&stream_));
        CHECK(cudaEventCreate(&start_));
        CHECK(cudaEventCreate(&stop_));
        if (flush_len_ > 0) {
            CHECK(cudaMalloc(&flush_, flush_len_ * sizeof(uint4)));
            CHECK(cudaMemset(flush_, 0, flush_len_ * sizeof(uint4)));
            CHECK(cudaDeviceSynchronize());
        }
    }

    cudaStream_t stream() const { return stream_; }

    int multiprocessors() const { return multiprocessors_; }

    // Times of `work` in seconds by device events, after two runs that warm up. The caches are flushed before each.
    Times events(const std::function<void()>& work) {
        work();
        once(work);
        return quartiles(repeat([&] { return once(work); }));
    }

    // What the host waits for, from the launch to the end, with the device idle before.
    Times host(const std::function<void()>& work) {
        return quartiles(repeat([&] {
            flush();
            CHECK(cudaStreamSynchronize(stream_));
            const auto begun = std::chrono::steady_clock::now();
            work();
            CHECK(cudaStreamSynchronize(stream_));
            return since(begun);
        }));
    }

    // How many calls take turns in a series, each with `bytes` of its own: so many that the caches hold nothing of a call
    // when its turn comes again.
    size_t turns(size_t bytes) const {
        return std::max(CALLS, (2 * flush_len_ * sizeof(uint4) + bytes - 1) / bytes);
    }

    // The median of what one of many calls takes that are launched one after the other, from an idle device on. No cache
    // is flushed: each call has to find data of its own.
    double series(const std::function<void()>& call) {
        const auto one = [&] {
            return timed([&] {
                for (size_t i = 0; i < CALLS; ++i) call();
            });
        };
        one();
        std::vector<double> times;
        while (times.size() < SERIES) times.push_back(one());
        return quartiles(times).median / CALLS;
    }

private:
    using Clock = std::chrono::steady_clock;

    static double since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

    // Returns at once: what follows is handed over meanwhile, and begins when this ends.
    void flush() {
        if (flush_len_ > 0) {
            read_all<<<8 * multiprocessors_, 256, 0, stream_>>>(flush_, flush_len_, nullptr);
            CHECK(cudaGetLastError());
        }
    }

    double once(const std::function<void()>& work) {
        flush();
        return timed(work);
    }

    double timed(const std::function<void()>& work) {
        CHECK(cudaEventRecord(start_, stream_));
        work();
        CHECK(cudaEventRecord(stop_, stream_));
        CHECK(cudaStreamSynchronize(stream_));
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
        return milliseconds / 1e3;
    }

    std::vector<double> repeat(const std::function<double()>& run) {
        std::vector<double> times;
        const auto begun = Clock::now();
        while (times.size() < fewest_ || (times.size() < most_ && since(begun) < seconds_)) {
            times.push_back(run());
        }
        return times;
    }

    size_t flush_len_, fewest_, most_;
    double seconds_;
    int multiprocessors_ = 0;
    uint4* flush_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

// Memory of the device, freed at the end of its scope. It is null where there was no room.
template <typename T> class Buffer {
public:
    explicit Buffer(size_t n) : n_(n) {
        const cudaError_t code = cudaMalloc(&data_, std::max<size_t>(n, 1) * sizeof(T));
        if (code == cudaErrorMemoryAllocation) {
            data_ = nullptr;
            cudaGetLastError();
        } else {
            CHECK(code);
        }
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
        if (data_ != nullptr) CHECK(cudaFree(data_));
    }

    T* get() const { return data_; }

    bool is_there() const { return data_ != nullptr; }

    // The random elements of vector `vector` of `seed`.
    void fill_random(const Meter& meter, uint64_t seed, uint64_t vector) {
        fill<<<8 * meter.multiprocessors(), 256, 0, meter.stream()>>>(data_, n_, mix(mix(seed) + vector));
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(meter.stream()));
    }

    // The keys of that kind of vector `vector` of `seed`.
    void fill_keys(const Meter& meter, uint64_t seed, uint64_t vector, Keys keys) {
        ::fill_keys<<<8 * meter.multiprocessors(), 256, 0, meter.stream()>>>(data_, n_, mix(mix(seed) + vector), keys);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(meter.stream()));
    }

private:
    size_t n_;
    T* data_ = nullptr;
};

// ---- rows

struct Size {
    size_t width, height;
    bool is_matrix;
    size_t elements() const { return width * height; }
};

struct Request {
    std::string algorithm, type, variant;
    std::vector<Size> sizes;
    uint64_t seed;
};

class Rows {
public:
    explicit Rows(const Request& request) : request_(request) { std::printf("["); }
    ~Rows() { std::printf("\n]\n"); }

    // Measures `work` and prints its row. `series`, if there is one, gives the seconds of a call in a series, or 0 where
    // there is no room for it.
    void add(Meter& meter, const char* peer, const Size& size, double bytes, const std::function<void()>& work,
             const std::function<double()>& series = nullptr) {
        begin(peer, size, bytes, meter.events(work));
        if (!size.is_matrix && size.elements() >= size_t(1) << 16 && size.elements() <= size_t(1) << 20) {
            std::printf(", \"host_us\": %.4f", 1e6 * meter.host(work).median);
            const double seconds = series ? series() : 0.0;
            if (seconds > 0) std::printf(", \"series_us\": %.4f", 1e6 * seconds);
        }
        std::printf("}");
    }

    // As `add`, by the host's clock.
    void add_by_host(Meter& meter, const char* peer, const Size& size, double bytes, const std::function<void()>& work) {
        begin(peer, size, bytes, meter.host(work));
        std::printf("}");
    }

private:
    void begin(const char* peer, const Size& size, double bytes, const Times& times) {
        std::printf("%s\n  {\"algorithm\": \"%s\", \"peer\": \"%s\", \"type\": \"%s\"", is_first_ ? "" : ",",
                    request_.algorithm.c_str(), peer, request_.type.c_str());
        is_first_ = false;
        if (request_.variant != "-") std::printf(", \"variant\": \"%s\"", request_.variant.c_str());
        if (size.is_matrix) std::printf(", \"shape\": \"%zux%zu\"", size.width, size.height);
        std::printf(", \"size\": %zu, \"bytes\": %.0f, \"runs\": %zu, \"median_us\": %.4f, \"low_us\": %.4f, "
                    "\"high_us\": %.4f, \"gbps\": %.3f",
                    size.elements(), bytes, times.runs, 1e6 * times.median, 1e6 * times.low, 1e6 * times.high,
                    bytes / times.median / 1e9);
    }

    const Request& request_;
    bool is_first_ = true;
};

static uint64_t number(const std::string& text) {
    char* end = nullptr;
    const uint64_t value = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0') fail("'" + text + "' is not a whole number");
    return value;
}

// ---- works

template <typename T> static void copy(const Request& request, Meter& meter, Rows& rows) {
    for (const Size& size : request.sizes) {
        const size_t n = size.elements();
        Buffer<T> x(n), y(n);
        if (!x.is_there() || !y.is_there()) continue;
        x.fill_random(meter, request.seed, 0);
        rows.add(meter, "cudaMemcpyAsync", size, 2.0 * sizeof(T) * n, [&] {
            CHECK(cudaMemcpyAsync(y.get(), x.get(), n * sizeof(T), cudaMemcpyDeviceToDevice, meter.stream()));
        });
    }
}

// From pageable memory of the host.
template <typename T> static void upload(const Request& request, Meter& meter, Rows& rows) {
    for (const Size& size : request.sizes) {
        const size_t n = size.elements();
        Buffer<T> x(n);
        if (!x.is_there()) continue;
        const std::vector<T> host(n, T(1));
        rows.add_by_host(meter, "cudaMemcpy", size, double(sizeof(T)) * n, [&] {
            CHECK(cudaMemcpy(x.get(), host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
        });
    }
}

// The seconds of a call in a series, each of which has an input of its own, a copy of `x`, and if it is a call that writes
// as many elements, an output: `bytes` together. 0 where there is no room for them.
template <typename T>
static double in_series(Meter& meter, const Buffer<T>& x, size_t n, bool has_output, size_t bytes,
                        const std::function<void(T*, T*)>& call) {
    const size_t turns = meter.turns(bytes);
    std::deque<Buffer<T>> inputs, outputs;
    for (size_t i = 0; i < turns; ++i) {
        inputs.emplace_back(n);
        if (!inputs.back().is_there()) return 0;
        CHECK(cudaMemcpyAsync(inputs.back().get(), x.get(), n * sizeof(T), cudaMemcpyDeviceToDevice, meter.stream()));
        if (has_output) {
            outputs.emplace_back(n);
            if (!outputs.back().is_there()) return 0;
        }
    }
    CHECK(cudaStreamSynchronize(meter.stream()));
    size_t turn = 0;
    return meter.series([&] {
        call(inputs[turn].get(), has_output ? outputs[turn].get() : nullptr);
        turn = (turn + 1) % turns;
    });
}

template <typename T> static void reduce(const Request& request, Meter& meter, Rows& rows) {
    for (const Size& size : request.sizes) {
        const size_t n = size.elements();
        size_t bytes = 0;
        Buffer<T> x(n), y(1);
        if (!x.is_there() || !y.is_there()) continue;
        CHECK(cub::DeviceReduce::Sum(nullptr, bytes, x.get(), y.get(), int(n), meter.stream()));
        Buffer<char> storage(bytes);
        if (!storage.is_there()) continue;
        x.fill_random(meter, request.seed, 0);
        const auto run = [&](T* from) {
            CHECK(cub::DeviceReduce::Sum(storage.get(), bytes, from, y.get(), int(n), meter.stream()));
        };
        rows.add(meter, "CUB", size, double(sizeof(T)) * n, [&] { run(x.get()); }, [&] {
            return in_series<T>(meter, x, n, false, n * sizeof(T), [&](T* from, T*) { run(from); });
        });
    }
}

template <typename T> static void scan(const Request& request, Meter& meter, Rows& rows) {
    const bool is_exclusive = request.variant == "exclusive";
    for (const Size& size : request.sizes) {
        const size_t n = size.elements();
        Buffer<T> x(n), y(n);
        if (!x.is_there() || !y.is_there()) continue;
        const auto run = [&](void* storage, size_t& bytes, T* from, T* to) {
            if (is_exclusive) {
                CHECK(cub::DeviceScan::ExclusiveSum(storage, bytes, from, to, int(n), meter.stream()));
            } else {
                CHECK(cub::DeviceScan::InclusiveSum(storage, bytes, from, to, int(n), meter.stream()));
            }
        };
        size_t bytes = 0;
        run(nullptr, bytes, x.get(), y.get());
        Buffer<char> storage(bytes);
        if (!storage.is_there()) continue;
        x.fill_random(meter, request.seed, 0);
        rows.add(meter, "CUB", size, 2.0 * sizeof(T) * n, [&] { run(storage.get(), bytes, x.get(), y.get()); }, [&] {
            const auto call = [&](T* from, T* to) { run(storage.get(), bytes, from, to); };
            return in_series<T>(meter, x, n, true, 2 * n * sizeof(T), call);
        });
    }
}

// Bins of equal width over all keys. `L` is a type that holds the end of their range.
template <typename K, typename L> static void histogram(const Request& request, Meter& meter, Rows& rows) {
    const size_t dash = std::min(request.variant.find('-'), request.variant.size());
    const uint64_t bins = number(request.variant.substr(0, dash));
    const std::string kind = request.variant.substr(std::min(dash + 1, request.variant.size()));
    if (bins == 0 || bins > 65536) fail("there are no histograms of " + std::to_string(bins) + " bins");
    Keys keys = Keys::uniform;
    if (kind == "constant") keys = Keys::constant;
    else if (kind == "skewed") keys = Keys::skewed;
    else if (kind != "uniform") fail("'" + kind + "' are no keys: use uniform, constant or skewed");
    const L upper = L(1) << 8 * sizeof(K);
    for (const Size& size : request.sizes) {
        const size_t n = size.elements();
        Buffer<K> x(n);
        Buffer<uint32_t> counts(bins);
        if (!x.is_there() || !counts.is_there()) continue;
        const auto run = [&](void* storage, size_t& bytes) {
            CHECK(cub::DeviceHistogram::HistogramEven(storage, bytes, x.get(), counts.get(), int(bins + 1), L(0), upper,
                                                      int(n), meter.stream()));
        };
        size_t bytes = 0;
        run(nullptr, bytes);
        Buffer<char> storage(bytes);
        if (!storage.is_there()) continue;
        x.fill_keys(meter, request.seed, 0, keys);
        rows.add(meter, "CUB", size, double(sizeof(K)) * n, [&] { run(storage.get(), bytes); });
    }
}

static void axpy(cublasHandle_t blas, int n, const float* a, const float* x, float* y) {
    CHECK(cublasSaxpy(blas, n, a, x, 1, y, 1));
}
static void axpy(cublasHandle_t blas, int n, const double* a, const double* x, double* y) {
    CHECK(cublasDaxpy(blas, n, a, x, 1, y, 1));
}

template <typename T> static void saxpy(const Request& request, Meter& meter, Rows& rows, cublasHandle_t blas) {
    const T a = T(2);
    for (const Size& size : request.sizes) {
        const size_t n = size.elements();
        Buffer<T> x(n), y(n);
        if (!x.is_there() || !y.is_there()) continue;
        x.fill_random(meter, request.seed, 0);
        y.fill_random(meter, request.seed, 1);
        rows.add(meter, "cuBLAS", size, 3.0 * sizeof(T) * n, [&] { axpy(blas, int(n), &a, x.get(), y.get()); });
    }
}

// x has `height` rows of `width` elements; to cuBLAS, whose matrices are stored by columns, it is one of `width` rows.
static void geam(cublasHandle_t blas, int width, int height, const float* x, float* y) {
    const float one = 1, zero = 0;
    CHECK(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, height, width, &one, x, width, &zero, y, height, y, height));
}
static void geam(cublasHandle_t blas, int width, int height, const double* x, double* y) {
    const double one = 1, zero = 0;
    CHECK(cublasDgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, height, width, &one, x, width, &zero, y, height, y, height));
}

template <typename T> static void transpose(const Request& request, Meter& meter, Rows& rows, cublasHandle_t blas) {
    for (const Size& size : request.sizes) {
        const size_t n = size.elements();
        Buffer<T> x(n), y(n);
        if (!x.is_there() || !y.is_there()) continue;
        x.fill_random(meter, request.seed, 0);
        rows.add(meter, "cuBLAS geam", size, 2.0 * sizeof(T) * n,
                 [&] { geam(blas, int(size.width), int(size.height), x.get(), y.get()); });
    }
}

// ---- the command line

static void about() {
    int major = 0, minor = 0, patch = 0;
    CHECK(cublasGetProperty(MAJOR_VERSION, &major));
    CHECK(cublasGetProperty(MINOR_VERSION, &minor));
    CHECK(cublasGetProperty(PATCH_LEVEL, &patch));
    std::printf("{\"compiler\": \"nvcc %d.%d.%d\", \"cub\": \"%d.%d.%d\", \"cublas\": \"%d.%d.%d\", \"works\": [",
                __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, CUB_VERSION / 100000,
                CUB_VERSION / 100 % 1000, CUB_VERSION % 100, major, minor, patch);
    const char* works[] = {"copy f32", "upload f32", "saxpy f32", "saxpy f64", "reduce f32", "reduce i32", "reduce f64", "scan f32",
                           "scan i32", "scan f64", "transpose f32", "transpose f64", "histogram u8", "histogram u32"};
    bool is_first = true;
    for (const char* work : works) {
        std::printf("%s\"%s\"", is_first ? "" : ", ", work);
        is_first = false;
    }
    std::printf("]}\n");
}

static std::vector<Size> sizes(const std::string& text) {
    std::vector<Size> all;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string one = text.substr(begin, end - begin);
        const size_t cross = one.find('x');
        Size size{};
        if (cross == std::string::npos) {
            size = {size_t(number(one)), 1, false};
        } else {
            size = {size_t(number(one.substr(0, cross))), size_t(number(one.substr(cross + 1))), true};
        }
        // The libraries' interfaces count with int.
        if (size.elements() == 0 || size.elements() > size_t(INT32_MAX)) fail("'" + one + "' is no size for the libraries");
        all.push_back(size);
        begin = end + 1;
    }
    return all;
}

int main(int count, char** arguments) {
    if (count == 2 && std::string(arguments[1]) == "--about") {
        about();
        return 0;
    }
    if (count != 11) {
        std::fprintf(stderr, "error: usage: peers --about | peers ALGORITHM TYPE VARIANT SIZES SEED DEVICE FLUSH_BYTES "
                             "FEWEST MOST SECONDS\n");
        return 2;
    }
    const Request request{arguments[1], arguments[2], arguments[3], sizes(arguments[4]), number(arguments[5])};
    CHECK(cudaSetDevice(int(number(arguments[6]))));
    const size_t fewest = std::max<size_t>(number(arguments[8]), 1), most = number(arguments[9]);
    Meter meter(number(arguments[7]), fewest, most, std::atof(arguments[10]));
    cublasHandle_t blas = nullptr;
    CHECK(cublasCreate(&blas));
    CHECK(cublasSetStream(blas, meter.stream()));

    const std::string work = request.algorithm + " " + request.type;
    {
        Rows rows(request);
        if (work == "copy f32") copy<float>(request, meter, rows);
        else if (work == "upload f32") upload<float>(request, meter, rows);
        else if (work == "saxpy f32") saxpy<float>(request, meter, rows, blas);
        else if (work == "saxpy f64") saxpy<double>(request, meter, rows, blas);
        else if (work == "reduce f32") reduce<float>(request, meter, rows);
        else if (work == "reduce i32") reduce<int32_t>(request, meter, rows);
        else if (work == "reduce f64") reduce<double>(request, meter, rows);
        else if (work == "scan f32") scan<float>(request, meter, rows);
        else if (work == "scan i32") scan<int32_t>(request, meter, rows);
        else if (work == "scan f64") scan<double>(request, meter, rows);
        else if (work == "histogram u8") histogram<uint8_t, int32_t>(request, meter, rows);
        else if (work == "histogram u32") histogram<uint32_t, uint64_t>(request, meter, rows);
        else if (work == "transpose f32") transpose<float>(request, meter, rows, blas);
        else if (work == "transpose f64") transpose<double>(request, meter, rows, blas);
        else fail("there is no peer of " + work);
    }
    CHECK(cublasDestroy(blas));
    return 0;
}
