// bawn: builds the local service and hands it to the command line.
#include "cli/cli.h"
#include "service/bawn.h"
#include "sys/processes.h"

int main(int argc, char** argv, char** envp) {
  bawn::sys::OpenMissingStdio();
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::vector<std::string> environment;
  for (char** entry = envp; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  std::unique_ptr<bawn::service::Bawn> service = bawn::service::MakeLocalBawn(environment);
  return bawn::cli::Main(arguments, bawn::cli::ProcessConsole(std::move(environment)), *service);
}
