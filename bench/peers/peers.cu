// NVIDIA's libraries for the works of `host bench`: CUB, cuBLAS and cudaMemcpyAsync. cli/src/bench/peers.rs loads this library,
// and calls it on its own memory, in its own stream and between its own events.
//
//   peers_about()                                       returns its versions and its works as JSON
//   peers_open(work, variant, width, height, stream)    returns a peer of a work such as "saxpy f32", with the memory that it
//                                                       needs beside inputs and outputs; null if there is none
//   peers_name(peer)                                    returns its name, such as "CUB"
//   peers_call(peer, x, y)                              enqueues a call in the stream; returns 0 if that fails
//   peers_close(peer)                                   frees the peer
//   peers_error()                                       returns the last error of the calling thread
//
// The variant is inclusive or exclusive for a scan, BINS-KEYS for a histogram, pairs or the name of the keys for a sort,
// select-PERCENT, partition, unique or encode for select, reduce, inclusive or exclusive for by_key, with -LENGTH for runs of
// another average length than 64, reduce or argmax for segments, with -LENGTH or -power for another average length than 1024,
// the layouts of the operands, k and the precision for matmul (matmul.cuh), and empty for all other works. Vectors have a height
// of 1.
//
// `cargo xtask bench --build` compiles it: nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC peers.cu -lcublas -lcublasLt

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cub/cub.cuh>
#include <cuda_runtime.h>

static void check(cudaError_t code, const char* call, int line) {
    if (code == cudaSuccess) return;
    cudaGetLastError();
    throw std::runtime_error(std::string(call) + " in line " + std::to_string(line) + ": " + cudaGetErrorString(code));
}

static void check(cublasStatus_t code, const char* call, int line) {
    if (code == CUBLAS_STATUS_SUCCESS) return;
    throw std::runtime_error(std::string(call) + " in line " + std::to_string(line) + ": cuBLAS status " + std::to_string(int(code)));
}

#define CHECK(call) check((call), #call, __LINE__)

struct Size {
    size_t width, height;
    // The libraries take sizes as int.
    int elements() const { return int(width * height); }
};

struct Peer {
    const char* name;
    std::function<void(void* x, void* y)> call;
};

// Returns device memory that is freed with its last owner.
static std::shared_ptr<void> memory(size_t bytes) {
    void* data = nullptr;
    CHECK(cudaMalloc(&data, bytes > 0 ? bytes : 1));
    return std::shared_ptr<void>(data, [](void* data) { cudaFree(data); });
}

template <typename T> static Peer copy(Size size, cudaStream_t stream) {
    const size_t bytes = size.elements() * sizeof(T);
    return {"cudaMemcpyAsync", [=](void* x, void* y) { CHECK(cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, stream)); }};
}

// From pageable memory of the host.
template <typename T> static Peer upload(Size size) {
    const size_t bytes = size.elements() * sizeof(T);
    return {"cudaMemcpy", [=](void* x, void* y) { CHECK(cudaMemcpy(y, x, bytes, cudaMemcpyHostToDevice)); }};
}

// CUB's `call` runs twice: first without storage, to get the size of the storage, and then with it.
template <typename F> static Peer cub_peer(F call) {
    size_t bytes = 0;
    call(nullptr, bytes, nullptr, nullptr);
    const std::shared_ptr<void> storage = memory(bytes);
    return {"CUB", [=](void* x, void* y) {
                size_t size = bytes;
                call(storage.get(), size, x, y);
            }};
}

template <typename T> static Peer reduce(Size size, cudaStream_t stream) {
    const std::shared_ptr<void> sum = memory(sizeof(T));
    return cub_peer([=](void* storage, size_t& bytes, void* x, void*) {
        CHECK(cub::DeviceReduce::Sum(storage, bytes, static_cast<T*>(x), static_cast<T*>(sum.get()), size.elements(), stream));
    });
}

template <typename T> static Peer scan(Size size, const std::string& variant, cudaStream_t stream) {
    const bool is_exclusive = variant == "exclusive";
    return cub_peer([=](void* storage, size_t& bytes, void* x, void* y) {
        T *from = static_cast<T*>(x), *to = static_cast<T*>(y);
        if (is_exclusive) {
            CHECK(cub::DeviceScan::ExclusiveSum(storage, bytes, from, to, size.elements(), stream));
        } else {
            CHECK(cub::DeviceScan::InclusiveSum(storage, bytes, from, to, size.elements(), stream));
        }
    });
}

// Bins of equal width over all keys. `L` is a type that holds the end of their range.
template <typename K, typename L> static Peer histogram(Size size, const std::string& variant, cudaStream_t stream) {
    const int bins = std::stoi(variant);
    const L upper = L(1) << 8 * sizeof(K);
    return cub_peer([=](void* storage, size_t& bytes, void* x, void* y) {
        CHECK(cub::DeviceHistogram::HistogramEven(storage, bytes, static_cast<K*>(x), static_cast<uint32_t*>(y), bins + 1, L(0),
                                                  upper, size.elements(), stream));
    });
}

