// SPDX-License-Identifier: Apache-2.0
// HElib's side of `make bench`: one thin bootstrap of BGV modulo p^r, on keys of its own, in a cyclotomic ring that is made for p.
// Rings of a power of two, which ours are, take HElib too long to set up, so rings differ, and with them the number of slots: seconds
// are those of as many slots as ours has. `benches/README.md` has the protocol, `docs/benchmarks.md` how this is built.

#include <helib/debugging.h>
#include <helib/helib.h>
#include <helib/version.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Bits of security that our sets have, by HElib's own estimate.
constexpr double kSecurity = 128.0;
// Columns of key switching matrices: HElib's own choice for its tests.
constexpr long kColumns = 3;
// Bits of modulus that are tried first, and how many fewer each time.
constexpr long kMostBits = 1800, kStep = 20;

// A ring whose m is a product of factors that bootstrapping divides its maps by, with generators of the slots' group.
struct Ring {
  long prime, m;
  std::vector<long> factors, generators, orders;
};

// Of those that HElib's tests have for p = 127: of about 2^14, 2^15 and 2^16 coefficients.
const std::vector<Ring> kRings = {
    {127, 24295, {43, 565}, {16386, 16427}, {42, 16}},
    {127, 30277, {17, 1781}, {14249, 10694}, {16, 68}},
    {127, 51319, {37, 1387}, {48546, 24976}, {36, -36}},
};

// The first integer behind a key in a request, which our harness writes.
long Number(const std::string& request, const std::string& key) {
  const auto found = request.find("\"" + key + "\":");
  if (found == std::string::npos) throw std::runtime_error("no " + key + " in " + request);
  const auto at = request.find_first_of("-0123456789", found + key.size() + 3);
  if (at == std::string::npos) throw std::runtime_error("no number at " + key + " in " + request);
  return std::strtol(request.c_str() + at, nullptr, 10);
}

helib::ContextBuilder<helib::BGV> Builder(const Ring& ring, long r, long bits) {
  return helib::ContextBuilder<helib::BGV>()
      .m(ring.m)
      .p(ring.prime)
      .r(r)
      .gens(ring.generators)
      .ords(ring.orders)
      .bits(bits)
      .c(kColumns)
      .skHwt(helib::BOOT_DFLT_SK_HWT);
}

// The most bits of modulus that leave the ring kSecurity.
long SecureBits(const Ring& ring, long r) {
  for (long bits = kMostBits; bits > 0; bits -= kStep) {
    const helib::Context context = Builder(ring, r, bits).build();
    if (context.securityLevel() >= kSecurity) return bits;
  }
  throw std::runtime_error("no modulus is as secure as ours in this ring");
}

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Bootstrap {
 public:
  Bootstrap(const Ring& ring, long r, long our_slots)
      : context_(Builder(ring, r, SecureBits(ring, r))
                     .bootstrappable(true)
                     .thinboot()
                     .mvec(ring.factors)
                     .build()),
        secret_(context_),
        scale_(static_cast<double>(our_slots) / static_cast<double>(context_.getEA().size())) {
    secret_.GenSecKey();
    helib::addSome1DMatrices(secret_);
    helib::addFrbMatrices(secret_);
    secret_.genRecryptData();
    const helib::EncryptedArray& slots = context_.getEA();
    const long modulus = context_.getPPowR();
    for (long i = 0; i < slots.size(); ++i) message_.push_back((7919 * i + 5) % modulus);
    fresh_ = std::make_unique<helib::Ctxt>(secret_);
    slots.encrypt(*fresh_, secret_, message_);
  }

  // What one bootstrap gives; the public key's method changes nothing in it but is not const.
  helib::Ctxt Once() {
    helib::Ctxt cipher = *fresh_;
    static_cast<helib::PubKey&>(secret_).thinReCrypt(cipher);
    return cipher;
  }

  // Whether it decrypts to the message, its facts, as an answer.
  std::string Check() {
    const helib::Ctxt cipher = Once();
    std::vector<long> found;
    context_.getEA().decrypt(cipher, secret_, found);
    const long modulus = context_.getPPowR();
    for (long& value : found) value = ((value % modulus) + modulus) % modulus;
    return std::string("{\"rows\": [\"bootstrap\"], \"equal\": {\"bootstrap\": ") +
           (found == message_ ? "true" : "false") + "}, \"facts\": {\"bits_left\": " +
           std::to_string(cipher.bitCapacity()) + ", \"ring\": \"m = " + std::to_string(context_.getM()) + ", " +
           std::to_string(context_.getPhiM()) + " coefficients, " + std::to_string(context_.getEA().size()) +
           " slots, " + std::to_string(context_.bitSizeOfQ()) + " bits, security " +
           std::to_string(context_.securityLevel()) + "\"}}";
  }

  // Wall and processor seconds a call for as many slots as ours has, after one call that is not timed.
  std::string Time(long count, long calls) {
    Once();
    std::string answer;
    for (long sample = 0; sample < count; ++sample) {
      const auto wall = std::chrono::steady_clock::now();
      const double processor = ProcessorSeconds();
      for (long call = 0; call < calls; ++call) Once();
      const double used = ProcessorSeconds() - processor;
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - wall;
      const double each = scale_ / static_cast<double>(calls);
      answer += (sample ? ", [" : "[") + std::to_string(passed.count() * each) + ", " + std::to_string(used * each) + "]";
    }
    return "[" + answer + "]";
  }

 private:
  helib::Context context_;
  helib::SecKey secret_;
  double scale_;
  std::vector<long> message_;
  std::unique_ptr<helib::Ctxt> fresh_;
};

const Ring& RingOf(long m) {
  const auto found = std::find_if(kRings.begin(), kRings.end(), [m](const Ring& ring) { return ring.m == m; });
  if (found != kRings.end()) return *found;
  std::string known;
  for (const Ring& ring : kRings) known += " " + std::to_string(ring.m);
  throw std::runtime_error("no ring m = " + std::to_string(m) + "; there are" + known);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const char* chosen = std::getenv("RINGMILL_HELIB_RING");
    const Ring& ring = RingOf(chosen != nullptr ? std::atol(chosen) : 51319);
    if (argc > 1 && std::string(argv[1]) == "--version") {
      std::cout << helib::version::asString << ", m = " << ring.m << std::endl;
      return 0;
    }
    std::unique_ptr<Bootstrap> bootstrap;
    for (std::string request; std::getline(std::cin, request);) {
      if (request.find("\"do\": \"open\"") != std::string::npos) {
        if (Number(request, "prime") != ring.prime) throw std::runtime_error("its rings are for p = 127");
        bootstrap.reset();
        bootstrap = std::make_unique<Bootstrap>(ring, Number(request, "exponents"), Number(request, "slots"));
        std::cout << bootstrap->Check() << std::endl;
      } else {
        if (!bootstrap) throw std::runtime_error("nothing is open");
        std::cout << bootstrap->Time(Number(request, "count"), Number(request, "calls")) << std::endl;
      }
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  return 0;
}
