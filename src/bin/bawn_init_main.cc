#include "init/init.h"

int main() { bawn::init::InitMain(); }