// Pairs have values of 32 bits.
template <typename K> static Peer sort(Size size, const std::string& variant, cudaStream_t stream) {
    const bool has_values = variant == "pairs";
    const size_t bytes = has_values ? size.elements() * sizeof(uint32_t) : 0;
    const std::shared_ptr<void> values = memory(bytes), sorted = memory(bytes);
    return cub_peer([=](void* storage, size_t& bytes, void* x, void* y) {
        K *from = static_cast<K*>(x), *to = static_cast<K*>(y);
        if (has_values) {
            CHECK(cub::DeviceRadixSort::SortPairs(storage, bytes, from, to, static_cast<uint32_t*>(values.get()),
                                                  static_cast<uint32_t*>(sorted.get()), size.elements(), 0, 8 * int(sizeof(K)), stream));
        } else {
            CHECK(cub::DeviceRadixSort::SortKeys(storage, bytes, from, to, size.elements(), 0, 8 * int(sizeof(K)), stream));
        }
    });
}

struct Below {
    uint32_t limit;
    __device__ bool operator()(const uint32_t& x) const { return x < limit; }
};

static Peer select(Size size, const std::string& variant, cudaStream_t stream) {
    const bool has_lengths = variant == "encode";
    const std::shared_ptr<void> count = memory(sizeof(int)), lengths = memory(has_lengths ? size.elements() * sizeof(int) : 0);
    const uint64_t percent = variant.rfind("select-", 0) == 0 ? std::stoull(variant.substr(7)) : 50;
    const Below below{uint32_t((percent << 32) / 100)};
    return cub_peer([=](void* storage, size_t& bytes, void* x, void* y) {
        uint32_t *from = static_cast<uint32_t*>(x), *to = static_cast<uint32_t*>(y);
        int* selected = static_cast<int*>(count.get());
        if (variant == "partition") {
            CHECK(cub::DevicePartition::If(storage, bytes, from, to, selected, size.elements(), below, stream));
        } else if (variant == "unique") {
            CHECK(cub::DeviceSelect::Unique(storage, bytes, from, to, selected, size.elements(), stream));
        } else if (has_lengths) {
            CHECK(cub::DeviceRunLengthEncode::Encode(storage, bytes, from, to, static_cast<int*>(lengths.get()), selected,
                                                     size.elements(), stream));
        } else {
            CHECK(cub::DeviceSelect::If(storage, bytes, from, to, selected, size.elements(), below, stream));
        }
    });
}

// A hash of 64 bits (SplitMix64).
static __host__ __device__ uint64_t random_bits(uint64_t index) {
    uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

// Writes keys in runs of the average length `run`. Each two runs together have twice that length, as in our problem.
static __global__ void write_runs(uint32_t* keys, size_t n, uint64_t run) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        const uint64_t pair = i / (2 * run), first = random_bits(pair) % (2 * run - 1) + 1;
        keys[i] = uint32_t(2 * pair + (i % (2 * run) >= first));
    }
}

struct Plus {
    template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const { return a + b; }
};

struct Equal {
    template <typename T> __host__ __device__ bool operator()(const T& a, const T& b) const { return a == b; }
};

// Returns the text after the last '-' of a variant, or `otherwise` if it has none.
static std::string after_dash(const std::string& variant, const std::string& otherwise) {
    const size_t dash = variant.rfind('-');
    return dash == std::string::npos ? otherwise : variant.substr(dash + 1);
}

// Keys have 32 bits and are made here; `x` has the values.
template <typename T> static Peer by_key(Size size, const std::string& variant, cudaStream_t stream) {
    const size_t n = size.elements();
    const bool reduces = variant.rfind("reduce", 0) == 0, is_exclusive = variant.rfind("exclusive", 0) == 0;
    const std::shared_ptr<void> keys = memory(n * sizeof(uint32_t)), count = memory(sizeof(int));
    const std::shared_ptr<void> unique = memory(reduces ? n * sizeof(uint32_t) : 0);
    uint32_t *from_keys = static_cast<uint32_t*>(keys.get()), *to_keys = static_cast<uint32_t*>(unique.get());
    write_runs<<<1024, 256, 0, stream>>>(from_keys, n, std::stoull(after_dash(variant, "64")));
    CHECK(cudaGetLastError());
    return cub_peer([=](void* storage, size_t& bytes, void* x, void* y) {
        (void)keys, (void)unique; // The call owns this memory.
        T *from = static_cast<T*>(x), *to = static_cast<T*>(y);
        if (reduces) {
            CHECK(cub::DeviceReduce::ReduceByKey(storage, bytes, from_keys, to_keys, from, to, static_cast<int*>(count.get()), Plus{},
                                                 int(n), stream));
        } else if (is_exclusive) {
            CHECK(cub::DeviceScan::ExclusiveSumByKey(storage, bytes, from_keys, from, to, int(n), Equal{}, stream));
        } else {
            CHECK(cub::DeviceScan::InclusiveSumByKey(storage, bytes, from_keys, from, to, int(n), Equal{}, stream));
        }
    });
}

