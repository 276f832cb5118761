// bawn: builds the local service and hands it to the command line.
#include <malloc.h>

#include "cli/cli.h"
#include "service/bawn.h"
#include "sys/processes.h"

int main(int argc, char** argv, char** envp) {
  bawn::sys::OpenMissingStdio();
  // A short life: the heap grows in a few steps and is given back by its end.
  mallopt(M_TOP_PAD, 512 << 10);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::vector<std::string> environment;
  for (char** entry = envp; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  std::unique_ptr<bawn::service::Bawn> service = bawn::service::MakeLocalBawn(environment);
  return bawn::cli::Main(arguments, bawn::cli::ProcessConsole(std::move(environment)), *service);
}
