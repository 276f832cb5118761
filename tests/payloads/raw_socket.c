// wall: capabilities  overlaps: second-userns  source: RT-19
// Sends raw IP packets.
#include "attack.h"

int main(void) { return Attempt("socket", socket(AF_INET, SOCK_RAW, 1)); }