// The offsets of segments, with the lengths of our problem: uniform with an average, or a power law of at most 2^20.
static std::vector<int> segment_offsets(int n, const std::string& lengths) {
    const bool is_power = lengths == "power";
    const uint64_t average = is_power ? 0 : lengths == "2^20" ? 1 << 20 : std::stoull(lengths);
    std::vector<int> offsets = {0};
    while (offsets.back() < n) {
        const uint64_t bits = random_bits(offsets.size());
        const uint64_t power = std::min<uint64_t>(UINT64_MAX / std::max<uint64_t>(bits, 1), 1 << 20);
        const uint64_t length = is_power ? power : 1 + bits % (2 * average - 1);
        offsets.push_back(offsets.back() + int(std::min<uint64_t>(length, n - offsets.back())));
    }
    return offsets;
}

// CUB has no scan of segments.
template <typename T> static Peer segments(Size size, const std::string& variant, cudaStream_t stream) {
    const bool is_argmax = variant.rfind("argmax", 0) == 0;
    if (!is_argmax && variant.rfind("reduce", 0) != 0) throw std::runtime_error("CUB has no " + variant + " of segments");
    const std::vector<int> offsets = segment_offsets(size.elements(), after_dash(variant, "1024"));
    const int count = int(offsets.size()) - 1;
    const std::shared_ptr<void> begins = memory(offsets.size() * sizeof(int));
    const std::shared_ptr<void> found = memory(is_argmax ? count * sizeof(cub::KeyValuePair<int, T>) : 0);
    CHECK(cudaMemcpy(begins.get(), offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice));
    return cub_peer([=](void* storage, size_t& bytes, void* x, void* y) {
        const int* from = static_cast<const int*>(begins.get());
        if (is_argmax) {
            CHECK(cub::DeviceSegmentedReduce::ArgMax(storage, bytes, static_cast<T*>(x),
                                                     static_cast<cub::KeyValuePair<int, T>*>(found.get()), count, from, from + 1, stream));
        } else {
            CHECK(cub::DeviceSegmentedReduce::Sum(storage, bytes, static_cast<T*>(x), static_cast<T*>(y), count, from, from + 1, stream));
        }
    });
}

// Returns the handle of cuBLAS, one for all peers. It is freed with the context.
static cublasHandle_t blas_in(cudaStream_t stream) {
    static cublasHandle_t blas = [] {
        cublasHandle_t blas = nullptr;
        CHECK(cublasCreate(&blas));
        return blas;
    }();
    CHECK(cublasSetStream(blas, stream));
    return blas;
}

static cublasStatus_t axpy(cublasHandle_t blas, int n, const float* a, const float* x, float* y) {
    return cublasSaxpy(blas, n, a, x, 1, y, 1);
}
static cublasStatus_t axpy(cublasHandle_t blas, int n, const double* a, const double* x, double* y) {
    return cublasDaxpy(blas, n, a, x, 1, y, 1);
}

template <typename T> static Peer saxpy(Size size, cudaStream_t stream) {
    const cublasHandle_t blas = blas_in(stream);
    return {"cuBLAS", [=](void* x, void* y) {
                const T a = T(2);
                CHECK(axpy(blas, size.elements(), &a, static_cast<T*>(x), static_cast<T*>(y)));
            }};
}

// x has `height` rows of `width` elements; to cuBLAS, whose matrices are stored by columns, it is one of `width` rows.
static cublasStatus_t geam(cublasHandle_t blas, int width, int height, const float* x, float* y) {
    const float one = 1, zero = 0;
    return cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, height, width, &one, x, width, &zero, y, height, y, height);
}
static cublasStatus_t geam(cublasHandle_t blas, int width, int height, const double* x, double* y) {
    const double one = 1, zero = 0;
    return cublasDgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, height, width, &one, x, width, &zero, y, height, y, height);
}

template <typename T> static Peer transpose(Size size, cudaStream_t stream) {
    const cublasHandle_t blas = blas_in(stream);
    return {"cuBLAS geam", [=](void* x, void* y) {
                CHECK(geam(blas, int(size.width), int(size.height), static_cast<T*>(x), static_cast<T*>(y)));
            }};
}

#include "matmul.cuh"

