// SPDX-License-Identifier: Apache-2.0
// The C interface of every model: made once, compiled beside the classes that Verilator wrote for one top.
// RM_PORTS(X) comes from the generated part: X(index, name, width, is_input) for each port.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct Handle {
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vtop> top;
#ifdef RM_TRACE
    std::unique_ptr<VerilatedVcdC> waves;
#endif
    std::string message;
};

thread_local std::string stopped;

template <typename T>
void store(T& port, const uint32_t* words) { port = static_cast<T>(words[0]); }
void store(QData& port, const uint32_t* words) {
    port = static_cast<QData>(words[1]) << 32 | words[0];
}
template <std::size_t N>
void store(VlWide<N>& port, const uint32_t* words) {
    for (std::size_t i = 0; i < N; ++i) port[i] = words[i];
}
template <typename T>
void load(const T& port, uint32_t* words) { words[0] = static_cast<uint32_t>(port); }
void load(const QData& port, uint32_t* words) {
    words[0] = static_cast<uint32_t>(port);
    words[1] = static_cast<uint32_t>(port >> 32);
}
template <std::size_t N>
void load(const VlWide<N>& port, uint32_t* words) {
    for (std::size_t i = 0; i < N; ++i) words[i] = port[i];
}

void settle(Handle* h) {
    h->top->eval();
#ifdef RM_TRACE
    if (h->waves) h->waves->dump(h->context->time());
#endif
    h->context->timeInc(1);
    if (!stopped.empty()) throw std::runtime_error(stopped);
    if (h->context->gotFinish()) throw std::runtime_error("$finish");
}

template <typename T>
void clock(T* top, uint8_t level) {
#ifdef RM_CLOCK
    top->clk_i = level;
#else
    (void)top;
    (void)level;
#endif
}

// Runs f; 0, or 1 with the message kept in the handle.
template <typename F>
int guarded(Handle* h, F f) {
    stopped.clear();
    try {
        f();
        return 0;
    } catch (const std::exception& e) {
        h->message = e.what();
        return 1;
    }
}

std::string place(const char* file, int line, const char* text) {
    return std::string(file ? file : "") + ":" + std::to_string(line) + ": " + (text ? text : "");
}

}  // namespace

// Verilator's run time calls these instead of ending the process.
void vl_fatal(const char* file, int line, const char*, const char* text) {
    throw std::runtime_error(place(file, line, text));
}
void vl_stop(const char* file, int line, const char*) { stopped = place(file, line, "$stop"); }
void vl_finish(const char*, int, const char*) { Verilated::threadContextp()->gotFinish(true); }
void vl_warn(const char* file, int line, const char*, const char* text) {
    stopped = place(file, line, text);
}

extern "C" {

void* rm_create(int seed) {
    auto h = std::make_unique<Handle>();
    const int failed = guarded(h.get(), [&] {
        h->context = std::make_unique<VerilatedContext>();
        h->context->threads(1);
        h->context->fatalOnError(true);
        h->context->randReset(2);
        h->context->randSeed(seed);
#ifdef RM_TRACE
        h->context->traceEverOn(true);
#endif
        h->top = std::make_unique<Vtop>(h->context.get(), "top");
        clock(h->top.get(), 0);
        settle(h.get());
    });
    if (failed) h->top.reset();
    return h.release();
}

int rm_usable(void* handle) { return static_cast<Handle*>(handle)->top ? 1 : 0; }

const char* rm_message(void* handle) { return static_cast<Handle*>(handle)->message.c_str(); }

void rm_destroy(void* handle) {
    auto* h = static_cast<Handle*>(handle);
#ifdef RM_TRACE
    if (h->waves) h->waves->close();
#endif
    if (h->top) guarded(h, [&] { h->top->final(); });
    // The names of a model's instances go out of the thread's context, which may be another model's.
    VerilatedContext* context = Verilated::threadContextp();
    Verilated::threadContextp(h->context.get());
    h->top.reset();
    Verilated::threadContextp(context);
    delete h;
}

uint32_t rm_port_count(void) {
    uint32_t count = 0;
#define X(index, name, width, input) ++count;
    RM_PORTS(X)
#undef X
    return count;
}

int rm_port(uint32_t at, const char** port_name, uint32_t* port_width, uint32_t* is_input) {
    switch (at) {
#define X(index, name, width, input) \
    case index: *port_name = #name; *port_width = width; *is_input = input; return 0;
        RM_PORTS(X)
#undef X
        default: return 1;
    }
}

int rm_set(void* handle, uint32_t at, const uint32_t* words) {
    auto* h = static_cast<Handle*>(handle);
    switch (at) {
#define X(index, name, width, input) case index: store(h->top->name, words); return 0;
        RM_PORTS(X)
#undef X
        default: return 1;
    }
}

int rm_get(void* handle, uint32_t at, uint32_t* words) {
    auto* h = static_cast<Handle*>(handle);
    switch (at) {
#define X(index, name, width, input) case index: load(h->top->name, words); return 0;
        RM_PORTS(X)
#undef X
        default: return 1;
    }
}

// Writes an entry of a memory (`mem` of the instance that scope names), missing words 0; 1 where there is none.
int rm_poke(void* handle, const char* scope, uint32_t at, const uint32_t* words, uint32_t count) {
#ifdef RM_OPEN
    auto* h = static_cast<Handle*>(handle);
    const VerilatedScope* found = h->context->scopeFind(scope);
    VerilatedVar* memory = found ? found->varFind("mem") : nullptr;
    if (!memory || at >= memory->totalSize() / memory->entSize()) return 1;
    const std::size_t size = memory->entSize();
    auto* entry = static_cast<unsigned char*>(memory->datap()) + at * size;
    const auto* bytes = reinterpret_cast<const unsigned char*>(words);
    for (std::size_t i = 0; i < size; ++i) entry[i] = i < 4 * std::size_t{count} ? bytes[i] : 0;
    return 0;
#else
    (void)handle, (void)scope, (void)at, (void)words, (void)count;
    return 1;
#endif
}

// Settles combinational logic; the clock does not move.
int rm_eval(void* handle) {
    auto* h = static_cast<Handle*>(handle);
    return guarded(h, [&] { settle(h); });
}

// `cycles` rising edges: registers take the inputs as set, and outputs are settled with the clock low again.
int rm_step(void* handle, uint64_t cycles) {
    auto* h = static_cast<Handle*>(handle);
    return guarded(h, [&] {
        for (uint64_t i = 0; i < cycles; ++i) {
            clock(h->top.get(), 1);
            settle(h);
            clock(h->top.get(), 0);
            settle(h);
        }
    });
}

// Starts writing waves; 1 where the file cannot be opened or the model was built without them.
int rm_waves(void* handle, const char* path) {
    auto* h = static_cast<Handle*>(handle);
#ifdef RM_TRACE
    return guarded(h, [&] {
        if (h->waves) throw std::runtime_error("waves are being written already");
        h->waves = std::make_unique<VerilatedVcdC>();
        h->top->trace(h->waves.get(), 99);
        h->waves->open(path);
        if (!h->waves->isOpen()) {
            h->waves.reset();
            throw std::runtime_error("the file cannot be opened");
        }
    });
#else
    (void)path;
    h->message = "the model was built without waves (BuildOptions::waves)";
    return 1;
#endif
}

int rm_waves_close(void* handle) {
    auto* h = static_cast<Handle*>(handle);
#ifdef RM_TRACE
    return guarded(h, [&] {
        if (h->waves) h->waves->close();
    });
#else
    (void)h;
    return 0;
#endif
}

}  // extern "C"
