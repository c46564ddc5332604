/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qexit N: ends the emulator with the status (N << 1) | 1 through QEMU's device
 * isa-debug-exit. Packed into the initramfs by pack.sh, called by init.
 */
#include <stdlib.h>
#include <sys/io.h>
#include <termios.h>
#include <unistd.h>

#define DEBUG_EXIT_PORT 0xf4

int main(int argc, char **argv)
{
	int status = argc > 1 ? atoi(argv[1]) : 0;

	/* The emulator stops at once: what the console still holds would be lost. */
	tcdrain(STDOUT_FILENO);

	if (ioperm(DEBUG_EXIT_PORT, 4, 1) != 0)
		return 1;
	outl((unsigned int)status, DEBUG_EXIT_PORT);
	return 1; /* reached only when the device is missing */
}