static Peer peer(const std::string& work, const std::string& variant, Size size, cudaStream_t stream) {
    if (stream == nullptr) throw std::runtime_error("the peers need a GPU: use --device gpu");
    if (size.width == 0 || size.height == 0 || size.width > INT32_MAX / size.height) {
        throw std::runtime_error("the libraries do not take this size: use a smaller one");
    }
    if (work == "copy f32") return copy<float>(size, stream);
    if (work == "upload f32") return upload<float>(size);
    if (work == "saxpy f32") return saxpy<float>(size, stream);
    if (work == "saxpy f64") return saxpy<double>(size, stream);
    if (work == "reduce f32") return reduce<float>(size, stream);
    if (work == "reduce i32") return reduce<int32_t>(size, stream);
    if (work == "reduce f64") return reduce<double>(size, stream);
    if (work == "scan f32") return scan<float>(size, variant, stream);
    if (work == "scan i32") return scan<int32_t>(size, variant, stream);
    if (work == "scan f64") return scan<double>(size, variant, stream);
    if (work == "matmul f32") return matmul<float, float>(size, variant, stream);
    if (work == "matmul f64") return matmul<double, double>(size, variant, stream);
    if (work == "matmul f16") return matmul<__half, __half>(size, variant, stream);
    if (work == "matmul bf16") return matmul<__nv_bfloat16, __nv_bfloat16>(size, variant, stream);
    if (work == "matmul i8") return matmul<int8_t, int32_t>(size, variant, stream);
    if (work == "transpose f32") return transpose<float>(size, stream);
    if (work == "transpose f64") return transpose<double>(size, stream);
    if (work == "histogram u8") return histogram<uint8_t, int32_t>(size, variant, stream);
    if (work == "histogram u32") return histogram<uint32_t, uint64_t>(size, variant, stream);
    if (work == "select u32") return select(size, variant, stream);
    if (work == "by_key u32") return by_key<uint32_t>(size, variant, stream);
    if (work == "by_key f64") return by_key<double>(size, variant, stream);
    if (work == "segments f32") return segments<float>(size, variant, stream);
    if (work == "segments f64") return segments<double>(size, variant, stream);
    if (work == "sort u32") return sort<uint32_t>(size, variant, stream);
    if (work == "sort u64") return sort<uint64_t>(size, variant, stream);
    throw std::runtime_error("there is no peer of " + work);
}

// ---- the interface

static thread_local std::string failure;

// Returns the result of `work`. If it throws, returns `otherwise` and keeps the reason in `failure`.
template <typename T, typename F> static T guarded(T otherwise, F work) {
    try {
        return work();
    } catch (const std::exception& error) {
        failure = error.what();
        return otherwise;
    }
}

static std::string about() {
    int version[3] = {};
    CHECK(cublasGetProperty(MAJOR_VERSION, &version[0]));
    CHECK(cublasGetProperty(MINOR_VERSION, &version[1]));
    CHECK(cublasGetProperty(PATCH_LEVEL, &version[2]));
    const auto dotted = [](int a, int b, int c) { return std::to_string(a) + "." + std::to_string(b) + "." + std::to_string(c); };
    return "{\"compiler\": \"nvcc " + dotted(__CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__) + "\", \"cub\": \"" +
           dotted(CUB_VERSION / 100000, CUB_VERSION / 100 % 1000, CUB_VERSION % 100) + "\", \"cublas\": \"" +
           dotted(version[0], version[1], version[2]) +
           "\", \"works\": [\"copy f32\", \"upload f32\", \"saxpy f32\", \"saxpy f64\", \"reduce f32\", \"reduce i32\", \"reduce f64\", "
           "\"scan f32\", \"scan i32\", \"scan f64\", \"matmul f32\", \"matmul f64\", \"matmul f16\", \"matmul bf16\", \"matmul i8\", "
           "\"transpose f32\", \"transpose f64\", \"histogram u8\", \"histogram u32\", "
           "\"select u32\", \"by_key u32\", \"by_key f64\", \"segments f32\", \"segments f64\", \"sort u32\", \"sort u64\"]}";
}

extern "C" {

const char* peers_about() {
    static std::string text;
    return guarded<const char*>(nullptr, [] { return (text = about()).c_str(); });
}

void* peers_open(const char* work, const char* variant, size_t width, size_t height, void* stream) {
    return guarded<void*>(nullptr, [&] {
        return new Peer(peer(work, variant, Size{width, height}, static_cast<cudaStream_t>(stream)));
    });
}

const char* peers_name(const void* peer) { return static_cast<const Peer*>(peer)->name; }

int peers_call(const void* peer, void* x, void* y) {
    return guarded(0, [&] {
        static_cast<const Peer*>(peer)->call(x, y);
        return 1;
    });
}

void peers_close(void* peer) { delete static_cast<Peer*>(peer); }

const char* peers_error() { return failure.c_str(); }
}
